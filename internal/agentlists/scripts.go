package agentlists

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/carryon-go/carryon/internal/agentlists/jslist"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/toolcall"
	"github.com/carryon-go/carryon/todo"
)

const (
	// planTool is the tool that scripts call to write the list.
	planTool = "update_plan"
	// maxScripts is how many bytes of scripts are searched for a call.
	maxScripts = 4 << 20
	// maxCells is how many ends of scripts are remembered.
	maxCells = 1000
)

// Reasons why a script does not count.
var (
	errScriptFailed  = errors.New("its script failed")
	errScriptRuns    = errors.New("its script has not ended")
	errScriptUnknown = errors.New("the result of its script does not say whether it ran")
	errOverlap       = errors.New("two scripts that ran at the same time wrote it")
)

// scriptList is the list that Codex writes with scripts that call update_plan, if the
// request offers that tool. The scripts are read, but not run.
type scriptList struct {
	scripts, waits []toolcall.Name
	offered        iter.Seq[string] // tools of the request, nil if they are not known
	canWrite       *bool            // whether scripts can write the list, once it is known

	searched int                     // bytes of sources
	ended    map[string]jslist.State // by cell: how a script ended, according to newer calls of wait
	doubt    error                   // why the newest call that may have written the list does not count

	plan    map[string]any // the list that was found; jslist bounds its size
	problem error          // why it cannot be read
	written bool           // in the current user turn
}

// Look reads a script. One that has not ended well may have written the list: an older
// list is kept, and its origin says so.
func (s *scriptList) Look(call todo.Call) (about, last bool) {
	if toolcall.AnyNames(s.waits, call.Name) {
		s.noteEnd(&call)
		return false, false
	}
	if !s.isScript(&call) {
		return false, false
	}
	state := s.stateOf(&call)
	if s.searched += len(call.Arguments); s.searched > maxScripts {
		return true, true
	}
	plan, err := jslist.Read(call.Arguments)
	switch {
	case plan == nil && err == nil:
		return false, false
	case state != jslist.Completed:
		if s.doubt == nil {
			s.doubt = doubtOf(state)
		}
		return true, false
	}
	s.plan, s.problem, s.written = plan, err, call.UserMessagesAfter == 0
	return true, true
}

// isScript reports whether a call may belong to the list. The tool may also be a shell of
// the same name, whose arguments are JSON.
func (s *scriptList) isScript(call *todo.Call) bool {
	isObject := strings.HasPrefix(call.Arguments, "{") && json.Valid([]byte(call.Arguments))
	return toolcall.AnyNames(s.scripts, call.Name) && !isObject && jslist.MayCall(call.Arguments) && s.offersPlan()
}

// offersPlan reports whether scripts can write the list: the request offers update_plan,
// or its tools are not known.
func (s *scriptList) offersPlan() bool {
	if s.canWrite == nil {
		offers := s.offered == nil
		if s.offered != nil {
			for tool := range s.offered {
				offers = offers || toolcall.NewName(planTool).Matches(tool)
			}
		}
		s.canWrite = &offers
	}
	return *s.canWrite
}

func doubtOf(state jslist.State) error {
	switch state {
	case jslist.Failed:
		return errScriptFailed
	case jslist.Running:
		return errScriptRuns
	case jslist.Unknown, jslist.Completed:
	}
	return errScriptUnknown
}

// stateOf returns the state of a script, according to its result or the call of wait that
// told its end.
func (s *scriptList) stateOf(call *todo.Call) jslist.State {
	state, cell := jslist.StateOf(call.Result)
	if ended := s.ended[cell]; state == jslist.Running && ended != jslist.Unknown {
		state = ended
		delete(s.ended, cell) // an older script may have the same
	}
	return state
}

// noteEnd notes how a script ended. Waiting for it once more fails, so the oldest end
// counts.
func (s *scriptList) noteEnd(call *todo.Call) {
	state, _ := jslist.StateOf(call.Result)
	if state != jslist.Completed && state != jslist.Failed || len(s.ended) > maxCells {
		return
	}
	fields, err := toolcall.Fields(call.Arguments)
	cell, ok := toolcall.Field(fields, "cell_id").(string)
	if err != nil || !ok {
		return
	}
	if s.ended == nil {
		s.ended = make(map[string]jslist.State)
	}
	s.ended[cell] = state
}

// List returns the list that the newest script wrote, unless another one that ran at the
// same time may have written it too.
func (s *scriptList) List(older iter.Seq[todo.Call]) ([]todo.Todo, todo.Origin, error) {
	origin := todo.Origin{Place: origins.ToolCall, Tool: planTool, Written: origins.Earlier}
	if s.written {
		origin.Written = origins.Now
	}
	if s.doubt != nil {
		origin.Unconfirmed = s.doubt.Error()
	}
	switch {
	case s.problem != nil:
		return nil, origin, s.problem
	case s.plan == nil && s.doubt != nil:
		return nil, origin, s.doubt
	case s.plan == nil:
		return nil, origin, todo.ErrNoList
	}
	arguments, err := json.Marshal(s.plan)
	if err != nil {
		return nil, origin, err
	}
	list, err := todo.ParseList(string(arguments))
	if err == nil && s.overlaps(older) {
		err = errOverlap
	}
	return list, origin, err
}

// overlaps reports whether an older script that still ran when the list was written may
// have written it after that.
func (s *scriptList) overlaps(older iter.Seq[todo.Call]) bool {
	running := make(map[string]bool, len(s.ended)) // cells that ended after the list was written
	for cell := range s.ended {
		running[cell] = true
	}
	s.ended = nil
	if !s.written && len(running) == 0 {
		return false
	}
	for call := range older {
		switch {
		case toolcall.AnyNames(s.waits, call.Name):
			s.noteEnd(&call)
		case toolcall.AnyNames(s.scripts, call.Name):
			if s.stillWrites(&call, running) {
				return true
			}
		}
		if call.UserMessagesAfter > 0 && len(running) == 0 {
			return false
		}
	}
	return false
}

// stillWrites reports whether an older script had not ended when the list was written,
// and may write it.
func (s *scriptList) stillWrites(call *todo.Call, running map[string]bool) bool {
	state, cell := jslist.StateOf(call.Result)
	ended := s.stateOf(call) != state
	delete(running, cell)
	if state != jslist.Running || ended || !jslist.MayCall(call.Arguments) {
		return false
	}
	plan, err := jslist.Read(call.Arguments)
	return plan != nil || err != nil
}
