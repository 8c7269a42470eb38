// Package replicatest tests with several processes what processes share. It
// starts the test binary again, as replicas of a program that uses carryon.
package replicatest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// roleVariable is the environment variable that makes a test binary run as a
// replica.
const roleVariable = "CARRYON_TEST_REPLICA"

// config is how a replica is set up.
type config struct {
	Engine string // its URL
	Model  string // the URL of the model's server
	Limits continuation.Limits
	Tasks  *taskerConfig // nil unless it is a tasker
}

// command is one line that a replica reads, and answer the line that it writes
// when it is done. A replica runs its commands concurrently.
type command struct {
	ID      int
	Op      string // call, set, pause, drain, updates
	Session string
	Text    string        // what the user says or types, or why to pause
	Updates int           // how many updates to make
	For     time.Duration // if Updates is 0, for how long to make them
}

type answer struct {
	ID            int
	Reason        string // the code of the outcome's
	Continuations int
	Text          string
	Err           string
	Updates       int
}

// Main runs the tests, or serves as a replica if this process was started as
// one. Call it from TestMain.
func Main(m *testing.M, open func(url string) (records.Records, error)) {
	role := os.Getenv(roleVariable) //nolint:forbidigo // it tells the two apart
	if role == "" {
		os.Exit(m.Run()) //nolint:forbidigo // as TestMain does
	}
	if err := serve(role, open, os.Stdin, os.Stdout); err != nil { //nolint:forbidigo // a program
		fmt.Fprintln(os.Stderr, err) //nolint:forbidigo // a program
		os.Exit(1)                   //nolint:forbidigo // a program
	}
	os.Exit(0) //nolint:forbidigo // a program
}

// replica is a program that uses carryon.
type replica struct {
	mw     *middleware.Middleware
	store  session.Store
	client *http.Client
	model  string
}

// serve is a replica's main function. It returns at the end of its input.
func serve(role string, open func(url string) (records.Records, error), in io.Reader, out io.Writer) error {
	var c config
	if err := json.Unmarshal([]byte(role), &c); err != nil {
		return err
	}
	engine, err := open(c.Engine)
	if err != nil {
		return err
	}
	if c.Tasks != nil {
		return serveTasks(*c.Tasks, engine)
	}
	r := &replica{store: session.NewSharedStore(engine, continuation.DefaultLimits().SessionLife), model: c.Model}
	c.Limits.StoreTimeout = 30 * time.Second
	r.mw = middleware.New(todo.Static(todo.Todo{ID: "1", Content: "Paint the fence", Status: todo.Pending}),
		middleware.WithRecords(engine), middleware.WithLimits(c.Limits))
	r.client = &http.Client{Transport: transport.New(http.DefaultTransport, r.mw)}
	var mu sync.Mutex
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var do command
		if err := json.Unmarshal(lines.Bytes(), &do); err != nil {
			return err
		}
		go func() {
			done, err := r.carryOut(do)
			done.ID = do.ID
			if err != nil {
				done.Err = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			_ = json.NewEncoder(out).Encode(done) //nolint:errchkjson // without a reader the process ends
		}()
	}
	return nil
}

func (r *replica) carryOut(do command) (answer, error) {
	ctx := continuation.WithSession(context.Background(), do.Session)
	switch do.Op {
	case "call":
		return r.call(ctx, do.Text)
	case "set":
		text, err := r.mw.Settings().CommandFor(ctx, do.Session, do.Text)
		return answer{Text: text}, err
	case "pause":
		return answer{}, r.mw.Pause(ctx, do.Text)
	case "drain":
		return answer{}, r.mw.Drain(ctx)
	case "updates":
		return r.updates(ctx, do)
	}
	return answer{}, fmt.Errorf("replicatest: unknown command %q", do.Op)
}

// call sends the model a request, as an agent with a tool does.
func (r *replica) call(ctx context.Context, text string) (answer, error) {
	ctx, outcomes := middleware.Capture(ctx)
	body, err := json.Marshal(map[string]any{
		"model":    "any",
		"messages": []any{map[string]string{"role": "user", "content": text}},
		"tools":    []any{map[string]any{"type": "function", "function": map[string]any{"name": "todo_write"}}},
	})
	if err != nil {
		return answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.model+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	said, err := io.ReadAll(response.Body)
	last := outcomes.Last()
	return answer{Reason: last.Reason.Code(), Continuations: last.Attempts, Text: string(said)}, err
}

// updates changes a session's state as fast as it can, and counts the updates.
func (r *replica) updates(ctx context.Context, do command) (answer, error) {
	var done answer
	for end := time.Now().Add(do.For); done.Updates < do.Updates || time.Now().Before(end); done.Updates++ {
		err := r.store.Update(ctx, do.Session, func(s decision.State) decision.State {
			s.Tokens++
			return s
		})
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// Process is a running replica, for its test.
type Process struct {
	tb  testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	ids atomic.Int64

	mu      sync.Mutex
	waiting map[int]chan answer
	stderr  strings.Builder
}

func start(tb testing.TB, c config) *Process {
	tb.Helper()
	role, err := json.Marshal(c)
	require.NoError(tb, err)
	program, err := os.Executable()
	require.NoError(tb, err)
	p := &Process{tb: tb, waiting: map[int]chan answer{}}
	p.cmd = exec.CommandContext(context.WithoutCancel(tb.Context()), program) //nolint:gosec // this program
	p.cmd.Env = append(os.Environ(), roleVariable+"="+string(role))           //nolint:forbidigo // a test's
	p.cmd.Stderr = &p.stderr
	p.in, err = p.cmd.StdinPipe()
	require.NoError(tb, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, p.cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.read(out)
		_ = p.cmd.Wait() // it may have been killed
	}()
	tb.Cleanup(func() {
		p.kill()
		<-ended
	})
	return p
}

// read hands out answers until there are no more.
func (p *Process) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var a answer
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			continue // a line of the testing package
		}
		p.mu.Lock()
		p.waiting[a.ID] <- a
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, waits := range p.waiting {
		waits <- answer{ID: id, Err: "the process has ended"}
	}
}

// kill ends the process at once.
func (p *Process) kill() { _ = p.cmd.Process.Kill() }

// send sends a command, and returns a channel for its answer.
func (p *Process) send(do command) <-chan answer {
	p.tb.Helper()
	do.ID = int(p.ids.Add(1))
	answered := make(chan answer, 2)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[do.ID] = answered
	line, err := json.Marshal(do)
	require.NoError(p.tb, err)
	_, err = p.in.Write(append(line, '\n'))
	require.NoError(p.tb, err)
	return answered
}

// do sends a command and waits for its answer, which must not be an error.
func (p *Process) do(do command) answer {
	p.tb.Helper()
	a := <-p.send(do)
	require.Empty(p.tb, a.Err)
	return a
}
