package adapter

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Request is what the engine needs to know about a request. An adapter fills it in
// from its SDK's own request type; the zero value of a field is what an SDK without
// the feature would report.
type Request struct {
	Tools       int        // how many tools the request offers
	StrictTools bool       // all of them ask for strict arguments
	Choice      ToolChoice // the tool choice of the request
	OwnPause    bool       // one of them is the caller's own todo_pause

	N         int  // how many choices were asked for; 0 counts as 1
	JSON      bool // the response format is a JSON one
	Legacy    bool // the request uses the functions that tools replaced
	TextAgent bool // a text agent's request, which needs no tools
	Toolless  bool // continued without tools too, as with middleware.WithToollessCalls
	NoFinish  bool // the provider never reports a finish reason
	Reasoning bool // the history carries the reasoning of earlier answers

	// LeaveAlone is the reason for which the adapter leaves the request alone;
	// ReasonNone if it does not. It is for reasons of the protocol that no other
	// field expresses.
	LeaveAlone continuation.Reason
	// FixedPrefix says that nothing may be added before what the model says next:
	// the provider checks its signed reasoning against it when the reasoning is sent
	// back, or the request lists its tools there. Then nothing is joined to the caller's messages, and todo_pause
	// is not added to the tools: the model is asked to pause in words. With
	// middleware.WithPauseTool(middleware.PauseToolAlways) todo_pause is there from
	// the start, and stays.
	FixedPrefix bool
	// SaysDone says that the provider ends each turn with what [TurnReader].Done
	// reports. A turn that ends without it has broken off, even after its finish
	// reason.
	SaysDone bool

	// NoSeparator says that the texts of different turns are shown apart anyway, so
	// that no Separator is put between them.
	NoSeparator bool

	// ShortLoop says that the program's own loop ends after a number of turns,
	// finished or not, as the loops of agent executors do. Each tool call of a
	// continuation uses up one of them. Unless the program has set MaxAttempts, only
	// one continuation in a row is then allowed, and only progress on the list renews
	// it; a tool call does not.
	ShortLoop bool

	// Timeout is how long the caller waits for the whole answer from now on, and
	// ReadTimeout how long for the next part of it, if the request says so; 0 is no
	// limit. The deadline of the ctx applies as well. A continuation ends before
	// either; the caller's own turn is never cut.
	Timeout, ReadTimeout time.Duration

	// Model, Provider and Streamed are for observers. Provider is a name from
	// OpenTelemetry's conventions for generative AI, such as "openai" or "anthropic".
	// Model need only be valid until the call has begun.
	Model, Provider string
	Streamed        bool

	Users int    // how many user messages the request has
	User  string // the text of the last user message

	// Unanswered says that no answer follows that message, neither the model's nor a
	// tool's. Previous is then the text of the message before it.
	Unanswered bool
	Previous   string

	// Loop adds the texts that tell the request's tool loop from any other: the
	// messages up to the first tool call after the user's last message, and that
	// call's id, name and arguments. It leaves out what may differ between the
	// requests of a loop, such as cache marks. Loop is nil if there is no such call.
	// For a text agent, whose calls have no ids, it adds the beginning of the
	// message, up to the end of the first step. It is called before Begin returns,
	// and only for calls without a session.
	Loop func(add func(text string))

	// Messages is how many messages the request has.
	Messages int
	// Size is roughly how many bytes of text the request has. If the provider reports
	// no usage, the cost of a continuation is estimated from it.
	Size int
	// Attachable returns the text of a message, and whether an [Attachment] can be
	// joined to it: whether it is the user's or a tool's. It may be called until the
	// call has ended, by the goroutine that drives the call. If it is nil, the
	// request carries no attachments.
	Attachable func(message int) (text string, ok bool)
	// System is the number of the first system message, counted from 1; 0 means none.
	System int

	// History yields the tool calls of the request, and the messages between them,
	// newest first; see [HistoryWalk]. It is read at most a few
	// times per decision, and only if the decision needs the todos; for a stream, that
	// is while the stream is read. It must stay valid until the call has ended,
	// because the todo source reads it.
	History iter.Seq[Entry]
	// ToolNames yields the names of the tools that the request offers. It is read
	// when History is; nil means that they are unknown.
	ToolNames ToolNamer
}

// ToolNamer yields the names of the tools that a request offers, in order, like an
// [iter.Seq]. It is an interface so that a pointer to a request can implement it
// without allocating.
type ToolNamer interface {
	ToolNames(yield func(name string) bool)
}

// ToolChoice is what a request says about calling tools.
type ToolChoice uint8

// The tool choices. Only with ToolChoiceAuto can a turn be continued: the others do
// not let the model choose whether to call a tool.
const (
	ToolChoiceAuto     ToolChoice = iota // the model decides; also among allowed tools
	ToolChoiceNone                       // no tool may be called
	ToolChoiceRequired                   // some tool must be called
	ToolChoiceNamed                      // that tool must be called, or the choice is unknown
)

// ToolChoiceOf reads a tool choice in the form of Chat Completions and similar APIs:
// a word, a value that becomes a word in JSON, or an object. Of an object the type
// counts; of a choice among allowed tools, the mode. No choice, nil or "", is "auto".
func ToolChoiceOf(choice any) ToolChoice {
	word, ok := choice.(string)
	if !ok && choice != nil {
		word, _ = readChoice(choice)
	}
	switch word {
	case "", "auto":
		return ToolChoiceAuto
	case "none":
		return ToolChoiceNone
	case "required", "any":
		return ToolChoiceRequired
	}
	return ToolChoiceNamed
}

// AllowTool returns a choice among allowed tools with one more allowed tool. It
// changes nothing in place, and returns any other choice unchanged.
func AllowTool(choice any, name string) any {
	if _, isWord := choice.(string); isWord || choice == nil {
		return choice
	}
	_, fields := readChoice(choice) // just decoded, so a copy
	allowed, _ := fields[allowedTools].(map[string]any)
	if allowed == nil {
		return choice
	}
	tools, _ := allowed["tools"].([]any)
	allowed["tools"] = append(slices.Clip(tools), map[string]any{
		"type": "function", "function": map[string]any{"name": name},
	})
	return fields
}

const allowedTools = "allowed_tools"

// readChoice returns the word for a choice, and the fields of a choice among allowed
// tools.
func readChoice(choice any) (word string, fields map[string]any) {
	const unknown = "unknown"
	data, err := json.Marshal(choice)
	if err != nil {
		return unknown, nil // the SDK will fail on it
	}
	if json.Unmarshal(data, &word) == nil {
		return word, nil
	}
	if json.Unmarshal(data, &fields) != nil {
		return unknown, nil
	}
	word, _ = fields["type"].(string)
	if word != allowedTools {
		if word == "" {
			word = unknown
		}
		return word, nil
	}
	allowed, _ := fields[allowedTools].(map[string]any)
	word, _ = allowed["mode"].(string)
	return word, fields
}

// Entry is an entry of a request's history: a tool call, a message of the user, or a text
// that the agent, and not its user, has written, such as the report of a task in the
// background.
type Entry struct {
	// Call is the tool call, with its result, if the entry is none of the others.
	Call todo.Call
	// Automatic is a text for which [IsAutomatic] holds: a message with the role of
	// the user or of the system, or a part of one, also beside the results of tools.
	Automatic string
	// FromUser says that the entry is a message of the user. Its words do not matter.
	FromUser bool
}

// IsCall reports whether the entry is a tool call.
func (e *Entry) IsCall() bool { return e.Automatic == "" && !e.FromUser }

// Calls returns the tool calls of a history, or nil if the history is nil.
func Calls(history iter.Seq[Entry]) iter.Seq[todo.Call] {
	if history == nil {
		return nil
	}
	return func(yield func(todo.Call) bool) {
		for e := range history {
			if e.IsCall() && !yield(e.Call) {
				return
			}
		}
	}
}

// HistoryWalk yields the entries of a history for an adapter that reads it backwards.
// The adapter makes one for each walk, calls a method for everything that it passes,
// and returns when a method returns false.
type HistoryWalk struct {
	// Yield takes the entries; see [iter.Seq].
	Yield func(Entry) bool

	users int // messages of the user so far
}

// User passes a message with the role of the user. The text is the one that the adapter
// looks at to fill in [Request].Users. If the message has several parts, parts yields
// the texts of them, the last one first; otherwise it may be nil.
func (w *HistoryWalk) User(text string, parts iter.Seq[string]) bool {
	if IsAutomatic(text) {
		return w.Yield(Entry{Automatic: text})
	}
	if parts != nil {
		for part := range parts {
			if !w.Text(part) {
				return false
			}
		}
	}
	w.users++
	return w.Yield(Entry{FromUser: true})
}

// Text passes a text that is an entry only if the agent has written it: a message of
// the system, a part of a message, or a text beside the results of tools.
func (w *HistoryWalk) Text(text string) bool {
	return !IsAutomatic(text) || w.Yield(Entry{Automatic: text})
}

// Call passes a tool call. It fills in UserMessagesAfter.
func (w *HistoryWalk) Call(c todo.Call) bool {
	c.UserMessagesAfter = w.users
	return w.Yield(Entry{Call: c})
}

// IsAutomatic reports whether the agent, and not its user, wrote a message with the
// user's role: it consists only of elements such as
// <system-reminder>…</system-reminder>, perhaps behind lines that say that it is no
// input of the user. Such a message does not begin a user turn, and adapters do not
// count it among [Request].Users.
func IsAutomatic(text string) bool { return automatic.Is(text) }

// ToolResults matches tool results with their calls, for an adapter that reads a
// history backwards and so meets a result before its call. R is the SDK's own
// message, so that its text is read only if needed. The zero value is ready for use.
type ToolResults[R any] struct{ open map[string]*toolResult[R] } // by id: the newest result not taken yet

type toolResult[R any] struct {
	result R
	older  *toolResult[R] // of the same id
	oldest *toolResult[R] // of the same id; set in the newest only
}

// Add adds a result of the call with the id, older than all that were added before.
func (r *ToolResults[R]) Add(id string, result R) {
	added := &toolResult[R]{result: result}
	newest := r.open[id]
	switch {
	case newest != nil:
		newest.oldest.older, newest.oldest = added, added
		return
	case r.open == nil:
		r.open = make(map[string]*toolResult[R])
	}
	added.oldest = added
	r.open[id] = added
}

// Take removes the newest result for a call's id and returns it. Each result is taken
// once: some providers give parallel calls the same id or none, and an id may be used
// again further up.
func (r *ToolResults[R]) Take(id string) (result R, ok bool) {
	newest := r.open[id]
	if newest == nil {
		return result, false
	}
	if next := newest.older; next != nil {
		next.oldest = newest.oldest
		r.open[id] = next
	} else {
		delete(r.open, id)
	}
	return newest.result, true
}

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
