package messages

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// rawValue is JSON that is encoded unchanged.
type rawValue = json.RawMessage

// setMember returns a copy of an object with another value for a member. If
// several members have the name, only the last one, which counts, gets the
// value: with all of them, a small object could become a large one. setMember
// adds a missing member after all others.
func setMember(object []byte, name string, value []byte) []byte {
	var e rawjson.Edits
	s := rawjson.Over(object)
	for key := range s.Members() {
		own := s.Raw()
		if key == name {
			e = e[:0]
			e.Replace(s.At()-len(own), s.At(), value)
		}
	}
	if len(e) == 0 {
		comma := ","
		if rawjson.IsEmpty(object) {
			comma = ""
		}
		e.Insert(bytes.LastIndexByte(object, '}'), slices.Concat([]byte(comma+`"`+name+`":`), value))
	}
	return e.Apply(object)
}
