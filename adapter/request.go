package adapter

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/carryon-go/carryon/continuation"
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
