package transport

import (
	"net/http"
	"strconv"
	"time"
)

// Headers in which the SDKs of OpenAI, Anthropic and many other providers send
// their timeouts in seconds and their programming language. Google's SDKs send the
// time for the whole answer in a header of their own.
const (
	headerServerTimeout = "X-Server-Timeout"
	headerTimeout       = "X-Stainless-Timeout"
	headerReadTimeout   = "X-Stainless-Read-Timeout"
	headerLanguage      = "X-Stainless-Lang"
)

// timeoutsOf returns how long the client waits for the whole answer, and for
// the next part of it; 0 is unknown.
//
// The header's meaning depends on the SDK. For Go, Java, Kotlin and Ruby it is
// the time for the whole answer, for JavaScript the time for its header, and
// for Python the time between two reads. An answer that is not streamed comes
// in one part, with its header.
func timeoutsOf(h http.Header, stream bool) (whole, part time.Duration) {
	whole, part = seconds(h.Get(headerTimeout)), seconds(h.Get(headerReadTimeout))
	switch language := h.Get(headerLanguage); {
	case !stream:
		whole, part = shorter(whole, part), 0
	case language == "js":
		whole = 0
	case language == "python":
		whole, part = 0, shorter(whole, part)
	}
	return shorter(whole, seconds(h.Get(headerServerTimeout))), part
}

// shorter returns the shorter of two times; 0 is no limit.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// seconds returns the time in a header, which is in seconds, or 0 if there is
// none. Some SDKs write 0 for less than a second.
func seconds(value string) time.Duration {
	const day = 24 * 60 * 60 // longer is no limit, and may be meant in milliseconds
	if value == "" {
		return 0
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(0 < n && n < day) {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}
