package pausecall

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/carryon-go/carryon/internal/pausetool"
)

// readObject reads a call that is a JSON object, such as
// {"name": "todo_pause", "arguments": {"reason": "no key"}}. The arguments are
// an object, or an object in a string, and may be absent. Any other key makes it
// something else, so that an answer in JSON is held only to its first key.
func readObject(text string) (call, match) {
	switch {
	case text == "":
		return call{}, possible
	case text[0] != '{':
		return call{}, impossible
	}
	dec := json.NewDecoder(strings.NewReader(text))
	_, err := dec.Token() // the brace
	seen := members{}
	for err == nil && dec.More() {
		err = seen.readMember(dec)
	}
	if err == nil {
		_, err = dec.Token() // the other brace
	}
	switch {
	case err != nil:
		return call{}, matchOf(err)
	case seen["name"] == nil:
		return call{}, impossible
	}
	tail := text[dec.InputOffset():]
	return call{reason: reasonIn(seen["arguments"]), tail: tail}, readTail(tail)
}

// members are the members of an object that may be a call, by key.
type members map[string]json.RawMessage

// errOther says that an object is no call.
var errOther = errors.New("not a call of todo_pause")

// readMember reads the next member of an object.
func (m members) readMember(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	key, _ := token.(string)
	if key == "parameters" { // another name for the same
		key = "arguments"
	}
	if key != "name" && key != "arguments" && key != "type" || m[key] != nil {
		return errOther
	}
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return err
	}
	m[key] = value
	if !fits(key, value) {
		return errOther
	}
	return nil
}

// fits reports whether a member of that key and value may be part of a call.
func fits(key string, value json.RawMessage) bool {
	if key == "arguments" {
		return value[0] == '{' || value[0] == '"'
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return false
	}
	if key == "name" {
		return strings.EqualFold(text, pausetool.Name)
	}
	return text == "function" // its type
}

// readArguments reads the arguments of a call as a JSON object, the closing
// parenthesis and what follows.
func readArguments(text string) (call, match) {
	dec := json.NewDecoder(strings.NewReader(text))
	var arguments json.RawMessage
	if err := dec.Decode(&arguments); err != nil {
		return call{}, matchOf(err)
	}
	tail, m := readLiteral(strings.TrimLeft(text[dec.InputOffset():], spaces), ")")
	if m != complete {
		return call{}, m
	}
	return call{reason: reasonIn(arguments), tail: tail}, readTail(tail)
}

// matchOf returns the match on JSON that could not be read because of err:
// it is possible if the only fault is that it ends too early.
func matchOf(err error) match {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return possible
	}
	return impossible
}

// reasonIn returns the reason in the arguments of a call, "" if there is none.
// Whether it is accepted is decided elsewhere.
func reasonIn(arguments json.RawMessage) string {
	reason, _ := pausetool.Parse(string(arguments), pausetool.Lenient)
	return reason
}
