package fakellm

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
)

// reply is a rendered turn: all of it is known before the first byte is sent.
type reply struct {
	status int
	header http.Header
	pieces []string
	pacing pacing
}

// maxFuncs is how many Funcs in a row may return another Func.
const maxFuncs = 10

// resolve returns the turn that answers the request: the result of a Func, or the turn itself.
func (t Turn) resolve(r Request) Turn {
	for depth := 0; t.respond != nil; depth++ {
		if depth == maxFuncs {
			panic("carryon/carryontest: a Func that answers with a Func, again and again")
		}
		t = t.respond(r.clone())
	}
	return t
}

// reply renders the answer to the request of this number. It calls no function of the test's except a Func's.
func (t Turn) reply(p protocol, r Request, number int) reply {
	t = t.resolve(r)
	out := reply{status: http.StatusOK, pacing: t.pacing}
	stream := r.Stream
	t.framing.crlf = t.framing.crlf || p.crlf()
	switch {
	case t.literal != nil:
		out.status, stream = t.literal.status, t.literal.stream
		out.pieces = t.literal.pieces
		if t.literal.payloads != nil {
			events := make([]event, len(t.literal.payloads))
			for i, payload := range t.literal.payloads {
				events[i] = p.literal(payload)
			}
			out.pieces = t.framing.stream(events, p.terminator())
		}
	case stream:
		out.pieces = t.framing.stream(p.stream(t.answer, r, number), p.terminator())
	default:
		out.pieces = halves(p.document(t.answer, r, number))
	}
	if t.pacing.fault.kind == faultError {
		out = out.failing(p.failure(serverError, t.pacing.fault.message), stream)
	}
	out.header = headers(stream, out)
	maps.Copy(out.header, t.header)
	return out
}

// failing returns a reply that reports an error: as the last event of a stream, or else as an HTTP error.
func (r reply) failing(failure event, stream bool) reply {
	if stream {
		r.pacing.fault.event = framing{}.event(failure)
		return r
	}
	r.status = http.StatusInternalServerError
	r.pieces = halves(failure.data)
	r.pacing.fault = fault{}
	return r
}

func headers(stream bool, r reply) http.Header {
	header := make(http.Header)
	if stream {
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-cache")
		return header
	}
	header.Set("Content-Type", "application/json")
	if r.pacing.fault.kind != faultEnd {
		length := 0
		for _, piece := range r.pieces {
			length += len(piece)
		}
		header.Set("Content-Length", strconv.Itoa(length))
	}
	return header
}

// send writes the reply. An error means that the connection must be cut.
func (r reply) send(ctx context.Context, w http.ResponseWriter) error {
	err := r.write(ctx, w)
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

func (r reply) write(ctx context.Context, w http.ResponseWriter) error {
	total := len(r.pieces)
	if err := r.pacing.reach(ctx, beforeHeaders, total, w); err != nil {
		return err
	}
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.status)
	for i, piece := range r.pieces {
		flush(w)
		if err := r.pacing.reach(ctx, i, total, w); err != nil {
			return err
		}
		if err := r.pacing.wait(ctx); err != nil {
			return err
		}
		if _, err := io.WriteString(w, piece); err != nil {
			return err
		}
	}
	flush(w)
	return r.pacing.reach(ctx, total, total, w)
}

func flush(w http.ResponseWriter) {
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}
