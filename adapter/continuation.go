package adapter

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Separator stands between the texts of two turns, if both have text. Of a text that
// ends in line breaks, a part of it is there already; see [SeparatorAfter].
const Separator = "\n\n"

// SeparatorAfter returns the rest of [Separator] that is missing at the end of a
// text.
func SeparatorAfter(text string) string {
	missing := Separator
	for missing != "" && strings.HasSuffix(text, "\n") {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		missing = missing[1:]
	}
	return missing
}

// Continuation is a turn that the engine adds to a call. It says how a copy of
// the caller's request is extended:
//
//   - with one assistant message of Text, and of the call in Pause if that is
//     set
//   - then with one user message of Prompt, or one tool message of Pause.Result
//     if Pause is set
//   - with the Additions
//
// Nothing else changes, except that the provider is not asked to store the
// answer.
type Continuation struct {
	continuation.TurnID
	Additions

	Todo      todo.Todo    // the todo to go on with
	Text      string       // what the model has answered so far; not blank unless Pause is set
	TurnEnds  []int        // where in Text each turn ends; Text may lack white space at the end
	Reasoning string       // the model's reasoning so far, if [Request].Reasoning
	Prompt    string       // the message that asks the model to go on
	Pause     *PauseAnswer // set if the continuation answers a call of todo_pause instead

	// Touch tells the engine that bytes have arrived. A source whose chunks may take
	// several reads calls it from Recv. It is nil for calls that are not streamed.
	Touch func()
}

// Additions are what carryon adds to a request beside the messages of a continuation.
// The caller's own request may have some too. The zero value adds nothing.
type Additions struct {
	// Attachments are joined to the caller's own messages, in this order. The
	// slice must not be changed.
	Attachments []Attachment
	// PauseTool is appended to the tools, after all others. It is nil if the
	// request does not offer todo_pause.
	PauseTool *PauseTool
}

// IsZero reports whether there is nothing to add.
func (a *Additions) IsZero() bool { return len(a.Attachments) == 0 && a.PauseTool == nil }

// ByMessage yields, for each message with attachments, its index and the texts that
// are joined to it, in order.
func (a *Additions) ByMessage() iter.Seq2[int, []string] {
	return func(yield func(int, []string) bool) {
		texts := make(map[int][]string, len(a.Attachments))
		for _, attachment := range a.Attachments {
			texts[attachment.Message] = append(texts[attachment.Message], attachment.Text)
		}
		for _, message := range slices.Sorted(maps.Keys(texts)) {
			if !yield(message, texts[message]) {
				return
			}
		}
	}
}

// Attachment is a text that a request carries but the caller's history does not: an
// adapter puts Text right behind the text of the message with the index Message, in a
// copy.
type Attachment struct {
	Message int
	Text    string
}

// PauseAnswer is a call of todo_pause whose reason was rejected, and its result.
type PauseAnswer struct {
	ID        string // never empty
	Name      string // as the model wrote it
	Arguments string // always a JSON object, even if the model sent something else
	Result    string // what the model is told
}

// PauseTool is the declaration of todo_pause, which adapters turn into their
// SDK's type.
type PauseTool struct {
	Name        string
	Description string
	Schema      []byte // JSON; each PauseTool has its own slice
	Strict      bool   // ask for strict arguments; Schema allows that
}

// NewPauseTool returns the declaration of todo_pause.
func NewPauseTool(strict bool) *PauseTool {
	return &PauseTool{
		Name:        pause.ToolName,
		Description: pause.Description(),
		Schema:      pause.Schema(strict),
		Strict:      strict,
	}
}
