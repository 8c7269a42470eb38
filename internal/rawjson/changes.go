package rawjson

import "slices"

// Change is what becomes of the members of an object with a name.
type Change struct {
	name  string
	value []byte // nil removes them
	added bool   // the value is added if there is no such member
}

// Set gives a member the value, and adds it if it is missing. A nil value removes it.
func Set(name string, value []byte) Change { return Change{name, value, value != nil} }

// Replace gives a member the value if it is there.
func Replace(name string, value []byte) Change { return Change{name: name, value: value} }

// Remove removes a member.
func Remove(name string) Change { return Change{name: name} }

// With returns a copy of an object with changes. Other members keep their values as they
// stand. Of several members with a changed name one is left: with all of them, a small
// object could become a large one. The last of several changes of a name counts. What is
// no object counts as an empty one, and an object that is not whole stays as it is.
func With(object []byte, changes ...Change) []byte {
	size := len(object) + 2
	for i := range changes {
		size += len(changes[i].name) + len(changes[i].value) + len(`"":,`)
	}
	p := pendingOf(changes)
	out := append(make([]byte, 0, size), '{')
	s := Over(object)
	for name := range s.Members() {
		value := s.Raw()
		if at := p.find(name); at >= 0 {
			value = p.take(at)
		}
		if value != nil {
			out = appendMember(out, name, value)
		}
	}
	if !s.OK() && len(object) > 0 {
		return object
	}
	for i := range changes {
		if at := p.find(changes[i].name); at == i && changes[i].added && !p.taken[i] {
			out = appendMember(out, changes[i].name, changes[i].value)
		}
	}
	return append(out, '}')
}

// appendMember appends a member to an object that has not ended.
func appendMember(out []byte, name string, value []byte) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	return append(append(AppendQuote(out, name), ':'), value...)
}

// pending are changes that are being made.
type pending struct {
	changes []Change
	taken   []bool           // the change was made
	room    [FewChanges]bool // for taken
	at      map[string]int   // the changes by their names, if they are many
}

// FewChanges is how many changes are searched without a map.
const FewChanges = 8

func pendingOf(changes []Change) *pending {
	p := &pending{changes: changes}
	if len(changes) <= FewChanges {
		p.taken = p.room[:len(changes)]
		return p
	}
	p.taken, p.at = make([]bool, len(changes)), make(map[string]int, len(changes))
	for i := range changes {
		p.at[changes[i].name] = i
	}
	return p
}

// find returns the index of the change of a name, or -1.
func (p *pending) find(name string) int {
	if p.at != nil {
		if at, ok := p.at[name]; ok {
			return at
		}
		return -1
	}
	for at := range slices.Backward(p.changes) {
		if p.changes[at].name == name {
			return at
		}
	}
	return -1
}

// take returns the value of a change, and nil if it was made already.
func (p *pending) take(at int) []byte {
	if p.taken[at] {
		return nil
	}
	p.taken[at] = true
	return p.changes[at].value
}
