package langchaingo

import (
	"iter"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Text agents of langchaingo send one message with their instructions, the
// question and the steps so far. Each step is an answer of the model and an
// observation.
const (
	observation = "\nObservation:" // also the agent's stop word
	begin       = "\nBegin!\n"     // ends the instructions, which have an example of a step
	nextThought = "\nThought:"     // some agents append it after the last step
)

// describeAgent adds what the engine must know of a text agent's request.
func (m *Model) describeAgent(r *adapter.Request) {
	r.TextAgent = true
	r.User = strings.TrimSuffix(r.User, nextThought) // so that the next request's text begins with this one's
	if step := firstStep(r.User); step != "" {
		r.Loop = func(add func(string)) { add(step) }
	}
	r.OwnPause = strings.Contains(r.User, pause.ToolName) // the agent lists a tool with that name
	r.History = m.steps(r.User)
}

// scratchpad returns the index at which the instructions end, 0 if it finds no
// end.
func scratchpad(message string) int {
	if at := strings.Index(message, begin); at >= 0 {
		return at + len(begin)
	}
	return 0
}

// firstStep returns the message up to the first observation, or "" if there is
// none yet. All requests of a run begin with that text.
func firstStep(message string) string {
	start := scratchpad(message)
	at := strings.Index(message[start:], observation)
	if at < 0 {
		return ""
	}
	return message[:start+at]
}

// steps yields the tool calls in the message, newest first. It parses them only
// as the caller asks for more. A result may end with text of the next thought:
// nothing marks where the one ends and the other begins.
func (m *Model) steps(message string) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		parts := strings.Split(message[scratchpad(message):], observation)
		for i := len(parts) - 1; i > 0; i-- {
			reading := m.options.read(lastAction(parts[i-1]))
			if reading.Kind == Action && !yield(adapter.Entry{Call: todo.Call{
				Name: reading.Tool, Arguments: reading.Input,
				Result: strings.TrimSpace(untilThought(parts[i])), Answered: true,
			}}) {
				return
			}
		}
	}
}

// lastAction returns the action at the end of a text. Some agents write an
// answer directly after the previous observation.
func lastAction(text string) string {
	at := strings.LastIndex(text, "\nAction:")
	if at < 0 {
		at = strings.Index(text, "Action:")
	}
	return text[max(at, 0):]
}
