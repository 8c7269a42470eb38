package todo

import (
	"context"
	"slices"
	"strings"
)

// What a look at a conversation may cost.
const (
	// maxCandidates is how many calls of a todo-writing tool are looked at. One
	// is enough as a rule, but a tool that changes its list in steps is read
	// back to the last whole list.
	maxCandidates = 32
	// maxArguments is how many bytes of their arguments are read in all, many
	// times what a long list takes. A call that has more than is left of it is
	// passed over.
	maxArguments = 256 << 10
)

// ConversationOption changes a setting of FromConversation.
type ConversationOption interface{ applyConversation(c *conversationSource) }

type conversationOption func(c *conversationSource)

func (o conversationOption) applyConversation(c *conversationSource) { o(c) }

// conversationSource is the Provider that FromConversation returns.
type conversationSource struct {
	tools []toolName
}

// WithToolNames adds names of tools that write a todo list, for programs that
// call theirs something else. Upper and lower case, "_" and "-" make no
// difference. It panics if a name is blank.
func WithToolNames(names ...string) ConversationOption {
	tools := make([]toolName, len(names))
	for i, name := range names {
		if tools[i] = newToolName(name); tools[i] == "" {
			panic("todo: WithToolNames: blank name")
		}
	}
	return conversationOption(func(c *conversationSource) { c.tools = append(c.tools, tools...) })
}

// FromConversation returns a Provider that finds the list where the model put
// it: in the tool calls of the request's own messages. It needs no store, no
// tool of carryon's and no session, for every request brings its own list.
//
// The newest call of a todo-writing tool that can be read is the list. These
// tools are known by name, in any case and with or without "_" and "-":
// todo_write (also TodoWrite, todowrite), write_todos, update_plan,
// update_todo_list, manage_todo_list, set_todo_list, todo_list, todos, todo,
// task_tracker and checklist, and those of WithToolNames. A namespace that ends
// with "__" may stand before the name, as in mcp__planner__todo_write.
//
// What the arguments may look like is said at ParseList. An empty list is a
// list, and means that there is nothing to do. A call that has not been
// answered counts. Passed over, for the next older one, is a call
//
//   - whose result reports that it failed: one that begins with "Error:",
//     "Failed to" and the like, or a JSON object with "isError", "error",
//     "success" or "status" that says so. A result that only mentions an error
//     is none.
//   - whose arguments are no list, or too long: 256 KiB are read in all
//   - that is said to do something else: an "action", "operation" or "command"
//     other than write, set, replace, create, update and plan
//   - whose arguments are one item and no list
//
// A call with "merge" set to true changes an older list by id instead of
// replacing it; the list is then put together. Tools with a call for each todo
// are not understood.
//
// At most 32 calls of such tools are looked at, and no message beyond the one
// that settles it. Without any, or without a Conversation in the ctx, there are
// no todos, and that is no error: the error is that of a ctx that has ended. A
// nil ctx panics. The Provider is safe for concurrent use and keeps nothing, and
// the slice it returns is the caller's.
func FromConversation(opts ...ConversationOption) Provider {
	c := &conversationSource{tools: knownTools()}
	for _, opt := range opts {
		if opt == nil {
			panic("todo: nil ConversationOption")
		}
		opt.applyConversation(c)
	}
	return c
}

// Todos returns the list that the conversation in ctx ends with.
func (c *conversationSource) Todos(ctx context.Context) ([]Todo, error) {
	if ctx == nil {
		panic("todo: nil context")
	}
	var later [][]Todo // changes of the list that is looked for, newest first
	candidates, room := 0, maxArguments
	for call := range ConversationFrom(ctx) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !c.knows(call.Name) {
			continue
		}
		if candidates++; candidates > maxCandidates {
			break
		}
		if len(call.Arguments) > room || reportsFailure(call.Result) {
			continue
		}
		room -= len(call.Arguments)
		found, err := findListing(call.Arguments)
		if err != nil || !found.writes() {
			continue
		}
		if !found.merge {
			if list, err := found.list(); err == nil {
				return mergeAll(list, later), nil
			}
		} else if changes, err := found.changes(); err == nil {
			later = append(later, changes)
		}
	}
	return mergeAll(nil, later), nil
}

// writes reports whether the call that has the list writes it. Some tools read
// with the same arguments, and leave the list empty or fill it in regardless;
// others are called for each todo.
func (l *listing) writes() bool {
	if l.lone {
		return false
	}
	switch strings.ToLower(l.action) {
	case "", "write", "set", "replace", "create", "update", "plan":
		return true
	}
	return false
}

func mergeAll(list []Todo, newestFirst [][]Todo) []Todo {
	for _, changes := range slices.Backward(newestFirst) {
		list = merge(list, changes)
	}
	return list
}

// knows reports whether tool is one that writes a list.
func (c *conversationSource) knows(tool string) bool {
	is := func(name toolName) bool { return name.spells(tool) }
	if slices.ContainsFunc(c.tools, is) {
		return true
	}
	bare, ok := namespaced(tool)
	return ok && slices.ContainsFunc(c.tools, func(name toolName) bool { return name.spells(bare) })
}
