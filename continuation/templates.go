package continuation

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/placeholder"
)

// PromptPreamble is the first line of every prompt, whatever the templates are. It keeps
// a model from taking the prompt for an answer or an approval of the user.
const PromptPreamble = "(Automatic message: no new message has come from the user.)"

// Templates are the texts from which prompts are made. An empty text means the built-in
// one, so the zero value is ready for use. [LongTemplates] and [OneLineTemplates] are others
// to choose from.
//
// A text may contain these placeholders, any number of times. Every Base needs the first:
//
//   - {taskDescription}: the todo to go on with. It has no straight apostrophe, so it is
//     safe to write '{taskDescription}'.
//   - {attemptCount}: the number of the attempt, from 1
//   - {whatHappened}: a sentence on the turn that has ended, such as "Your answer was
//     blank."; nothing if it called todo_pause with a reason that was rejected
//   - {openTodos}: a sentence such as "3 of 5 todos are open, next 'Write b', 'Write c'.",
//     without todos of other agents; nothing if no list is known
//   - {withTodoTool}: "with" and the name of the tool that marks todos as done, such as
//     "with todo_write"; nothing if it is not known
//   - {whenToPause}: a sentence that says when to call todo_pause, or, where it is not
//     among the tools, how to pause in words
//
// Any other single word in braces is an error; braces around anything else, such as JSON,
// are ordinary text. A placeholder that stands for nothing takes white space next to it
// along. A Base without {whenToPause} is followed by a paragraph on pausing in words where
// the model needs it.
//
// White space around a text is removed, because the prompt has its own spacing. If Retry
// or Urgent is only white space, the prompt has no such line.
type Templates struct {
	Standard StandardTemplates
	YOLO     YOLOTemplates
}

// StandardTemplates are the texts for [ApprovalDefault], in which the model may ask before
// it acts.
type StandardTemplates struct {
	// Base is the body of each prompt.
	Base string
	// Retry is added from attempt 2 on.
	Retry string
}

// YOLOTemplates are the texts for [ApprovalYOLO], in which the user has approved
// everything in advance.
type YOLOTemplates struct {
	// Base is the body of each prompt.
	Base string
	// Retry is added at attempt 2.
	Retry string
	// Urgent is added from attempt 3 on.
	Urgent string
}

// Check returns an error that says what is wrong with each invalid text, in the order of
// the fields. Use it for templates from a configuration: middleware.New panics on invalid
// templates.
func (t Templates) Check() error {
	return errors.Join(
		checkTemplate("Standard.Base", t.Standard.Base, true),
		checkTemplate("Standard.Retry", t.Standard.Retry, false),
		checkTemplate("YOLO.Base", t.YOLO.Base, true),
		checkTemplate("YOLO.Retry", t.YOLO.Retry, false),
		checkTemplate("YOLO.Urgent", t.YOLO.Urgent, false),
	)
}

// inBraces returns the expression for braces around one word.
var inBraces = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // constant
	return regexp.MustCompile(`\{[\p{L}\p{Nd}_]+\}`)
})

// checkTemplate checks one text. An empty one means the built-in text.
func checkTemplate(name, text string, needsTask bool) error {
	if !utf8.ValidString(text) {
		return templateError(name, "not valid UTF-8")
	}
	if strings.Contains(text, "{") { // the expression takes long to compile
		for _, found := range inBraces().FindAllString(text, -1) {
			if placeholder.Of(found) == placeholder.None {
				return templateError(name, "unknown placeholder "+found)
			}
		}
	}
	if needsTask && text != "" && !strings.Contains(text, placeholder.Task.String()) {
		return templateError(name, "needs "+placeholder.Task.String())
	}
	return nil
}

func templateError(name, problem string) error {
	return errors.New("continuation: template " + name + ": " + problem)
}

// LongTemplates returns texts that say in general terms how to go on, whatever the turn
// and the list were like.
func LongTemplates() Templates {
	t := OneLineTemplates()
	t.Standard.Base = `You have an active task that needs completion:
'{taskDescription}'

Continue working on this task. Call todo_pause('reason') ONLY if there's an error preventing you from continuing.

Remember to:
- Focus on the specific task described
- Make concrete progress toward completion
- Update the task status when appropriate
- Use todo_pause() if you encounter blockers, wait for something that was started, or need a decision that only the user can make
- If the task is done already, mark it as done and go on with the next`
	t.YOLO.Base = `CONTINUE TASK IMMEDIATELY:
'{taskDescription}'

You MUST continue working on this task. Call todo_pause('reason') ONLY if there's an error preventing you from proceeding.

YOLO MODE - Take action now:
- Execute the task without asking for confirmation
- Make concrete progress immediately
- Only pause if there are actual blocking errors
- Update task status when complete
- If the task is done already, mark it as done and go on with the next`
	return t
}

// OneLineTemplates returns texts whose Base is a single line, for models that need no more,
// or to save tokens.
func OneLineTemplates() Templates {
	return Templates{
		Standard: StandardTemplates{
			Base: "You have an active task: '{taskDescription}'. Continue working on this task. " +
				"Call todo_pause('reason') ONLY if there's an error preventing you from continuing.",
			Retry: "Note: This is continuation attempt #{attemptCount}. " +
				"Please make sure to take concrete action.",
		},
		YOLO: YOLOTemplates{
			Base: "CONTINUE TASK IMMEDIATELY: '{taskDescription}'. You MUST continue working on this task. " +
				"Call todo_pause('reason') ONLY if there's an error preventing you from proceeding.",
			Retry: "ATTEMPT #{attemptCount} - Take action now without asking for confirmation.",
			Urgent: "ATTEMPT #{attemptCount} - YOU MUST TAKE ACTION NOW. " +
				"No more analysis, proceed with execution.",
		},
	}
}
