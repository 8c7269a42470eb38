package adapter

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// StatusError is an SDK's error together with its HTTP status and what the provider says
// about a retry. An adapter wraps the error of a failed continuation in it. From the
// status, the engine sees whether to try again.
type StatusError struct {
	Status int   // 0 if unknown
	Err    error // the SDK's own error; must not be nil
	Retry  Retry // the zero value if the SDK does not expose the header
}

// Error returns the text of the SDK's error.
func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the SDK's error.
func (e *StatusError) Unwrap() error { return e.Err }

// Retry is what a provider says about retrying a failed request.
type Retry struct {
	After time.Duration // how long to wait first; 0 if the provider does not say
	Never bool          // the provider asks not to retry
}

// RetryOf reads Retry-After (seconds or a date), Retry-After-Ms and X-Should-Retry from
// the header of a response. get returns the value of a field, or "", as
// [net/http.Header.Get] does. A value that cannot be parsed counts as missing. After is
// at most a year.
func RetryOf(get func(name string) string) Retry {
	return Retry{
		After: cmp.Or(delayOf(get("Retry-After-Ms"), time.Millisecond), retryAfter(get)),
		Never: strings.EqualFold(strings.TrimSpace(get("X-Should-Retry")), "false"),
	}
}

// retryAfter reads Retry-After. A date is compared with the provider's own clock, if
// the header has a Date.
func retryAfter(get func(name string) string) time.Duration {
	value := strings.TrimSpace(get("Retry-After"))
	date, err := time.Parse(httpDate, value)
	if err != nil {
		return delayOf(value, time.Second)
	}
	now, err := time.Parse(httpDate, get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(date.Sub(now), 0)
}

const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// delayOf parses a decimal number of units. It returns 0 for everything else, including
// negative numbers, and at most maxDelay.
func delayOf(value string, unit time.Duration) time.Duration {
	value = strings.TrimSpace(value)
	if strings.Trim(value, "0123456789.") != "" { // ParseFloat reads "NaN", "Inf" and "0x1p-2" too
		return 0
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(number, 0) {
		return 0
	}
	return time.Duration(min(number*float64(unit), float64(maxDelay)))
}

// maxDelay caps the delay that a provider asks for.
const maxDelay = 365 * 24 * time.Hour
