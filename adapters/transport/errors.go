package transport

import (
	"errors"
	"io"
	"net/http"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
)

// The failures of the caller's own turn or of a continuation, in addition to
// the errors of the base transport. They appear in outcomes and events: a
// program gets the answer that it would get without carryon.
var (
	ErrStatus     = errors.New("transport: answered with a status that is not 200")
	ErrKind       = errors.New("transport: the answer is not of the type requested, JSON or an event stream")
	ErrEncoded    = errors.New("transport: the answer is compressed")
	ErrTooLarge   = errors.New("transport: the body is larger than MaxBody")
	ErrUnreadable = wire.ErrUnreadable // the answer is not the JSON of one
)

// ProviderError is an error that the provider reported, in place of an answer
// or in the middle of one. Its fields come from the provider; a field
// that the provider leaves out is "" or 0.
type ProviderError = wire.ProviderError

// maxErrorBody is how many bytes of a refusal are read for its message.
const maxErrorBody = 64 << 10

// statusError returns the error of an answer whose status is not 200, from its
// status line and header.
func statusError(r *http.Response) *adapter.StatusError {
	return &adapter.StatusError{Status: r.StatusCode, Err: ErrStatus, Retry: adapter.RetryOf(r.Header.Get)}
}

// refusal returns the error of an answer whose status is not 200, with the
// provider's message from the body.
func refusal(r *http.Response, request wire.Request) error {
	status := statusError(r)
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // a part of it may do
	if err := request.Refusal(body); err != nil {
		status.Err = err
	}
	var provider *ProviderError
	if status.Retry.After == 0 && errors.As(status.Err, &provider) {
		status.Retry.After = provider.RetryAfter
	}
	return status
}
