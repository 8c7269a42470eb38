package todo

import (
	"slices"
	"strings"
)

const (
	// maxNamed is how many tools an error names.
	maxNamed = 8
	// maxLookalikeArguments is how many bytes of the arguments of unknown tools
	// are read, to find one that writes lists.
	maxLookalikeArguments = 32 << 10
)

// otherTools are the tools of a conversation that are not known to write a list.
type otherTools struct {
	called     []string
	lookalikes []string
	read       int // bytes of arguments that were parsed
}

// add adds the tool of a call.
func (o *otherTools) add(call *Call) {
	name := call.Name
	if name == "" || slices.Contains(o.lookalikes, name) {
		return
	}
	o.note(name)
	if len(o.lookalikes) < maxNamed && (looksLikeTodoTool(name) || o.writesStatuses(call)) {
		o.lookalikes = append(o.lookalikes, strings.Clone(name))
	}
}

// note notes that a tool was called.
func (o *otherTools) note(name string) {
	if len(o.called) < maxNamed && !slices.Contains(o.called, name) {
		o.called = append(o.called, strings.Clone(name)) // the name may be a part of a large request
	}
}

// looksLikeTodoTool reports whether a name sounds like that of a tool that writes
// a list.
func looksLikeTodoTool(name string) bool {
	plain := string(newToolName(name))
	for _, other := range [...]string{"read", "get", "pause"} {
		if strings.Contains(plain, other) {
			return false
		}
	}
	return strings.Contains(plain, "todo") || strings.Contains(plain, "checklist") || strings.Contains(plain, "tasklist")
}

// writesStatuses reports whether the arguments of a call are a list of items with
// statuses.
func (o *otherTools) writesStatuses(call *Call) bool {
	if !strings.Contains(call.Arguments, "status") || o.read+len(call.Arguments) > maxLookalikeArguments {
		return false
	}
	o.read += len(call.Arguments)
	parsed, err := parseArguments(call.Arguments)
	if err != nil || parsed.single || len(parsed.items) == 0 {
		return false
	}
	for _, item := range parsed.items {
		fields, ok := item.(map[string]any)
		if !ok || !hasStatus(fields) {
			return false
		}
	}
	return true
}

// none returns the error that says what there is in place of a list.
func (o *otherTools) none() error {
	return &NoListError{Called: o.called, Lookalikes: o.lookalikes}
}
