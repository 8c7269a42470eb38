package todo

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/toolcall"
)

// Status is the progress of a todo. carryon reads it as [ParseStatus] does: in any
// usual spelling, and blank as [Pending].
type Status string

// The statuses that carryon knows. carryon keeps any other status, reports it, and does
// not treat it as active.
const (
	// Pending means that work on the todo has not started.
	Pending Status = "pending"
	// InProgress means that the todo is being worked on.
	InProgress Status = "in_progress"
	// Completed means that the todo is done.
	Completed Status = "completed"
	// Cancelled means that the todo will not be done.
	Cancelled Status = "cancelled"
)

// Active reports whether a todo of this status still needs work: whether [ParseStatus]
// reads it as [Pending] or [InProgress].
func (s Status) Active() bool {
	status, _ := ParseStatus(string(s))
	return status == Pending || status == InProgress
}

// Todo is one item of a todo list. It has no references, so copying a []Todo copies the
// list.
type Todo struct {
	// ID identifies the todo within its list. carryon does not interpret it.
	ID string `json:"id"`
	// Content says what has to be done, in the words of the list's author.
	Content string `json:"content"`
	// Status is the progress of the todo.
	Status Status `json:"status"`
	// Priority is free text such as "high"; "" means none. carryon keeps the
	// order of the list and does not sort by priority.
	Priority string `json:"priority,omitempty"`
	// Owner is the name of the agent in a team that the todo is assigned to; "" means
	// none.
	Owner string `json:"owner,omitempty"`
	// BlockedBy has the ids of the todos that must be done first, separated by commas;
	// "" means none. carryon reads up to 64 of them.
	BlockedBy string `json:"blockedBy,omitempty"`
}

// ParseStatus returns the status that models and tools mean by text, and whether it is
// known. It ignores case and everything except letters, so it knows "In-Progress",
// "[x]" and "not_started". It also knows synonyms: "done" is [Completed], "wip"
// [InProgress], "skipped" [Cancelled], and "blocked" [Pending]. Blank text is Pending.
// An unknown status is returned without surrounding white space, and is not active.
//
// carryon reads every status this way, whatever its source.
func ParseStatus(text string) (status Status, known bool) {
	switch Status(text) {
	case Pending, InProgress, Completed, Cancelled:
		return Status(text), true
	}
	status, known = knownStatus(text)
	if known {
		return status, true
	}
	return Status(clean(text)), false
}

func knownStatus(text string) (status Status, known bool) {
	switch letters(text) {
	case "":
		// A mark without letters, such as "?", is not known.
		return Pending, strings.Trim(text, " \t\r\n[]") == ""
	case "pending", "todo", "notstarted", "unstarted", "open", "opened", "reopened", "new", "planned", "queued",
		"waiting", "ready", "backlog", "incomplete", "upcoming", "blocked", "onhold", "undone",
		"notdone", "unchecked":
		return Pending, true
	case "inprogress", "doing", "started", "active", "current", "ongoing", "working", "workingon", "wip",
		"workinprogress", "running", "processing", "progress", "executing":
		return InProgress, true
	case "completed", "complete", "done", "finished", "closed", "resolved", "success", "succeeded", "successful",
		"checked", "fixed", "implemented", "x":
		return Completed, true
	case "cancelled", "canceled", "cancel", "skipped", "skip", "abandoned", "dropped", "removed", "deleted", "obsolete",
		"wontdo", "wontfix", "notneeded", "discarded":
		return Cancelled, true
	}
	return "", false
}

// letters returns the letters of text in lower case.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// maxBlockers is how many blockers of a todo are read.
const maxBlockers = 64

// joinBlockers returns the ids of both, each once.
func joinBlockers(blockedBy, more string) string {
	if blockedBy == "" && more == "" {
		return ""
	}
	ids := make([]string, 0, maxBlockers)
	known := make(map[string]bool, maxBlockers)
	for _, list := range [...]string{blockedBy, more} {
		for id := range toolcall.IDs(list) {
			if len(ids) == maxBlockers {
				break
			}
			if !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
	}
	return strings.Join(ids, ",")
}

// idsIn returns the ids in a value that a model sent: an array of ids, or a text with
// one or several. It returns "" for anything else.
func idsIn(value any) string {
	switch v := value.(type) {
	case string:
		if items, err := toolcall.Decode(v); err == nil {
			if array, ok := items.([]any); ok {
				return idsIn(array)
			}
		}
		return joinBlockers("", clean(v))
	case json.Number:
		return v.String()
	case []any:
		ids := make([]string, 0, min(len(v), maxBlockers))
		for _, item := range v[:min(len(v), maxBlockers)] {
			switch id := item.(type) {
			case string:
				ids = append(ids, clean(id))
			case json.Number:
				ids = append(ids, id.String())
			}
		}
		return joinBlockers("", strings.Join(ids, ","))
	}
	return ""
}

// sizeOf returns roughly how many bytes a list takes.
func sizeOf(list []Todo) int {
	const itself = 64
	n := itself * len(list)
	for i := range list {
		t := &list[i]
		n += len(t.ID) + len(t.Content) + len(t.Status) + len(t.Priority) + len(t.Owner) + len(t.BlockedBy)
	}
	return n
}

// Provider returns the todo list that carryon follows. carryon never changes a todo.
//
// Todos returns the list in the order of work. An empty or nil list means that nothing
// is left to do. A status may have any spelling that [ParseStatus] knows. The provider
// must not modify a slice after returning it; one that edits its list in place returns
// a copy.
//
// An error means that there is no list: the model call succeeds, but is not continued,
// and its outcome has the error. [ErrNoList], [ErrUnreadable] and [ErrNoSession] each
// have a reason of their own.
//
// Todos may be called concurrently, even for one session. It runs on the goroutine of
// the model call, and the caller's answer waits for it, so it must return when its ctx
// ends. The ctx is derived from that of the model call. It has a deadline, the session,
// and the conversation of the request; see [ConversationFrom].
type Provider interface {
	Todos(ctx context.Context) ([]Todo, error)
}

// ProviderFunc is a function used as a Provider.
type ProviderFunc func(ctx context.Context) ([]Todo, error)

// Todos calls f. It panics if f is nil; middleware.New panics earlier.
func (f ProviderFunc) Todos(ctx context.Context) ([]Todo, error) {
	if f == nil {
		panic("carryon/todo: nil ProviderFunc")
	}
	return f(ctx)
}

// checkContext panics without a ctx.
func checkContext(ctx context.Context) {
	if ctx == nil {
		panic("carryon/todo: nil context")
	}
}

// Static returns a [Provider] that returns a copy of todos in every call, for every
// session. No tool can change the list, so it is for tests and experiments; use
// [NewMemory] for an agent that works on its list.
func Static(todos ...Todo) Provider {
	list := slices.Clone(todos)
	return ProviderFunc(func(context.Context) ([]Todo, error) {
		return slices.Clone(list), nil
	})
}

// Call is one tool call in the history of a request.
type Call struct {
	// ID is the id that the model gave the call, or "".
	ID string
	// Name is the name of the tool as the model wrote it.
	Name string
	// Arguments is the text that the model sent, unchanged. It is usually JSON, but may
	// be invalid.
	Arguments string
	// Result is the text of the tool message that answers the call, or "" if there is
	// none.
	Result string
	// Answered reports whether there is such a message.
	Answered bool
	// UserMessagesAfter is the number of messages that the user wrote after the call.
	// Messages that the agent itself wrote with the role of the user do not count. If
	// the history does not tell, it is 0, so the call counts as one of the current user
	// turn.
	UserMessagesAfter int
}

type conversationKey struct{}

// WithConversation returns a ctx with a conversation: the tool calls of a request's
// history, newest first. It is for tests and for programs that call a Provider
// themselves. nil means the empty conversation.
func WithConversation(ctx context.Context, c iter.Seq[Call]) context.Context {
	return context.WithValue(ctx, conversationKey{}, c)
}

// ConversationFrom returns the tool calls in the history of the current request, newest
// first, or an empty sequence if ctx has none. It never returns nil. The history is read
// lazily: a consumer that stops early does not pay for the rest. It may be used only
// until the [Provider].Todos call that received it returns.
func ConversationFrom(ctx context.Context) iter.Seq[Call] {
	if c, _ := ctx.Value(conversationKey{}).(iter.Seq[Call]); c != nil {
		return c
	}
	return func(func(Call) bool) {}
}

// Origin says where a list was read. The zero Origin means a source that the program
// wrote itself.
type Origin struct {
	// Place is the kind of place, as a word that does not change: "memory" is a [Memory],
	// "tool_call" the arguments of a tool call in the conversation, "tool_result" the
	// result of one, if it repeats the whole list, "tool_calls" several calls, each of
	// which changed a part of the list, and "earlier_request" an earlier request of the
	// same session: the current one no longer has the list. "program", or "", is a source
	// that the program wrote itself.
	Place string `json:"place,omitzero"`
	// Tool is the name, as the model wrote it, of the tool whose call or result was
	// read, or "".
	Tool string `json:"tool,omitzero"`
	// Unconfirmed says why a newer call that may have changed the list does not count,
	// such as "its script failed". It is "" if there is no such call.
	Unconfirmed string `json:"unconfirmed,omitzero"`
	// Written says whether the model wrote the list in the current user turn: "now", or
	// "earlier", which is before the user's last message. It is "" if the source does not
	// know. A call that writes the list counts even if it changes nothing; one that only
	// reads it does not.
	Written string `json:"written,omitzero"`
}

// String returns a description such as "the last call of todo_write".
func (o Origin) String() string {
	if why := o.Unconfirmed; why != "" {
		o.Unconfirmed = ""
		return o.String() + "; a newer call is not confirmed: " + why
	}
	switch o.Place {
	case "", origins.Program:
		return "the program's source"
	case origins.Memory:
		return "todo.Memory"
	case origins.ToolCall:
		return "the last call of " + o.Tool
	case origins.ToolResult:
		return "the last result of " + o.Tool
	case origins.ToolCalls:
		return "the calls of " + o.Tool
	case origins.EarlierRequest:
		return "an earlier request of the session, " + o.Tool
	}
	return "an unknown place"
}

// Locator is a [Provider] that also says where it read the list. All sources of this
// package implement it; your own need not.
type Locator interface {
	Provider
	// Locate is Todos, but also returns where the list was read.
	Locate(ctx context.Context) ([]Todo, Origin, error)
}
