// Package toolcall reads what the calls of agents' tools have in common: the spelling of a
// name, the object in the arguments, and whether a result reports a failure.
package toolcall

import (
	"slices"
	"strings"
)

// Name is the name of a tool in lower case, without "_" and "-": agents spell the same
// tool todo_write, TodoWrite, todowrite and todo-write.
type Name string

// NewName returns the Name of a tool, "" for a blank one.
func NewName(name string) Name {
	plain := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(name), "_", ""), "-", "")
	return Name(strings.ToLower(plain))
}

// Matches reports whether tool is a spelling of n. It runs for every call of a
// history, so it allocates nothing.
func (n Name) Matches(tool string) bool {
	at := 0
	for i := range len(tool) {
		letter := tool[i]
		switch {
		case letter == '_' || letter == '-':
			continue
		case 'A' <= letter && letter <= 'Z':
			letter += 'a' - 'A'
		}
		if at == len(n) || n[at] != letter {
			return false
		}
		at++
	}
	return at == len(n)
}

// Names reports whether tool is a spelling of n, with or without the namespace that MCP
// clients put before a name.
func (n Name) Names(tool string) bool {
	return n.Matches(Bare(tool)) || n.Matches(tool)
}

// AnyNames reports whether tool is a spelling of one of names.
func AnyNames(names []Name, tool string) bool {
	return slices.ContainsFunc(names, func(n Name) bool { return n.Names(tool) })
}

// Bare returns a name without the namespace that MCP clients put before it.
func Bare(tool string) string {
	if end := strings.LastIndex(tool, "__"); end >= 0 {
		return tool[end+len("__"):]
	}
	return tool
}
