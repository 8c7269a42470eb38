package hostile

import (
	"io"
	"net/http"
	"sync"
)

// Upstream is a server that answers with turns, one after the other. It may be used
// concurrently.
type Upstream struct {
	mu       sync.Mutex
	turns    []Turn
	requests []string
}

// NewUpstream returns a server of turns.
func NewUpstream(turns ...Turn) *Upstream { return &Upstream{turns: turns} }

// Requests returns the bodies of the requests so far.
func (u *Upstream) Requests() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.requests
}

// next takes a request, and returns the turn that answers it.
func (u *Upstream) next(body string) (Turn, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, body)
	if len(u.requests) > len(u.turns) {
		return Turn{}, false
	}
	return u.turns[len(u.requests)-1], true
}

// ServeHTTP implements [http.Handler].
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what has arrived counts
	turn, ok := u.next(string(body))
	if !ok {
		http.Error(w, "no turn is left", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, turn.Body)
	if turn.Reset {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
