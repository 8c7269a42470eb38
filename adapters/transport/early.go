package transport

import (
	"net/http"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/middleware"
)

// early sends a request unchanged and reads it at the same time, so that the
// answer does not wait for the reading.
func (t *transport) early(sent time.Time, r *request, original *http.Request, protocol wire.Protocol, body []byte) (*http.Response, error) {
	b := begun{over: make(chan struct{})}
	go b.run(func() *middleware.Call { return t.begin(sent, r, original, protocol, body) })
	response, err := t.base.RoundTrip(r.http.WithContext(scope.EnterLayer(original.Context())))
	if response != nil {
		response.Request = original
	}
	call := b.wait(response)
	if call == nil {
		return response, err
	}
	x := &exchange{call: call, request: r, original: original, early: &answered{response, err}}
	return x.roundTrip(body)
}

// answered is the result of a request that was sent early.
type answered struct {
	response *http.Response
	err      error
}

// begun is a call that begins on a goroutine of its own.
type begun struct {
	call     *middleware.Call
	panicked any
	over     chan struct{}
}

func (b *begun) run(begin func() *middleware.Call) {
	defer func() {
		b.panicked = recover()
		close(b.over)
	}()
	b.call = begin()
}

// wait returns the call once it has begun. If the beginning panicked, wait
// closes the response and panics with the same value.
func (b *begun) wait(response *http.Response) *middleware.Call {
	<-b.over
	if b.panicked != nil {
		if response != nil {
			_ = response.Body.Close() // nobody reads it
		}
		panic(b.panicked)
	}
	return b.call
}
