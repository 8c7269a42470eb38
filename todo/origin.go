package todo

import (
	"context"
	"fmt"
)

// Origin says where a list was read. The zero Origin is a source that the program
// wrote itself.
type Origin struct {
	// Place is the kind of place.
	Place Place `json:"place"`
	// Tool is the name of the tool whose call or result was read, as the model
	// wrote it, or "".
	Tool string `json:"tool,omitzero"`
	// Unconfirmed says why a newer call, which may have changed the list or not, does
	// not count: "its script failed". It is "" if there is no such call.
	Unconfirmed string `json:"unconfirmed,omitzero"`
	// Written says whether the model wrote the list in the current user turn.
	Written Written `json:"written,omitzero"`
}

// Written says whether the model wrote the todo list in the current user turn. A call
// that writes the list counts even if it changes nothing; one that only reads it does
// not.
type Written uint8

// What is known of the last call that wrote the list.
const (
	WrittenUnknown Written = iota // the source does not tell
	WrittenEarlier                // it is older than the user's last message
	WrittenNow                    // it is newer
)

// String returns "unknown", "earlier" or "now".
func (w Written) String() string {
	switch w {
	case WrittenEarlier:
		return "earlier"
	case WrittenNow:
		return "now"
	case WrittenUnknown:
	}
	return "unknown"
}

// MarshalText returns what String does.
func (w Written) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (w *Written) UnmarshalText(text []byte) error {
	for known := WrittenUnknown; known <= WrittenNow; known++ {
		if known.String() == string(text) {
			*w = known
			return nil
		}
	}
	return fmt.Errorf("todo: %q says nothing of when a list was written", text)
}

// Place is a kind of place that a list is read from.
type Place uint8

// The places that the sources of this package read.
const (
	// FromProgram is a source that the program wrote itself.
	FromProgram Place = iota
	// FromMemory is a Memory.
	FromMemory
	// FromCall is the arguments of a tool call in the conversation.
	FromCall
	// FromResult is the result of a tool call, which repeats the whole list.
	FromResult
	// FromSeveralCalls is several calls of the conversation, each of which changed
	// a part of the list.
	FromSeveralCalls
	// FromEarlierRequest is an earlier request of the same session: the conversation
	// of this request no longer holds the list.
	FromEarlierRequest
)

// Code returns the fixed name of the place, for programs, such as "tool_call".
func (p Place) Code() string {
	switch p {
	case FromProgram:
		return "program"
	case FromMemory:
		return "memory"
	case FromCall:
		return "tool_call"
	case FromResult:
		return "tool_result"
	case FromSeveralCalls:
		return "tool_calls"
	case FromEarlierRequest:
		return "earlier_request"
	}
	return "unknown"
}

// MarshalText returns the code.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.Code()), nil }

// UnmarshalText reads a code. It fails on one that this version does not know.
func (p *Place) UnmarshalText(code []byte) error {
	for known := FromProgram; known <= FromEarlierRequest; known++ {
		if known.Code() == string(code) {
			*p = known
			return nil
		}
	}
	return fmt.Errorf("todo: unknown place %q", code)
}

// String returns a description such as "the last call of todo_write".
func (o Origin) String() string {
	if why := o.Unconfirmed; why != "" {
		o.Unconfirmed = ""
		return o.String() + "; a newer call is not confirmed: " + why
	}
	switch o.Place {
	case FromProgram:
		return "the program's source"
	case FromMemory:
		return "todo.Memory"
	case FromCall:
		return "the last call of " + o.Tool
	case FromResult:
		return "the last result of " + o.Tool
	case FromSeveralCalls:
		return "the calls of " + o.Tool
	case FromEarlierRequest:
		return "an earlier request of the session, " + o.Tool
	}
	return "an unknown place"
}

// Locator is a Provider that says where its list was read. The sources of this
// package are Locators; yours need not be.
type Locator interface {
	Provider
	// Locate is Todos that also returns where the list was read.
	Locate(ctx context.Context) ([]Todo, Origin, error)
}
