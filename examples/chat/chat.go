package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// session is the name of the one conversation that there is.
const session = "chat"

// taskNote is what a message with the results of background tasks begins with.
const taskNote = "---\nSystem Note: "

// maxAutomatic is how many turns in a row can be started by results of background
// tasks: a model may start a task in each of them.
const maxAutomatic = 5

var (
	// errStopped ends a turn that the user has stopped.
	errStopped   = errors.New("stopped")
	errAutomatic = fmt.Errorf("%d turns in a row without the user", maxAutomatic)
)

// chat is a conversation: what is typed becomes turns of the agent, one at a
// time, and so do the results of background tasks.
type chat struct {
	view  terminal.View
	hint  string
	dir   string
	agent *agent
	mw    *middleware.Middleware
	todos *todo.Memory
	tasks *asynctask.Manager

	changed chan struct{} // there may be something to do
	showing sync.Mutex    // what is shown last is what was found last
	list    []todo.Todo   // as it was listed last

	mu      sync.Mutex
	stop    context.CancelCauseFunc // of the turn under way, nil if there is none
	queue   []string                // what the user has said meanwhile
	pending map[string]bool         // background tasks that the model was not told of yet

	automatic int // turns in a row that the user did not start
}

// newChat connects everything. A background task takes the pace at least.
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

// talk takes what is typed until there is no more of it.
func (c *chat) talk(ctx context.Context, signals <-chan os.Signal) {
	ctx = continuation.WithSession(ctx, session)
	c.todos.Subscribe(func(_ string, list []todo.Todo) { c.listed(ctx, list) })
	c.tasks.Subscribe(func(t asynctask.Task) { c.taskEnded(ctx, t) })
	var turns sync.WaitGroup
	trigger := asynctask.NewAutoTrigger(ctx, c.tasks, asynctask.Host{Busy: c.busy, Trigger: c.tell})
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
			return
		case line, ok := <-lines:
			if !ok || !c.hear(ctx, line) {
				return
			}
		case <-c.view.Interrupts():
			_ = c.interrupt() // goes on in any case
		case s := <-signals:
			if s == os.Interrupt && !c.interrupt() {
				return
			}
			c.show(ctx) // in the new size
		case <-c.changed:
			trigger.Idle()
		}
		c.next(ctx, &turns)
	}
}

// leave ends what is under way.
func (c *chat) leave(ctx context.Context, trigger *asynctask.AutoTrigger, turns *sync.WaitGroup) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	c.interruptTurn()
	turns.Wait()
	_ = trigger.Stop(ctx) // what cannot be waited for ends with the program
	_ = c.tasks.Close(ctx)
}

// hear takes a line. It reports false for the one that ends the program.
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

// say puts a message of the user's into the queue.
func (c *chat) say(line string) {
	c.view.Say(terminal.Said, line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, line)
	if c.stop != nil {
		c.view.Say(terminal.Noted, "is sent when this turn is over; Ctrl-C stops it")
	}
}

// next starts a turn with what the user has said, if there is something and no
// turn is under way.
func (c *chat) next(ctx context.Context, turns *sync.WaitGroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 || c.stop != nil {
		return
	}
	text := strings.Join(c.queue, "\n")
	c.queue, c.automatic = nil, 0
	ctx, c.stop = context.WithCancelCause(ctx)
	turns.Go(func() { _ = c.turn(ctx, text) }) // the user has been told
}

// tell starts a turn with the result of a background task.
func (c *chat) tell(ctx context.Context, message string) error {
	c.mu.Lock()
	if c.stop != nil || len(c.queue) > 0 {
		c.mu.Unlock()
		return asynctask.ErrBusy
	}
	defer c.delivered(ctx, func(id string) bool { return strings.Contains(message, id) })
	if c.automatic++; c.automatic > maxAutomatic {
		first := c.automatic == maxAutomatic+1
		c.mu.Unlock()
		if first {
			c.note("the result waits for your next message, for the model starts one task after the other")
		}
		return errAutomatic
	}
	ctx, c.stop = context.WithCancelCause(ctx)
	c.mu.Unlock()
	return c.turn(ctx, message)
}

// turn is a turn of the agent, which c.stop stops.
func (c *chat) turn(ctx context.Context, text string) error {
	c.show(ctx)
	err := c.agent.work(ctx, text)
	switch {
	case errors.Is(context.Cause(ctx), errStopped):
		c.view.Say(terminal.Noted, "stopped")
		err = nil
	case err != nil:
		c.view.Say(terminal.Failed, explain(err))
	}
	c.mu.Lock()
	c.stop(nil)
	c.stop = nil
	c.mu.Unlock()
	c.show(ctx)
	c.wake()
	return err
}

// interrupt is what Ctrl-C does. It reports false if the program should end,
// because there is neither a turn to stop nor a prompt to leave it from.
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

// quiet reports whether nothing is under way or about to be.
func (c *chat) quiet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop == nil && len(c.queue) == 0 && len(c.pending) == 0
}

// wake has the loop look at what there is to do.
func (c *chat) wake() {
	select {
	case c.changed <- struct{}{}:
	default: // it will
	}
}

// show says how things stand.
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

// listed shows a new list, where there is no panel by what is new in it.
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

// count returns a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// prompts counts the messages of the history that carryon has written.
func prompts(history []openai.ChatCompletionMessage) (n int) {
	for _, message := range history {
		if strings.Contains(message.Content, continuation.PromptPreamble) {
			n++
		}
	}
	return n
}
