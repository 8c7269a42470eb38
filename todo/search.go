package todo

import (
	"errors"
	"slices"
	"strings"
)

// search looks for the newest list of a conversation.
type search struct {
	source     *conversationSource
	candidates int      // calls of todo-writing tools that were examined
	unread     int      // bytes of arguments that may still be read
	later      [][]Todo // changes of the list that is still to be found, newest first
	list       []Todo   // that was found
	origin     Origin   // of the list, or of the newest change
	problem    error    // with the newest call that holds no list that could be read
	done       bool     // nothing older counts
	others     otherTools
}

// errLost says that the calls that are left name todos and do not say what they
// are.
var errLost = errors.New("it changes todos that the conversation does not hold any more")

// look examines the next older call, and reports whether it was the last.
func (s *search) look(call *Call) (last bool) {
	if !s.source.WritesList(call.Name) {
		s.others.add(call)
		return false
	}
	if s.candidates++; s.candidates > maxCandidates {
		return true
	}
	if reportsFailure(call.Result) {
		s.failed(call, errors.New("its result reports a failure"))
		return false
	}
	if len(call.Arguments) > s.unread {
		return s.stop(call, errors.New("it is too long"))
	}
	s.unread -= len(call.Arguments)
	arguments, err := parseArguments(call.Arguments)
	if err != nil {
		s.failed(call, err)
		return false
	}
	if !arguments.writes() {
		return false
	}
	return s.take(call, &arguments)
}

// take takes the list of a call, or its changes of one.
func (s *search) take(call *Call, arguments *writeArguments) (last bool) {
	if arguments.merge {
		changes, err := arguments.todos()
		if err != nil {
			return s.stop(call, err)
		}
		s.later = append(s.later, changes)
		s.found(FromSeveralCalls, call)
		return false
	}
	list, err := arguments.list()
	if err != nil {
		return s.stop(call, err)
	}
	s.list, s.done = list, true
	s.found(FromCall, call)
	return true
}

// found notes where the list was found. The newest place counts.
func (s *search) found(place Place, call *Call) {
	if s.origin.Tool == "" {
		s.origin = Origin{Place: place, Tool: strings.Clone(call.Name)}
	}
}

// failed notes what is wrong with a call in favour of which an older one counts.
func (s *search) failed(call *Call, problem error) {
	if s.problem == nil {
		s.problem = &UnreadableError{Tool: strings.Clone(call.Name), Err: problem}
	}
}

// stop ends the search at a list that cannot be read: what is older is out of
// date.
func (s *search) stop(call *Call, problem error) (last bool) {
	s.problem, s.done = nil, false
	s.failed(call, problem)
	s.later, s.origin = nil, Origin{}
	return true
}

// result returns the list that was found.
func (s *search) result() ([]Todo, Origin, error) {
	list := s.list
	for _, changes := range slices.Backward(s.later) {
		list = merge(list, changes)
	}
	switch {
	case s.done || len(list) > 0:
		return list, s.origin, nil
	case s.problem != nil:
		return nil, Origin{}, s.problem
	case len(s.later) > 0:
		return nil, Origin{}, &UnreadableError{Tool: s.origin.Tool, Err: errLost}
	}
	return nil, Origin{}, s.others.none()
}
