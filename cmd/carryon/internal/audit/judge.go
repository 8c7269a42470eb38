package audit

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// engine is carryon's own engine in a dry run, once for each mode.
type engine struct {
	list           todo.Provider
	standard, yolo *middleware.Middleware
}

func newEngine() *engine {
	e := &engine{list: todo.FromConversation()}
	in := func(mode continuation.ApprovalMode) *middleware.Middleware {
		return middleware.New(e.list, middleware.WithDryRun(), middleware.WithApprovalMode(mode),
			middleware.WithLogger(slog.New(slog.DiscardHandler)), middleware.WithTodoTimeout(time.Hour))
	}
	e.standard, e.yolo = in(continuation.ApprovalDefault), in(continuation.ApprovalYOLO)
	return e
}

// decide returns what carryon would have decided about the turn of a conversation that has just ended.
func (*engine) decide(mw *middleware.Middleware, c *conversation) (middleware.Outcome, error) {
	ctx := continuation.WithSession(context.Background(), c.file)
	call, outcome := mw.Begin(ctx, c.request())
	if call == nil {
		return outcome, nil
	}
	_, err := middleware.Unary(call, dialect{}, func(context.Context, *adapter.Continuation) (reply, error) {
		return reply{text: string(c.answer.text), finish: c.answer.finish}, nil
	})
	return call.Outcome(), err
}

// request describes the request that the turn has answered.
func (c *conversation) request() adapter.Request {
	return adapter.Request{
		Tools: 1, NoFinish: c.answer.finish == "", Users: c.users, User: c.user, Unanswered: c.afterUser,
		Messages: c.dropped + len(c.entries), Size: c.bytes, History: c.history(),
	}
}

// reply is an answer of the model, as the engine reads it.
type reply struct{ text, finish string }

// dialect reads replies. In a dry run nothing is shown.
type dialect struct{}

func (dialect) Read(r *reply, t adapter.TurnReader) {
	t.Text(r.text)
	if r.finish != "" {
		t.Finish(r.finish)
	}
}

func (dialect) AppendShown(dst []reply, r *reply, _ *adapter.Edit) []reply { return append(dst, *r) }
func (dialect) Clone(r *reply) reply                                       { return *r }
func (dialect) EndTurn(bool)                                               {}

// judge counts the turns of one conversation.
type judge struct {
	engine *engine
	tally  *tally
	open   bool  // the last turn ended with work left
	turn   *Turn // that turn, if it may be shown
}

// userSaid counts a message of the user.
func (j *judge) userSaid(c *conversation, text string) {
	goesOn := j.open && saysGoOn(text)
	j.tally.of(c.agent, func(counts *Counts) {
		counts.UserTurns++
		if goesOn {
			counts.TypedContinue++
		}
	})
	if goesOn && j.turn != nil {
		j.turn.Said = strings.TrimSpace(text)
		j.turn.telling += len(kinds)
	}
	j.flush()
}

// flush keeps the last turn.
func (j *judge) flush() {
	if j.turn != nil {
		j.tally.show(j.turn)
	}
	j.open, j.turn = false, nil
}

// turnEnded counts a turn.
func (j *judge) turnEnded(c *conversation, broke bool) {
	j.flush()
	if !j.tally.isNew(c.agent, c.answer.id) {
		return
	}
	standard, err := j.engine.decide(j.engine.standard, c)
	yolo, err2 := j.engine.decide(j.engine.yolo, c)
	if err != nil || err2 != nil {
		panic(fmt.Sprint("audit: an answer that is there fails: ", err, err2))
	}
	kind := kindOf(&standard, c, broke)
	j.open = standard.List.Active > 0
	j.tally.of(c.agent, func(counts *Counts) {
		counts.Ended++
		switch {
		case standard.Reason == continuation.ReasonListUnreadable:
			counts.Unreadable++
		case standard.List.Err == nil && standard.List.Todos > 0:
			counts.WithList++
		}
		if !j.open {
			return
		}
		counts.Open++
		*counts.count(kind)++
		if !broke {
			counts.Standard.sends(&standard, c)
			counts.YOLO.sends(&yolo, c)
		}
	})
	if j.open {
		ctx := todo.WithConversation(context.Background(), adapter.Calls(c.history()))
		list, err := j.engine.list.Todos(ctx)
		if err == nil {
			j.turn = newTurn(c, kind, list)
		}
	}
}

// kindOf returns the kind of a turn that ended with work left.
func kindOf(standard *middleware.Outcome, c *conversation, broke bool) string {
	if broke {
		return "interrupted"
	}
	switch standard.Reason { //nolint:exhaustive // the others are other
	case continuation.ReasonAsksUser:
		return "asked"
	case continuation.ReasonBackground, continuation.ReasonOthersWork:
		return "waits"
	case continuation.ReasonListUntouched:
		return "untouched"
	case continuation.ReasonSatisfied:
		if stalls(c.answer.text) {
			return "stalled"
		}
		return "unticked"
	}
	return "other"
}

// promptTokens is roughly how many tokens a prompt of carryon has.
const promptTokens = 200

// sends counts a continuation, if there would have been one.
func (w *Would) sends(outcome *middleware.Outcome, c *conversation) {
	if outcome.Reason != continuation.ReasonSatisfied {
		return
	}
	w.Continuations++
	w.Tokens += promptTokens
	if c.tokens > 0 {
		w.Tokens += c.tokens
	} else {
		const bytesPerToken = 4
		w.Tokens += c.bytes / bytesPerToken
	}
}
