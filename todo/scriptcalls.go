package todo

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/carryon-go/carryon/todo/internal/jslist"
)

// planTool is the tool that scripts call to write the list.
const planTool = "update_plan"

// maxScripts is how many bytes of scripts are searched for a call.
const maxScripts = 4 << 20

// Reasons why a script does not count.
var (
	errScriptFailed  = errors.New("its script failed")
	errScriptRuns    = errors.New("its script has not ended")
	errScriptUnknown = errors.New("the result of its script does not say whether it ran")
	errOverlap       = errors.New("two scripts that ran at the same time wrote it")
)

// scripts is what a search knows of the scripts that may write the list.
type scripts struct {
	offered  *bool                   // whether they can write it, if known
	searched int                     // bytes of their sources
	ended    map[string]jslist.State // by cell: how a script ended, according to newer calls of wait
	doubt    error                   // why the newest call that may have written the list does not count
	overlaps map[string]bool         // cells that ended after the script that wrote the list; nil if none was found
}

// isScript reports whether a call of a tool for scripts may belong to the list. The
// tool may also be a shell of the same name, whose arguments are JSON.
func (s *search) isScript(call *Call) bool {
	isObject := strings.HasPrefix(call.Arguments, "{") && json.Valid([]byte(call.Arguments))
	return s.origin.Tool == "" && !isObject && jslist.MayCall(call.Arguments) && s.offersPlan()
}

// offersPlan reports whether scripts can write the list: the request offers
// update_plan, or its tools are not known.
func (s *search) offersPlan() bool {
	if s.scripts.offered == nil {
		offered := s.tools == nil
		if s.tools != nil {
			for tool := range s.tools {
				offered = offered || toolName("updateplan").matches(tool)
			}
		}
		s.scripts.offered = &offered
	}
	return *s.scripts.offered
}

// lookAtScript reads a script. One that has not ended well may have written the list:
// the older list is kept, and its origin says so.
func (s *search) lookAtScript(call *Call) (last bool) {
	state := s.scripts.stateOf(call)
	s.scripts.searched += len(call.Arguments)
	if s.scripts.searched > maxScripts {
		s.cut = true
		return true
	}
	plan, err := jslist.Read(call.Arguments)
	written := Call{Name: planTool}
	switch {
	case plan == nil && err == nil:
		s.others.add(call)
		return false
	case state != jslist.Completed:
		s.doubt(&written, state)
		return false
	}
	var parsed writeArguments
	if err == nil {
		err = parsed.unwrap(plan)
	}
	if err != nil {
		return s.stop(&written, err)
	}
	list, err := parsed.list()
	if err != nil {
		return s.stop(&written, err)
	}
	s.noteWriting(call, &effect{whole: true})
	s.end(FromCall, &written, list)
	s.scripts.overlaps, s.scripts.ended = s.scripts.endedCells(), nil
	return s.isOldest(call)
}

// doubt notes a call of a script that does not count because of the script's state.
func (s *search) doubt(written *Call, state jslist.State) {
	problem := errScriptUnknown
	switch state {
	case jslist.Failed:
		problem = errScriptFailed
	case jslist.Running:
		problem = errScriptRuns
	case jslist.Unknown, jslist.Completed:
	}
	if s.scripts.doubt == nil {
		s.scripts.doubt = problem
	}
	s.failed(written, problem)
}

// unconfirmed returns what Origin.Unconfirmed says.
func (s *scripts) unconfirmed() string {
	if s.doubt == nil {
		return ""
	}
	return s.doubt.Error()
}

// stateOf returns the state of a script, according to its result or the call of wait
// that told its end.
func (s *scripts) stateOf(call *Call) jslist.State {
	state, cell := jslist.StateOf(call.Result)
	if ended := s.ended[cell]; state == jslist.Running && ended != jslist.Unknown {
		state = ended
		delete(s.ended, cell) // an older script may have the same
	}
	return state
}

// lookAtWait notes how a script ended. Waiting for it once more fails, so the oldest
// end counts.
func (s *scripts) lookAtWait(call *Call) {
	state, _ := jslist.StateOf(call.Result)
	if state != jslist.Completed && state != jslist.Failed || len(s.ended) > maxChanges {
		return
	}
	fields, err := itemFields(call.Arguments)
	cell, ok := field(fields, "cell_id").(string)
	if err != nil || !ok {
		return
	}
	if s.ended == nil {
		s.ended = make(map[string]jslist.State)
	}
	s.ended[cell] = state
}

func (s *scripts) endedCells() map[string]bool {
	cells := make(map[string]bool, len(s.ended))
	for cell := range s.ended {
		cells[cell] = true
	}
	return cells
}

// isOldest reports whether no script older than a call can have run at the same time
// as the one that wrote the list.
func (s *search) isOldest(call *Call) bool {
	return call.UserMessagesAfter > 0 && len(s.scripts.overlaps) == 0
}

// lookForOverlap examines a call that is older than the script that wrote the list.
// A script that still ran then may have written the list after it.
func (s *search) lookForOverlap(kind toolKind, call *Call) (last bool) {
	switch kind {
	case waitTool:
		s.scripts.lookAtWait(call)
	case scriptTool:
		state, cell := jslist.StateOf(call.Result)
		ended := s.scripts.stateOf(call) != state // before the list was written
		delete(s.scripts.overlaps, cell)
		if state != jslist.Running || ended || !jslist.MayCall(call.Arguments) {
			break
		}
		plan, err := jslist.Read(call.Arguments)
		if plan != nil || err != nil {
			s.list, s.found = nil, false
			return s.stop(&Call{Name: planTool}, errOverlap)
		}
	default:
	}
	return s.isOldest(call)
}
