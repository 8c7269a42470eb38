package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/carryon-go/carryon/middleware"
)

// exchange is a call: the caller's request and what was answered.
type exchange struct {
	call     *middleware.Call
	request  *request
	original *http.Request
	response *http.Response // of the caller's own turn
	passed   bool           // it is handed on as it came
}

// send sends the caller's own request.
func (x *exchange) send(body []byte) error {
	response, err := x.request.base.RoundTrip(x.request.own(x.call, body)) //nolint:bodyclose // the caller does
	if err != nil {
		return err
	}
	response.Request = x.original
	x.response = response
	return nil
}

// streamed makes a call whose answer is streamed.
func (x *exchange) streamed(body []byte) (*http.Response, error) {
	if err := x.send(body); err != nil {
		x.call.Abort(err)
		return nil, err
	}
	if err := usable(x.response, isEventStream); err != nil {
		x.call.Abort(err)
		return x.response, nil
	}
	d, first := &wire{called: middleware.NoIndex}, &source{body: x.response.Body}
	x.response.Body = &stream{wire: d, first: first, splice: middleware.NewSplice(x.call, d, first, x.request.open)}
	x.resized(-1)
	return x.response, nil
}

// unary makes a call whose answer is not streamed.
func (x *exchange) unary(body []byte) (*http.Response, error) {
	answer, err := middleware.Unary(x.call, &wire{whole: true},
		func(ctx context.Context, k *middleware.Continuation) (event, error) {
			if k == nil {
				return x.first(body)
			}
			response, err := x.request.more(ctx, k, isJSON)
			if err != nil {
				return event{}, err
			}
			defer response.Body.Close() //nolint:errcheck // it was read to its end, or has failed
			data, err := readAll(response.Body, response.ContentLength)
			return judge(data, err)
		})
	switch {
	case x.passed:
		return x.response, nil
	case err != nil:
		return nil, err
	}
	if answer.made {
		_ = x.response.Body.Close() // it was read
		x.response.Body = io.NopCloser(bytes.NewReader(answer.raw))
		x.resized(len(answer.raw))
	}
	return x.response, nil
}

// first sends the caller's own request of a call that is not streamed.
func (x *exchange) first(body []byte) (event, error) {
	if err := x.send(body); err != nil {
		return event{}, err
	}
	r := x.response
	if err := usable(r, isJSON); err != nil {
		x.passed = true
		return event{}, err
	}
	data, err := readAll(r.Body, r.ContentLength)
	if err != nil {
		r.Body = replay(data, err, r.Body)
	} else {
		_ = r.Body.Close() // read to its end
		r.Body = io.NopCloser(bytes.NewReader(data))
	}
	answer, err := judge(data, err)
	x.passed = err != nil
	return answer, err
}

// judge returns an answer of which all was read, or all up to an error, unless
// it is not whole.
func judge(data []byte, err error) (event, error) {
	answer := answerOf(data)
	switch {
	case answer.kind == chunk && !errors.Is(err, ErrTooLarge):
		return answer, nil
	case err != nil:
		return event{}, err
	}
	return event{}, ErrUnreadable
}

// answerOf returns a whole answer as an event.
func answerOf(data []byte) event {
	e := event{raw: data, kind: chunk}
	for e.from < len(data) && (isBlank(data[e.from]) || data[e.from] == '\n' || data[e.from] == '\r') {
		e.from++ // some keep the connection alive with them
	}
	e.to = max(e.from, len(bytes.TrimRight(data, " \t\r\n")))
	if objectEnd(data[e.from:e.to]) != e.to-e.from {
		e.kind = failure
	}
	return e
}

// usable returns why carryon has to leave an answer alone, if it has.
func usable(r *http.Response, kind func(http.Header) bool) error {
	switch {
	case r.StatusCode != http.StatusOK:
		return &middleware.StatusError{Status: r.StatusCode, Err: ErrStatus}
	case r.Header.Get("Content-Encoding") != "":
		return ErrEncoded
	case !kind(r.Header):
		return ErrKind
	}
	return nil
}

func isEventStream(h http.Header) bool { return mediaType(h) == "text/event-stream" }

// resized makes the header of the response fit a body of n bytes, or of a length
// that is not known if n is -1.
func (x *exchange) resized(n int) {
	r := x.response
	ofTheBody := []string{"Content-Length", "Etag", "Digest", "Content-Digest", "Content-Md5"}
	known := r.ContentLength >= 0 && n >= 0
	had := func(name string) bool { return r.Header[name] != nil }
	if slices.ContainsFunc(ofTheBody, had) {
		header := r.Header.Clone() // which the base transport may use again
		for _, name := range ofTheBody {
			header.Del(name)
		}
		if known && had("Content-Length") {
			header.Set("Content-Length", strconv.Itoa(n))
		}
		r.Header = header
	}
	if r.ContentLength = -1; known {
		r.ContentLength = int64(n)
	}
}
