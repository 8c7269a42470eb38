package pausetool

import "errors"

// ErrInvalidReason is matched by every [InvalidReasonError]; test with [errors.Is].
var ErrInvalidReason = errors.New("pause: invalid reason")

// ErrPolicyPanicked is wrapped by the error that [Parse] and [Judge] return if the
// policy panicked. The text of that error contains the value of the panic: log it, and
// do not send it to the model.
var ErrPolicyPanicked = errors.New("pause: policy panicked")

const invalidPrefix = "Invalid pause reason: "

// InvalidReasonError says why a reason was rejected. Its text is written for
// the model that gave the reason.
//
//	var invalid *pause.InvalidReasonError
//	if errors.As(err, &invalid) {
//		log(invalid.Problem)
//	}
type InvalidReasonError struct {
	// Problem says what is wrong with the reason: the part of the text that follows
	// "Invalid pause reason: ".
	Problem string

	cause error
}

// Error returns "Invalid pause reason: " followed by the problem.
func (e *InvalidReasonError) Error() string { return invalidPrefix + e.Problem }

// Is reports whether target is [ErrInvalidReason].
func (e *InvalidReasonError) Is(target error) bool { return target == ErrInvalidReason }

// Unwrap returns the error of the policy, or nil if the reason was rejected
// before the policy was called.
func (e *InvalidReasonError) Unwrap() error { return e.cause }

func reject(problem string) error { return &InvalidReasonError{Problem: problem} }
