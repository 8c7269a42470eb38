package middleware

import (
	"math/rand/v2"

	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Continuation is a turn that the engine adds to a call. It says how the
// caller's request is to be extended, in a copy:
//
//   - with one assistant message of Text, and of Pause.Call if Pause is set
//   - then with one user message of Prompt, or one tool message of
//     Pause.Result if Pause is set
//   - with todo_pause, appended last to the tools, if OffersPause
//   - with Notes, which the caller's own request has too
//
// and nothing else changes, but that the answer is not to be stored by the
// provider.
type Continuation struct {
	Place

	Todo        todo.Todo    // the todo to go on with
	Text        string       // what the model has said so far; never blank, unless Pause is set
	Reasoning   string       // what it wrote for itself, if the history carries such texts
	Prompt      string       // what it is asked
	Pause       *PauseAnswer // set if a call of todo_pause is to be answered instead
	OffersPause bool         // append todo_pause to the tools
	StrictPause bool         // declare todo_pause strict

	// Notes are joined to the caller's own messages, as in the caller's own
	// request; see [Call.Notes].
	Notes []Note

	// Alive tells the engine that bytes have arrived. A source calls it, from
	// Recv, if one chunk may take it several reads. It is nil in calls that are
	// not streamed.
	Alive func()
}

// PauseAnswer is a call of todo_pause whose reason was rejected, and what the
// model is told about it.
type PauseAnswer struct {
	ID        string // never empty
	Name      string // as the model wrote it
	Arguments string // a JSON object, whatever the model sent
	Result    string // what the model is told
}

// placeholder stands for an answer without text, which providers refuse.
const placeholder = "(no answer)"

// newID returns nine alphanumerics, the one form of an id that every provider
// takes.
func newID() string {
	const digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var id [9]byte
	for i := range id {
		id[i] = digits[rand.IntN(len(digits))] //nolint:gosec // names a call, guards nothing
	}
	return string(id[:])
}

// PauseTool is todo_pause as a continuation declares it, for adapters to turn
// into their SDK's type.
type PauseTool struct {
	Name        string
	Description string
	Schema      []byte // JSON; a slice of its own in every PauseTool
	Strict      bool   // ask for strict arguments, which Schema fits
}

// NewPauseTool returns the declaration of todo_pause.
func NewPauseTool(strict bool) PauseTool {
	return PauseTool{
		Name:        pause.Name,
		Description: pause.Description(),
		Schema:      pause.Schema(strict),
		Strict:      strict,
	}
}
