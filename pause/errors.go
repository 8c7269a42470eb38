package pause

import "errors"

// ErrInvalidReason is what every [InvalidReasonError] is, for errors.Is.
var ErrInvalidReason = errors.New("pause: invalid reason")

// ErrPolicyPanicked is what the error of [Parse] and [JudgePrinted] is when the
// policy panicked instead of judging. The text of that error holds the value of
// the panic and is meant for logs, not for the model.
var ErrPolicyPanicked = errors.New("pause: policy panicked")

const invalidPrefix = "Invalid pause reason: "

// InvalidReasonError says why a reason was rejected, in words meant for the
// model that gave it:
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

// Unwrap returns the policy's own error, or nil if no policy was asked.
func (e *InvalidReasonError) Unwrap() error { return e.cause }

func reject(problem string) error { return &InvalidReasonError{Problem: problem} }
