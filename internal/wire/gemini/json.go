package gemini

import "github.com/carryon-go/carryon/internal/rawjson"

// change is what becomes of the members of an object with a name.
type change struct {
	name  string
	value []byte // nil removes them
	added bool   // the value is added if there is no such member
}

// set gives a member the value, and adds it if it is missing. A nil value removes it.
func set(name string, value []byte) change { return change{name, value, value != nil} }

// replace gives a member the value if it is there.
func replace(name string, value []byte) change { return change{name: name, value: value} }

// remove removes a member.
func remove(name string) change { return change{name: name} }

// changed returns a copy of an object with changes. Other members keep their values as
// they stand. Of several members with a changed name one is left: with all of them, a
// small object could become a large one.
func changed(object []byte, changes ...change) []byte {
	size := len(object) + 2
	pending := make(map[string]*change, len(changes))
	for i := range changes {
		c := &changes[i]
		pending[c.name] = c
		size += len(c.name) + len(c.value) + len(`"":,`)
	}
	out := append(make([]byte, 0, size), '{')
	put := func(name string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendQuote(out, name), ':'), value...)
	}
	s := rawjson.Over(object)
	for name := range s.Members() {
		value := s.Raw()
		c, isChanged := pending[name]
		switch {
		case !isChanged:
			put(name, value)
		case c.value != nil:
			put(name, c.value)
			c.value, c.added = nil, false
		}
	}
	for i := range changes {
		if c := &changes[i]; c.added && pending[c.name] == c {
			put(c.name, c.value)
		}
	}
	return append(out, '}')
}
