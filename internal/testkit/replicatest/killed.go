package replicatest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/records"
)

// haste is how many times faster time passes for the replicas, so that leases
// lapse and lost tasks fail within a test.
const haste = 500

// hasty is an engine whose clock is fast.
type hasty struct {
	records.Records
	records.Notifier
}

func hurried(engine records.Records) hasty {
	notifier, ok := engine.(records.Notifier)
	if !ok {
		panic("replicatest: an engine that does not notify")
	}
	return hasty{engine, notifier}
}

func hurry(now time.Time) time.Time {
	begin := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	return begin.Add(time.Duration(now.UnixMilli()%1e9) * time.Millisecond * haste)
}

func (h hasty) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	return h.Records.Update(ctx, key, func(now time.Time, old []byte) ([]byte, time.Duration, error) { return f(hurry(now), old) })
}

// hastyClock is the clock of a replica.
type hastyClock struct{}

func (hastyClock) Now() time.Time { return hurry(time.Now()) }

func (hastyClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return time.AfterFunc(d/haste, f)
}

const replicaSessions = 8

// tasker is a replica that starts tasks, works on jobs, and tells the model
// about ended tasks. All taskers share the sessions. A tasker logs what it has
// told the model.
type tasker struct {
	tasks *asynctask.Manager
	log   *os.File
}

// taskerConfig is the configuration of a tasker.
type taskerConfig struct {
	Log    string // the file to log to
	Starts bool   // it starts tasks too
}

// serveTasks is a tasker's main function. It ends when it is killed.
func serveTasks(c taskerConfig, engine records.Records) error {
	log, err := os.OpenFile(c.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	r := &tasker{log: log, tasks: asynctask.NewManager(asynctask.WithRecords(hurried(engine)),
		clock.Option[asynctask.Option](hastyClock{}), asynctask.WithSessionLimit(20), asynctask.WithTaskLife(asynctask.Off))}
	for i := 0; ; i++ {
		session := fmt.Sprint("session-", rand.N(replicaSessions)) //nolint:gosec // any will do
		ctx := continuation.WithSession(context.Background(), session)
		if c.Starts {
			r.starts(ctx, fmt.Sprint("job-", os.Getpid(), "-", i))
		}
		r.works(ctx, session)
		r.tells(ctx, session)
	}
}

func (r *tasker) write(words ...any) { _, _ = fmt.Fprintln(r.log, words...) }

// starts runs a function as a task, or begins a job that any replica may do.
func (r *tasker) starts(ctx context.Context, id string) {
	var ticket asynctask.Ticket
	var err error
	if rand.N(2) == 0 {
		ticket, err = r.tasks.Begin(ctx, id, "job")
	} else {
		ticket, err = r.tasks.Start(ctx, "function", func(context.Context) (*asynctask.Output, error) {
			<-time.After(rand.N(300 * time.Millisecond))
			return nil, nil
		})
	}
	if err == nil {
		r.write("begun", ticket)
	}
}

// works does one of the session's jobs.
func (r *tasker) works(ctx context.Context, session string) {
	all, _ := r.tasks.Tasks(ctx, session)
	for _, task := range all {
		if task.State != asynctask.Running || !strings.HasPrefix(task.ID, "job-") || rand.N(3) > 0 {
			continue
		}
		_, detach, err := r.tasks.Attach(ctx, task.Ticket())
		if err != nil {
			continue
		}
		<-time.After(rand.N(20 * time.Millisecond))
		_ = r.tasks.Finish(ctx, task.Ticket(), asynctask.Message("done"))
		detach()
		return
	}
}

// tells informs the model about the tasks that have ended.
func (r *tasker) tells(ctx context.Context, session string) {
	d, err := r.tasks.Deliveries().Deliver(ctx, session, delivery.Options{})
	if err != nil || d == nil {
		return
	}
	telling := fmt.Sprint(os.Getpid(), "-", d.Lease)
	for _, id := range d.Tasks {
		r.write("told", asynctask.Ticket{Session: session, ID: id}, telling)
	}
	<-time.After(rand.N(20 * time.Millisecond)) // the call
	if r.tasks.Deliveries().Settle(ctx, d, delivery.Delivered) == nil {
		r.write("settled", telling)
	}
}

// KillAtRandom kills replicas at random while they start tasks, work on them
// and tell the model. It checks that the model is told of every task, and of a
// task twice only if the first replica that told it died before it could record
// that.
func KillAtRandom(t *testing.T, url string, engine records.Records) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes 10 seconds")
	}
	log := filepath.Join(t.TempDir(), "log")
	program, err := os.Executable()
	require.NoError(t, err)
	spawn := func(starts bool) *exec.Cmd {
		role, err := json.Marshal(config{Engine: url, Tasks: &taskerConfig{Log: log, Starts: starts}})
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), program)              //nolint:gosec // this program
		cmd.Env = append(os.Environ(), roleVariable+"="+string(role)) //nolint:forbidigo // a test's
		require.NoError(t, cmd.Start())
		return cmd
	}
	kill := func(cmd *exec.Cmd) {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}

	fleet := []*exec.Cmd{spawn(true), spawn(true), spawn(true)}
	kills := 0
	for end := time.Now().Add(6 * time.Second); time.Now().Before(end); kills++ {
		<-time.After(100*time.Millisecond + rand.N(300*time.Millisecond))
		i := rand.N(len(fleet))
		kill(fleet[i])
		fleet[i] = spawn(true)
	}
	for _, cmd := range fleet {
		kill(cmd)
	}
	fleet = []*exec.Cmd{spawn(false), spawn(false)} // they finish what there is
	watcher := asynctask.NewManager(asynctask.WithRecords(hurried(engine)), clock.Option[asynctask.Option](hastyClock{}))
	require.Eventually(t, func() bool {
		for i := range replicaSessions {
			p, err := watcher.Deliveries().Pending(t.Context(), fmt.Sprint("session-", i), 0)
			if err != nil || p.Unfinished > 0 || p.Undelivered > 0 {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond)
	<-time.After(100 * time.Millisecond) // until the replicas have logged what they settled
	for _, cmd := range fleet {
		kill(cmd)
	}
	read(t, log).check(t, kills)
}

// history is what the replicas have logged.
type history struct {
	begun   []string
	told    map[string][]string // when the model was told, by task
	settled map[string]bool
}

func read(t *testing.T, path string) *history {
	t.Helper()
	h := &history{told: map[string][]string{}, settled: map[string]bool{}}
	file, err := os.Open(path) //nolint:gosec // of this test
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		switch words := strings.Fields(lines.Text()); {
		case len(words) == 2 && words[0] == "begun":
			h.begun = append(h.begun, words[1])
		case len(words) == 3 && words[0] == "told":
			h.told[words[1]] = append(h.told[words[1]], words[2])
		case len(words) == 2 && words[0] == "settled":
			h.settled[words[1]] = true
		default:
			t.Error(errors.New(lines.Text()))
		}
	}
	require.NoError(t, lines.Err())
	return h
}

func (h *history) check(t *testing.T, kills int) {
	t.Helper()
	never, twice := 0, 0
	for _, task := range h.begun {
		if len(h.told[task]) == 0 {
			never++
		}
	}
	for task, tellings := range h.told {
		settled := 0
		for _, telling := range tellings {
			if h.settled[telling] {
				settled++
			}
		}
		assert.LessOrEqual(t, settled, 1, "%s was told by %v, who all lived", task, tellings)
		if len(tellings) > 1 {
			twice++
		}
	}
	t.Logf("%d tasks begun, %d told once, %d more than once, %d never; %d replicas killed",
		len(h.begun), len(h.told)-twice, twice, never, kills)
	assert.Zero(t, never)
	assert.NotEmpty(t, h.begun)
}
