package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/autotrigger"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"

	"github.com/carryon-go/carryon/examples/internal/upstream"
)

// session is the key of the only conversation.
const session = "chat"

// taskNote begins a message with the results of background tasks.
const taskNote = "---\nSystem Note: "

// maxAutomatic is how many turns in a row the results of background tasks may start. Without a limit, a model could
// start another task in each.
const maxAutomatic = 5

var (
	// errStopped is the cause of the end of a turn that the user stopped.
	errStopped   = errors.New("stopped")
	errFailed    = errors.New("a turn has failed")
	errAutomatic = fmt.Errorf("%d turns in a row without the user", maxAutomatic)
)

// chat is a conversation. It turns what the user types, and the results of
// background tasks, into turns of the agent, one at a time.
type chat struct {
	view  terminal.View
	hint  string
	dir   string
	agent *agent
	mw    *middleware.Middleware
	todos *todo.Memory
	tasks *asynctask.Manager

	changed chan struct{} // signals that there may be something to do
	showing sync.Mutex    // held while reading and showing, so that the latest state is shown last
	list    []todo.Todo   // as shown last

	mu      sync.Mutex
	stop    context.CancelCauseFunc // stops the current turn; nil if there is none
	queue   []string                // what the user typed during the turn
	pending map[string]bool         // background tasks whose result the model has not received

	automatic int // turns in a row that the user did not start

	prompted atomic.Int64 // prompts that carryon has sent
	failed   atomic.Bool  // a turn has failed
}

// newChat connects all parts. A background task takes at least pace.
func newChat(v terminal.View, files *sandbox, e endpoint, pace time.Duration) *chat {
	c := &chat{
		view: v, hint: e.hint, dir: files.dir, changed: make(chan struct{}, 1), pending: map[string]bool{},
		todos: todo.NewMemory(), tasks: asynctask.NewManager(),
	}
	c.mw = middleware.New(c.todos, middleware.WithTasks(c.tasks), middleware.WithObserver(c.observer()),
		middleware.WithNotice(func(reason string, _ time.Time) string { return "* paused: " + reason }))
	c.agent = &agent{
		client: carryopenai.Wrap(e.client, c.mw), model: e.model, view: v,
		history: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleSystem, Content: instructions}},
		tools:   &toolbox{files: files, todos: c.todos, tasks: c.tasks, pace: pace, started: c.started, view: v},
	}
	return c
}

// talk runs the chat until the input ends. With a plain view, it fails if a turn has failed, or if it was interrupted.
func (c *chat) talk(ctx context.Context, signals <-chan os.Signal) (err error) {
	ctx = continuation.WithSession(ctx, session)
	c.todos.Subscribe(func(_ string, list []todo.Todo) { c.listed(ctx, list) })
	c.tasks.Subscribe(func(t asynctask.Task) { c.taskEnded(ctx, t) })
	defer func() { err = c.verdict(err) }()
	var turns sync.WaitGroup
	trigger := autotrigger.New(ctx, c.tasks, autotrigger.Host{Busy: c.busy, Trigger: c.tell})
	defer c.leave(ctx, trigger, &turns)
	c.view.Say(terminal.Noted, c.hint+"\nThe agent works in "+c.dir)
	c.show(ctx)
	for {
		lines := c.view.Lines()
		if c.view.Plain() && !c.quiet() {
			lines = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, ok := <-lines:
			if !ok || !c.hear(ctx, line) {
				return nil
			}
		case <-c.view.Interrupts():
			_ = c.interrupt() // goes on in any case
		case s := <-signals:
			if s == os.Interrupt && !c.interrupt() {
				return context.Canceled
			}
			c.show(ctx) // in the new size
		case <-c.changed:
			trigger.Idle()
		}
		c.next(ctx, &turns)
	}
}

// verdict returns the error of a talk that ended with err.
func (c *chat) verdict(err error) error {
	switch {
	case !c.view.Plain():
		return nil
	case err == nil && c.failed.Load():
		return errFailed
	}
	return err
}

// leave stops the turn and the background tasks.
func (c *chat) leave(ctx context.Context, trigger *autotrigger.AutoTrigger, turns *sync.WaitGroup) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	c.interruptTurn()
	turns.Wait()
	_ = trigger.Stop(ctx) // what takes longer ends with the program
	_ = c.tasks.Close(ctx)
}

// hear handles a line of input. It returns false if the line ends the program.
func (c *chat) hear(ctx context.Context, line string) bool {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
	case strings.HasPrefix(line, "/"):
		c.view.Say(terminal.Said, line)
		return c.command(ctx, line)
	default:
		c.say(line)
	}
	return true
}

// say queues a message of the user.
func (c *chat) say(line string) {
	c.view.Say(terminal.Said, line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, line)
	if c.stop != nil {
		c.view.Say(terminal.Noted, "will be sent after this turn; Ctrl-C stops the turn")
	}
}

// next starts a turn with the queued messages, unless there are none or a turn
// is running.
func (c *chat) next(ctx context.Context, turns *sync.WaitGroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 || c.stop != nil {
		return
	}
	text := strings.Join(c.queue, "\n")
	c.queue, c.automatic = nil, 0
	ctx, c.stop = context.WithCancelCause(ctx)
	turns.Go(func() { _ = c.turn(ctx, text) }) // turn shows its error
}

// tell starts a turn with the result of a background task.
func (c *chat) tell(ctx context.Context, message string) error {
	c.mu.Lock()
	if c.stop != nil || len(c.queue) > 0 {
		c.mu.Unlock()
		return autotrigger.ErrBusy
	}
	defer c.delivered(ctx, func(id string) bool { return strings.Contains(message, id) })
	c.automatic++
	if c.automatic > maxAutomatic {
		first := c.automatic == maxAutomatic+1
		c.mu.Unlock()
		if first {
			c.note("the result waits for your next message, because the model keeps starting tasks")
		}
		return errAutomatic
	}
	ctx, c.stop = context.WithCancelCause(ctx)
	c.mu.Unlock()
	return c.turn(ctx, message)
}

// turn runs one turn of the agent, which c.stop can stop.
func (c *chat) turn(ctx context.Context, text string) error {
	c.show(ctx)
	err := c.agent.work(ctx, text)
	switch {
	case errors.Is(context.Cause(ctx), errStopped):
		c.view.Say(terminal.Noted, "stopped")
		err = nil
	case err != nil:
		c.failed.Store(true)
		c.view.Say(terminal.Failed, upstream.Explain(err))
	}
	c.mu.Lock()
	c.stop(nil)
	c.stop = nil
	c.mu.Unlock()
	c.show(ctx)
	c.wake()
	return err
}

// interrupt handles Ctrl-C. It returns false if the program should end, because
// there is no turn to stop and no prompt at which the user could quit.
func (c *chat) interrupt() bool {
	if c.interruptTurn() {
		return true
	}
	if c.view.Plain() {
		return false
	}
	c.view.Say(terminal.Noted, "nothing to stop; Ctrl-D or /quit leaves")
	return true
}

func (c *chat) interruptTurn() (stopped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop(errStopped)
	}
	return c.stop != nil
}

func (c *chat) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop != nil || len(c.queue) > 0
}

// quiet reports whether nothing is running, queued or pending.
func (c *chat) quiet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop == nil && len(c.queue) == 0 && len(c.pending) == 0
}

// wake makes the loop in talk check for work.
func (c *chat) wake() {
	select {
	case c.changed <- struct{}{}:
	default: // a signal is already waiting
	}
}

// show draws the panel.
func (c *chat) show(ctx context.Context) {
	c.showing.Lock()
	defer c.showing.Unlock()
	status, list := c.status(ctx), c.todos.Read(ctx)
	c.view.Panel(func(columns, rows int) []string { return panel(status, list, columns, rows/4) })
}

func (c *chat) status(ctx context.Context) string {
	state, err := c.mw.State(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stop != nil:
		return "at work, Ctrl-C stops"
	case err == nil && state.Paused.IsSet():
		return "paused (/resume)"
	case len(c.pending) > 0:
		return count(len(c.pending), "task") + " in background"
	}
	return "ready (/help)"
}

// listed shows a new list: in the panel, or as lines for the changed todos.
func (c *chat) listed(ctx context.Context, list []todo.Todo) {
	c.show(ctx)
	if !c.view.Plain() {
		return
	}
	for i, t := range list {
		if i >= len(c.list) || t != c.list[i] {
			c.view.Say(terminal.Worked, "todo "+box(t))
		}
	}
	c.list = list
}

// count returns a number and its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// prompts counts the messages of the history that contain a prompt of carryon's.
func prompts(history []openai.ChatCompletionMessage) (n int) {
	for _, message := range history {
		if strings.Contains(message.Content, continuation.PromptPreamble) {
			n++
		}
	}
	return n
}
