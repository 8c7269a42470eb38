package pause

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxArguments is how many bytes of arguments are decoded. Longer ones hold no
// reason that could be accepted, and are not worth the memory.
const maxArguments = 64 << 10

const (
	problemInput    = "Input is required"
	problemRequired = "Reason is required"
	problemString   = "Reason must be a string"
)

// Parse reads the arguments of a call, as the model sent them, and judges the
// reason in them with policy; nil is [Strict].
//
// It returns the reason trimmed, also when it is rejected, so that a reason
// which was understood can still be shown; it is "" when none was understood.
// Under every policy there must be a reason, a string with something visible
// in it. The error is an [InvalidReasonError], or [ErrPolicyPanicked].
//
// What models get wrong without leaving a doubt is read all the same: an object
// that was encoded twice, another case of the key if "reason" itself is absent,
// further properties, and anything after the object. The last of several equal
// keys counts. Arguments over 64 KiB are rejected as too long, undecoded.
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
	if err = json.Unmarshal(raw, &reason); err != nil {
		return "", reject(problemString)
	}
	return judge(reason, policy)
}

// JudgePrinted judges the reason of a printed call, as [Printed.End] returns
// it, by the rules of [Parse].
func JudgePrinted(reason string, policy Policy) (string, error) {
	return judge(reason, policy)
}

// judge applies the rules that hold under every policy, then the policy.
func judge(reason string, policy Policy) (string, error) {
	if reason == "" {
		return "", reject(problemRequired)
	}
	reason = strings.TrimSpace(reason)
	// A reason of control and format characters alone shows as nothing.
	if Sanitize(reason) == "" {
		return "", reject(problemEmpty)
	}
	if policy == nil {
		policy = Strict
	}
	return reason, ask(policy, reason)
}

// ask returns the policy's verdict as an InvalidReasonError, or that the policy
// panicked.
func ask(policy Policy, reason string) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%w: %v", ErrPolicyPanicked, value)
		}
	}()
	verdict := policy(reason)
	if verdict == nil {
		return nil
	}
	// A policy that builds on Strict brings the prefix along.
	problem := strings.TrimPrefix(verdict.Error(), invalidPrefix)
	return &InvalidReasonError{Problem: problem, cause: verdict}
}

// decodeObject reads the first JSON value of arguments as an object, looking
// through one level of string around it.
func decodeObject(arguments string) (map[string]json.RawMessage, bool) {
	raw, ok := firstValue(arguments)
	if !ok {
		return nil, false
	}
	if raw[0] == '"' {
		var inner string
		if err := json.Unmarshal(raw, &inner); err != nil {
			return nil, false
		}
		if raw, ok = firstValue(inner); !ok {
			return nil, false
		}
	}
	if raw[0] != '{' {
		return nil, false
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, false
	}
	return object, true
}

// firstValue returns the first JSON value in text, without white space around.
func firstValue(text string) (json.RawMessage, bool) {
	var raw json.RawMessage
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&raw); err != nil || len(raw) == 0 {
		return nil, false
	}
	return raw, true
}

// reasonIn returns the value of "reason", else that of the same key in another
// case; of several such keys the first in byte order, so that the choice does
// not depend on the order of a map.
func reasonIn(object map[string]json.RawMessage) (json.RawMessage, bool) {
	const key = "reason"
	if raw, ok := object[key]; ok {
		return raw, true
	}
	var found []string
	for name := range object {
		if len(name) == len(key) && strings.EqualFold(name, key) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	return object[slices.Min(found)], true
}
