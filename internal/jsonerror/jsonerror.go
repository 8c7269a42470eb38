// Package jsonerror puts errors into JSON, as their text.
package jsonerror

import "errors"

// Text is an error that is encoded in JSON as its text. The option omitzero
// leaves out a nil error.
type Text struct{ Err error }

// IsZero reports whether there is no error.
func (t Text) IsZero() bool { return t.Err == nil }

// MarshalText returns the error's text.
func (t Text) MarshalText() ([]byte, error) {
	if t.Err == nil {
		return nil, nil
	}
	return []byte(t.Err.Error()), nil
}

// UnmarshalText makes an error of a text; an empty one is no error.
func (t *Text) UnmarshalText(text []byte) error {
	t.Err = nil
	if len(text) > 0 {
		t.Err = errors.New(string(text))
	}
	return nil
}
