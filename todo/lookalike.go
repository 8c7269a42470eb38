package todo

import "strings"

const (
	// maxNamed is how many tools an error names.
	maxNamed = 8
	// maxOthers is how many tools are examined to find one that writes lists.
	maxOthers = 32
	// maxLookalikeArguments is how many bytes of their arguments are read for that.
	maxLookalikeArguments = 32 << 10
)

// otherTools are the tools of a conversation that are not known to write a list. They
// are examined only if there is no list.
type otherTools struct {
	newest []Call // the newest call of each tool
	read   int    // bytes of arguments that were read
}

// add adds the tool of a call. It runs for every call that is newer than the list.
func (o *otherTools) add(call *Call) {
	for i := range o.newest {
		if o.newest[i].Name == call.Name {
			return
		}
	}
	if len(o.newest) < maxOthers && call.Name != "" {
		o.newest = append(o.newest, *call)
	}
}

// looksLikeTodoTool reports whether a name looks like that of a tool that writes a
// list.
func looksLikeTodoTool(name string) bool {
	plain := string(newToolName(name))
	for _, other := range [...]string{"read", "get", "pause", "tasklist"} { // the last is a known tool that shows the list
		if strings.Contains(plain, other) {
			return false
		}
	}
	return strings.Contains(plain, "todo") || strings.Contains(plain, "checklist")
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

// none returns the error that says what was found instead of a list.
func (o *otherTools) none() error {
	found := new(NoListError)
	for i := range o.newest {
		call := &o.newest[i]
		name := strings.Clone(call.Name) // it may be a part of a large request
		if len(found.Called) < maxNamed {
			found.Called = append(found.Called, name)
		}
		if len(found.Lookalikes) < maxNamed && (looksLikeTodoTool(name) || o.writesStatuses(call)) {
			found.Lookalikes = append(found.Lookalikes, name)
		}
	}
	return found
}
