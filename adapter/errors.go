package adapter

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// StatusError carries the HTTP status of a failed continuation, which the next prompt
// may name, and what the provider says about a retry. Adapters wrap their SDK's
// errors in it.
type StatusError struct {
	Status int   // 0 if the SDK does not say
	Err    error // the SDK's own error; must not be nil
	Retry  Retry // the zero value if the SDK does not show the header
}

// Error returns the text of the SDK's error.
func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the SDK's error.
func (e *StatusError) Unwrap() error { return e.Err }

// Retry is what a failing provider says about a retry.
type Retry struct {
	After time.Duration // how long to wait before it; 0 if the provider does not say
	Never bool          // the provider asks not to try again
}

// RetryOf reads Retry-After (seconds or a date), Retry-After-Ms and X-Should-Retry
// from the header of an answer. get returns a value of the header, like
// http.Header.Get. A value that cannot be read counts as missing.
func RetryOf(get func(name string) string) Retry {
	return Retry{
		After: cmp.Or(pauseOf(get("Retry-After-Ms"), time.Millisecond), retryAfter(get)),
		Never: strings.EqualFold(strings.TrimSpace(get("X-Should-Retry")), "false"),
	}
}

// retryAfter reads Retry-After. A date is compared with the provider's own clock, if
// the header has a Date.
func retryAfter(get func(name string) string) time.Duration {
	value := strings.TrimSpace(get("Retry-After"))
	date, err := time.Parse(httpDate, value)
	if err != nil {
		return pauseOf(value, time.Second)
	}
	now, err := time.Parse(httpDate, get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(date.Sub(now), 0)
}

const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// pauseOf reads a decimal number of units. It returns 0 for everything else,
// negative numbers included, and a very long time for very large numbers.
func pauseOf(value string, unit time.Duration) time.Duration {
	value = strings.TrimSpace(value)
	if strings.Trim(value, "0123456789.") != "" { // ParseFloat reads "NaN", "Inf" and "0x1p-2" too
		return 0
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(number, 0) {
		return 0
	}
	return time.Duration(min(number*float64(unit), float64(maxPause)))
}

// maxPause is the longest pause; longer ones are cut to it.
const maxPause = 365 * 24 * time.Hour
