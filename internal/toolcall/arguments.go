package toolcall

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// MaxWrappings bounds how many strings and objects around a list are unwrapped.
// Models were seen to send up to two strings and an object.
const MaxWrappings = 5

// ErrNoObject says that arguments hold something other than an object.
var ErrNoObject = errors.New("it names no todo")

// Decode reads text as one JSON value. Numbers keep their digits.
func Decode(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, errors.New("it ends too early")
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after its end")
	}
	return value, nil
}

// Fields returns the object in arguments, or [ErrNoObject].
func Fields(arguments string) (map[string]any, error) {
	value, err := Unwrapped(arguments)
	fields, ok := value.(map[string]any)
	if err == nil && !ok {
		err = ErrNoObject
	}
	return fields, err
}

// Unwrapped returns the value in arguments, without the strings and objects around it.
func Unwrapped(arguments string) (any, error) {
	value, err := Decode(arguments)
	for range MaxWrappings {
		switch v := value.(type) {
		case string:
			value, err = Decode(v)
			continue
		case map[string]any:
			if inner := Field(v, "__arg1", "input", "arguments", "args", "parameters"); inner != nil {
				value = inner
				continue
			}
		}
		break
	}
	return value, err
}

// Field returns the value of the first of names that fields has a value for, or nil.
// An exact spelling takes precedence over other cases. Of several other cases the
// first in sorted order counts, so that the same arguments always give the same list.
func Field(fields map[string]any, names ...string) any {
	for _, name := range names {
		if v := fields[name]; v != nil {
			return v
		}
	}
	for _, name := range names {
		found := ""
		for key, v := range fields {
			if v != nil && strings.EqualFold(key, name) && (found == "" || key < found) {
				found = key
			}
		}
		if found != "" {
			return fields[found]
		}
	}
	return nil
}
