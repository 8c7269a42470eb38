package adaptertest

import (
	"context"
	"errors"
	"io"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// modelTurn is the model's answer in one turn of a played call.
type modelTurn struct {
	text   []string // in pieces
	calls  []Call
	finish string
	usage  *adapter.Usage
	fails  bool   // with errPlayed, in place of the finish
	noID   bool   // the first chunk has no id
	one    bool   // all of it comes in a single chunk
	weave  bool   // the fragments of the calls alternate
	stop   string // the name of the stop that follows the text
}

// errPlayed is the error of a turn that is meant to fail.
var errPlayed = errors.New("adaptertest: the turn was made to fail")

// says is a turn of text that stops.
func says(text ...string) modelTurn {
	return modelTurn{text: text, finish: "stop", usage: tokensOf(10, 5)}
}

// calls is a turn that calls tools. The calls are numbered in order.
func calls(list ...Call) modelTurn {
	for i := range list {
		list[i].Index, list[i].Type = i, "function"
	}
	return modelTurn{calls: list, finish: "tool_calls", usage: tokensOf(20, 8)}
}

// performance is the result of a played call.
type performance[C any] struct {
	given   []View // what the source gave, turn 1 only
	shown   []View // what the caller saw
	err     error
	outcome middleware.Outcome
	sent    []*adapter.Continuation
	events  *carryontest.Recorder
}

// play plays a call through the engine, with the dialect under test.
func (t *trial[C]) play(options []middleware.Option, turns ...modelTurn) *performance[C] {
	p := &performance[C]{events: carryontest.NewRecorder()}
	todos := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress})
	options = append([]middleware.Option{
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: max(len(turns)-1, 1)}),
		middleware.WithObserver(p.events.Observer()),
		middleware.WithApprovalMode(continuation.ApprovalYOLO), // the turns of the script neither ask nor announce anything
	}, options...)
	call, _ := join.Begin(t.ctx, middleware.New(todos, options...), adapter.Request{
		Tools: 1, Users: 1, User: "Write the parser.", NoFinish: t.Kind != Callbacks && t.Lacks.Finish,
	})
	switch t.Kind {
	case Answers:
		t.playWhole(p, call, turns)
	case Callbacks:
		t.playCallback(p, call, turns)
	default:
		t.playChunks(p, call, turns)
	}
	p.outcome = call.Outcome()
	return p
}

func (t *trial[C]) playChunks(p *performance[C], call *join.Call, turns []modelTurn) {
	source := func(number int) *playedSource[C] {
		s := &playedSource[C]{chunks: t.chunks(turns[number], number), reuse: t.overwrite}
		if turns[number].fails {
			s.err = errPlayed
		}
		return s
	}
	first := source(0)
	for _, c := range first.chunks {
		p.given = append(p.given, t.View(c))
	}
	stream := join.NewStream(call, t.New(), first,
		func(_ context.Context, k *adapter.Continuation) (adapter.Source[C], error) {
			p.sent = append(p.sent, k)
			if len(p.sent) >= len(turns) {
				return nil, errPlayed
			}
			return source(len(p.sent)), nil
		})
	defer stream.Close() //nolint:errcheck // the sources have nothing to close
	for {
		c, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.err = err
			}
			return
		}
		p.shown = append(p.shown, t.View(c))
	}
}

// chunks returns the turn as the SDK would stream it.
func (t *trial[C]) chunks(m modelTurn, number int) []C {
	var chunks []C
	for _, v := range t.chunksOf(m, number) {
		chunks = append(chunks, t.make(v))
		if v.Text != "" && m.stop != "" {
			chunks = append(chunks, t.Stops[m.stop])
		}
	}
	return chunks
}

// overwrite is how a source changes a chunk that it gave once the next one is asked for.
func (t *trial[C]) overwrite(c *C) {
	t.New().AppendShown(nil, c, &adapter.Edit{Text: "Overwritten.", Finish: "overwritten"})
}

func (t *trial[C]) playWhole(p *performance[C], call *join.Call, turns []modelTurn) {
	answer, err := join.Unary(call, t.New(), func(_ context.Context, k *adapter.Continuation) (C, error) {
		if k != nil {
			p.sent = append(p.sent, k)
		}
		number := len(p.sent)
		if number >= len(turns) || turns[number].fails {
			var none C
			return none, errPlayed
		}
		v := t.known(turns[number].whole(number))
		if number == 0 {
			p.given = []View{v}
		}
		if name := turns[number].stop; name != "" {
			return t.Stops[name], nil
		}
		return t.Make(v), nil
	})
	p.shown, p.err = []View{t.View(answer)}, err
}

func (t *trial[C]) playCallback(p *performance[C], call *join.Call, turns []modelTurn) {
	filter := join.NewFilter(t.New(), func(c C) error {
		p.shown = append(p.shown, t.View(c))
		return nil
	})
	_, p.err = join.Unary(call, plainAnswers{}, func(_ context.Context, k *adapter.Continuation) (modelTurn, error) {
		if k != nil {
			p.sent = append(p.sent, k)
		}
		number := len(p.sent)
		if number >= len(turns) {
			return modelTurn{}, errPlayed
		}
		for _, v := range t.distinct(t.chunksOf(turns[number], number)...) {
			if number == 0 {
				p.given = append(p.given, v)
			}
			c := t.Make(v)
			if err := filter.Chunk(c); err != nil {
				return modelTurn{}, err
			}
			t.overwrite(&c)
		}
		if turns[number].fails {
			return modelTurn{}, errPlayed
		}
		return turns[number], nil
	}, filter)
}

// whole returns the turn as one answer.
func (m modelTurn) whole(number int) View {
	v := View{ID: idOf(number), Role: "assistant", Calls: m.calls, Finish: m.finish, Usage: m.usage}
	for _, piece := range m.text {
		v.Text += piece
	}
	return v
}

func idOf(number int) string {
	return []string{"first", "second", "third", "fourth"}[number]
}

// chunksOf returns the turn as a stream.
func (t *trial[C]) chunksOf(m modelTurn, number int) []View {
	id := idOf(number)
	if m.one && !t.OneThing {
		return []View{m.whole(number)}
	}
	views := []View{{ID: id, Role: "assistant"}}
	if m.noID {
		views[0].ID = ""
	}
	for _, piece := range m.text {
		views = append(views, View{ID: id, Text: piece})
	}
	for _, fragment := range fragments(m.calls, m.weave) {
		views = append(views, View{ID: id, Calls: []Call{fragment}})
	}
	if m.fails {
		return views
	}
	if m.finish != "" {
		views = append(views, View{ID: id, Finish: m.finish})
	}
	if m.usage != nil {
		// Make drops Bare if the type has no chunks without choices.
		views = append(views, View{ID: id, Usage: m.usage, Bare: true})
	}
	return views
}

// fragments cuts calls: each into a header and two halves of its arguments.
func fragments(list []Call, weave bool) []Call {
	const pieces = 3
	cut := make([]Call, 0, pieces*len(list))
	for _, call := range list {
		half := len(call.Arguments) / 2
		header, first, second := call, Call{Index: call.Index}, Call{Index: call.Index}
		header.Arguments = ""
		first.Arguments, second.Arguments = call.Arguments[:half], call.Arguments[half:]
		cut = append(cut, header, first, second)
	}
	if !weave {
		return cut
	}
	woven := make([]Call, 0, len(cut))
	for piece := range pieces {
		for at := piece; at < len(cut); at += pieces {
			woven = append(woven, cut[at])
		}
	}
	return woven
}

// playedSource gives chunks, and reuses their memory.
type playedSource[C any] struct {
	chunks []C
	next   int
	reuse  func(*C)
	err    error // in place of io.EOF
}

func (s *playedSource[C]) Recv() (c C, err error) {
	if s.next > 0 && s.next <= len(s.chunks) {
		s.reuse(&s.chunks[s.next-1])
	}
	s.next++
	switch {
	case s.next <= len(s.chunks):
		return s.chunks[s.next-1], nil
	case s.err != nil:
		return c, s.err
	}
	return c, io.EOF
}

func (s *playedSource[C]) Close() error { return nil }

// plainAnswers is the dialect of the whole answers beside a callback.
type plainAnswers struct{}

func (plainAnswers) Read(m *modelTurn, s adapter.TurnReader) {
	for _, piece := range m.text {
		s.Text(piece)
	}
	for _, call := range m.calls {
		s.Call(call.Index, call.ID, call.Name, call.Arguments)
	}
	s.Finish(m.finish)
}

func (plainAnswers) AppendShown(dst []modelTurn, m *modelTurn, _ *adapter.Edit) []modelTurn {
	return append(dst, *m)
}

func (plainAnswers) Clone(m *modelTurn) modelTurn { return *m }
func (plainAnswers) EndTurn(bool)                 {}
