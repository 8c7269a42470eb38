package carryontest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
)

// firstCreated is the time that the answer to request 0 would bear: the start of the year 2030.
const firstCreated = 1893456000

// reply is a turn made ready to be sent: all of it is known before the first byte goes out.
type reply struct {
	status int
	header http.Header
	pieces []string
	pacing pacing
}

// maxFuncs is how many Funcs may answer with the next.
const maxFuncs = 10

// reply is the answer to the request of this number. It calls no function but a Func's.
func (t Turn) reply(req Request, number int) reply {
	for depth := 0; t.respond != nil; depth++ {
		if depth == maxFuncs {
			panic("carryontest: a Func that answers with a Func, again and again")
		}
		t = t.respond(req.clone())
	}
	r := reply{status: http.StatusOK, pacing: t.pacing}
	stream := req.Stream
	switch {
	case t.literal != nil:
		r.status, stream = t.literal.status, t.literal.stream
		r.pieces = t.literal.pieces(t.framing)
	case stream:
		r.pieces = t.framing.stream(t.chunks(t.envelope(req, number)))
	default:
		r.pieces = halves(t.completion(t.envelope(req, number)))
	}
	if t.pacing.fault.kind == faultError && !stream {
		r.status = http.StatusInternalServerError
		r.pieces = halves(failureJSON("server_error", t.pacing.fault.message))
		r.pacing.fault = fault{}
	}
	r.header = headers(stream, r)
	maps.Copy(r.header, t.header)
	return r
}

func (t Turn) envelope(req Request, number int) envelope {
	e := envelope{
		number: number, id: fmt.Sprintf("chatcmpl-%d", number), created: firstCreated + int64(number),
		model: req.Model, usage: req.IncludeUsage,
	}
	if t.answer.model != "" {
		e.model = t.answer.model
	}
	if t.answer.responseID != "" {
		e.id = t.answer.responseID
	}
	return e
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

// send writes the reply. An error means that the connection is to be cut.
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
