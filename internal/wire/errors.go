package wire

import (
	"errors"
	"time"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// ErrUnreadable is the failure of a turn whose answer is not valid JSON of the
// protocol. The error texts name package transport, which programs know.
var ErrUnreadable = errors.New("transport: not the JSON of an answer")

// ProviderError is an error that the provider reported, in place of an answer or
// in the middle of one.
type ProviderError struct {
	Type, Code, Message string        // "" where it does not say
	RetryAfter          time.Duration // the pause that it asks for in the body; 0 for none
}

// Error returns the provider's message.
func (e *ProviderError) Error() string {
	return "transport: the provider reported an error: " + e.Message
}

// Reported returns the error in raw, which is an object or a string.
func Reported(raw []byte) *ProviderError {
	e := &ProviderError{
		Type:    rawjson.TextOf(rawjson.Member(raw, "type")),
		Code:    rawjson.TextOf(rawjson.Member(raw, "code")),
		Message: rawjson.TextOf(rawjson.Member(raw, "message")),
	}
	if e.Message == "" {
		e.Message = rawjson.TextOf(raw)
	}
	return e
}
