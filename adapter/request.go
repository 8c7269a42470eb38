package adapter

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/todo"
)

// Request is what the engine needs to know about a request. An adapter fills it in from
// its SDK's own request type, and leaves a field zero for a feature that the SDK does
// not have.
type Request struct {
	Tools       int        // number of tools that the request offers
	StrictTools bool       // whether all tools ask for strict arguments
	Choice      ToolChoice // the tool choice of the request
	OwnPause    bool       // whether the caller offers a todo_pause of its own

	N         int  // number of choices asked for; 0 counts as 1
	JSON      bool // whether the answer has to be JSON
	Legacy    bool // whether the request uses functions, which tools replaced
	TextAgent bool // whether a text agent sends the request; it then needs no tools
	Toolless  bool // continue the call even without tools, as with middleware.WithToollessCalls
	NoFinish  bool // whether the provider never reports a finish reason
	Reasoning bool // whether the history contains the reasoning of earlier answers

	// LeaveAlone is the reason why the adapter does not want the call to be
	// continued, or the zero Reason. It is for reasons of the protocol that no other field
	// expresses.
	LeaveAlone continuation.Reason
	// FixedPrefix says that nothing may be added before the model's next message:
	// the provider verifies signed reasoning against everything before it, or the
	// request declares its tools among the messages. The engine then joins nothing to
	// the caller's messages and does not add todo_pause to the tools, but asks the
	// model to pause in words. It still adds todo_pause with
	// middleware.WithPauseTool(middleware.PauseToolAlways), because then every request
	// has the tool.
	FixedPrefix bool
	// SaysDone says that the provider always marks the end of a turn in the way that
	// [TurnReader].Done reports. A turn without that mark counts as broken off, even
	// if it has a finish reason.
	SaysDone bool

	// NoSeparator says that clients show the texts of different turns apart, so that
	// they need no blank line between them.
	NoSeparator bool

	// ShortLoop says that the program's own loop ends after a fixed number of turns,
	// as the loops of agent executors do; each tool call of a continuation uses up
	// one of these turns. Unless the program sets MaxAttempts, the engine then allows
	// only one continuation in a row, and another one only after progress on the list.
	ShortLoop bool

	// Timeout is how long the caller waits for the whole answer, counted from now.
	// ReadTimeout is how long it waits for the next part of the answer. 0 means
	// unknown. The deadline of the ctx applies as well. A continuation ends before
	// any of the three; the caller's own turn is never cut short.
	Timeout, ReadTimeout time.Duration

	// Model, Provider and Streamed are for observers. Provider is a name from
	// OpenTelemetry's conventions for generative AI, such as "openai" or "anthropic".
	// The string in Model need only be valid until Begin returns.
	Model, Provider string
	Streamed        bool

	Users     int    // number of messages that the user has written
	User      string // text of the last of them
	FirstUser string // text of the first of them

	// SubAgent says that the request is not of the agent's main conversation: a sub-agent
	// sends it, for example. middleware.WithCheck is about the main conversation.
	SubAgent bool

	// Unanswered says that neither the model nor a tool has answered the user's last
	// message. Previous is then the text of the message before it.
	Unanswered bool
	Previous   string

	// Loop identifies the request's tool loop for calls without a session. It passes
	// to add the texts of the messages up to the first tool call after the user's last
	// message, and the id, name and arguments of that call. It leaves out what differs
	// between the requests of a loop, such as cache marks. For a text agent, whose
	// calls have no ids, it adds the message up to the end of the first step. Loop is
	// nil if there is no such call. The engine calls it before Begin returns.
	Loop func(add func(text string))

	// Messages is the number of messages in the request.
	Messages int
	// Size is the approximate size of the request's text in bytes. If the provider
	// reports no usage, the engine estimates the cost of a continuation from it.
	Size int
	// Attachable returns the text of the message with the given index, and whether an
	// [Attachment] can be joined to it, which is possible for messages of the user and
	// for tool results. The engine calls it on the goroutine that drives the call,
	// until the call has ended. If Attachable is nil, the request gets no attachments.
	Attachable func(message int) (text string, ok bool)
	// System is the position of the first system message, counted from 1; 0 means none.
	System int

	// History yields the tool calls of the request and the messages between them,
	// newest first; see [HistoryWalk]. The engine iterates over it only if the decision
	// needs the todos, and then a few times at most; for a stream, it does so while the
	// stream is read. History must stay valid until the call has ended.
	History iter.Seq[Entry]
	// ToolNames yields the names of the tools that the request offers, under the same
	// conditions as History. nil means that the names are unknown.
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

// The tool choices. The engine continues only calls with ToolChoiceAuto, because the
// others do not let the model decide whether to call a tool.
const (
	ToolChoiceAuto     ToolChoice = iota // the model decides, perhaps among allowed tools
	ToolChoiceNone                       // the model must not call a tool
	ToolChoiceRequired                   // the model must call some tool
	ToolChoiceNamed                      // the model must call one given tool, or the choice is unknown
)

// Entry is one entry of a request's history. It is one of three: a tool call, a message
// that the user has written, or a text that the agent itself has written, such as the
// report of a background task.
type Entry struct {
	// Call is the tool call with its result, if Automatic and FromUser are zero.
	Call todo.Call
	// Automatic is a text for which [IsAutomatic] is true: a message with the role of
	// the user or the system, a part of such a message, or a text beside tool results.
	Automatic string
	// FromUser says that the entry is a message that the user has written. Its text is
	// not needed.
	FromUser bool
}

// IsCall reports whether the entry is a tool call.
func (e *Entry) IsCall() bool { return e.Automatic == "" && !e.FromUser }

// HistoryWalk helps an adapter to implement [Request].History. The adapter reads its
// messages backwards, with a new HistoryWalk each time, and calls one of the methods for
// everything that it meets. It stops when a method returns false.
type HistoryWalk struct {
	// Yield receives the entries; see [iter.Seq]. It must be set.
	Yield func(Entry) bool

	users int // messages of the user so far
}

// User passes on a message with the role of the user. text is the text from which the
// adapter fills in [Request].Users. If the message has several parts, parts yields their
// texts, the last one first; otherwise it may be nil.
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

// System passes on a message of the system. What it reports becomes an entry, whatever
// else it says.
func (w *HistoryWalk) System(text string) bool {
	reported := automatic.InSystem(text)
	return reported == "" || w.Yield(Entry{Automatic: reported})
}

// Text passes on any other text: a part of a message, or a text beside tool results. The
// text becomes an entry only if the agent itself has written it.
func (w *HistoryWalk) Text(text string) bool {
	return !IsAutomatic(text) || w.Yield(Entry{Automatic: text})
}

// Call passes on a tool call. It sets UserMessagesAfter of c.
func (w *HistoryWalk) Call(c todo.Call) bool {
	c.UserMessagesAfter = w.users
	return w.Yield(Entry{Call: c})
}

// IsAutomatic reports whether the agent, and not its user, has written a message with
// the role of the user. Such a message begins with an element such as
// <system-reminder>…</system-reminder>, with a line that says that the user has not
// written it, or as the summary of a conversation that the agent has shortened. If it has
// several texts, which zero bytes separate, each of them does. It does not begin a user
// turn, and adapters do not count it in [Request].Users.
//
// Experimental: the forms that IsAutomatic recognises are those of current agents.
func IsAutomatic(text string) bool { return automatic.Is(text) }

// ToolResults matches tool results with their calls, for an adapter that reads a history
// backwards and so meets a result before its call. R is the SDK's own message type, so
// that the text of a result is read only if it is needed. The zero value is ready for
// use. A ToolResults is not safe for concurrent use.
type ToolResults[R any] struct{ open map[string]*toolResult[R] } // by id: the newest result not taken yet

type toolResult[R any] struct {
	result R
	older  *toolResult[R] // of the same id
	oldest *toolResult[R] // of the same id; set in the newest only
}

// Add adds a result of the call with the given id. It must be older than the results
// that were added before.
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

// Take removes the newest result for a call's id and returns it. Each result can be
// taken once, because several calls may have the same id, or none.
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

// Continuation is a turn that the engine adds to a call. The adapter sends a copy of the
// caller's request with
//
//   - one more assistant message, which has Text and, if Pause is set, the call in Pause
//   - one message after that: a user message with Prompt or, if Pause is set, a tool
//     message with Pause.Result
//   - the Additions
//
// Everything else stays as it is, except that the provider is not asked to store the
// answer.
type Continuation struct {
	continuation.TurnID
	Additions

	Todo      todo.Todo    // the todo to go on with
	Text      string       // text of the model so far; not blank unless Pause is set
	TurnEnds  []int        // byte offsets at which the turns in Text end; the last may lie beyond it, because Text is trimmed
	Reasoning string       // reasoning of the model so far, if [Request].Reasoning is true
	Prompt    string       // the message that asks the model to go on
	Pause     *PauseAnswer // set if the continuation answers a call of todo_pause instead

	// Touch tells the engine that bytes have arrived. A source that reads several times
	// for one chunk calls it from Recv. It is nil for calls that are not streamed.
	Touch func()
}

// Additions are what carryon adds to a request apart from the messages of a
// [Continuation]. The caller's first request may have some too. The zero value adds
// nothing.
type Additions struct {
	// Attachments are joined to the caller's own messages, in this order. The slice
	// must not be modified.
	Attachments []Attachment
	// PauseTool is appended to the tools. It is nil if todo_pause is not offered.
	PauseTool *PauseTool
}

// IsZero reports whether there is nothing to add.
func (a *Additions) IsZero() bool { return len(a.Attachments) == 0 && a.PauseTool == nil }

// ByMessage yields the index of each message that has attachments, in ascending order,
// with the texts to append to it.
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

// Attachment is a text that the model reads but that is not in the caller's history. An
// adapter appends Text, which begins with a separator, to the text of the message with
// the index Message, in a copy of the request.
type Attachment struct {
	Message int
	Text    string
}

// PauseAnswer is a call of todo_pause whose reason was rejected, and its result.
type PauseAnswer struct {
	ID        string // never empty
	Name      string // the name of the tool as the model wrote it
	Arguments string // always a JSON object, even if the model sent something else
	Result    string // the result of the call, which tells the model why it was rejected
}

// PauseTool is the declaration of todo_pause. An adapter converts it to its SDK's type.
type PauseTool struct {
	Name        string
	Description string
	Schema      []byte // JSON schema of the arguments; not shared with other PauseTools
	Strict      bool   // whether to ask for strict arguments, which Schema allows
}
