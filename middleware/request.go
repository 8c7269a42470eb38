package middleware

import (
	"context"
	"iter"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// Request is what the engine needs to know of a request. An adapter fills it
// in from its SDK's own request type; the zero value of a field is what an
// SDK without the feature would report.
type Request struct {
	Tools       int        // how many tools the request offers
	StrictTools bool       // all of them ask for strict arguments
	Choice      ToolChoice // what the request says about calling them
	OwnPause    bool       // one of them is a todo_pause of the caller's own

	N         int  // how many choices were asked for; 0 counts as 1
	JSON      bool // the response format is a JSON one
	Legacy    bool // the request uses the functions that tools replaced
	TextAgent bool // a text agent's request, which needs no tools
	Toolless  bool // continued without tools too, as with WithToollessCalls
	NoFinish  bool // the provider never reports a finish reason
	Reasoning bool // the history carries the reasoning of earlier answers

	// ShortLoop says that the program's own loop ends after a number of turns,
	// finished or not, as those of agent executors do: each tool call that a
	// continuation brings about uses up one of them. Unless the program has set
	// MaxAttempts there is one continuation in a row then, and a tool call does
	// not give it back; only progress on the list does.
	ShortLoop bool

	Users int    // how many messages of the user the request has
	User  string // the text of the last of them

	// FirstCall is the id of the first tool call after that message, if there
	// is one. A text agent, whose calls have no ids, has the beginning of its
	// message here, to the end of its first step.
	FirstCall string

	// Of the places where a note can be joined; see [Note]. A request without
	// a Carrier has none.

	// Messages is how many messages the request has.
	Messages int
	// Carrier returns the text of a message, and whether a note can be joined
	// to it: whether it is the user's or a tool's. It may be called until the
	// call has ended, by the goroutine that drives it.
	Carrier func(message int) (text string, ok bool)
	// System is the place of the first system message, counted from 1.
	System int

	// History yields the tool calls of the request, newest first. It is asked
	// at most once per decision, and only if the decision needs the todos: for
	// a stream, while it is read. The todo source reads it, so that it has to
	// stay valid until the call has ended.
	History iter.Seq[todo.Call]
}

// traits are what of a request is looked at until the end of its call.
type traits struct {
	ownPause    bool
	strictTools bool
	takesPause  bool
	noFinish    bool
	shortLoop   bool

	messages int
	carrier  func(message int) (string, bool)
	system   int
	history  iter.Seq[todo.Call]
}

func (r *Request) traits() traits {
	return traits{
		ownPause: r.OwnPause, strictTools: r.StrictTools, takesPause: r.takesPause(),
		noFinish: r.NoFinish, shortLoop: r.ShortLoop,
		messages: r.Messages, carrier: r.Carrier, system: r.System, history: r.History,
	}
}

// ToolChoice is what a request says about calling tools.
type ToolChoice uint8

// The tool choices. Only with ToolChoiceAuto can a turn be continued: the
// others leave the model no say in whether it calls a tool.
const (
	ToolChoiceAuto     ToolChoice = iota // the model decides; also among allowed tools
	ToolChoiceNone                       // no tool may be called
	ToolChoiceRequired                   // some tool must be called
	ToolChoiceNamed                      // that tool must be called
)

// ToolChoiceOf reads a tool choice that is a word, as Chat Completions has it:
// "auto" or none at all, "none", "required" or "any". Any other is taken for the
// name of a tool.
func ToolChoiceOf(word string) ToolChoice {
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

// maxTools is how many tools providers take in one request.
const maxTools = 128

// scopeOf returns what puts the request out of scope, if anything does.
func (mw *Middleware) scopeOf(ctx context.Context, r *Request) continuation.Reason {
	switch {
	case scope.Suppressed(ctx):
		return continuation.ReasonSuppressed
	case scope.InLayer(ctx):
		return continuation.ReasonNested
	case r.Legacy:
		return continuation.ReasonLegacyFunctions
	case r.Tools == 0 && !r.TextAgent && !r.Toolless && !mw.options.toolless:
		return continuation.ReasonNoTools
	case r.Choice != ToolChoiceAuto:
		return continuation.ReasonToolChoice
	case r.N > 1:
		return continuation.ReasonManyChoices
	case r.JSON:
		return continuation.ReasonJSON
	}
	return continuation.ReasonNone
}

// takesPause reports whether todo_pause may be added to the request. A first
// tool is never added: some models are refused tools altogether.
func (r *Request) takesPause() bool {
	return !r.OwnPause && r.Tools > 0 && r.Tools < maxTools
}

// loopUser returns the part of a tool loop's key that the user has written. A
// text agent's one message grows in the loop, and what it has as FirstCall
// begins with the message.
func (r *Request) loopUser() string {
	if r.TextAgent {
		return ""
	}
	return r.User
}

func (r *Request) userTurn(ctx context.Context) continuation.UserTurn {
	if scope.IsAutomatic(ctx) {
		return continuation.UserTurn{}
	}
	if id, ok := scope.UserTurn(ctx); ok {
		return continuation.NamedUserTurn(id)
	}
	if r.TextAgent {
		return continuation.GrowingUserTurnOf(r.Users, r.User)
	}
	return continuation.UserTurnOf(r.Users, r.User)
}
