package wire

import (
	"iter"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// ListIn returns the elements of a member of a request's body. It returns none if the body cannot be read.
func ListIn(b Body, member string) [][]byte {
	body, err := b.Bytes()
	if err != nil {
		return nil
	}
	return rawjson.MemberElements(body, member)
}

// TextsIn yields the texts in a list of a message's parts, the last one first.
func TextsIn(parts []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(rawjson.Elements(parts)) {
			if text := rawjson.Member(part, "text"); rawjson.IsString(text) && !yield(rawjson.TextOf(text)) {
				return
			}
		}
	}
}

// TextOrJSON returns the text of a string, or the JSON of any other value.
func TextOrJSON(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	return string(raw)
}

// TakesText reports whether text can be added to a content, which is a string or a list of parts.
func TakesText(content []byte) bool {
	s := rawjson.Over(content)
	return s.Kind() == '"' || s.Open('[') && s.Element()
}

// RefusalIn returns the error in the body of an answer, or nil if there is none.
func RefusalIn(body []byte) error {
	if raw := rawjson.Member(body, "error"); raw != nil {
		return Reported(raw)
	}
	return nil
}
