package pause

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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
// Parse tolerates common mistakes of models: an object that was encoded twice, another
// spelling of the key such as "Reason" if there is no "reason", extra properties, and
// anything after the object. If a key is repeated, its last value counts. Arguments
// over 64 KiB are rejected as too long without being decoded.
func Parse(arguments string, policy Policy) (reason string, err error) {
	if len(arguments) > maxArguments {
		return "", reject(problemLong)
	}
	object, ok := decodeObject(arguments)
	if !ok {
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
	var inner string
	if decodeFirst(arguments, &inner) == nil {
		arguments = inner
	}
	err := decodeFirst(arguments, &object)
	return object, err == nil && object != nil
}

// decodeFirst decodes the first JSON value in text.
func decodeFirst(text string, into any) error {
	return json.NewDecoder(strings.NewReader(text)).Decode(into)
}

// reasonIn returns the value of "reason", or else of the same key in another
// case. Of several such keys it takes the first in byte order, because a map has
// no order.
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
	return nil, false
}
