package proxy

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var soakStreams = flag.Int("streams", 2400, "how many streams the soak test sends through the proxy")

// The size of the soak.
const (
	clients = 16
	warm    = maxEntries + 200 // streams after which everything that is kept, such as the journal, is full
)

// Many streams, of which one in ten fails in some way, leave nothing behind, and each of them gets the right answer.
// The test is not parallel, because the goroutines and descriptors of other tests would count.
func TestSoak(t *testing.T) {
	s := newSoak(t)
	began := time.Now()
	early := max(*soakStreams/10, warm)
	s.play(t, 0, early)
	base := s.held(nil)
	s.play(t, early, *soakStreams)
	took := time.Since(began)
	end := s.held(base.covers)
	t.Logf("%d streams in %v, %d requests to the model; held after %d: %v; at the end: %v",
		*soakStreams, took.Round(time.Millisecond), s.asked.Load(), early, base, end)
	assert.True(t, base.covers(end), "more is held at the end, %v, than after %d streams, %v", end, early, base)
}

// soak is a proxy between many agents and a model that sometimes fails.
type soak struct {
	base   string
	proxy  *served
	client *http.Client
	onward *http.Transport // from the proxy to the model
	asked  atomic.Int64
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{onward: newBase(new(Config)), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
	model := httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(model.Close)
	c := parsed(t, "-upstream", model.URL+"/v1", "-min-interval", "0")
	s.proxy = &served{Handler: handlerOf(t, c, s.onward, loggerTo(io.Discard))}
	s.proxy.changed.L = &s.proxy.mu
	server := httptest.NewServer(s.proxy)
	t.Cleanup(server.Close)
	t.Cleanup(s.hangUp)
	s.base = server.URL + prefix
	return s
}

// hangUp closes the connections that nobody uses.
func (s *soak) hangUp() {
	s.proxy.wait()
	s.client.CloseIdleConnections()
	s.onward.CloseIdleConnections()
}

// play has the agents ask for a range of stories.
func (s *soak) play(t *testing.T, from, to int) {
	t.Helper()
	var next atomic.Int64
	next.Store(int64(from))
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			client := s.agent(i)
			for n := int(next.Add(1)) - 1; n < to; n = int(next.Add(1)) - 1 {
				told := storyOf(n)
				if got := told.ask(t.Context(), client); !told.fits(got) {
					assert.Equal(t, told.want(), got, "story %d: %+v", n, told)
				}
			}
		})
	}
	running.Wait()
	require.False(t, t.Failed())
}

// agent returns a client. Every second one names its session.
func (s *soak) agent(i int) *openai.Client {
	config := openai.DefaultConfig("sk-secret-key")
	config.BaseURL, config.HTTPClient = s.base, s.client
	if i%2 == 0 {
		config.HTTPClient = inSession{s.client, fmt.Sprint("agent ", i)}
	}
	return openai.NewClientWithConfig(config)
}

// inSession is a client whose requests belong to a session.
type inSession struct {
	*http.Client

	session string
}

func (c inSession) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set(sessionHeader, c.session)
	return c.Client.Do(r)
}

// footprint is what the process holds.
type footprint struct {
	heap                    uint64 // bytes in use
	goroutines, descriptors int
}

func (f footprint) String() string {
	return fmt.Sprintf("%d KiB, %d goroutines, %d descriptors", f.heap>>10, f.goroutines, f.descriptors)
}

// covers reports whether another footprint is no more than 5 % larger in any way.
func (f footprint) covers(other footprint) bool {
	return other.heap*100 <= f.heap*105 && other.goroutines*100 <= f.goroutines*105 && other.descriptors*100 <= f.descriptors*105
}

// held returns what the process holds when it is idle: the least of several readings, because connections take a
// moment to end. It stops reading once it has seen enough.
func (s *soak) held(enough func(footprint) bool) footprint {
	s.hangUp()
	var least footprint
	for i := range 400 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		now := footprint{m.HeapAlloc, runtime.NumGoroutine(), descriptors()}
		if i == 0 {
			least = now
		}
		least = footprint{min(least.heap, now.heap), min(least.goroutines, now.goroutines), min(least.descriptors, now.descriptors)}
		if enough == nil && i >= 50 || enough != nil && enough(least) {
			break
		}
	}
	return least
}

// descriptors returns how many descriptors are open, or 0 if the platform does not tell.
func descriptors() int {
	list, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// told is what a client received of a stream.
type told struct {
	text   string
	calls  string // name and arguments
	finish string
	tokens int
	err    string
}

// hear reads a stream. The client leaves once it has received a certain text.
func hear(ctx context.Context, client *openai.Client, r openai.ChatCompletionRequest, until string) told {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	chunks, err := client.CreateChatCompletionStream(ctx, r)
	switch {
	case errors.Is(err, io.EOF): // before there was an answer
		return told{err: "broken"}
	case err != nil:
		return told{err: problem(err)}
	}
	defer chunks.Close()
	var h told
	for {
		chunk, err := chunks.Recv()
		if err != nil {
			h.err = problem(err)
			return h
		}
		if chunk.Usage != nil {
			h.tokens += chunk.Usage.TotalTokens
		}
		for _, choice := range chunk.Choices {
			h.text += choice.Delta.Content
			h.finish += string(choice.FinishReason)
			for _, call := range choice.Delta.ToolCalls {
				h.calls += call.Function.Name + call.Function.Arguments
			}
		}
		if until != "" && strings.HasSuffix(h.text, until) {
			leave()
		}
	}
}

// problem names the kind of an SDK's error.
func problem(err error) string {
	var api *openai.APIError
	switch {
	case errors.Is(err, io.EOF):
		return ""
	case errors.Is(err, context.Canceled):
		return "left"
	case errors.As(err, &api) && api.HTTPStatusCode != 0:
		return fmt.Sprint("status ", api.HTTPStatusCode)
	case errors.As(err, &api):
		return "reported"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "broken"
	}
	return err.Error()
}
