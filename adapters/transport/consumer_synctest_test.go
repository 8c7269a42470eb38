package transport_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// fed is a body that a test gives piece by piece.
type fed struct {
	ctx    context.Context
	pieces chan string
	rest   string
	once   sync.Once
	closed chan struct{}
}

func (f *fed) Read(p []byte) (int, error) {
	for f.rest == "" {
		select {
		case piece, ok := <-f.pieces:
			if !ok {
				return 0, io.EOF
			}
			f.rest = piece
		case <-f.closed:
			return 0, http.ErrBodyReadAfterClose
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// slowly gives pieces, four seconds apart.
func (f *fed) slowly(pieces ...string) {
	for _, piece := range pieces {
		f.pieces <- piece
		<-time.After(4 * time.Second)
	}
}

func (f *fed) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

// isClosed reports whether the transport has let go of the body.
func (f *fed) isClosed() bool {
	select {
	case <-f.closed:
		return true
	default:
		return false
	}
}

// feeder is a base that answers with bodies that a test feeds.
type feeder struct {
	mu     sync.Mutex
	bodies []*fed
	hang   bool // continuations are not answered
}

func (f *feeder) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	body := &fed{ctx: r.Context(), pieces: make(chan string), closed: make(chan struct{})}
	f.bodies = append(f.bodies, body)
	hang := f.hang && len(f.bodies) > 1
	f.mu.Unlock()
	if hang {
		<-r.Context().Done()
		_ = body.Close() // there is none
		return nil, r.Context().Err()
	}
	return wiretest.Streamed(r, body), nil
}

// asked returns how many requests there were.
func (f *feeder) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.bodies)
}

// body returns the body of an answer, from 1.
func (f *feeder) body(n int) *fed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies[n-1]
}

// bubble is a session of a reader and an answer that the test feeds.
type bubble struct {
	t      *testing.T
	ctx    context.Context
	cancel context.CancelFunc
	base   *feeder
	mw     *middleware.Middleware
	answer *http.Response
	out    *middleware.Outcomes
}

// inBubble runs a test in a bubble of synctest. When it ends, nothing may be left of the call.
func inBubble(t *testing.T, test func(b *bubble), opts ...middleware.Option) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, base: new(feeder), mw: middleware.New(wiretest.TwoTodos, append(opts, wiretest.Unattended)...)}
		b.ctx, b.cancel = context.WithCancel(continuation.WithSession(t.Context(), "s"))
		defer b.cancel()
		var ctx context.Context
		ctx, b.out = middleware.Capture(b.ctx)
		var err error
		b.answer, err = transport.New(b.base, b.mw).RoundTrip(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(true)))
		require.NoError(t, err)
		test(b)
		require.NoError(t, b.answer.Body.Close())
		synctest.Wait()
		b.requireOver()
	})
}

// requireOver checks that the call has ended and nothing is left open.
func (b *bubble) requireOver() {
	b.t.Helper()
	for i := range b.base.asked() {
		assert.True(b.t, b.base.body(i+1).isClosed(), "body of turn %d", i+1)
	}
	state, err := b.mw.State(context.WithoutCancel(b.ctx))
	require.NoError(b.t, err)
	assert.False(b.t, state.Active, "the session is left active")
	assert.True(b.t, b.out.Last().Ended)
}

// reader reads beside the test.
type reader struct {
	mu   sync.Mutex
	text string
	err  error
}

// read reads the answer to its end, some bytes at a time.
func (b *bubble) read(size int) *reader {
	r := new(reader)
	go func() {
		p := make([]byte, size)
		for {
			n, err := b.answer.Body.Read(p)
			r.mu.Lock()
			r.text += string(p[:n])
			r.err = err
			r.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return r
}

// now returns what was read once all goroutines wait.
func (r *reader) now() (string, error) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text, r.err
}

// take reads as many bytes as a text has, on the test's goroutine.
func (b *bubble) take(text string) {
	b.t.Helper()
	p := make([]byte, len(text))
	_, err := io.ReadFull(b.answer.Body, p)
	require.NoError(b.t, err)
	require.Equal(b.t, text, string(p))
}

const (
	textEvent   = "data: " + wiretest.SaysText + "\n\n"
	finishEvent = "data: " + wiretest.SaysFinish + "\n\n"
	doneMark    = "data: [DONE]\n\n"
)

// Every line of turn 1 can be read as soon as it has arrived.
func TestLinesAreReadAsTheyCome(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 500, 600, 32 << 10} {
		t.Run("", func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r := b.read(size)
				shown := ""
				for _, line := range []string{
					": connected\n", "\n", "data: " + wiretest.SaysRole + "\n", "\n", "data: " + wiretest.SaysText + "\n", "\n", "data: " + wiretest.SaysMore + "\r\n", "\r\n",
					": comment\n", "data:" + wiretest.SaysMore + "\n", "garbage\n", "data: ping\n", "data: " + wiretest.SaysReason + "\n", "\n", "data: " + wiretest.SaysOther + "\n\n",
					"data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysText + "\n\n",
				} {
					for _, half := range []string{line[:len(line)/2], line[len(line)/2:]} {
						if half != "" {
							b.base.body(1).pieces <- half
						}
						text, err := r.now()
						require.NoError(b.t, err)
						require.True(b.t, strings.HasPrefix(shown+line, text))
					}
					shown += line
					text, _ := r.now()
					require.Equal(b.t, shown, text)
				}
			})
		})
	}
}

// An event with lines before its data can be read once its data has arrived, and one with several data lines once all
// have.
func TestLinesThatBelongTogetherComeTogether(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.read(1 << 10)
		for _, event := range []string{
			"event: message\nid: 1\ndata: " + wiretest.SaysText + "\n", "data: {\"id\":\"a\",\ndata: \"choices\":[]}\n", "id: 2\n\n", "event: x\n: comment\ndata: ping\n",
		} {
			before, _ := r.now()
			for line := range strings.Lines(event) {
				text, err := r.now()
				require.NoError(b.t, err)
				assert.Equal(b.t, before, text)
				b.base.body(1).pieces <- line
			}
			text, _ := r.now()
			assert.Equal(b.t, before+event, text)
		}
	})
}

// Events that arrive together with the finish reason do not wait with it.
func TestTextIsShownBeforeTheFinishIsSettled(t *testing.T) {
	for name, last := range map[string]string{"finish": wiretest.SaysFinish, "finish with text": wiretest.SaysLast} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r := b.read(1 << 10)
				b.base.body(1).pieces <- textEvent + textEvent + "data: " + last + "\n\n"
				text, err := r.now()
				require.NoError(b.t, err)
				assert.True(b.t, strings.HasPrefix(text, textEvent+textEvent), text)
				assert.Equal(b.t, name == "finish with text", strings.Contains(text, "Last."), "its own text too")
				assert.NotContains(b.t, text, `"finish_reason":"stop"`)
				assert.Equal(b.t, 1, b.base.asked())
			})
		})
	}
}

// Nothing happens outside of Read.
func TestNothingIsSentBeforeReadAsksForIt(t *testing.T) {
	inBubble(t, func(b *bubble) {
		go func() {
			b.base.body(1).pieces <- textEvent + finishEvent + doneMark
			close(b.base.body(1).pieces)
		}()
		b.take(textEvent)
		synctest.Wait()
		assert.Equal(b.t, 1, b.base.asked(), "the reader has not asked for more")
		r := b.read(1 << 10)
		text, _ := r.now()
		assert.Empty(b.t, text)
		assert.Equal(b.t, 2, b.base.asked())
		b.base.body(2).pieces <- "data: " + wiretest.SaysMore + "\n\n"
		text, _ = r.now()
		assert.Contains(b.t, text, "über")
	}, wiretest.Unhurried)
}

// The interval between prompts comes after everything there is to read, and is exactly as long as necessary.
func TestWaitComesAfterTheText(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.read(1 << 10)
		b.turn(1, textEvent+finishEvent+doneMark)
		require.Equal(b.t, 2, b.base.asked(), "the first continuation does not wait")
		b.turn(2, "data: "+wiretest.SaysMore+"\n\n"+finishEvent+doneMark)
		text, _ := r.now()
		assert.Contains(b.t, text, "über")
		assert.Equal(b.t, 2, b.base.asked(), "the second one does")
		began := time.Now()
		for b.base.asked() < 3 {
			<-time.After(10 * time.Millisecond)
		}
		assert.InDelta(b.t, time.Second, time.Since(began), float64(20*time.Millisecond))
	})
}

// turn feeds a whole turn.
func (b *bubble) turn(n int, text string) {
	b.base.body(n).pieces <- text
	close(b.base.body(n).pieces)
	synctest.Wait()
}

// Close ends the call at any point of the answer, whether the reader or another goroutine calls it.
func TestCloseEndsTheCallAnywhere(t *testing.T) {
	t.Parallel()
	toTurn2 := func(b *bubble) { b.turn(1, textEvent+finishEvent+doneMark) }
	for name, tt := range map[string]struct {
		reach func(b *bubble) // while a reader reads
		opts  []middleware.Option
		asked int
	}{
		"before a byte":    {func(*bubble) {}, nil, 1},
		"in a line":        {func(b *bubble) { b.base.body(1).pieces <- textEvent + "data: {" }, nil, 1},
		"between lines":    {func(b *bubble) { b.base.body(1).pieces <- textEvent }, nil, 1},
		"in an event":      {func(b *bubble) { b.base.body(1).pieces <- textEvent + "event: x\n" }, nil, 1},
		"at the finish":    {func(b *bubble) { b.base.body(1).pieces <- textEvent + finishEvent }, nil, 1},
		"behind the end":   {func(b *bubble) { b.base.body(1).pieces <- textEvent + finishEvent + doneMark }, nil, 1},
		"while opening":    {func(b *bubble) { b.base.hang = true; toTurn2(b) }, nil, 2},
		"before turn 2":    {toTurn2, nil, 2},
		"in turn 2":        {func(b *bubble) { toTurn2(b); b.base.body(2).pieces <- "data: " + wiretest.SaysMore + "\n\ndata: {" }, nil, 2},
		"at its finish":    {func(b *bubble) { toTurn2(b); b.base.body(2).pieces <- textEvent + finishEvent }, nil, 2},
		"during the wait":  {func(b *bubble) { toTurn2(b); b.turn(2, "data: "+wiretest.SaysMore+"\n\n"+finishEvent+doneMark) }, nil, 2},
		"in a call":        {func(b *bubble) { toTurn2(b); b.base.body(2).pieces <- "data: " + wiretest.SaysCall + "\n\n" }, nil, 2},
		"in a tool's turn": {func(b *bubble) { b.base.body(1).pieces <- "data: " + wiretest.SaysCall + "\n\n" + finishEvent }, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r := b.read(1 << 10)
				synctest.Wait()
				tt.reach(b)
				text, err := r.now()
				require.NoError(b.t, err)
				require.Equal(b.t, tt.asked, b.base.asked())
				require.NoError(b.t, b.answer.Body.Close())
				after, err := r.now()
				require.ErrorIs(b.t, err, http.ErrBodyReadAfterClose)
				assert.Equal(b.t, text, after)
				b.requireOver()
				for range 2 {
					n, err := b.answer.Body.Read(make([]byte, 10))
					assert.Zero(b.t, n)
					require.ErrorIs(b.t, err, http.ErrBodyReadAfterClose)
				}
				assert.Equal(b.t, tt.asked, b.base.asked(), "nothing is sent any more")
				require.NoError(b.t, b.answer.Body.Close(), "again")
			}, tt.opts...)
		})
	}
}

// The same while no Read runs.
func TestCloseBetweenReadsEndsTheCall(t *testing.T) {
	t.Parallel()
	text := textEvent + textEvent + finishEvent + doneMark
	for n := range 2 * len(textEvent) {
		if n%7 != 0 {
			continue
		}
		t.Run("", func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				go func() {
					select {
					case b.base.body(1).pieces <- text:
					case <-b.base.body(1).closed:
					}
				}()
				b.take(text[:n])
				require.NoError(b.t, b.answer.Body.Close())
				b.requireOver()
				_, err := b.answer.Body.Read(make([]byte, 1))
				require.ErrorIs(b.t, err, http.ErrBodyReadAfterClose, "what was not read is gone, as it would be")
			})
		})
	}
}

// A body that was read to its end stays at its end.
func TestReadAfterTheEnd(t *testing.T) {
	for name, todos := range map[string]todo.Provider{"continued": wiretest.TwoTodos, "nothing to do": todo.Static()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := wiretest.Whole()
			base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				return wiretest.Streamed(r, &wiretest.Pieces{Text: textEvent + finishEvent + doneMark, Next: as.Come, End: io.EOF}), r.Body.Close()
			})
			response, err := transport.New(base, wiretest.OneContinuation(todos)).RoundTrip(wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(true)))
			require.NoError(t, err)
			for range 3 {
				n, err := response.Body.Read(nil)
				assert.Zero(t, n)
				require.NoError(t, err, "reading nothing does nothing")
			}
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			for range 3 {
				n, err := response.Body.Read(make([]byte, 10))
				assert.Zero(t, n)
				require.ErrorIs(t, err, io.EOF)
			}
			require.NoError(t, response.Body.Close())
			n, err := response.Body.Read(make([]byte, 10))
			assert.Zero(t, n)
			require.Error(t, err)
			require.NoError(t, response.Body.Close())
		})
	}
}

// Bytes that arrive together are read together, as without carryon.
func TestLinesThatCameTogetherAreReadTogether(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := make([]byte, 32<<10)
		for i := range 4 {
			events := strings.Repeat(textEvent, 10)
			go func() { b.base.body(1).pieces <- events }()
			read, reads := 0, 0
			for read < len(events) {
				n, err := b.answer.Body.Read(p)
				require.NoError(b.t, err)
				read += n
				reads++
			}
			if i > 0 { // the first event is looked at more closely
				assert.Equal(b.t, 1, reads)
			}
		}
	})
}

// A slow reader uses up no time limit: only waiting for the model counts.
func TestSlowReaderLosesNothing(t *testing.T) {
	inBubble(t, func(b *bubble) {
		go func() {
			b.base.body(1).pieces <- textEvent + finishEvent + doneMark
			close(b.base.body(1).pieces)
		}()
		var text strings.Builder
		fed := false
		p := make([]byte, 100)
		for {
			n, err := b.answer.Body.Read(p)
			text.Write(p[:n])
			if err != nil {
				require.ErrorIs(b.t, err, io.EOF)
				break
			}
			<-time.After(time.Minute)
			if !fed && text.Len() >= len(textEvent) {
				fed = true
				go func() {
					for b.base.asked() < 2 {
						<-time.After(time.Millisecond)
					}
					b.turn(2, "data: "+wiretest.SaysMore+"\n\ndata: "+wiretest.SaysCall+"\n\n"+finishEvent+doneMark)
				}()
			}
		}
		assert.Contains(b.t, text.String(), "über")
		assert.Contains(b.t, text.String(), "edit_file")
		assert.Equal(b.t, 2, b.out.Last().Turns)
		assert.NoError(b.t, b.out.Last().Err)
	})
}

// The end of the caller's ctx ends a continuation, and Read returns its error.
func TestContextThatEndsDuringAContinuation(t *testing.T) {
	t.Parallel()
	toTurn2 := func(b *bubble) { b.turn(1, textEvent+finishEvent+doneMark) }
	for name, reach := range map[string]func(b *bubble){
		"while opening":   func(b *bubble) { b.base.hang = true; toTurn2(b) },
		"before its text": toTurn2,
		"in its text":     func(b *bubble) { toTurn2(b); b.base.body(2).pieces <- textEvent },
		"during the wait": func(b *bubble) { toTurn2(b); b.turn(2, "data: "+wiretest.SaysMore+"\n\n"+finishEvent+doneMark) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r := b.read(1 << 10)
				synctest.Wait()
				reach(b)
				b.cancel()
				text, err := r.now()
				require.ErrorIs(b.t, err, context.Canceled)
				assert.True(b.t, strings.HasPrefix(text, textEvent))
				assert.NotContains(b.t, text, `"finish_reason":"stop"`)
				assert.Equal(b.t, reasons.BrokeOff, b.out.Last().Reason)
				state, stateErr := b.mw.State(context.WithoutCancel(b.ctx))
				require.NoError(b.t, stateErr)
				assert.False(b.t, state.Active, "the session is free before anything is closed")
				_, err = b.answer.Body.Read(make([]byte, 1))
				require.ErrorIs(b.t, err, context.Canceled, "the error stays")
			})
		})
	}
}

// In the caller's own turn it is the caller's own error.
func TestContextThatEndsDuringTurn1(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.read(1 << 10)
		b.base.body(1).pieces <- textEvent + finishEvent
		synctest.Wait()
		b.cancel()
		text, err := r.now()
		require.ErrorIs(b.t, err, context.Canceled)
		assert.Equal(b.t, textEvent+finishEvent, text, "all that had come")
	})
}

// A program's deadline ends the continuation, but does not lose the answer, whoever set it.
func TestDeadlineIsAnticipated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		client  time.Duration
		request time.Duration
		hang    bool
	}{
		"of the ctx, in its text": {0, 10 * time.Second, false}, "of the ctx, while opening": {0, 10 * time.Second, true},
		"of the client, in its text": {10 * time.Second, 0, false}, "of the client, while opening": {10 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				base := &feeder{hang: tt.hang}
				mw := middleware.New(wiretest.TwoTodos)
				client := &http.Client{Transport: transport.New(base, mw), Timeout: tt.client}
				ctx, outcomes := middleware.Capture(t.Context())
				if tt.request > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.request)
					defer cancel()
				}
				began := time.Now()
				response, err := client.Do(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(true)))
				require.NoError(t, err)
				b := &bubble{t: t, base: base, mw: mw, answer: response, out: outcomes, ctx: continuation.WithSession(ctx, "s")}
				r := b.read(1 << 10)
				b.turn(1, textEvent+finishEvent+doneMark)
				if !tt.hang {
					b.base.body(2).pieces <- "data: " + wiretest.SaysMore + "\n\n"
				}
				<-time.After(8 * time.Second)
				_, err = r.now()
				require.NoError(t, err)
				<-time.After(1900 * time.Millisecond)
				text, err := r.now()
				require.ErrorIs(t, err, io.EOF)
				assert.True(t, strings.HasSuffix(text, finishEvent+doneMark), text)
				assert.Less(t, time.Since(began), 10*time.Second)
				require.ErrorIs(t, outcomes.Last().Err, middleware.ErrDeadlineNear)
				require.NoError(t, response.Body.Close())
			})
		})
	}
}

// An answer in one piece is subject to the same.
func TestDeadlineOfAnAnswerInOnePieceIsAnticipated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if wiretest.IsContinuation(r) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return wiretest.Answered(r, stalled), nil
		})
		client := &http.Client{Transport: transport.New(base, middleware.New(wiretest.TwoTodos)), Timeout: 10 * time.Second}
		ctx, outcomes := middleware.Capture(t.Context())
		got := wiretest.ReadReply(client.Do(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(false))))
		require.NoError(t, got.Err)
		assert.Equal(t, stalled, got.Body)
		require.ErrorIs(t, outcomes.Last().Err, middleware.ErrDeadlineNear)

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		got = wiretest.ReadReply(client.Do(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(false))))
		require.ErrorIs(t, got.Err, context.Canceled)
	})
}

// Silence ends a continuation; any byte of it counts as a sign of life.
func TestSilenceEndsAContinuation(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.read(1 << 10)
		b.turn(1, textEvent+finishEvent+doneMark)
		for _, piece := range strings.SplitAfter("data: "+wiretest.SaysMore+"\n\n: x\n\n: y\n\n", ":") {
			<-time.After(20 * time.Second)
			b.base.body(2).pieces <- piece
		}
		text, err := r.now()
		require.NoError(b.t, err)
		assert.Contains(b.t, text, "über", "each byte counted")
		<-time.After(31 * time.Second)
		text, err = r.now()
		require.ErrorIs(b.t, err, io.EOF)
		assert.True(b.t, strings.HasSuffix(text, finishEvent+doneMark))
		require.ErrorIs(b.t, b.out.Last().Err, middleware.ErrResponseTimeout)
	})
}
