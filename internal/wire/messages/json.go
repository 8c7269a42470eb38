package messages

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// rawValue is a value that stands as it is in what is encoded.
type rawValue = json.RawMessage

// setMember returns a copy of an object in which a member has another value. Of
// several members of the name the last one counts, and alone gets it: with all of
// them, a small object could become a large one. A member that the object does not
// have is added behind all others.
func setMember(object []byte, name string, value []byte) []byte {
	var e rawjson.Edits
	s := rawjson.Over(object)
	for key := range s.Members() {
		if own := s.Raw(); key == name {
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
