// Package agentlists reads the todo lists that two agents write in a language: Codex in
// JavaScript, and Copilot CLI in SQL. The command passes its readers to
// todo.FromConversation. Neither language is run.
package agentlists

import (
	"iter"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/toolcall"
	"github.com/carryon-go/carryon/todo"
)

// Readers returns the options with which todo.FromConversation reads these lists.
func Readers() []todo.ConversationOption {
	queries, scripts, waits := tools(agents.RunsSQL), tools(agents.RunsScripts), tools(agents.AwaitsScript)
	texts := make([]string, len(queries))
	for i, name := range queries {
		texts[i] = string(name)
	}
	return []todo.ConversationOption{
		todo.WithReader(func(iter.Seq[string]) todo.Reader { return &table{tools: queries, unread: maxQueries} }, texts...),
		// A tool that runs scripts does not write the list: what they can call is offered under names of its own.
		todo.WithReader(func(offered iter.Seq[string]) todo.Reader {
			return &scriptList{scripts: scripts, waits: waits, offered: offered}
		}),
	}
}

// tools returns the names of the agents' tools of a kind.
func tools(kind agents.ToolKind) (names []toolcall.Name) {
	for _, t := range agents.Collect(func(a *agents.Agent) []agents.Tool { return a.Tools }) {
		if t.Kind == kind {
			names = append(names, toolcall.NewName(t.Name))
		}
	}
	return names
}
