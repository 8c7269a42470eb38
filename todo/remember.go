package todo

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/scope"
)

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
	tools, known := ToolsFrom(ctx)
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
