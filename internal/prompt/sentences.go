package prompt

import (
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/internal/handback"
)

// MaxWords is how many words the built-in prompt has at most at attempt 1, without the
// names of todos, which are data. With three names of eight words it has no more either:
// weak models lose the task in longer ones.
const MaxWords = 95

// The built-in texts. They keep the frame of [continuation.LongTemplates], and say the
// rest once.
const (
	standardFrame = `You have an active task that needs completion:
'{taskDescription}'

Continue working on this task.`
	yoloFrame = `CONTINUE TASK IMMEDIATELY:
'{taskDescription}'

You MUST continue working on this task.`
	inFrame = ` If already done, mark it {withTodoTool} and take the next.
{whatHappened} {openTodos}
{whenToPause}`
)

// Sentences on the turn that the prompt follows. They never quote the model.
const (
	happenedNoTool    = "Your answer called no tool."
	happenedBlank     = "Your answer was blank."
	happenedBreakOff  = "Your answer broke off."
	happenedAnnounced = "You announced a step but called no tool."
	happenedQuestion  = "You called no tool; nobody can answer: decide yourself."
)

// happened returns the sentence on the turn, or "" if it called todo_pause: a line of its
// own says that the pause was rejected.
func (in *Input) happened() string {
	switch {
	case in.Rejection != nil:
		return ""
	case in.BreaksOff:
		return happenedBreakOff
	}
	switch in.End {
	case handback.Blank:
		return happenedBlank
	case handback.Announces:
		return happenedAnnounced
	case handback.Asks:
		return happenedQuestion
	case handback.Unclear, handback.Waits, handback.Leaves:
	}
	return happenedNoTool
}

// Parts of the sentence that says when to pause.
const (
	pauseTool   = "Call todo_pause only for "
	pausePrint  = "Pause only for "
	pauseError  = "errors you cannot mend"
	pauseWait   = "something started that must finish"
	pauseUser   = "what the user must decide or do"
	pauseUndone = "what cannot be undone and was not asked for"
	// inWords says how to pause where todo_pause is not among the tools. What it shows in
	// the quotes is too short for a reason, so a model that copies it is told.
	inWords = "todo_pause is not among your tools. To pause, end your answer with todo_pause('…'), the reason in the quotes."
)

// appendPause appends the sentence that says when to pause, and how. Only where somebody is
// there, a decision of the user is a case: weak models take every way out that is offered.
// Where the model has asked and nobody answers, some steps are still not the model's to take.
func (in *Input) appendPause(dst []byte) []byte {
	begin := pauseTool
	if in.InWords {
		begin = pausePrint
	}
	last := ""
	switch {
	case in.Mode != continuation.ApprovalYOLO:
		last = pauseUser
	case in.End == handback.Asks:
		last = pauseUndone
	}
	dst = append(append(dst, begin...), pauseError...)
	if last == "" {
		dst = append(append(dst, " or "...), pauseWait...)
	} else {
		dst = append(append(dst, ", "...), pauseWait...)
		dst = append(append(dst, ", or "...), last...)
	}
	dst = append(dst, '.')
	if in.InWords {
		dst = append(dst, " "+inWords...)
	}
	return dst
}

// appendOpen appends the sentence that says how many todos are open, and which come next,
// or nothing if the list is not known.
func (l *List) appendOpen(dst []byte) []byte {
	if l.Todos <= 0 {
		return dst
	}
	dst = strconv.AppendInt(dst, int64(l.Open), 10)
	dst = strconv.AppendInt(append(dst, " of "...), int64(l.Todos), 10)
	dst = append(dst, " todo"...)
	if l.Todos != 1 {
		dst = append(dst, 's')
	}
	if l.Open == 1 {
		dst = append(dst, " is open"...)
	} else {
		dst = append(dst, " are open"...)
	}
	before := ", next '"
	for _, content := range l.Next {
		if !description.Blank(content) {
			dst = description.Append(append(dst, before...), content)
			dst = append(dst, '\'')
			before = ", '"
		}
	}
	return append(dst, '.')
}

// maxTool is how many bytes the name of a tool has at most: more than any provider takes.
const maxTool = 128

// appendTool appends "with" and the name of the tool that marks todos as done, or nothing if
// it is not known. The name comes from the conversation, so one that no tool can have is
// left out.
func (l *List) appendTool(dst []byte) []byte {
	if l.Tool == "" || len(l.Tool) > maxTool || strings.ContainsFunc(l.Tool, isForeign) {
		return dst
	}
	return append(append(dst, "with "...), l.Tool...)
}

// isForeign reports whether no name of a tool has r.
func isForeign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.:/", r)
}
