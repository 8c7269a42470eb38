package continuation

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// PromptPreamble is the first line of every prompt, whatever the templates are. It keeps
// a model from taking the prompt for an answer or an approval of the user.
const PromptPreamble = "(Automatic message: no new message has come from the user.)"

// Templates are the texts from which prompts are made. The zero value is ready for use:
// an empty text means the one of [LongTemplates].
//
// A text may contain two placeholders, any number of times: {taskDescription}, which
// every Base needs, and {attemptCount}. The description has no straight apostrophe, so
// it is safe to write '{taskDescription}'. Any other single word in braces is an error;
// braces around anything else, such as JSON, are ordinary text.
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
	d := LongTemplates()
	return errors.Join(
		checkTemplate("Standard.Base", cmp.Or(t.Standard.Base, d.Standard.Base), true),
		checkTemplate("Standard.Retry", t.Standard.Retry, false),
		checkTemplate("YOLO.Base", cmp.Or(t.YOLO.Base, d.YOLO.Base), true),
		checkTemplate("YOLO.Retry", t.YOLO.Retry, false),
		checkTemplate("YOLO.Urgent", t.YOLO.Urgent, false),
	)
}

// placeholder returns the expression for braces around one word, which it captures.
var placeholder = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // constant
	return regexp.MustCompile(`\{([\p{L}\p{Nd}_]+)\}`)
})

// checkTemplate checks one text.
func checkTemplate(name, text string, needsTask bool) error {
	const task, attempt = "taskDescription", "attemptCount"
	if !utf8.ValidString(text) {
		return templateError(name, "not valid UTF-8")
	}
	if strings.Contains(text, "{") { // the expression takes long to compile
		for _, match := range placeholder().FindAllStringSubmatch(text, -1) {
			if word := match[1]; word != task && word != attempt {
				return templateError(name, "unknown placeholder {"+word+"}")
			}
		}
	}
	if needsTask && !strings.Contains(text, "{"+task+"}") {
		return templateError(name, "needs {"+task+"}")
	}
	return nil
}

func templateError(name, problem string) error {
	return errors.New("continuation: template " + name + ": " + problem)
}

// LongTemplates returns the built-in texts, for which a zero [Templates] stands.
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

// OneLineTemplates returns built-in texts whose Base is a single line, for models that
// need no more, or to save tokens.
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
