package transport

import (
	"errors"
	"io"
	"net/http"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
)

// The failures of the caller's own turn or of a continuation, beside the errors
// of the base transport. They are for outcomes and events: a program gets the
// answer that it would get without carryon.
var (
	ErrStatus     = errors.New("transport: answered with a status that is not 200")
	ErrKind       = errors.New("transport: answered with neither JSON nor an event stream, as was asked for")
	ErrEncoded    = errors.New("transport: the answer is compressed")
	ErrTooLarge   = errors.New("transport: over the limit")
	ErrUnreadable = wire.ErrUnreadable // the answer is not the JSON of one
)

// ProviderError is an error that the provider reported, in place of an answer or
// in the middle of one. Its fields Type, Code and Message are what the provider
// says, and "" where it does not say.
type ProviderError = wire.ProviderError

// maxErrorBody is how much of a refusal is read for its message.
const maxErrorBody = 64 << 10

// statusError returns what the status line and the header say of an answer whose
// status is not 200.
func statusError(r *http.Response) *adapter.StatusError {
	return &adapter.StatusError{Status: r.StatusCode, Err: ErrStatus, Retry: adapter.RetryOf(r.Header.Get)}
}

// refusal returns the error of an answer whose status is not 200.
func refusal(r *http.Response, request wire.Request) error {
	status := statusError(r)
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // a part of it may do
	if err := request.Refusal(body); err != nil {
		status.Err = err
	}
	return status
}
