package todo

import (
	"context"
	"errors"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/toolcall"
)

// Bounds of one search through a conversation.
const (
	// maxCandidates is how many calls of todo-writing tools are examined. One
	// is usually enough, but changes are followed back to the last whole list.
	maxCandidates = 32
	// maxArguments is how many bytes of arguments and results are read in total: many
	// times the size of a long list. A call whose arguments exceed the rest ends the
	// search; a result that does is not read.
	maxArguments = 256 << 10
	// maxChanges is how many calls are examined that change a single todo.
	maxChanges = 1000
)

// ConversationOption configures [FromConversation].
type ConversationOption func(*conversationSource)

// conversationSource is the Provider that FromConversation returns.
type conversationSource struct {
	tools       []tool
	newReaders  []func(offered iter.Seq[string]) Reader
	readerTools []toolcall.Name // with which the model writes the lists that readers read
	remembered  remembered
}

// WithToolNames adds names of tools that write a todo list, for tools that
// [FromConversation] does not know. Each call, or its result, must have the whole list;
// for a tool that adds or changes single todos, use a [ProviderFunc]. Case, "_" and "-" are
// ignored. Blank names are ignored, too.
func WithToolNames(names ...string) ConversationOption {
	var tools []tool
	for _, name := range names {
		if plain := toolcall.NewName(name); plain != "" {
			tools = append(tools, tool{plain, wholeTool})
		}
	}
	return func(c *conversationSource) { c.tools = append(c.tools, tools...) }
}

// FromConversation returns a [Provider] that reads the list where the model wrote it:
// in the tool calls of the request's own messages. It needs no store, no tool of
// carryon and no session, because every request brings its own list.
//
// It knows the todo tools of common agents by name, and those of [WithToolNames]. Case,
// "_" and "-" in a name are ignored, a namespace that ends in "__" may precede it, as
// in mcp__planner__todo_write, and the call may be wrapped in a call of tool_call. The
// newest calls are read first:
//
//   - Tools that write the whole list: todo_write (also TodoWrite, todowrite),
//     write_todos, update_plan, update_todo_list, create_todo_list, manage_todo_list,
//     set_todo_list, todo_list, todos, todo, task_write, write_tasks, task_tracker,
//     update_todo and checklist. [ParseList] says what their arguments may look like.
//     An empty list means that nothing is left to do.
//   - Changes of a list by id: items with "merge" set to true, and "updates".
//   - Tools that add or change single todos: TaskCreate, TaskUpdate, task_update,
//     task_complete, tracker_create_task, tracker_update_task, create_todo,
//     create_todos, update_todos, todos_add, todos_complete, todos_remove (also
//     TodoList_Add, add_todos and their like), todolist_add, todolist_update, and todo
//     with an "action" such as add, toggle, complete or clear. Their calls are replayed;
//     the ids may be in the results. TaskCreate and TaskUpdate may also say who owns a
//     todo and what it waits for.
//   - Results that repeat the whole list, as JSON or as a checklist. Such a result
//     counts instead of its call if it has all todos of the call, or names the list as
//     "all_todos" or the like. TaskList, tracker_list_tasks, list_todos, todos_get_all
//     and todo_read have only a result.
//
// Lists that are kept in another way, such as in statements of a language, can be read
// with a [Reader].
//
// A call counts even without a result. Some calls are skipped, and older ones are read
// instead:
//
//   - calls that failed: the result begins with "Error:", "Failed to" or similar words,
//     or is a JSON object whose "isError", "error", "success" or "status" says so. A
//     result that only mentions an error is not a failure.
//   - calls whose arguments have no list, because they are cut off or because the call
//     does something else
//
// A program may cut or summarize the history of a long conversation, and lose the list
// with it. FromConversation therefore remembers the newest list of each named session,
// for up to 10,000 sessions and 16 MiB. It returns that list for a request of the same
// session that offers the same tools but has no list, and applies later changes to it.
// The [Origin] says so.
//
// If there is no such call, the error is a [*NoListError]. If the newest list cannot be
// read, the error is an [*UnreadableError], because an older list would be a guess: an
// item is invalid, the list is too long, a change of it is of a kind that carryon does
// not read, or the history has only a part of it.
//
// FromConversation looks at up to 32 calls that may contain a list, 1,000 calls that
// change one, and 256 KiB of arguments and results. It stops once it has found the
// list. The Provider is safe for concurrent use and panics on a nil ctx. Its caller
// owns the slice.
//
// The Provider is a [Locator]. It also has a method WritesList(tool string) bool, which
// reports whether the tool can write its list, or can lead to a tool that does. If no
// tool of a request can, package middleware leaves the request alone even if its
// messages have a list, because it is a side call, such as one for a summary. And it has a
// method DoneTool(origin Origin, offered iter.Seq[string]) string, with which package
// middleware names, in its prompts, the tool that marks todos as done.
//
// Experimental: which tools are known, and how their calls are read, follows the
// agents, which change.
func FromConversation(opts ...ConversationOption) Provider {
	c := &conversationSource{tools: knownTools(), remembered: remembered{lists: lru.New[rememberedList]()}}
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	return c
}

// Todos returns the newest list in the conversation of ctx.
func (c *conversationSource) Todos(ctx context.Context) ([]Todo, error) {
	list, _, err := c.Locate(ctx)
	return list, err
}

// Locate implements [Locator].
func (c *conversationSource) Locate(ctx context.Context) ([]Todo, Origin, error) {
	checkContext(ctx)
	tools, _ := scope.Tools(ctx)
	s := search{source: c, unread: maxArguments}
	for _, newReader := range c.newReaders {
		s.readers.all = append(s.readers.all, newReader(tools))
	}
	if err := s.read(ctx); err != nil {
		return nil, Origin{}, err
	}
	list, origin, err := s.result(ctx, func() ([]Todo, bool) {
		list, _, ok := c.recall(ctx)
		return list, ok
	})
	switch {
	case err == nil:
		c.remember(ctx, list, origin)
	case errors.Is(err, ErrNoList), s.readers.doubt != nil && errors.Is(err, s.readers.doubt):
		if list, tool, ok := c.recall(ctx); ok {
			return list, Origin{Place: origins.EarlierRequest, Tool: tool, Written: origins.Earlier, Unconfirmed: s.readers.why}, nil
		}
	}
	return list, origin, err
}

// Remember remembers the list in the conversation of ctx for later requests of its
// session, if it has a list. Package middleware calls it where a request carries a list
// that no decision reads, because the turn ends in a tool call.
func (c *conversationSource) Remember(ctx context.Context) {
	_, _, _ = c.Locate(ctx) // which remembers what it finds
}

// Bounds of the remembered lists.
const (
	maxRemembered      = 10_000   // sessions
	maxRememberedBytes = 16 << 20 // of the texts of all lists
)

// remembered are the newest lists of named sessions, for requests whose history has
// been cut or summarized.
type remembered struct {
	mu    sync.Mutex
	lists *lru.Table[rememberedList]
	bytes int
}

type rememberedList struct {
	todos []Todo // never changed
	tool  string // that wrote it
	tools uint64 // identifies the tools that the request offered
	bytes int
}

// put remembers the list of a session. One that is too large is forgotten.
func (r *remembered) put(session string, list rememberedList) {
	list.bytes = len(session) + len(list.tool) + sizeOf(list.todos)
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := r.lists.Put(session)
	r.bytes += list.bytes - entry.bytes
	*entry = list
	for r.bytes > maxRememberedBytes || r.lists.Len() > maxRemembered {
		r.bytes -= r.lists.RemoveOldest().bytes
	}
}

// get returns the list of a session whose requests offer the same tools: another
// agent of the session, with other tools, has another list.
func (r *remembered) get(session string, tools uint64) (rememberedList, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.lists.Get(session)
	if list == nil || list.tools != tools {
		return rememberedList{}, false
	}
	return *list, true
}

// rememberedTools identifies the tools that the request of ctx offers, within this
// process; 0 if they are not known.
func rememberedTools(ctx context.Context) uint64 {
	tools, known := scope.Tools(ctx)
	if !known {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(toolsSeed)
	for name := range tools {
		_, _ = h.WriteString(name)
		_ = h.WriteByte(0)
	}
	return h.Sum64() | 1
}

var toolsSeed = maphash.MakeSeed() //nolint:gochecknoglobals // constant while the process lives

// remember remembers a list that was found in the conversation of ctx.
func (c *conversationSource) remember(ctx context.Context, list []Todo, origin Origin) {
	session := scope.Session(ctx)
	if session == "" {
		return
	}
	tools := rememberedTools(ctx)
	if known, ok := c.remembered.get(session, tools); ok && slices.Equal(known.todos, list) {
		return // true of most requests
	}
	own := slices.Clone(list)
	for i := range own { // its strings may be parts of a large request
		t := &own[i]
		*t = Todo{
			ID: strings.Clone(t.ID), Content: strings.Clone(t.Content),
			Status: Status(strings.Clone(string(t.Status))), Priority: strings.Clone(t.Priority),
			Owner: strings.Clone(t.Owner), BlockedBy: strings.Clone(t.BlockedBy),
		}
	}
	c.remembered.put(session, rememberedList{todos: own, tool: origin.Tool, tools: tools})
}

// recall returns the list that an earlier request of the session held, and the tool
// that wrote it.
func (c *conversationSource) recall(ctx context.Context) (list []Todo, tool string, ok bool) {
	session := scope.Session(ctx)
	if session == "" {
		return nil, "", false
	}
	known, ok := c.remembered.get(session, rememberedTools(ctx))
	return slices.Clone(known.todos), known.tool, ok
}
