package transport

import (
	"net/http"

	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/middleware"
)

// early sends a request as it came, and looks at it meanwhile, so that the answer
// need not wait for that.
func (t *transport) early(r *request, original *http.Request, protocol wire.Protocol, body []byte) (*http.Response, error) {
	b := begun{over: make(chan struct{})}
	go b.run(func() *middleware.Call { return t.begin(r, original, protocol, body) })
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

// answered is what came of a request that was sent early.
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

// wait returns the call once it has begun. It panics as the beginning did, and
// then closes the response first.
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
