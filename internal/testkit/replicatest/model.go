package replicatest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// model is a server whose model never gets anything done, and never says the
// same twice.
type model struct {
	*httptest.Server

	hanging chan struct{} // gets a value for each continuation that hangs

	answers       atomic.Int64
	mu            sync.Mutex
	continuations map[string]int // by what the user said first
}

// hangs is a user message whose continuations never end.
const hangs = "Hang."

func startModel(tb testing.TB) *model {
	tb.Helper()
	m := &model{hanging: make(chan struct{}, 100), continuations: map[string]int{}}
	m.Server = httptest.NewServer(m)
	tb.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

// ServeHTTP answers with text.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct{ Content string }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &request) != nil || len(request.Messages) == 0 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	said := request.Messages[0].Content
	if len(request.Messages) > 1 {
		m.mu.Lock()
		m.continuations[said]++
		m.mu.Unlock()
		if strings.HasPrefix(said, hangs) {
			m.hanging <- struct{}{}
			<-r.Context().Done()
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"1","object":"chat.completion","created":1,"model":"any","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":"Coat %d: I will paint it next."},"finish_reason":"stop"}]}`, m.answers.Add(1))
}

// continued returns the number of continuations of calls with that user
// message.
func (m *model) continued(said string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.continuations[said]
}
