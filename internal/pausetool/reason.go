package pausetool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// maxArguments is the most bytes of arguments that Parse decodes.
const maxArguments = 64 << 10

const (
	problemInput    = "Input is required"
	problemRequired = "Reason is required"
	problemString   = "Reason must be a string"
)

// Parse reads the arguments of a call, as the model sent them, and applies
// policy to the reason in them; a nil policy is [Strict].
//
// Parse returns the trimmed reason even if it rejects it, so that a program can still
// show it; "" means that the arguments have none. Whatever the policy, the reason must
// be a string with at least one visible character. The error is an
// *[InvalidReasonError], or wraps [ErrPolicyPanicked].
//
// Parse tolerates common mistakes of models: an object that was encoded twice or stands in
// a fence, another spelling of the key such as "Reason" if there is no "reason", another
// key if its value is the only string, extra properties, anything after the object, and a
// reason without an object around it. If a key is repeated, its last value counts.
// Arguments over 64 KiB are rejected as too long without being decoded.
func Parse(arguments string, policy Policy) (reason string, err error) {
	if len(arguments) > maxArguments {
		return "", reject(problemLong)
	}
	object, ok := decodeObject(arguments)
	if !ok {
		if bare, isText := bareReason(arguments); isText {
			return Judge(bare, policy)
		}
		return "", reject(problemInput)
	}
	raw, ok := reasonIn(object)
	if !ok || string(raw) == "null" {
		return "", reject(problemRequired)
	}
	err = json.Unmarshal(raw, &reason)
	if err != nil {
		return "", reject(problemString)
	}
	return Judge(reason, policy)
}

// Judge applies the rules of [Parse] to a reason that did not come as JSON. It returns
// the trimmed reason, and the same errors as Parse.
func Judge(reason string, policy Policy) (string, error) {
	if reason == "" {
		return "", reject(problemRequired)
	}
	reason = strings.TrimSpace(reason)
	if oneLine(reason) == "" { // only control and format characters, for example
		return "", reject(problemEmpty)
	}
	if policy == nil {
		policy = Strict
	}
	return reason, callPolicy(policy, reason)
}

// callPolicy returns the error of policy as an InvalidReasonError, and a panic
// as an error that wraps ErrPolicyPanicked.
func callPolicy(policy Policy, reason string) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%w: %v", ErrPolicyPanicked, value)
		}
	}()
	rejection := policy(reason)
	if rejection == nil {
		return nil
	}
	// A policy that calls Strict may return its error, which has the prefix.
	problem := strings.TrimPrefix(rejection.Error(), invalidPrefix)
	return &InvalidReasonError{Problem: problem, cause: rejection}
}

// decodeObject decodes the first JSON value of arguments as an object. The object may
// itself be encoded as a JSON string.
func decodeObject(arguments string) (object map[string]json.RawMessage, ok bool) {
	arguments = withoutFence(arguments)
	var inner string
	if decodeFirst(arguments, &inner) == nil {
		arguments = withoutFence(inner)
	}
	err := decodeFirst(arguments, &object)
	return object, err == nil && object != nil
}

// withoutFence returns what stands in the fence that encloses a text, or the text.
func withoutFence(text string) string {
	const fence = "```"
	inside, fenced := strings.CutPrefix(strings.TrimSpace(text), fence)
	if !fenced {
		return text
	}
	inside, _, _ = strings.Cut(inside, fence)
	if language, rest, ok := strings.Cut(inside, "\n"); ok && !strings.ContainsAny(language, "{\" ") {
		return rest
	}
	return inside
}

// bareReason returns the reason in arguments that are a text instead of an object: a JSON
// string, or no JSON at all. What begins as an object or a list and is neither is broken.
func bareReason(arguments string) (string, bool) {
	text := withoutFence(arguments)
	var inner string
	if decodeFirst(text, &inner) == nil {
		text = inner
	}
	text = strings.TrimSpace(text)
	if strings.IndexFunc(text, unicode.IsLetter) < 0 || strings.IndexByte("{[\"", text[0]) >= 0 || json.Valid([]byte(text)) {
		return "", false
	}
	return text, true
}

// decodeFirst decodes the first JSON value in text.
func decodeFirst(text string, into any) error {
	return json.NewDecoder(strings.NewReader(text)).Decode(into)
}

// reasonIn returns the value of "reason", or else of the same key in another
// case, or else the only string. Of several keys in another case it takes the first in
// byte order, because a map has no order.
func reasonIn(object map[string]json.RawMessage) (json.RawMessage, bool) {
	const key = "reason"
	if raw, ok := object[key]; ok {
		return raw, true
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if len(name) == len(key) && strings.EqualFold(name, key) {
			return object[name], true
		}
	}
	return onlyString(object)
}

// onlyString returns the value of the only member that is a string with something in it.
func onlyString(object map[string]json.RawMessage) (only json.RawMessage, found bool) {
	for _, value := range object {
		if len(value) <= len(`""`) || value[0] != '"' {
			continue
		}
		if found {
			return nil, false
		}
		only, found = value, true
	}
	return only, found
}
