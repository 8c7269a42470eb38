package langchaingo

import (
	"context"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/middleware"
)

// streams are the streaming functions that the caller has set, nil where it
// has not: a provider that is given one may do something else altogether.
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

// install puts the filters in the place of the caller's functions.
func (s streams) install(o *llms.CallOptions) {
	if s.text != nil {
		o.StreamingFunc = func(ctx context.Context, text []byte) error {
			return s.text.chunk(ctx, piece{text: text})
		}
	}
	if s.reasoning != nil {
		o.StreamingReasoningFunc = func(ctx context.Context, reasoning, text []byte) error {
			return s.reasoning.chunk(ctx, piece{reasoning: reasoning, text: text})
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

// filters returns the filters before the functions that are set.
func (s streams) filters() (filters []middleware.TurnFilter) {
	s.each(func(one *stream) { filters = append(filters, one.filter) })
	return filters
}

// err returns the first error of a function.
func (s streams) err() (err error) {
	s.each(func(one *stream) {
		if err == nil {
			err = one.err
		}
	})
	return err
}

// stream is one of the caller's functions, behind a filter of its own: where
// there are two, a provider may give each chunk to both.
type stream struct {
	show   func(context.Context, piece) error
	filter *middleware.Filter[piece]
	own    context.Context //nolint:containedctx // the caller's, for what no model has streamed
	at     context.Context //nolint:containedctx // that of the current chunk, or nil
	quiet  bool            // text that is not relayed is told through say
	spoke  bool            // the model has streamed text
	err    error
}

func newStream(ctx context.Context, show func(context.Context, piece) error) *stream {
	s := &stream{show: show, own: ctx}
	s.filter = middleware.NewFilter(pieces{}, s.emit)
	return s
}

// chunk takes what the provider streams.
func (s *stream) chunk(ctx context.Context, p piece) error {
	s.spoke = s.spoke || len(p.text) > 0
	if s.filter.Relaying() {
		s.err = s.show(ctx, p)
		return s.filter.Relayed(len(p.text) > 0, s.err)
	}
	if s.quiet {
		p.text = nil
	}
	s.at = ctx
	err := s.filter.Chunk(p)
	s.at = nil
	return err
}

// say takes text that was not streamed.
func (s *stream) say(text string) {
	_ = s.filter.Chunk(piece{text: []byte(text)}) // the filter ends the call
}

// emit shows what the filter has let through. A function that was never given
// any text is not told what was not streamed: its provider does not stream.
func (s *stream) emit(p piece) error {
	ctx := s.at
	if ctx == nil {
		if ctx = s.own; !s.spoke {
			return nil
		}
	}
	s.err = s.show(ctx, p)
	return s.err
}
