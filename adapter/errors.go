package adapter

// StatusError carries the HTTP status of a failed continuation, so that the
// next prompt can name it. Adapters wrap their SDK's errors in it.
type StatusError struct {
	Status int   // 0 if the SDK does not say
	Err    error // the SDK's own error; must not be nil
}

// Error returns the text of the SDK's error.
func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the SDK's error.
func (e *StatusError) Unwrap() error { return e.Err }
