package asynctask

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/jsonerror"
)

// Ticket names a task in every process: whoever has it can finish, fail or cancel the
// task through any Manager on the same engine. It is comparable, and its text can
// travel in a header or in the data of a job.
type Ticket struct {
	Session string // "" if the task has none, or if there is one conversation
	ID      string // unique in the session
}

// String returns the text of the ticket, such as "job-7@conversation-42". The session
// is escaped as in the query of a URL, so the text is printable ASCII without spaces.
func (t Ticket) String() string { return t.ID + "@" + url.QueryEscape(t.Session) }

// ParseTicket reads the text of a ticket. The error is [ErrInvalid].
func ParseTicket(text string) (Ticket, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return Ticket{}, fmt.Errorf("%w ticket %.64q: it has no @", ErrInvalid, text)
	}
	if err := checkID(text[:at]); err != nil {
		return Ticket{}, err
	}
	session, err := url.QueryUnescape(text[at+1:])
	if err != nil {
		return Ticket{}, fmt.Errorf("%w ticket %.64q: %w", ErrInvalid, text, err)
	}
	return Ticket{Session: session, ID: text[:at]}, nil
}

// Task describes a task at one moment. It is a copy, and does not change when the task
// does.
type Task struct {
	ID      string    `json:"id"`               // unique in the session
	Name    string    `json:"name"`             // one line, for people and models
	Session string    `json:"session,omitzero"` // "" if the task has no session, or if there is one conversation
	State   TaskState `json:"state"`
	Started time.Time `json:"started"`        // by the clock of the engine, as is Ended
	Ended   time.Time `json:"ended,omitzero"` // zero while the task is running

	// Output is the output of a completed task, or nil. Its texts may have been cut;
	// see [WithMemory].
	Output *Output `json:"output,omitzero"`
	// Err is the error of a failed task. In the process in which its function ran, it
	// is the error that the function returned; in other processes, or if its text was
	// cut, it is an error with the same text.
	Err error `json:"-"`
}

// MarshalJSON returns the fields, with the text of Err as "error".
func (t Task) MarshalJSON() ([]byte, error) {
	return json.Marshal(taskJSON{taskFields(t), jsonerror.Text{Err: t.Err}})
}

// UnmarshalJSON reads what [Task.MarshalJSON] returns. It restores only the text of
// Err.
func (t *Task) UnmarshalJSON(data []byte) error {
	var fields taskJSON
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*t = Task(fields.taskFields)
	t.Err = fields.Error.Err
	return nil
}

type (
	taskFields Task
	taskJSON   struct {
		taskFields
		Error jsonerror.Text `json:"error,omitzero"`
	}
)

// Ticket returns the ticket of the task.
func (t Task) Ticket() Ticket { return Ticket{Session: t.Session, ID: t.ID} }

// TaskState is the state of a task. A task begins as [Running] and changes its state
// once.
type TaskState string

// The states.
const (
	// Running is a task that has not ended.
	Running TaskState = "running"
	// Completed is a task that ended well.
	Completed TaskState = "completed"
	// Failed is a task that ended with an error or in a panic.
	Failed TaskState = "failed"
	// Cancelled is a task that was cancelled. Its function may run on until it notices
	// that its ctx is cancelled.
	Cancelled TaskState = "cancelled"
)

// label returns the word for the state in the status summary.
func (s TaskState) label() string {
	if s == Completed {
		return "DONE"
	}
	return strings.ToUpper(string(s))
}

// newID returns an id that nobody can guess, of letters and digits.
func newID() string { return strings.ToLower(rand.Text()) }

const (
	maxID   = 128 // bytes
	maxName = 100 // characters
)

// checkID accepts ids that can be quoted, split and shown without escaping.
func checkID(id string) error {
	if id == "" || len(id) > maxID {
		return fmt.Errorf("%w id: %d bytes, it must have 1 to %d", ErrInvalid, len(id), maxID)
	}
	isRefused := func(c rune) bool { return c <= ' ' || c >= unicode.MaxASCII || c == '"' || c == '\\' }
	if strings.ContainsFunc(id, isRefused) {
		return fmt.Errorf("%w id %q: it must have letters, digits and signs of ASCII, no quotes and no backslash", ErrInvalid, id)
	}
	return nil
}

// cleanName makes name fit into one line of a list.
func cleanName(name string) (string, error) {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if name == "" {
		return "", fmt.Errorf("%w name: it is blank", ErrInvalid)
	}
	if utf8.RuneCountInString(name) > maxName {
		name = strings.TrimSpace(string([]rune(name)[:maxName-3])) + "..."
	}
	return name, nil
}
