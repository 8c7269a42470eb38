package langchaingo

import (
	"iter"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Text agents of langchaingo ask with one message, which holds their
// instructions, the question, and then what was done so far: an answer of the
// model's and an observation for each step.
const (
	observation = "\nObservation:" // also where the model is to stop
	begin       = "\nBegin!\n"     // ends the instructions, which show what a step looks like
	nextThought = "\nThought:"     // what some agents put after the last step
)

// describeAgent tells the engine what it must know of a text agent's request.
func (m *Model) describeAgent(r *adapter.Request) {
	r.TextAgent = true
	r.User = strings.TrimSuffix(r.User, nextThought) // so that the next one begins with this one
	if step := firstStep(r.User); step != "" {
		r.Loop = func(add func(string)) { add(step) }
	}
	r.OwnPause = strings.Contains(r.User, pause.ToolName) // as the name of a tool of the agent's
	r.History = m.steps(r.User)
}

// scratchpad returns the index at which the instructions end.
func scratchpad(message string) int {
	if at := strings.Index(message, begin); at >= 0 {
		return at + len(begin)
	}
	return 0
}

// firstStep returns the message to the end of the first step, which is the same
// in all requests of a run, "" if there is no step yet.
func firstStep(message string) string {
	start := scratchpad(message)
	at := strings.Index(message[start:], observation)
	if at < 0 {
		return ""
	}
	return message[:start+at]
}

// steps yields the tool calls that the message tells of, newest first. It reads
// no further than it is asked to. A result may have the next thought after it,
// as nothing tells where the one ends and the other begins.
func (m *Model) steps(message string) iter.Seq[todo.Call] {
	return func(yield func(todo.Call) bool) {
		parts := strings.Split(message[scratchpad(message):], observation)
		for i := len(parts) - 1; i > 0; i-- {
			reading := m.options.read(lastAction(parts[i-1]))
			if reading.Kind == Action && !yield(todo.Call{
				Name: reading.Tool, Arguments: reading.Input,
				Result: strings.TrimSpace(untilThought(parts[i])), Answered: true, Recent: true,
			}) {
				return
			}
		}
	}
}

// lastAction returns the action that a text ends with. Some agents put an
// answer right behind the observation before it.
func lastAction(text string) string {
	at := strings.LastIndex(text, "\nAction:")
	if at < 0 {
		at = strings.Index(text, "Action:")
	}
	return text[max(at, 0):]
}
