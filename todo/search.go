package todo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/toolcall"
)

// search looks for the newest list of a conversation, starting at the newest call.
type search struct {
	source *conversationSource

	lists   int // examined calls that may hold a whole list
	changed int // examined calls that change one
	unread  int // bytes of arguments and results that may still be read

	list   []Todo   // the whole list that was found
	later  [][]Todo // changes of it, newest first
	items  []Todo   // changes by calls for one todo each, newest first; joinItems adds them to later as one
	origin Origin   // of the newest call among these
	wrote  bool     // a call of the current user turn wrote the list

	readers readers

	found        bool  // the search has ended at a whole list
	cut          bool  // the search has ended at a limit
	problem      error // of the newest call without a readable list
	unknownTools unknownTools

	lastName string
	lastKind toolKind
}

var (
	// errLost says that the remaining calls name todos by id, and do not say what
	// they are.
	errLost    = errors.New("it changes todos that the conversation does not hold any more")
	errCut     = errors.New("it is kept in more calls than carryon reads")
	errTooLong = errors.New("it is too long")
	errFailed  = errors.New("its result reports a failure")
)

// read examines calls, newest first, until the list is found and it is known whether
// the model wrote it in the current user turn.
func (s *search) read(ctx context.Context) error {
	ended := false
	for wrapped := range ConversationFrom(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !ended {
			s.readers.read++
		}
		earlier := wrapped.UserMessagesAfter > 0
		if ended && earlier {
			break
		}
		call := unwrapCall(&wrapped)
		if ended {
			s.lookForWriting(&call)
		} else {
			ended = s.look(&call)
		}
		if ended && (s.wrote || earlier) {
			break
		}
	}
	s.origin.Written = origins.Earlier
	if s.wrote {
		s.origin.Written = origins.Now
	}
	return nil
}

// lookForWriting examines a call that is older than the list: the list may have been
// read after it was written.
func (s *search) lookForWriting(call *Call) {
	kind := s.kindOf(call.Name)
	if kind == otherTool || s.isOverLimit(kind) || len(call.Arguments) > s.unread || toolcall.ReportsFailure(call.Result) {
		return
	}
	s.unread -= len(call.Arguments)
	if does, err := effectOf(kind, call); err == nil {
		s.noteWriting(call, &does)
	}
}

// noteWriting notes a call that writes the list in the current user turn.
func (s *search) noteWriting(call *Call, does *effect) {
	s.wrote = s.wrote || call.UserMessagesAfter == 0 && (does.whole || does.changes)
}

// look examines the next older call, and reports whether the search ends there.
func (s *search) look(call *Call) (last bool) {
	kind := s.kindOf(call.Name)
	switch {
	case kind == otherTool:
		return s.lookAtOther(call)
	case s.isOverLimit(kind):
		s.cut = true
		return true
	case toolcall.ReportsFailure(call.Result):
		s.failed(call, errFailed)
		return false
	case len(call.Arguments) > s.unread:
		return s.stop(call, errTooLong)
	}
	return s.lookAtList(kind, call)
}

// lookAtOther shows a call of a tool that is not known to the readers, as long as no
// newer list has been found.
func (s *search) lookAtOther(call *Call) (last bool) {
	if s.origin.Tool == "" {
		if about, last := s.readers.look(call); about {
			return last
		}
	}
	s.unknownTools.add(call)
	return false
}

// lookAtList reads a call of a tool that writes or shows the list.
func (s *search) lookAtList(kind toolKind, call *Call) (last bool) {
	s.unread -= len(call.Arguments)
	if kind == listTool {
		s.unknownTools.add(call)
	}
	does, err := effectOf(kind, call)
	if err != nil {
		does = effect{shows: true}
	}
	s.noteWriting(call, &does)
	if echo := s.echo(kind, call, &does); echo != nil {
		return s.end(origins.ToolResult, call, echo)
	}
	switch {
	case err != nil:
		return s.unreadable(call, err)
	case does.whole:
		return s.end(origins.ToolCall, call, does.items)
	case does.changes:
		s.change(call, does.items)
	}
	return false
}

// kindOf returns what a tool does. Many calls in a row are of the same tool.
func (s *search) kindOf(name string) toolKind {
	if name != s.lastName {
		s.lastName, s.lastKind = name, s.source.kindOf(name)
	}
	return s.lastKind
}

// isOverLimit counts a call, and reports whether it is one too many.
func (s *search) isOverLimit(kind toolKind) bool {
	if kind == wholeTool {
		s.lists++
	} else {
		s.changed++
	}
	return s.lists > maxCandidates || s.changed > maxChanges
}

// effectOf returns what a call does to the list.
func effectOf(kind toolKind, call *Call) (effect, error) {
	if kind != wholeTool {
		return effectOfItem(kind, call)
	}
	arguments, err := parseArguments(call.Arguments)
	action := strings.ToLower(arguments.action)
	switch {
	case action != "" && (err != nil || !arguments.writes()):
		return effectOfAction(action, call)
	case err != nil:
		return effect{}, err
	case !arguments.writes():
		return effect{}, errOneTodo // some agents call a tool of this name so
	case arguments.merge:
		changes, err := arguments.todos()
		return effect{changes: true, items: changes}, err
	}
	list, err := arguments.list()
	return effect{whole: true, items: list}, err
}

// unreadable notes a call that cannot be read. If it has changed the list in a way that
// cannot be followed, the search ends: older lists are out of date.
func (s *search) unreadable(call *Call, problem error) (last bool) {
	var item *ArgumentsError
	if errors.As(problem, &item) && item.Item > 0 || errors.Is(problem, errAction) || errors.Is(problem, errTarget) {
		return s.stop(call, problem)
	}
	s.failed(call, problem)
	return false
}

// echo returns the whole list that the result of a call repeats, or nil. It is more
// reliable than the call itself. Unless it is named as the whole list, it must have all
// todos of the call, and come from a tool whose results have more than new todos.
func (s *search) echo(kind toolKind, call *Call, does *effect) []Todo {
	if !does.whole && !does.changes && !does.shows || len(call.Result) > s.unread || !strings.ContainsAny(call.Result, "[{") {
		return nil
	}
	s.unread -= len(call.Result)
	echo, all := echoOf(call.Result)
	if all {
		return echo
	}
	if kind == addTool || len(echo) < len(does.items) {
		return nil
	}
	known := make(map[string]bool, 2*len(echo))
	for i := range echo {
		known["id "+echo[i].ID], known["text "+echo[i].Content] = true, true
	}
	for i := range does.items {
		t := &does.items[i]
		if t.Content != "" && !known["text "+t.Content] || t.Content == "" && !known["id "+t.ID] {
			return nil
		}
	}
	return echo
}

// end ends the search at a whole list.
func (s *search) end(place string, call *Call, list []Todo) (last bool) {
	s.list, s.found = list, true
	s.foundAt(place, call)
	return true
}

// change notes changes of a list that is not found yet.
func (s *search) change(call *Call, changes []Todo) {
	s.foundAt(origins.ToolCalls, call)
	if len(changes) == 1 {
		s.items = append(s.items, changes[0])
		return
	}
	s.joinItems()
	s.later = append(s.later, changes)
}

// joinItems joins the changes of several calls into one.
func (s *search) joinItems() {
	if len(s.items) > 0 {
		slices.Reverse(s.items)
		s.later, s.items = append(s.later, s.items), nil
	}
}

// foundAt notes where the list was found. The newest call counts.
func (s *search) foundAt(place string, call *Call) {
	if s.origin.Tool == "" {
		s.origin.Place, s.origin.Tool = place, strings.Clone(call.Name)
	}
}

// failed notes what is wrong with a call that is skipped in favour of an older one.
func (s *search) failed(call *Call, problem error) {
	if s.problem == nil {
		s.problem = &UnreadableError{Tool: strings.Clone(call.Name), Err: problem}
	}
}

// stop ends the search at a list that cannot be read.
func (s *search) stop(call *Call, problem error) (last bool) {
	s.problem = nil
	s.failed(call, problem)
	s.later, s.items, s.origin = nil, nil, Origin{}
	return true
}

// result returns the list that was found. earlier returns the list of an earlier
// request, if it is known.
func (s *search) result(ctx context.Context, earlier func() ([]Todo, bool)) ([]Todo, Origin, error) {
	switch list, origin, err := s.readers.list(ctx); {
	case err == nil:
		return list, origin, nil
	case !errors.Is(err, ErrNoList):
		s.problem = err
	}
	s.joinItems()
	if len(s.later) > 0 && !s.found {
		if err := s.complete(earlier); err != nil {
			return nil, Origin{}, &UnreadableError{Tool: s.origin.Tool, Err: err}
		}
	}
	s.origin.Unconfirmed = s.readers.why
	list := s.list
	for _, changes := range slices.Backward(s.later) {
		list = merge(list, changes)
	}
	switch {
	case s.found || len(list) > 0:
		return list, s.origin, nil
	case s.problem != nil:
		return nil, Origin{}, s.problem
	case len(s.later) > 0:
		return nil, Origin{}, &UnreadableError{Tool: s.origin.Tool, Err: errLost}
	}
	return nil, Origin{}, s.unknownTools.none()
}

// complete applies the changes to the list that an earlier request held; the history
// since was cut. It returns an error if changes without such a list do not make up one: they may
// change todos that are not known.
func (s *search) complete(earlier func() ([]Todo, bool)) error {
	missing, nameless := s.missing()
	if list, ok := earlier(); ok && !nameless && hasMissing(list, missing) {
		s.list, s.found, s.origin.Place = list, true, origins.EarlierRequest
		return nil
	}
	switch {
	case s.cut:
		return errCut
	case slices.ContainsFunc(missing, func(t Todo) bool { return nameless || t.Status.Active() }):
		return errLost
	}
	return nil
}

// missing returns the changes of todos that no call has added. If nameless is true,
// the id of a todo that was added is not known.
func (s *search) missing() (missing []Todo, nameless bool) {
	known := map[string]bool{}
	for _, changes := range slices.Backward(s.later) {
		for _, t := range changes {
			switch {
			case t.Content != "":
				known[t.ID] = true
				nameless = nameless || t.ID == ""
			case !known[t.ID]:
				missing = append(missing, t)
			}
		}
	}
	return missing, nameless
}

// hasMissing reports whether list is the one that changes belong to: it has some of
// their todos, and all that may be open.
func hasMissing(list, missing []Todo) bool {
	known, found := map[string]bool{}, false
	for i := range list {
		known[list[i].ID] = true
	}
	for i := range missing {
		switch t := &missing[i]; {
		case known[t.ID]:
			found = true
		case t.Status.Active():
			return false
		}
	}
	return found
}
