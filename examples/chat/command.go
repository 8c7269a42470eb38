package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/examples/internal/plaintext"
	"github.com/carryon-go/carryon/examples/internal/upstream"
)

const help = `/set [NAME VALUE]  the settings
/todos             the whole list
/pause [REASON]    no carrying on
/resume            ends that, goes on
/tasks             background tasks
/history           what the model gets
/quit or Ctrl-D    leaves
Tab, Alt-Enter     completes, new line`

// commands returns what Tab completes.
func commands() (words []string) {
	for line := range strings.Lines(help) {
		word, rest, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(word, "/") {
			break
		}
		if strings.HasPrefix(rest, "[") {
			word += " "
		}
		words = append(words, word)
	}
	return append(words, "/help")
}

// resumption is the message that /resume sends for the user if no turn is
// running.
const resumption = "Go on with the list."

// command executes a line that begins with a slash. It returns false for the
// command that ends the program.
func (c *chat) command(ctx context.Context, line string) bool {
	name, rest, _ := strings.Cut(line, " ")
	switch strings.ToLower(name) {
	case "/set":
		answer, err := c.mw.Settings().CommandFor(ctx, session, line)
		c.answer(answer, err != nil)
	case "/todos":
		c.answer(c.listTodos(ctx), false)
	case "/pause":
		c.pause(ctx, rest)
	case "/resume":
		c.resume(ctx)
	case "/tasks":
		c.answer(c.listTasks(ctx), false)
	case "/history":
		c.answer(history(c.agent.messages(), int(c.prompted.Load())), false)
	case "/help":
		c.answer(help, false)
	case "/quit", "/exit":
		return false
	default:
		c.answer(fmt.Sprintf("There is no command %s. /help lists the commands.", terminal.Fit(plaintext.OneLine(name), 40)), true)
	}
	return true
}

func (c *chat) answer(text string, wrong bool) {
	if wrong {
		c.view.Say(terminal.Failed, text)
		return
	}
	c.view.Say(terminal.Told, text)
}

func (c *chat) pause(ctx context.Context, reason string) {
	reason = strings.TrimSpace(reason)
	if reason == "" {
		reason = "the user asked for it"
	}
	if err := c.mw.Pause(ctx, reason); err != nil {
		c.answer(upstream.Explain(err), true)
		return
	}
	c.show(ctx)
	c.answer("Paused until your next message, or /resume.", false)
}

func (c *chat) resume(ctx context.Context) {
	state, err := c.mw.State(ctx)
	if err == nil && !state.Paused.IsSet() {
		c.answer("Nothing is paused.", false)
		return
	}
	if err == nil {
		err = c.mw.Resume(ctx)
	}
	if err != nil {
		c.answer(upstream.Explain(err), true)
		return
	}
	c.show(ctx)
	if c.busy() || len(open(c.todos.Read(ctx))) == 0 {
		c.answer("Resumed.", false)
		return
	}
	c.say(resumption)
}

func (c *chat) listTodos(ctx context.Context) string {
	var b strings.Builder
	for _, t := range c.todos.Read(ctx) {
		b.WriteString(box(t) + "\n")
	}
	if b.Len() == 0 {
		return "There are no todos."
	}
	return b.String()
}

func (c *chat) listTasks(ctx context.Context) string {
	tasks, _ := c.tasks.Tasks(ctx, session) // reading memory does not fail
	var b strings.Builder
	for i, t := range tasks {
		fmt.Fprintf(&b, "%d. %s: %s", i+1, t.Name, t.State)
		switch {
		case t.Err != nil:
			fmt.Fprintf(&b, ", %v", t.Err)
		case t.Output != nil && t.Output.FinalMessage != nil:
			fmt.Fprintf(&b, ", %s", *t.Output.FinalMessage)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "There are no background tasks."
	}
	return b.String()
}

// maxShown is how many columns of a message /history shows.
const maxShown = 70

// history returns the conversation, with a line per message and tool call, and the number of carryon's prompts that
// were sent and that are in it.
func history(messages []openai.ChatCompletionMessage, sent int) string {
	var b strings.Builder
	from := map[string]string{
		openai.ChatMessageRoleUser: "you", openai.ChatMessageRoleAssistant: "model", openai.ChatMessageRoleTool: "tool",
		openai.ChatMessageRoleSystem: "system",
	}
	for _, m := range messages {
		who := from[m.Role]
		if strings.HasPrefix(m.Content, taskNote) {
			who = "note"
		}
		if text := plaintext.OneLine(m.Content); text != "" {
			fmt.Fprintf(&b, "%-6s %s\n", who, terminal.Fit(text, maxShown))
		}
		for _, call := range m.ToolCalls {
			fmt.Fprintf(&b, "%-6s %s\n", "calls", terminal.Fit(plaintext.OneLine(call.Function.Name+" "+call.Function.Arguments), maxShown))
		}
	}
	fmt.Fprintf(&b, "%s. carryon sent %s; the messages contain %d.",
		count(len(messages), "message"), count(sent, "prompt"), prompts(messages))
	return b.String()
}
