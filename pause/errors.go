package pause

import "errors"

// ErrInvalidReason matches every [InvalidReasonError] with errors.Is.
var ErrInvalidReason = errors.New("pause: invalid reason")

// ErrPolicyPanicked is wrapped by the error of [Parse] and [Judge] if the policy
// panicked. That error's text has the value of the panic: it is for logs, not for the
// model.
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
	// Problem is the sentence after "Invalid pause reason: ".
	Problem string

	cause error
}

// Error returns "Invalid pause reason: " and the problem.
func (e *InvalidReasonError) Error() string { return invalidPrefix + e.Problem }

// Is reports whether target is [ErrInvalidReason].
func (e *InvalidReasonError) Is(target error) bool { return target == ErrInvalidReason }

// Unwrap returns the error of the policy, or nil if the reason was rejected
// before the policy was called.
func (e *InvalidReasonError) Unwrap() error { return e.cause }

func reject(problem string) error { return &InvalidReasonError{Problem: problem} }
