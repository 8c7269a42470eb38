package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Limits of the world.
const (
	worldAttempts = 2
	worldPerTurn  = 4
	worldInterval = 900 * time.Millisecond // five of them, before a third try, are less than a store rests
)

var worldSessions = [...]string{"alpha", "omega"}

// world is a program with a few sessions, seen from outside. Its calls run one at a
// time: each advances when it is told to, up to the next place where something else
// could happen, and the plan decides what happens there. The world compares what the
// engine does with what it has seen itself.
type world struct {
	mw      *middleware.Middleware
	now     time.Time
	plan    []byte
	script  func(*run) int // what a turn of the call says, in place of the plan
	runs    []*run
	current *run // nil while no call goes on
	down    bool // the store is
	rules   map[string]*rules
	broken  []string // what should not have been
}

// run is a call that has not ended.
type run struct {
	w       *world
	session string
	turn    int // of the user
	stream  bool

	yield     func(struct{}) bool
	resume    func() (struct{}, bool)
	stop      func()
	cancel    context.CancelFunc
	closing   func() error // of the stream, once there is one
	halted    bool         // it is to come to its end without any more stops
	left      bool         // the caller wants no more of it
	over      bool
	arrived   bool
	storing   bool // it waits for the store
	epoch     int
	seen      []todo.Todo // the list as it was told last
	enabled   bool        // the setting was on when the call went on, or when it did so the time before
	wasOn     bool
	committed bool      // the last thing it stored was a claim
	flying    bool      // a continuation of its own runs
	since     time.Time // of its last claim, which lapses some time after
	texts     int
	outcome   middleware.Outcome
	shown     string
}

func newWorld(plan []byte) *world {
	w := &world{now: time.Unix(1_700_000_000, 0), plan: plan, rules: map[string]*rules{}}
	for _, session := range worldSessions {
		w.rules[session] = &rules{w: w, session: session, on: true, todos: []todo.Todo{
			{ID: "1", Content: session + " a", Status: todo.InProgress}, {ID: "2", Content: session + " b", Status: todo.Pending},
		}}
	}
	w.mw = middleware.New(todo.ProviderFunc(w.list), middleware.WithSessionStore(w), middleware.WithClock(w),
		middleware.WithGate(func(context.Context, middleware.NextTurn) error { w.park(); return nil }),
		middleware.WithLimits(continuation.Limits{
			MaxAttempts: worldAttempts, MaxWithoutProgress: worldPerTurn, MinInterval: worldInterval,
			ResponseTimeout: continuation.Off, FirstByteTimeout: continuation.Off,
		}))
	return w
}

func (w *world) fail(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// take returns the next byte of the plan, and 0 behind its end.
func (w *world) take() int {
	if len(w.plan) == 0 {
		return 0
	}
	b := w.plan[0]
	w.plan = w.plan[1:]
	return int(b)
}

// park stops a call at a place where something else could happen.
func (w *world) park() {
	if r := w.current; r != nil && !r.halted && !r.yield(struct{}{}) {
		r.halted = true
	}
}

// begin begins a call, and advances it to its first stop.
func (w *world) begin(session string, stream, nextTurn bool) *run {
	s := w.rules[session]
	turn := max(s.turn, 1)
	if nextTurn {
		s.newest++
		turn = s.newest
	}
	s.newest = max(s.newest, turn)
	ctx, cancel := context.WithCancel(continuation.WithSession(context.Background(), session))
	r := &run{w: w, session: session, turn: turn, stream: stream, cancel: cancel, enabled: s.on, wasOn: s.on}
	r.resume, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		r.call(ctx)
	})
	w.runs = append(w.runs, r)
	w.goOn(r)
	return r
}

// goOn advances a call to its next stop.
func (w *world) goOn(r *run) {
	if r.over {
		return
	}
	r.wasOn, r.enabled = r.enabled, w.rules[r.session].on
	r.committed = false
	w.current = r
	_, more := r.resume()
	w.current = nil
	r.over = !more
}

// halt ends a call that nobody waits for any more.
func (w *world) halt(r *run) {
	r.cancel()
	synctest.Wait()
	if !r.over {
		r.halted, r.over = true, true
		w.current = r
		r.stop()
		w.current = nil
	}
}

// call runs the call.
func (r *run) call(ctx context.Context) {
	ctx, outcomes := middleware.Capture(ctx)
	request := sdkRequest{Tools: []sdkTool{{Name: "edit_file"}}}
	for n := range r.turn {
		request.Messages = append(request.Messages, sdkMessage{Role: "user", Text: fmt.Sprint(r.session, " message ", n)})
	}
	call := begin(ctx, r.w.mw, describe(request))
	if r.stream {
		r.read(call)
	} else {
		answer, _ := join.Unary(call, &answers{usageTotals: newUsageTotals()}, r.ask)
		r.shown = answer.Text
	}
	r.outcome = outcomes.Last()
}

// read runs a streamed call.
func (r *run) read(call *join.Call) {
	first, err := r.open(call.Context(), nil)
	if err != nil {
		call.Abort(err)
		return
	}
	stream := join.NewStream(call, &chunks{usageTotals: newUsageTotals()}, first, r.open)
	r.closing = stream.Close
	for {
		chunk, err := stream.Recv()
		if err != nil {
			break
		}
		r.shown += chunk.Text
	}
	_ = stream.Close()
}

// ask returns the model's answer.
func (r *run) ask(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
	if k != nil {
		r.w.rules[r.session].sent(r, k)
	}
	r.w.park()
	if err := ctx.Err(); err != nil || r.halted {
		r.flying = false
		return sdkAnswer{}, errors.Join(err, errors.New("gone"))
	}
	answer, err := r.says()
	if k != nil && !r.stream {
		r.flying = false
	}
	return answer, err
}

// says returns one of the possible answers.
func (r *run) says() (sdkAnswer, error) {
	r.texts++
	choice := r.w.take()
	if r.w.script != nil {
		choice = r.w.script(r)
	}
	switch choice % 10 {
	case 0, 1, 2:
		return says(fmt.Sprint(r.session, " says ", r.texts, " things:")), nil
	case 3:
		return says(r.session + " says the same:"), nil
	case 4, 5:
		r.w.rules[r.session].returned++
		return calls(edit(fmt.Sprint("c", r.texts))), nil
	case 6:
		return calls(pauses(r.session + ": " + blocked)), nil
	case 7:
		return calls(pauses("stuck")), nil
	case 8:
		r.w.rules[r.session].returned++
		return sdkAnswer{Text: r.session + " says half"}, nil // and no finish
	}
	r.w.rules[r.session].returned++
	return sdkAnswer{}, errors.New("overloaded")
}

// open is ask for streams.
func (r *run) open(ctx context.Context, k *adapter.Continuation) (adapter.Source[sdkChunk], error) {
	answer, err := r.ask(ctx, k)
	if err != nil {
		r.flying = false
		return nil, err
	}
	s := &worldStream{r: r, sdkStream: sdkStream{ctx: ctx}}
	if answer.Text != "" {
		s.chunks = append(s.chunks, sdkChunk{ID: "a", Text: answer.Text})
	}
	for i, call := range answer.Calls {
		call.Index = i
		s.chunks = append(s.chunks, sdkChunk{ID: "a", Calls: []sdkCall{call}})
	}
	if answer.Stop != "" {
		s.chunks = append(s.chunks, sdkChunk{ID: "a", Stop: answer.Stop, Usage: &answer.Usage})
	}
	return s, nil
}

// worldStream stops before each chunk.
type worldStream struct {
	sdkStream

	r *run
}

func (s *worldStream) Recv() (sdkChunk, error) {
	s.r.w.park()
	if s.r.halted || s.r.left {
		s.r.flying = false
		return sdkChunk{}, io.ErrUnexpectedEOF
	}
	chunk, err := s.sdkStream.Recv()
	if err != nil || chunk.Stop != "" {
		s.r.flying = false
	}
	return chunk, err
}

// list is the source of todos.
func (w *world) list(ctx context.Context) ([]todo.Todo, error) {
	session := continuation.Session(ctx)
	if w.current != nil && w.current.session != session {
		w.fail("session %q asks for the list of %q", w.current.session, session)
	}
	w.park()
	todos := slices.Clone(w.rules[session].todos)
	if w.current != nil {
		w.current.seen = todos
	}
	return todos, nil
}

// Now implements clock.Clock.
func (w *world) Now() time.Time { return w.now }

// AfterFunc implements clock.Clock. The wait for one or five intervals is a place to stop
// at, any number of times; no other timer fires, because the model is never too slow.
func (w *world) AfterFunc(d time.Duration, f func()) clock.Timer {
	r := w.current
	if d > 5*worldInterval || r == nil {
		return worldTimer{}
	}
	for until := w.now.Add(d); w.now.Before(until) && !r.halted && !r.left; {
		w.park()
	}
	if !r.halted && !r.left {
		f()
	}
	return worldTimer{}
}

type worldTimer struct{}

func (worldTimer) Stop() bool               { return true }
func (worldTimer) Reset(time.Duration) bool { return true }

// Update implements session.Store.
func (w *world) Update(ctx context.Context, key string, f func(decision.State) decision.State) error {
	s := w.rules[key]
	if s == nil {
		w.fail("there is no session %q", key)
		return nil
	}
	if r := w.current; r != nil {
		r.storing = true
		w.park()
		r.storing = false
	}
	if w.down {
		s.failed = true
		return errors.New("the store is down")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before := s.state
	f(before) // it may run more than once
	s.state = f(before)
	s.changed(w.current, before, s.state)
	return nil
}

// quit makes the caller give up a call: it closes the stream, or cancels the ctx.
func (w *world) quit(r *run, cancel bool) {
	r.left, r.flying = true, false
	if cancel || r.closing == nil || r.storing { // else Close waits for what is being stored
		r.cancel()
		synctest.Wait() // the claim is given up meanwhile
	} else {
		_ = r.closing()
	}
	if s := w.rules[r.session]; s.holder == r && s.state.Claim.Token != 0 && !s.failed && !r.storing {
		w.fail("session %q is left active by a call that nobody wants any more", r.session)
	}
}

// others checks that a text contains nothing of another session.
func (w *world) others(session, what, text string) {
	for _, other := range worldSessions {
		if other != session && strings.Contains(text, other+" ") {
			w.fail("%s of session %q has something of %q: %q", what, session, other, text)
		}
	}
}
