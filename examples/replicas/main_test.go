package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/servertest"
)

// world is the running program, and its output.
type world struct {
	lines     chan string
	address   string
	processes []int
}

// startWorld runs the program until the test ends.
func startWorld(t *testing.T, args ...string) *world {
	t.Helper()
	if _, err := os.Stat(commandDir); err != nil {
		t.Skip("the command is a module of its own, and not here")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, append([]string{"-listen", "127.0.0.1:0", "-think", "0s"}, args...), out)
		_ = out.Close()
	}()
	w := &world{lines: make(chan string, 1000)}
	go func() {
		defer close(w.lines)
		for scanner := bufio.NewScanner(said); scanner.Scan(); {
			w.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	for line := range w.lines {
		if found := regexp.MustCompile(`process (\d+) `).FindStringSubmatch(line); found != nil {
			process, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			w.processes = append(w.processes, process)
		}
		if address, ok := strings.CutPrefix(line, "Round-robin: "); ok {
			w.address = address
			return w
		}
	}
	require.Fail(t, "the program has ended before it listens")
	return nil
}

// kill kills a replica, and returns once the program reports its end.
func (w *world) kill(t *testing.T, number int) {
	t.Helper()
	process, err := os.FindProcess(w.processes[number-1])
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	w.until(t, "replica "+strconv.Itoa(number)+" has ended")
}

// until waits for a line that begins with begin.
func (w *world) until(t *testing.T, begin string) {
	t.Helper()
	for line := range w.lines {
		if strings.HasPrefix(line, begin) {
			return
		}
	}
	require.Fail(t, "the program has ended before it says "+begin)
}

// ask asks the balancer, and returns the number of turns in the answer, and the replica that gave it.
func (w *world) ask(t *testing.T, text string) (turns int, replica string) {
	t.Helper()
	response, err := w.post(t.Context(), text)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return strings.Count(string(body), "I will paint it next."), response.Header.Get(replicaHeader)
}

func (w *world) post(ctx context.Context, text string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address+"/chat/completions", strings.NewReader(request(text)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Carryon-Session", "me")
	return new(http.Client).Do(r)
}

// statusOf returns the status of an answer without reading it, or 0 if there is none.
func (w *world) statusOf(ctx context.Context, text string) int {
	response, err := w.post(ctx, text)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestReplicasShareABudgetAndOutliveOneAnother(t *testing.T) {
	t.Setenv("CARRYON_MIN_INTERVAL", "0s")
	w := startWorld(t, "-state", servertest.StartRedis(t).URL)
	require.Len(t, w.processes, 2)

	turns, replica := w.ask(t, firstText)
	assert.Equal(t, 5, turns, "the answer and four attempts")
	assert.Equal(t, "1", replica)
	for _, other := range []string{"2", "1"} {
		turns, replica = w.ask(t, firstText)
		assert.Equal(t, 1, turns, "the budget is used up on replica %s too", other)
		assert.Equal(t, other, replica)
	}

	// Replica 2 is killed during a continuation: its answer is lost, and its session is not continued for some minutes.
	const gate = slowly + " Paint the gate."
	lost := make(chan int)
	go func() { lost <- w.statusOf(t.Context(), gate) }()
	w.until(t, "model: told to go on through replica 2")
	w.kill(t, 2)
	assert.Equal(t, http.StatusBadGateway, <-lost)
	for range 3 {
		turns, replica = w.ask(t, gate)
		assert.Equal(t, "1", replica)
		assert.Equal(t, 1, turns, "the session is claimed")
	}
	turns, _ = w.ask(t, "Never mind the gate. Paint the door.")
	assert.Greater(t, turns, 1, "until the user writes again")

	w.kill(t, 1)
	assert.Equal(t, http.StatusBadGateway, w.statusOf(t.Context(), firstText))
}

func TestReplicasWithoutStateHaveABudgetEach(t *testing.T) {
	t.Setenv("CARRYON_MIN_INTERVAL", "0s")
	w := startWorld(t)
	for _, want := range []int{5, 5, 1, 1} {
		turns, _ := w.ask(t, firstText)
		assert.Equal(t, want, turns)
	}
}

func TestStateThatCannotBeReachedIsSaid(t *testing.T) {
	if _, err := os.Stat(commandDir); err != nil {
		t.Skip("the command is a module of its own, and not here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	err := run(ctx, []string{"-state", "mongo://localhost"}, io.Discard)
	require.ErrorContains(t, err, "replica 1: it does not listen: ")
	require.ErrorContains(t, err, "mongo:// is not supported")
	require.ErrorContains(t, run(ctx, []string{"-replicas", "0"}, io.Discard), "there has to be a replica")
}
