package responses_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/responses"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// relayed is a stream whose events are all relayed if they may be.
type relayed struct {
	source *wire.Source
	codec  wire.Codec
}

func (r *relayed) Relay() wire.Relay        { return r }
func (r *relayed) Recv() (sse.Event, error) { return r.Handle(r.source.Recv()) }
func (r *relayed) Close() error             { return r.source.Close() }
func (r *relayed) ErrClosed() error         { return io.ErrClosedPipe }
func (r *relayed) Text(string)              {}
func (r *relayed) Reasoning(string)         {}
func (r *relayed) Usage(adapter.Usage)      {}
func (r *relayed) Ended() bool              { return false }

func (r *relayed) TryRecv() (sse.Event, bool) {
	e, ok := r.source.TryRecv()
	if ok {
		e, _ = r.Handle(e, nil)
	}
	return e, ok
}

func (r *relayed) Handle(e sse.Event, err error) (sse.Event, error) {
	if err == nil {
		r.codec.Read(&e, reader{})
	}
	return e, err
}

// reader is an [adapter.TurnReader] that takes nothing.
type reader struct{ adapter.TurnReader }

func (reader) Text(string)                      {}
func (reader) Size(int)                         {}
func (reader) Call(int, string, string, string) {}
func (reader) Finish(string)                    {}

func BenchmarkRelay(b *testing.B) {
	const events = 4096
	var s strings.Builder
	part := `"item_id":"msg_01830d662ab3856501693c32138de48190a4b4d7a1b2f7c9e3","output_index":0,"content_index":0,`
	s.WriteString("event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\"}}\n\n" +
		"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"msg_01830d662ab3856501693c32138de48190a4b4d7a1b2f7c9e3\",\"type\":\"message\",\"content\":[]}}\n\n")
	for i := range events {
		fmt.Fprintf(&s, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,%s\"delta\":\" some words\",\"logprobs\":[],\"obfuscation\":\"Pq3kX\"}\n\n", i+2, part)
	}
	_, request, _ := responses.New().Parse(nil, []byte(`{}`), nil)
	buffer := make([]byte, 32<<10)
	b.SetBytes(int64(s.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r := &relayed{wire.NewSource(io.NopCloser(strings.NewReader(s.String())), nil), request.NewCodec()}
		body := wire.NewAnswerBody(r, r.codec, r.source)
		for {
			if _, err := body.Read(buffer); err != nil {
				break
			}
		}
	}
}
