package langchaingo

import (
	"context"
	"errors"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/internal/separator"
)

// streams are the caller's streaming functions. A function that the caller has
// not set stays nil: setting one may change what a provider does.
type streams struct {
	text, reasoning *stream
}

func newStreams(ctx context.Context, asked *llms.CallOptions) (s streams) {
	if show := asked.StreamingFunc; show != nil {
		s.text = newStream(ctx, func(ctx context.Context, p piece) error { return show(ctx, p.text) })
	}
	if show := asked.StreamingReasoningFunc; show != nil {
		s.reasoning = newStream(ctx, func(ctx context.Context, p piece) error { return show(ctx, p.reasoning, p.text) })
	}
	return s
}

// install replaces the caller's functions with the filters for a turn.
func (s streams) install(o *llms.CallOptions, turn int) {
	if s.text != nil {
		o.StreamingFunc = func(ctx context.Context, text []byte) error {
			return s.text.chunk(ctx, turn, piece{text: text})
		}
	}
	if s.reasoning != nil {
		o.StreamingReasoningFunc = func(ctx context.Context, reasoning, text []byte) error {
			return s.reasoning.chunk(ctx, turn, piece{reasoning: reasoning, text: text})
		}
	}
}

// each calls f for the functions that are set.
func (s streams) each(f func(*stream)) {
	if s.text != nil {
		f(s.text)
	}
	if s.reasoning != nil {
		f(s.reasoning)
	}
}

// filters returns the filters of the functions that are set.
func (s streams) filters() (filters []join.TurnFilter) {
	s.each(func(one *stream) { filters = append(filters, one.filter) })
	return filters
}

// begin starts a turn: later chunks of an earlier one are refused.
func (s streams) begin(turn int) {
	s.each(func(one *stream) {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.turn, one.separator = turn, one.reasoned.Separator()
	})
}

// err returns the first error of a function.
func (s streams) err() (err error) {
	s.each(func(one *stream) {
		one.mu.Lock()
		defer one.mu.Unlock()
		if err == nil {
			err = one.err
		}
	})
	return err
}

// errTurnOver goes to a provider that still streams after its turn, from a
// goroutine of its own.
var errTurnOver = errors.New("langchaingo: the turn that this belongs to has ended")

// stream is one of the caller's functions behind its own filter. If both
// functions are set, a provider may pass each chunk to both.
type stream struct {
	call   func(context.Context, piece) error
	filter *join.Filter[piece]
	own    context.Context //nolint:containedctx // the caller's, for text that no model has streamed
	quiet  bool            // say shows the text of later turns

	mu    sync.Mutex      // guards the fields below
	turn  int             // the current one
	at    context.Context //nolint:containedctx // the ctx of the current chunk, or nil
	spoke bool            // the model has streamed text
	err   error

	reasoned  separator.End // the end of the reasoning streamed so far
	separator string        // goes before the turn's first reasoning
}

func newStream(ctx context.Context, call func(context.Context, piece) error) *stream {
	s := &stream{call: call, own: ctx}
	s.filter = join.NewFilter(pieces{}, s.emit)
	return s
}

// chunk handles a chunk that the provider streams in a turn.
func (s *stream) chunk(ctx context.Context, turn int, p piece) error {
	separator, ok := s.enter(ctx, turn, p)
	if !ok {
		return errTurnOver
	}
	defer s.leave()
	if separator != "" {
		p.reasoning = append([]byte(separator), p.reasoning...)
	}
	if s.filter.Relaying() {
		return s.filter.Relayed(len(p.text) > 0, s.show(ctx, p))
	}
	if s.quiet {
		p.text = nil
	}
	return s.filter.Chunk(p)
}

// enter begins a chunk. It returns false if the chunk's turn is over. The
// separator goes before the chunk's reasoning.
func (s *stream) enter(ctx context.Context, turn int, p piece) (separator string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if turn != s.turn {
		return "", false
	}
	s.at, s.spoke = ctx, s.spoke || len(p.text) > 0
	if len(p.reasoning) > 0 {
		separator, s.separator = s.separator, ""
		s.reasoned.Add(string(p.reasoning[max(0, len(p.reasoning)-len("\r\n\r\n")):]))
	}
	return separator, true
}

// leave ends a chunk.
func (s *stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = nil
}

// say passes text that was not streamed to the filter.
func (s *stream) say(text string) {
	_ = s.filter.Chunk(piece{text: []byte(text)}) // on an error, the filter ends the call
}

// emit shows the pieces that the filter lets through. Outside a chunk, it does
// so only if the model has streamed text: otherwise the provider does not
// stream.
func (s *stream) emit(p piece) error {
	s.mu.Lock()
	ctx := s.at
	if ctx == nil && s.spoke {
		ctx = s.own
	}
	s.mu.Unlock()
	if ctx == nil {
		return nil
	}
	return s.show(ctx, p)
}

// show calls the caller's function.
func (s *stream) show(ctx context.Context, p piece) error {
	err := s.call(ctx, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	return err
}
