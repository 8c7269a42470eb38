package adapter

import (
	"iter"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

// Request is what the engine needs to know of a request. An adapter fills it in
// from its SDK's own request type; the zero value of a field is what an SDK
// without the feature would report.
type Request struct {
	Tools       int        // how many tools the request offers
	StrictTools bool       // all of them ask for strict arguments
	Choice      ToolChoice // what the request says about calling them
	OwnPause    bool       // one of them is the caller's own todo_pause

	N         int  // how many choices were asked for; 0 counts as 1
	JSON      bool // the response format is a JSON one
	Legacy    bool // the request uses the functions that tools replaced
	TextAgent bool // a text agent's request, which needs no tools
	Toolless  bool // continued without tools too, as with middleware.WithToollessCalls
	NoFinish  bool // the provider never reports a finish reason
	Reasoning bool // the history carries the reasoning of earlier answers

	// LeaveAlone is the reason why the adapter leaves the request alone,
	// ReasonNone if it does not: one that lies in the protocol and that no other
	// field here expresses.
	LeaveAlone continuation.Reason
	// FixedPrefix says that nothing may be added before what the model says
	// next, because the provider checks its signed reasoning against it when it
	// comes back. No todo_pause is added to the tools then, except by
	// middleware.WithPauseTool(middleware.PauseToolAlways), which has it there from the
	// start; and nothing is joined to the caller's messages. The model is asked
	// to pause in words.
	FixedPrefix bool
	// SaysDone says that the provider ends each turn with what
	// [TurnReader].Done reports: one that ends without it has broken off, also
	// behind its finish reason.
	SaysDone bool

	// NoSeparator says that texts of different turns stand apart by themselves,
	// so that no Separator is put between them.
	NoSeparator bool

	// ShortLoop says that the program's own loop ends after a number of turns,
	// finished or not, as those of agent executors do: each tool call that a
	// continuation brings about uses up one of them. Unless the program has set
	// MaxAttempts there is one continuation in a row then, and a tool call does
	// not renew it; only progress on the list does.
	ShortLoop bool

	// Timeout is how long the caller waits for the whole answer from now on, and
	// ReadTimeout how long for the next part of it, if the request says so; 0 is
	// for ever. The deadline of the ctx counts besides. A continuation ends
	// before either; the caller's own turn is never cut.
	Timeout, ReadTimeout time.Duration

	// Model, Provider and Streamed tell observers what the request asks whom for.
	// Provider is one of the names that OpenTelemetry's conventions for generative
	// AI have, such as "openai" or "anthropic". Model need only be valid until the
	// call has begun.
	Model, Provider string
	Streamed        bool

	Users int    // how many messages of the user the request has
	User  string // the text of the last of them

	// Unanswered says that no answer stands behind that message: neither the
	// model's nor a tool's. Previous is then the text of the message before it.
	Unanswered bool
	Previous   string

	// Loop adds what tells the request's tool loop from any other: the texts of
	// the messages up to the first tool call after the user's last message, and
	// that call's id, name and arguments. It is nil if there is no such call. What
	// may differ between the requests of a loop, such as marks for a cache, is
	// not added. A text agent, whose calls have no ids, adds the beginning of its
	// message, to the end of its first step. It is called before Begin returns,
	// and only for calls without a session.
	Loop func(add func(text string))

	// Messages is how many messages the request has.
	Messages int
	// Size is how many bytes of text the request has, about. What a continuation
	// has cost is estimated by it where the provider reports no usage.
	Size int
	// Attachable returns the text of a message, and whether an [Attachment] can
	// be joined to it: whether it is the user's or a tool's. It may be called
	// until the call has ended, by the goroutine that drives it. A request for
	// which it is nil carries no attachments.
	Attachable func(message int) (text string, ok bool)
	// System is the number of the first system message, counted from 1; 0 is
	// none.
	System int

	// History yields the tool calls of the request, newest first. It is asked
	// at most once per decision, and only if the decision needs the todos: for
	// a stream, while it is read. The todo source reads it, so it has to stay
	// valid until the call has ended.
	History iter.Seq[todo.Call]
	// ToolNames yields the names of the tools that the request offers. It is asked
	// as History is; nil says that nothing is known of them.
	ToolNames ToolNamer
}

// ToolNamer yields the names of the tools that a request offers, in order, as an
// [iter.Seq] does. It is an interface so that a pointer to a request can be one,
// without memory of its own.
type ToolNamer interface {
	ToolNames(yield func(name string) bool)
}
