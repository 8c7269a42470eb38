package transport

import (
	"errors"
	"io"
	"net/http"

	"github.com/carryon-go/carryon/middleware"
)

// What the caller's own turn or a continuation breaks off with, beside the
// errors of the base transport. They are for outcomes and events: a program gets
// the answer that it would get without carryon.
var (
	ErrStatus     = errors.New("transport: answered with a status that is not 200")
	ErrKind       = errors.New("transport: answered with neither JSON nor an event stream, as was asked for")
	ErrEncoded    = errors.New("transport: the answer is compressed")
	ErrTooLarge   = errors.New("transport: over the limit")
	ErrUnreadable = errors.New("transport: not the JSON of an answer")
)

// ProviderError is an error that the provider reported, in place of an answer or
// in the middle of one.
type ProviderError struct {
	Type, Code, Message string // "" where it does not say
}

// Error returns the provider's message.
func (e *ProviderError) Error() string {
	return "transport: the provider reported an error: " + e.Message
}

// reported returns the error in raw, which is an object or a message.
func reported(raw []byte) *ProviderError {
	e := &ProviderError{
		Type: textOf(member(raw, "type")), Code: textOf(member(raw, "code")), Message: textOf(member(raw, "message")),
	}
	if e.Message == "" {
		e.Message = textOf(raw)
	}
	return e
}

// maxErrorBody is how much of a refusal is read for its message.
const maxErrorBody = 64 << 10

// refusal returns the error of an answer that has not the status of one.
func refusal(r *http.Response) error {
	status := &middleware.StatusError{Status: r.StatusCode, Err: ErrStatus}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // a part may do
	if raw := member(body, "error"); raw != nil {
		status.Err = reported(raw)
	}
	return status
}
