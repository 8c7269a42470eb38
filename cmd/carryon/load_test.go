package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var slowStreams = flag.Int("slow", 200, "how many streams the load test keeps open at once")

// Many streams are open at once, of which the model has sent the beginning and
// nothing more for a long time. One client in ten leaves, and as many have a model
// that never says anything again. Then the proxy is told to stop. All the others get
// their whole answers, and the proxy gives up no request but those of the clients
// that have left.
func TestLoad(t *testing.T) {
	t.Parallel()
	streams := *slowStreams
	if testing.Short() {
		streams = 20
	}
	l := newLoad(t, streams)
	p := program(t, "proxy", "-listen", "127.0.0.1:0", "-upstream", l.model.URL+"/v1")
	said, base := started(t, p)
	readUntil(t, said, "recent activity")

	idleMemory := residentMemory(p.Process.Pid)
	for i := range streams {
		l.running.Go(func() {
			if err := l.play(t.Context(), base, i); err != nil {
				t.Error(err)
			}
		})
	}
	l.begun.Wait()
	require.False(t, t.Failed())
	full := residentMemory(p.Process.Pid)
	t.Logf("%d streams open: %d KiB of memory, %.1f KiB for each", streams, full>>10, float64(full-idleMemory)/1024/float64(streams))
	close(l.leave)
	l.left.Wait()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	assert.Contains(t, readUntil(t, said, "Stopping"), "Open answers have 10s to finish.")
	close(l.goOn)
	l.running.Wait()
	last, err := io.ReadAll(said)
	require.NoError(t, err)
	assert.Empty(t, string(last))
	require.NoError(t, p.Wait())
	assert.Equal(t, int64(l.leavers()), l.abandoned.Load(), "requests to the model that the proxy gave up")
}

// load is what a proxy is put under.
type load struct {
	model       *httptest.Server
	client      *http.Client
	streams     int
	begun, left sync.WaitGroup // of the streams; of the requests that are given up
	leave, goOn chan struct{}  // closed when clients leave, and when the model goes on
	running     sync.WaitGroup
	abandoned   atomic.Int64
}

func newLoad(t *testing.T, streams int) *load {
	t.Helper()
	l := &load{streams: streams, leave: make(chan struct{}), goOn: make(chan struct{})}
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	t.Cleanup(l.client.CloseIdleConnections)
	l.model = httptest.NewServer(http.HandlerFunc(l.answer))
	t.Cleanup(l.model.Close)
	l.begun.Add(streams)
	l.left.Add(l.leavers())
	return l
}

// leavers returns how many clients leave, at once or because the model stalls.
func (l *load) leavers() (n int) {
	for i := range l.streams {
		if leaves(i) {
			n++
		}
	}
	return n
}

func leaves(i int) bool { return i%10 == 3 || stalls(i) }
func stalls(i int) bool { return i%10 == 7 }

// The parts of each answer.
const (
	loadBegin = `data: {"id":"c%[1]d","choices":[{"index":0,"delta":{"role":"assistant","content":"Answer %[1]d: "},"finish_reason":null}]}` + "\n\n"
	loadRest  = `data: {"id":"c%[1]d","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%[1]d","type":"function",` +
		`"function":{"name":"write_file","arguments":"{}"}}]},"finish_reason":null}]}` + "\n\n" +
		`data: {"id":"c%[1]d","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
)

// answer is the model.
func (l *load) answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		return
	}
	var i int
	_, err := fmt.Sscan(r.Header.Get("X-Stream"), &i)
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, loadBegin, i)
	if err != nil || http.NewResponseController(w).Flush() != nil {
		return
	}
	goOn := l.goOn
	if leaves(i) {
		goOn = nil
	}
	select {
	case <-goOn:
		_, _ = fmt.Fprintf(w, loadRest, i)
	case <-r.Context().Done():
		l.abandoned.Add(1)
		l.left.Done()
	}
}

// play is a client. It returns what was not as it should be.
func (l *load) play(ctx context.Context, base string, i int) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	answer, err := l.begin(ctx, base, i)
	l.begun.Done()
	if err != nil {
		return fmt.Errorf("stream %d: %w", i, err)
	}
	defer answer.Close()
	if leaves(i) {
		select {
		case <-l.leave:
		case <-ctx.Done():
		}
		return nil
	}
	rest, err := io.ReadAll(answer)
	if err != nil || string(rest) != fmt.Sprintf(loadRest, i) {
		return fmt.Errorf("stream %d ends with %q: %w", i, rest, err)
	}
	return nil
}

// begin asks for a stream, and reads its beginning.
func (l *load) begin(ctx context.Context, base string, i int) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", strings.NewReader(stalled))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Stream", strconv.Itoa(i))
	response, err := l.client.Do(r)
	if err != nil {
		return nil, err
	}
	begin := fmt.Sprintf(loadBegin, i)
	got := make([]byte, len(begin))
	if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != begin {
		return nil, errors.Join(fmt.Errorf("it begins with %q: %w", got, err), response.Body.Close())
	}
	return response.Body, nil
}

// residentMemory returns how much memory of the machine a process takes, in bytes,
// or 0 if the platform does not tell.
func residentMemory(pid int) int {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	var all, resident int
	_, _ = fmt.Sscan(string(statm), &all, &resident)
	return resident * os.Getpagesize()
}
