package middleware_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
)

// The rest of this file is a made-up SDK, which the examples adapt. It has what most
// SDKs have: calls that return a whole answer, calls that return a stream, and whole
// answers whose text also goes to a callback as it comes.

type sdkClient struct {
	mu       sync.Mutex
	turns    []sdkAnswer // what the model answers, in order
	requests []sdkRequest
}

type sdkRequest struct {
	Messages []sdkMessage
	Tools    []sdkTool
	OnText   func(string) error
}

type sdkMessage struct {
	Role, Text string // the role is user, assistant or tool
	Calls      []sdkCall
	CallID     string // of the call that a tool's message answers
}

type sdkTool struct {
	Name, About string
	Schema      []byte
}

type sdkCall struct {
	Index          int // in a stream
	ID, Name, Args string
}

type sdkUsage struct{ In, Out int }

type sdkAnswer struct {
	ID    string
	Text  string
	Calls []sdkCall
	Stop  string // why the model stopped: "stop" or "tools"
	Usage sdkUsage

	err error
}

// sdkChunk is a piece of a streamed answer.
type sdkChunk struct {
	ID    string
	Text  string
	Calls []sdkCall
	Stop  string
	Usage *sdkUsage
}

// Complete returns a whole answer.
func (c *sdkClient) Complete(ctx context.Context, r sdkRequest) (sdkAnswer, error) {
	answer, err := c.next(r)
	if err != nil {
		return sdkAnswer{}, err
	}
	if r.OnText != nil {
		for _, text := range strings.SplitAfter(answer.Text, " ") {
			if err := r.OnText(text); err != nil {
				return sdkAnswer{}, err
			}
		}
	}
	return answer, ctx.Err()
}

// Stream returns the answer as it comes.
func (c *sdkClient) Stream(ctx context.Context, r sdkRequest) (*sdkStream, error) {
	answer, err := c.next(r)
	if err != nil {
		return nil, err
	}
	s := &sdkStream{ctx: ctx}
	for _, text := range strings.SplitAfter(answer.Text, " ") {
		s.chunks = append(s.chunks, sdkChunk{ID: answer.ID, Text: text})
	}
	for i, call := range answer.Calls {
		call.Index = i
		s.chunks = append(s.chunks, sdkChunk{ID: answer.ID, Calls: []sdkCall{call}})
	}
	s.chunks = append(s.chunks, sdkChunk{ID: answer.ID, Stop: answer.Stop, Usage: &answer.Usage})
	return s, nil
}

func (c *sdkClient) next(r sdkRequest) (sdkAnswer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	if len(c.requests) > len(c.turns) {
		return sdkAnswer{}, errors.New("sdk: the model has nothing more to say")
	}
	answer := c.turns[len(c.requests)-1]
	return answer, answer.err
}

type sdkStream struct {
	ctx    context.Context
	chunks []sdkChunk
}

func (s *sdkStream) Recv() (sdkChunk, error) {
	if err := s.ctx.Err(); err != nil {
		return sdkChunk{}, err
	}
	if len(s.chunks) == 0 {
		return sdkChunk{}, io.EOF
	}
	chunk := s.chunks[0]
	s.chunks = s.chunks[1:]
	return chunk, nil
}

func (s *sdkStream) Close() error { return nil }
