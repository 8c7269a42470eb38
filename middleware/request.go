package middleware

import (
	"context"
	"iter"
	"math"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
)

// traits are the parts of a request that are needed until the end of its call.
type traits struct {
	ownPause    bool
	strictTools bool
	takesPause  bool // todo_pause may be added
	noFinish    bool
	saysDone    bool
	shortLoop   bool
	noSeparator bool

	shortMessage bool // the user's newest message is short and asks nothing

	size       int   // of its texts
	messages   int32 // how many there are
	system     int32 // the number of the system message, 0 for none
	attachable func(message int) (string, bool)
	history    iter.Seq[adapter.Entry]
	toolNames  adapter.ToolNamer
}

// traitsOf returns the traits of a request. Nothing is joined to the messages of one
// with a fixed prefix. A request without tools never gets a first one: some models
// reject any tool.
func traitsOf(r *adapter.Request) traits {
	if r.FixedPrefix {
		r.Attachable = nil
	}
	return traits{
		ownPause: r.OwnPause, strictTools: r.StrictTools,
		takesPause: !r.OwnPause && r.Tools > 0 && r.Tools < maxTools,
		noFinish:   r.NoFinish, saysDone: r.SaysDone, shortLoop: r.ShortLoop, noSeparator: r.NoSeparator,
		shortMessage: handback.AnswersOnly(r.User),
		size:         max(0, min(r.Size, math.MaxInt/2)),
		messages:     int32(min(r.Messages, math.MaxInt32)), system: int32(min(r.System, math.MaxInt32)), //nolint:gosec // in range
		attachable: r.Attachable, history: r.History,
		toolNames: r.ToolNames,
	}
}

// maxTools is how many tools providers accept in one request.
const maxTools = 128

func userTurnOf(ctx context.Context, r *adapter.Request) session.UserTurn {
	if scope.IsAutomatic(ctx) {
		return session.UserTurn{}
	}
	if id, ok := scope.UserTurn(ctx); ok {
		return session.NamedUserTurn(id)
	}
	if r.TextAgent {
		return session.GrowingUserTurnOf(r.Users, r.User)
	}
	turn := session.UserTurnOf(r.Users, r.User)
	if r.Unanswered {
		turn = turn.Unanswered(r.Previous)
	}
	return turn
}
