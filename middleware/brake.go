package middleware

import (
	"context"
	"sync"

	"github.com/carryon-go/carryon/internal/scope"
)

// brake ends what a call has under way. What can be ended is tied to it by a
// ctx, which is made when there is something: most streams come to their end
// without.
type brake struct {
	mu     sync.Mutex
	stop   context.CancelCauseFunc // nil until something is tied to it
	pulled bool
}

// tie returns a ctx that ends with the caller's and when the brake is pulled,
// and whether it is a new one.
func (b *brake) tie(caller context.Context) (context.Context, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil {
		return nil, false
	}
	ctx, stop := context.WithCancelCause(scope.EnterLayer(caller))
	if b.stop = stop; b.pulled {
		stop(ErrClosed)
	}
	return ctx, true
}

// pull ends all that is tied to the brake, and what is going to be.
func (b *brake) pull() {
	b.mu.Lock()
	stop := b.stop
	b.pulled = true
	b.mu.Unlock()
	if stop != nil {
		stop(ErrClosed)
	}
}

func (b *brake) wasPulled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pulled
}
