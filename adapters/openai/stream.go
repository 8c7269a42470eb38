package openai

import (
	"errors"
	"io"
	"iter"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/middleware"
)

// Stream is the joined stream of a call's turns. It has the methods of the SDK's stream
// except RecvRaw, because a joined chunk may differ from the bytes on the wire. Only
// one goroutine at a time may call Recv. Close is safe for concurrent use.
type Stream struct {
	first   *openai.ChatCompletionStream
	outcome *middleware.Outcome // set if carryon has nothing to do with the call; the fields below are then nil
	dialect *chunks
	joined  *join.Stream[openai.ChatCompletionStreamResponse]
}

func newStream(
	call *join.Call, first *openai.ChatCompletionStream,
	open adapter.Open[openai.ChatCompletionStreamResponse],
) *Stream {
	dialect := newChunks()
	return &Stream{
		first: first, dialect: dialect,
		joined: join.NewStream(call, dialect, first, open),
	}
}

// Recv returns the next chunk, and io.EOF after the last one.
func (s *Stream) Recv() (chunk openai.ChatCompletionStreamResponse, err error) {
	if s.joined == nil {
		return s.first.Recv()
	}
	relay := s.joined.Relay()
	if relay == nil {
		return s.joined.Recv()
	}
	chunk, err = s.first.Recv()
	if err == nil && s.dialect.envelope.IsFixed() && isText(&chunk) {
		relay.Text(chunk.Choices[0].Delta.Content)
		return chunk, nil
	}
	return relay.Handle(chunk, err)
}

// Close ends the stream. It may be called at any time, and several times.
func (s *Stream) Close() error {
	if s.joined == nil {
		return s.first.Close()
	}
	return s.joined.Close()
}

// Header returns the headers of the first turn's response.
func (s *Stream) Header() http.Header {
	return s.first.Header()
}

// GetRateLimitHeaders returns the rate limits in the headers of the first
// turn's response.
func (s *Stream) GetRateLimitHeaders() openai.RateLimitHeaders {
	return s.first.GetRateLimitHeaders()
}

// All returns an iterator over the chunks of the stream, which can be used once. It
// closes the stream when the loop ends. If there is an error, it comes last, with an
// empty chunk; io.EOF is not yielded.
func (s *Stream) All() iter.Seq2[openai.ChatCompletionStreamResponse, error] {
	return func(yield func(openai.ChatCompletionStreamResponse, error) bool) {
		defer s.Close() //nolint:errcheck // the chunks are what was asked for
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) || !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// Outcome returns what carryon did with the call. It is final once Recv has returned an
// error or io.EOF, or the stream is closed.
func (s *Stream) Outcome() middleware.Outcome {
	if s.joined == nil {
		return *s.outcome
	}
	return s.joined.Outcome()
}

// isText reports whether the chunk has text of a single choice and nothing else
// that carryon has to look at.
func isText(c *openai.ChatCompletionStreamResponse) bool {
	if len(c.Choices) != 1 || c.Usage != nil {
		return false
	}
	choice := &c.Choices[0]
	delta := &choice.Delta
	return choice.FinishReason == "" && choice.Index == 0 && len(delta.ToolCalls) == 0 &&
		delta.FunctionCall == nil && delta.Refusal == "" && delta.ReasoningContent == ""
}
