package jslist

import "strings"

// script is a script whose calls of update_plan are looked for.
type script struct {
	tokens

	constants map[string]constant
	calls     []call
}

// constant is a name that the script binds to a literal, outside of all brackets.
type constant struct {
	name  int // the token that binds it
	value any
	size  int  // bytes of its source
	fixed bool // nothing can change it: it is a const, and neither an object nor an array
}

// call is a call of update_plan that the script runs once in any case.
type call struct {
	arguments  map[string]any
	start, end int             // of its tokens
	done       int             // the token at which the script has waited for it
	uses       map[string]bool // names of constants that are not fixed
}

func (s *script) is(i int, kind tokenKind) bool {
	return i >= 0 && i < len(s.list) && s.list[i].kind == kind
}

// isName reports whether a token is a word that is no keyword.
func (s *script) isName(i int) bool { return s.is(i, word) && !isKeyword(s.text(i)) }

// lastCall returns the argument of the last call, or nil if there is none.
func (s *script) lastCall() (map[string]any, error) {
	s.constants = make(map[string]constant)
	for i := range s.list {
		if err := s.look(i); err != nil {
			return nil, err
		}
	}
	if len(s.calls) == 0 {
		return nil, nil //nolint:nilnil // no call is no error
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.calls[len(s.calls)-1].arguments, nil
}

// look reads what begins at a token, if it may belong to a call.
func (s *script) look(i int) error {
	switch s.list[i].kind {
	case word:
		return s.lookAtWord(i)
	case text, template, templatePart:
		if strings.Contains(s.text(i), toolName+"(") {
			return errIndirect // eval, or a text about a call
		}
	case symbol, number, regexp:
	}
	return nil
}

func (s *script) lookAtWord(i int) error {
	switch name := s.text(i); {
	case name == "tools" && !isAccess(s.text(i-1)):
		return s.lookAtTool(i)
	case name == "Promise" && !isAccess(s.text(i-1)):
		if s.text(i+1) != "(" && (s.text(i+1) != "." || s.text(i+3) != "(") {
			return errIndirect
		}
	case name == toolName && !s.isCalled(i), reachesAll(name):
		return errIndirect
	case (name == "const" || name == "let") && s.list[i].in < 0 && s.beginsStatement(i):
		s.declare(i)
	}
	return nil
}

// isCalled reports whether a token belongs to a call that was read.
func (s *script) isCalled(i int) bool {
	return len(s.calls) > 0 && i == s.calls[len(s.calls)-1].start+2
}

// lookAtTool reads a use of the object tools.
func (s *script) lookAtTool(i int) error {
	switch {
	case s.text(i+1) != "." || !s.is(i+2, word):
		return errIndirect
	case s.text(i+2) != toolName:
		return nil
	case s.text(i+3) != "(":
		return errIndirect
	}
	c := call{start: i, end: int(s.list[i+3].partner)}
	done, ok := s.runsOnce(i, c.end)
	if !ok {
		return errMaybe
	}
	c.done = done
	l := literal{script: s, at: i + 4, uses: map[string]bool{}}
	value, ok := l.object()
	if ok && s.text(l.at) == "," {
		l.at++
	}
	if !ok || l.at != c.end {
		return errComputed
	}
	c.arguments, c.uses = value, l.uses
	s.calls = append(s.calls, c)
	return nil
}

// runsOnce reports whether a script that ends well has run the call at the tokens from
// start to end once, and has waited for it at the token done. Such a call is a
// statement of its own or the value of a variable, and may stand in the arguments of
// functions and in an array of Promise.all.
func (s *script) runsOnce(start, end int) (done int, ok bool) {
	awaited := s.text(start-1) == "await"
	if awaited {
		start--
	}
	if !s.endsExpression(end + 1) {
		return 0, false
	}
	for s.list[start].in >= 0 {
		opened := int(s.list[start].in)
		if start-1 != opened && s.text(start-1) != "," {
			return 0, false
		}
		end = int(s.list[opened].partner)
		if s.text(opened) == "[" {
			if !s.isAll(opened) {
				return 0, false
			}
			opened--
			end = int(s.list[opened].partner)
			awaited = awaited || s.text(opened-4) == "await"
			if !s.endsExpression(end + 1) {
				return 0, false
			}
		}
		start, ok = s.callee(opened)
		if !ok {
			return 0, false
		}
	}
	return end, awaited && s.standsAlone(start)
}

// endsExpression reports whether a call of a tool ends before a token, so that nothing
// is done with its promise.
func (s *script) endsExpression(i int) bool {
	return s.text(i) == ")" || s.text(i) == "]" || s.endsConstant(i)
}

// isAll reports whether an array is the argument of Promise.all.
func (s *script) isAll(opened int) bool {
	return s.text(opened-1) == "(" && s.text(opened-2) == "all" && s.text(opened-3) == "." && s.text(opened-4) == "Promise" &&
		int(s.list[opened].partner)+1 == int(s.list[opened-1].partner)
}

// callee returns the first token of the call whose arguments begin at opened, with its
// await.
func (s *script) callee(opened int) (start int, ok bool) {
	if s.text(opened) != "(" || !s.is(opened-1, word) {
		return 0, false
	}
	start = opened - 1
	for s.text(start-1) == "." && s.is(start-2, word) {
		start -= 2
	}
	if !s.isName(start) || isAccess(s.text(start-1)) {
		return 0, false
	}
	if s.text(start-1) == "await" {
		start--
	}
	return start, true
}

// standsAlone reports whether an expression outside of all brackets is a statement,
// the value of a declaration or that of an assignment.
func (s *script) standsAlone(start int) bool {
	if s.text(start-1) != "=" {
		return s.beginsStatement(start)
	}
	target := start - 2
	if s.text(target) == "]" || s.text(target) == "}" {
		target = int(s.list[target].partner)
	} else if !s.isName(target) {
		return false
	}
	switch s.text(target - 1) {
	case "const", "let", "var":
		return s.beginsStatement(target - 1)
	}
	return s.isName(target) && s.beginsStatement(target)
}

// beginsStatement reports whether a statement that is run in any case begins at a
// token outside of all brackets, which must be a word.
func (s *script) beginsStatement(i int) bool {
	last := i - 1
	if last < 0 {
		return true
	}
	switch s.text(last) {
	case ";", "}":
		return true
	}
	if !s.list[i].newline {
		return false
	}
	switch s.list[last].kind {
	case number, text, template, templatePart, regexp:
		return true
	case word:
		return !isKeyword(s.text(last)) || isValueWord(s.text(last)) || isAccess(s.text(last-1))
	case symbol:
	}
	switch s.text(last) {
	case "]":
		return true
	case ")":
		before := int(s.list[last].partner) - 1
		return !isControl(s.text(before)) && s.text(before) != "await" || isAccess(s.text(before-1))
	}
	return false
}

// check returns an error if something may keep the script from running the last call
// with the arguments that were read.
func (s *script) check() error {
	last := &s.calls[len(s.calls)-1]
	later := len(s.list) // what begins here runs after the call
	if !s.hasFunction(last.done) {
		later = last.done
	}
	inCall := 0
	for i := range later {
		if !s.is(i, word) {
			continue
		}
		for inCall < len(s.calls) && i > s.calls[inCall].end {
			inCall++
		}
		if isHazard(s.text(i)) && (s.text(i) != "exit" || !isAccess(s.text(i-1))) {
			return errMaybe
		}
		isRead := inCall < len(s.calls) && i > s.calls[inCall].start || isAccess(s.text(i-1))
		if name := s.text(i); last.uses[name] && s.constants[name].name != i && !isRead {
			return errComputed
		}
	}
	return nil
}

// hasFunction reports whether a function is declared after a token. It can be called
// before its declaration.
func (s *script) hasFunction(after int) bool {
	for i := after; i < len(s.list); i++ {
		if s.is(i, word) && s.text(i) == "function" {
			return true
		}
	}
	return false
}

// declare reads a declaration of constants, such as const a = [], b = 'x'.
func (s *script) declare(i int) {
	keyword := s.text(i)
	for {
		i++
		if !s.isName(i) || s.text(i+1) != "=" {
			return
		}
		l := literal{script: s, at: i + 2, constant: true}
		value, ok := l.value(0)
		if !ok || !s.endsConstant(l.at) {
			return
		}
		fixed := keyword == "const"
		switch value.(type) {
		case map[string]any, []any:
			fixed = false
		}
		s.constants[s.text(i)] = constant{name: i, value: value, size: l.size, fixed: fixed}
		i = l.at
		if s.text(i) != "," {
			return
		}
	}
}

// endsConstant reports whether a literal ends before a token, and is not a part of a
// longer expression.
func (s *script) endsConstant(i int) bool {
	switch s.text(i) {
	case "", ";", ",":
		return true
	}
	return s.is(i, word) && s.list[i].newline && s.text(i) != "in" && s.text(i) != "instanceof"
}
