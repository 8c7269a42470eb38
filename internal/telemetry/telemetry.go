// Package telemetry says what kind an error is, for package otel and for the journal of
// the command.
package telemetry

import (
	"context"
	"errors"
	"strconv"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/middleware"
)

// ErrorKind returns the value of error.type for an error of a call with this ctx: an
// HTTP status, or a word from a small set, which suits metrics.
func ErrorKind(ctx context.Context, err error) string {
	var status *adapter.StatusError
	if errors.As(err, &status) && status.Status > 0 {
		return strconv.Itoa(status.Status)
	}
	for kind, known := range map[string]error{
		"closed": middleware.ErrClosed, "shutdown": middleware.ErrShutdown, "incomplete": middleware.ErrIncomplete,
		"first_byte_timeout": middleware.ErrFirstByteTimeout, "response_timeout": middleware.ErrResponseTimeout,
		"deadline_near": middleware.ErrDeadlineNear,
	} {
		if errors.Is(err, known) {
			return kind
		}
	}
	var panicked *middleware.PanicError
	switch {
	case errors.As(err, &panicked):
		return "panic"
	case IsInterruption(ctx, err):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline_exceeded"
	}
	return "_OTHER"
}

// IsInterruption reports whether a call with this ctx failed because the caller ended
// it. It looks at ctx too, because some SDKs return only the cause.
func IsInterruption(ctx context.Context, err error) bool {
	return err != nil && (errors.Is(err, middleware.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled))
}
