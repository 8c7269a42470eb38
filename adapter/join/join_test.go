package join_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
)

// unhurried makes continuations follow at once.
var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// begin begins a call that carryon may continue.
func begin(t *testing.T, r adapter.Request, options ...middleware.Option) *join.Call {
	t.Helper()
	r.Tools = 1
	call, outcome := join.Begin(t.Context(), middleware.New(openTodo, append([]middleware.Option{unhurried}, options...)...), r)
	require.NotNil(t, call, outcome.Reason)
	return call
}

// source is an answer that ends with an error, and counts how often it is closed.
type source struct {
	answer
	err    error
	closed int
}

func (s *source) Recv() (piece, error) {
	p, err := s.answer.Recv()
	if errors.Is(err, io.EOF) && s.err != nil {
		return piece{}, s.err
	}
	return p, err
}

func (s *source) Close() error {
	s.closed++
	return nil
}

// joined is a stream with what it was asked to send.
type joined struct {
	*join.Stream[piece]

	sent []*adapter.Continuation
}

// stream joins the turns into a stream.
func stream(call *join.Call, turns ...*source) *joined {
	j := new(joined)
	j.Stream = join.NewStream(call, newPieces(), turns[0],
		func(_ context.Context, k *adapter.Continuation) (adapter.Source[piece], error) {
			j.sent = append(j.sent, k)
			return turns[len(j.sent)], nil
		})
	return j
}

// read reads the stream to its end, and puts its chunks together.
func (j *joined) read() (whole piece, err error) {
	for {
		p, err := j.Recv()
		if err != nil {
			return whole, err
		}
		whole.Text += p.Text
		whole.Tool += p.Tool
		whole.Stop += p.Stop
		whole.Tokens += p.Tokens
	}
}

func TestStreamIsOneAnswer(t *testing.T) {
	t.Parallel()
	turns := []*source{
		{answer: answer{{ID: "a1", Text: "One:\n"}, {Stop: "end_turn", Tokens: 3}}},
		{answer: answer{{ID: "a2", Text: "Two."}, {Tool: "edit_file"}, {Stop: "tools", Tokens: 4}}},
	}
	s := stream(begin(t, adapter.Request{}), turns...)
	whole, err := s.read()
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, piece{Text: "One:\n\nTwo.", Tool: "edit_file", Stop: "tools", Tokens: 7}, whole, "one line break is missing")
	require.Len(t, s.sent, 1)
	assert.Equal(t, "One:", s.sent[0].Text)
	assert.True(t, s.Ended())
	require.NoError(t, s.Close())
	for _, turn := range turns {
		assert.Equal(t, 1, turn.closed)
	}
	_, err = s.Recv()
	require.ErrorIs(t, err, io.EOF, "it stays at its end")
}

func TestStreamEndsWellIfAContinuationFails(t *testing.T) {
	t.Parallel()
	broken := func(text string) *source {
		s := &source{err: errors.New("connection reset")}
		if text != "" {
			s.answer = answer{{Text: text}}
		}
		return s
	}
	for name, test := range map[string]struct {
		turns []*source
		want  piece
		sent  int
	}{
		"before anything of it is shown": {
			[]*source{{answer: answer{{Text: "One:"}, {Stop: "stop"}}}, broken(""), {answer: answer{{Tool: "edit_file"}, {Stop: "tools"}}}},
			piece{Text: "One:", Tool: "edit_file", Stop: "tools"},
			2,
		},
		"after a part of it": {
			[]*source{{answer: answer{{Text: "One:"}, {Stop: "stop"}}}, broken("Two")},
			piece{Text: "One:\n\nTwo", Stop: "stop"},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stream(begin(t, adapter.Request{}), test.turns...)
			whole, err := s.read()
			require.ErrorIs(t, err, io.EOF)
			assert.Equal(t, test.want, whole)
			assert.Len(t, s.sent, test.sent)
			require.NoError(t, s.Close())
		})
	}
}

// What the caller's own request costs, the caller pays: its error comes as it is.
func TestErrorOfTheCallersTurnIsTheirs(t *testing.T) {
	t.Parallel()
	reset := errors.New("connection reset")
	s := stream(begin(t, adapter.Request{}), &source{answer: answer{{Text: "One"}}, err: reset})
	whole, err := s.read()
	assert.Same(t, reset, err)
	assert.Equal(t, "One", whole.Text)
	assert.Equal(t, reasons.BrokeOff, s.Outcome().Reason)
	_, err = join.Unary(begin(t, adapter.Request{}), newPieces(), func(context.Context, *adapter.Continuation) (piece, error) {
		return piece{}, reset
	})
	assert.Same(t, reset, err)
}

func TestClosedStreamIsOver(t *testing.T) {
	t.Parallel()
	turn := &source{answer: answer{{Text: "One"}, {Text: "Two"}, {Stop: "stop"}}}
	s := stream(begin(t, adapter.Request{}), turn)
	_, err := s.Recv()
	require.NoError(t, err)
	require.NoError(t, s.Close())
	assert.Equal(t, 1, turn.closed)
	_, err = s.Recv()
	require.Error(t, err)
	assert.True(t, s.Ended())
	assert.Empty(t, s.sent)
}

// tryable is a source that has what it has.
type tryable struct{ source }

// TryRecv implements the method that makes a source one that can be tried.
func (s *tryable) TryRecv() (piece, bool) {
	if len(s.answer) == 0 {
		return piece{}, false
	}
	p, _ := s.answer.Recv()
	return p, true
}

func TestTryingNeitherWaitsNorContinues(t *testing.T) {
	t.Parallel()
	first := &tryable{source{answer: answer{{Text: "One:"}, {Stop: "stop"}}}}
	sent := 0
	s := join.NewStream(begin(t, adapter.Request{}), newPieces(), first,
		func(context.Context, *adapter.Continuation) (adapter.Source[piece], error) {
			sent++
			return &answer{{Tool: "edit_file"}, {Stop: "tools"}}, nil
		})
	p, ok := s.TryRecv()
	assert.True(t, ok)
	assert.Equal(t, "One:", p.Text)
	_, ok = s.TryRecv()
	assert.False(t, ok, "the finish is held back")
	assert.Zero(t, sent)
	p, err := s.Recv()
	require.NoError(t, err)
	assert.Equal(t, "edit_file", p.Tool)
	require.NoError(t, s.Close())
}

func TestRelayEndsWithTheFinish(t *testing.T) {
	t.Parallel()
	turns := []*source{{}, {answer: answer{{Text: "Two:"}, {Stop: "stop"}}}, {answer: answer{{Tool: "edit_file"}, {Stop: "tools"}}}}
	s := stream(begin(t, adapter.Request{Reasoning: true}), turns...)
	relay := s.Relay()
	require.NotNil(t, relay)
	relay.Reasoning("Hm.")
	relay.Text("One:")
	relay.Usage(adapter.Usage{Prompt: 5, Completion: 2})
	p, err := relay.Handle(piece{Stop: "stop"}, nil)
	require.NoError(t, err)
	assert.Equal(t, "\n\nTwo:", p.Text)
	assert.Nil(t, s.Relay())
	relay.Text("late")
	relay.Reasoning("late")
	_, err = s.read()
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, s.sent, 2)
	assert.Equal(t, "One:", s.sent[0].Text)
	assert.Equal(t, "One:\n\nTwo:", s.sent[1].Text)
	assert.Equal(t, "Hm.", s.sent[1].Reasoning)
	assert.Equal(t, 7, s.Outcome().Usage[0].Tokens())
	require.NoError(t, s.Close())
}

// A turn that only paused has stopped, in the word that the provider has for it.
func TestPauseIsAPlainStop(t *testing.T) {
	t.Parallel()
	pause := answer{{Tool: "todo_pause"}, {Stop: "tools"}}
	s := stream(begin(t, adapter.Request{}), &source{answer: answer{{Text: "One:"}, {Stop: "end_turn"}}}, &source{answer: pause}, &source{answer: pause})
	whole, err := s.read()
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, piece{Text: "One:\n\nTask paused: no reason given", Stop: "end_turn"}, whole)
	require.NoError(t, s.Close())
}

// seams is a dialect that remembers where the turns of an answer end.
type seams struct {
	*pieces

	ends []int
}

func (d *seams) AppendShown(dst []piece, p *piece, e *adapter.Edit) []piece {
	d.ends = e.TurnEnds
	return d.pieces.AppendShown(dst, p, e)
}

func TestWholeAnswerKnowsItsTurns(t *testing.T) {
	t.Parallel()
	dialect, n := &seams{pieces: newPieces()}, 0
	texts := []piece{{ID: "a1", Text: "One:", Stop: "stop", Tokens: 3}, {Text: "Two:", Stop: "stop"}, {Tool: "edit_file", Stop: "tools", Tokens: 4}}
	whole, err := join.Unary(begin(t, adapter.Request{}), dialect, func(context.Context, *adapter.Continuation) (piece, error) {
		n++
		return texts[n-1], nil
	})
	require.NoError(t, err)
	assert.Equal(t, piece{ID: "a1", Text: "One:\n\nTwo:", Tool: "edit_file", Stop: "tools", Tokens: 7}, whole)
	assert.Equal(t, []int{4, 10, 10}, dialect.ends)
}

func TestAnswerWithoutAFinishIsNoAnswer(t *testing.T) {
	t.Parallel()
	call := begin(t, adapter.Request{})
	whole, err := join.Unary(call, newPieces(), func(_ context.Context, k *adapter.Continuation) (piece, error) {
		if k == nil {
			return piece{Text: "One:", Stop: "stop"}, nil
		}
		return piece{Text: "Two"}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, piece{Text: "One:", Stop: "stop"}, whole)
	require.ErrorIs(t, call.Outcome().Err, middleware.ErrIncomplete)
}

func TestFilterShowsWhatTheAnswerShows(t *testing.T) {
	t.Parallel()
	var shown []string
	filter := join.NewFilter(newPieces(), func(p piece) error { shown = append(shown, p.Text+p.Tool); return nil })
	call := begin(t, adapter.Request{})
	turns := []answer{{{Text: "One"}, {Text: ":"}}, {{Text: "todo_pause('The file"}, {Text: " go.mod is missing')"}}}
	n := 0
	whole, err := join.Unary(call, newPieces(), func(context.Context, *adapter.Continuation) (piece, error) {
		all := piece{Stop: "stop"}
		for _, p := range turns[n] {
			all.Text += p.Text
			if err := filter.Chunk(p); err != nil {
				return all, err
			}
		}
		n++
		return all, nil
	}, filter)
	require.NoError(t, err)
	const notice = "\n\nTask paused: The file go.mod is missing"
	assert.Equal(t, []string{"One", ":", notice}, shown)
	assert.Equal(t, "One:"+notice, whole.Text)
	assert.Equal(t, reasons.Paused, call.Outcome().Reason)
}

func TestFilterEndsWithTheCallbacksError(t *testing.T) {
	t.Parallel()
	enough := errors.New("the reader has left")
	filter := join.NewFilter(newPieces(), func(piece) error { return enough })
	call := begin(t, adapter.Request{})
	_, err := join.Unary(call, newPieces(), func(context.Context, *adapter.Continuation) (piece, error) {
		return piece{Text: "One:", Stop: "stop"}, filter.Chunk(piece{Text: "One:"})
	}, filter)
	require.ErrorIs(t, err, enough)
	assert.Equal(t, 1, call.Outcome().Turns)
}

// silent is a source that has nothing until its ctx ends.
type silent struct{ ctx context.Context }

func (s silent) Recv() (piece, error) {
	<-s.ctx.Done()
	return piece{}, context.Cause(s.ctx)
}

func (s silent) Close() error { return nil }

// A caller gives up after a silence, which begins with the finish of the turn before, not with
// the request of the continuation.
func TestCallersSilenceBeginsWithTheFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		call := begin(t, adapter.Request{ReadTimeout: 20 * time.Second}, middleware.WithGate(func(ctx context.Context, _ middleware.NextTurn) error {
			<-time.After(10 * time.Second)
			return ctx.Err()
		}))
		began := time.Now()
		s := join.NewStream(call, newPieces(), &answer{{Text: "One:"}, {Stop: "stop"}},
			func(ctx context.Context, _ *adapter.Continuation) (adapter.Source[piece], error) {
				return silent{ctx}, nil
			})
		for {
			if _, err := s.Recv(); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
		}
		assert.Less(t, time.Since(began), 20*time.Second)
		require.ErrorIs(t, s.Outcome().Err, middleware.ErrFirstByteTimeout)
		require.NoError(t, s.Close())
	})
}
