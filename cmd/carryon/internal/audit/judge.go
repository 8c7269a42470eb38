package audit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/agentlists"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// engine is carryon's own engine in a dry run, once for each mode.
type engine struct {
	lists          todo.Locator
	standard, yolo *middleware.Middleware
}

func newEngine() *engine {
	lists, _ := todo.FromConversation(agentlists.Readers()...).(todo.Locator) // as its documentation says
	in := func(mode continuation.ApprovalMode) *middleware.Middleware {
		return middleware.New(located{}, middleware.WithDryRun(), middleware.WithApprovalMode(mode),
			middleware.WithLogger(slog.New(slog.DiscardHandler)), middleware.WithLimits(continuation.Limits{TodoTimeout: time.Hour}))
	}
	return &engine{lists: lists, standard: in(continuation.ApprovalDefault), yolo: in(continuation.ApprovalYOLO)}
}

// list is the todo list at the end of a turn, or why there is none.
type list struct {
	todos  []todo.Todo
	origin todo.Origin
	err    error
}

type listKey struct{}

// located is a source that has been read already, since both modes need the same list: it is in the ctx.
type located struct{}

func (located) Todos(ctx context.Context) ([]todo.Todo, error) {
	todos, _, err := located{}.Locate(ctx)
	return todos, err
}

func (located) Locate(ctx context.Context) ([]todo.Todo, todo.Origin, error) {
	l, _ := ctx.Value(listKey{}).(list)
	return l.todos, l.origin, l.err
}

// read reads the list of a conversation.
func (e *engine) read(c *conversation) (l list) {
	ctx := todo.WithConversation(continuation.WithSession(context.Background(), c.file), reading.CallsOf(c.history()))
	l.todos, l.origin, l.err = e.lists.Locate(ctx)
	return l
}

// decide returns what carryon would have decided about the turn of a conversation that has just ended.
func (*engine) decide(mw *middleware.Middleware, c *conversation, l list) middleware.Outcome {
	ctx := context.WithValue(continuation.WithSession(context.Background(), c.file), listKey{}, l)
	call, outcome := join.Begin(ctx, mw, c.request())
	if call == nil {
		return outcome
	}
	_, _ = join.Unary(call, dialect{}, func(context.Context, *adapter.Continuation) (reply, error) {
		return reply{text: string(c.answer.text), finish: c.answer.finish, usage: c.usage}, nil
	}) // which returns that reply
	return call.Outcome()
}

// request describes the request that the turn has answered.
func (c *conversation) request() adapter.Request {
	return adapter.Request{
		Tools: 1, NoFinish: c.answer.finish == "", Users: c.users, User: c.user, Unanswered: c.afterUser,
		Messages: c.dropped + len(c.entries), Size: c.bytes, History: c.history(),
	}
}

// reply is an answer of the model, as the engine reads it.
type reply struct {
	text, finish string
	usage        adapter.Usage
}

// dialect reads replies. In a dry run nothing is shown.
type dialect struct{}

func (dialect) Read(r *reply, t adapter.TurnReader) {
	t.Text(r.text)
	if r.usage != (adapter.Usage{}) {
		t.Usage(r.usage)
	}
	if r.finish != "" {
		t.Finish(r.finish)
	}
}

func (dialect) AppendShown(dst []reply, r *reply, _ *adapter.Edit) []reply { return append(dst, *r) }
func (dialect) Clone(r *reply) reply                                       { return *r }
func (dialect) EndTurn(bool)                                               {}

// judge counts the turns of one conversation. Nobody knows before its end whether it counts.
type judge struct {
	engine *engine
	tally  *tally
	judged int   // turns
	open   bool  // the last turn ended with work left
	turn   *Turn // that turn, if it may be shown

	counts  Counts
	turns   []Turn // that may be shown
	skipped Skipped
}

// userSaid counts a message of the user.
func (j *judge) userSaid(c *conversation, id, text string) {
	text = automatic.Own(text)
	goesOn := j.open && handback.SaysGoOn(text)
	if j.tally.isNew(c.agent, "user", id) {
		j.counts.UserTurns++
		if goesOn {
			j.counts.TypedContinue++
		}
	}
	if goesOn && j.turn != nil {
		j.turn.Said = text
		j.turn.telling += len(kinds)
	}
	j.flush()
}

// flush keeps the last turn.
func (j *judge) flush() {
	if j.turn != nil {
		j.turns = append(j.turns, *j.turn)
	}
	j.open, j.turn = false, nil
}

// maxJudged is how many turns of a session are judged. Long lists of many small changes take milliseconds each.
const maxJudged = 1000

// turnEnded counts a turn, unless another transcript has it too. What follows it may be in this one only.
func (j *judge) turnEnded(c *conversation, broke bool) {
	j.flush()
	j.judged++
	isNew := j.tally.isNew(c.agent, "answer", c.answer.id)
	if j.judged > maxJudged {
		j.skipped.Turns++
		return
	}
	l := j.engine.read(c)
	count := func(f func(*Counts)) {
		if isNew {
			f(&j.counts)
		}
	}
	count(func(counts *Counts) {
		counts.Ended++
		switch {
		case errors.Is(l.err, todo.ErrUnreadable):
			counts.Unreadable++
		case l.err == nil && len(l.todos) > 0:
			counts.WithList++
		}
	})
	if !isNew {
		j.skipped.Copies++
	}
	if slices.ContainsFunc(l.todos, func(t todo.Todo) bool { return t.Status.Active() }) {
		j.workLeft(c, l, broke, count)
	}
}

// workLeft counts a turn that has ended with work left.
func (j *judge) workLeft(c *conversation, l list, broke bool, count func(func(*Counts))) {
	standard, yolo := j.engine.decide(j.engine.standard, c, l), j.engine.decide(j.engine.yolo, c, l)
	kind := kindOf(&standard, c, broke)
	j.open, j.turn = true, newTurn(c, kind, l.todos)
	count(func(counts *Counts) {
		counts.Open++
		*counts.count(kind)++
		if !broke {
			counts.Standard.add(wouldSend(&standard))
			counts.YOLO.add(wouldSend(&yolo))
		}
	})
}

// kindOf returns the kind of a turn that ended with work left.
func kindOf(standard *middleware.Outcome, c *conversation, broke bool) string {
	if broke {
		return "interrupted"
	}
	switch standard.Reason { //nolint:exhaustive // the others are other
	case reasons.AsksUser:
		return "asked"
	case reasons.Background, reasons.OthersWork:
		return "waits"
	case reasons.ListUntouched:
		return "untouched"
	case reasons.LeftToUser:
		return "asked"
	case reasons.Satisfied:
		if stalls(c.answer.text) {
			return "stalled"
		}
		return "unticked"
	}
	return "other"
}

// wouldSend returns the continuation that there would have been, if any.
func wouldSend(outcome *middleware.Outcome) Would {
	return Would{Continuations: outcome.Worth.Unsent, Estimate: outcome.Worth.Estimate}
}
