package wire

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// ErrUnreadable is the failure of a turn whose answer is not valid JSON of the
// protocol. The error texts name package transport, which programs know.
var ErrUnreadable = errors.New("transport: not the JSON of an answer")

// ProviderError is an error that the provider reported, in place of an answer or
// in the middle of one.
type ProviderError struct {
	Type, Code, Message string        // "" where it does not say
	RetryAfter          time.Duration // the delay that it asks for in the body; 0 for none
}

// Retry says whether another try can succeed, and how long to wait for it.
func (e *ProviderError) Retry() adapter.Retry {
	return adapter.Retry{After: e.RetryAfter, Never: !MayPass(e.Type, e.Code)}
}

// Error returns the provider's message.
func (e *ProviderError) Error() string {
	return "transport: the provider reported an error: " + e.Message
}

// Reported returns the error in raw, which is an object or a string.
func Reported(raw []byte) *ProviderError {
	e := &ProviderError{
		Type:    rawjson.TextOf(rawjson.Member(raw, "type")),
		Code:    WordOf(rawjson.Member(raw, "code")),
		Message: rawjson.TextOf(rawjson.Member(raw, "message")),
	}
	if e.Message == "" {
		e.Message = rawjson.TextOf(raw)
	}
	return e
}

// WordOf returns the text of the string, or the digits of the number, in raw: some
// servers write a word where others write a number.
func WordOf(raw []byte) string {
	if _, ok := rawjson.Int(raw); ok {
		return string(raw)
	}
	return rawjson.TextOf(raw)
}

// MayPass reports whether an error of this type and code may pass with time. A code that
// is an HTTP status counts as one. Words tell what only a person can mend: the same
// request, key and account fail again. Anything else may pass.
func MayPass(kind, code string) bool {
	for _, word := range [...]string{kind, code} {
		word = strings.ToLower(word)
		if slices.ContainsFunc(lasting, func(part string) bool { return strings.Contains(word, part) }) {
			return false
		}
		switch status, _ := strconv.Atoi(word); {
		case status == 408, status == 409, status == 425, status == 429:
		case 400 <= status && status < 500:
			return false
		}
	}
	return true
}

// lasting are the words, or parts of them, in the types and codes of errors that last.
var lasting = []string{ //nolint:gochecknoglobals // constant
	"invalid", "quota", "billing", "credit", "balance", "payment", "authentication", "unauthenticated", "unauthorized", "api_key",
	"permission", "forbidden", "not_found", "precondition", "context_length", "context_window", "too_large", "too_long", "out_of_range",
	"unsupported", "unimplemented", "not_supported", "deactivated", "policy", "filter", "moderation", "blocked", "expired", "string_above_max",
}

// RefusalIn returns the error in the body of an answer, or nil if there is none.
func RefusalIn(body []byte) error {
	if raw := rawjson.Member(body, "error"); raw != nil {
		return Reported(raw)
	}
	return nil
}
