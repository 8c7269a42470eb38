// Package agents holds what carryon knows of other people's agents, and nothing else:
// no rule stands here, and no rule elsewhere knows an agent by its name. Each fact says
// in which version of the agent it was seen. A fact without a version is an older one.
package agents

import (
	"slices"
	"sync"
)

// Agent is what is known of an agent, or of a framework that agents are made with.
type Agent struct {
	Name string

	Tools           []Tool
	Declares        []Fact // what stands before the name of a tool that only scripts can call, in the description of the one that runs them
	Headers         []Fact // of requests, which name the conversation; the most specific first
	SideCalls       []Fact // how the prompts of calls begin that are not part of the work
	Metadata        []Fact // headers in which a request says, as JSON, what it is; also members of client_metadata
	SideMarks       []Mark // of calls that are not part of the work, in that JSON
	SubAgentMarks   []Mark // of calls of sub-agents, in that JSON
	SubAgentHeaders []Mark // of calls that are not of the main conversation, such as those of sub-agents: headers and their values, "" for any

	Elements  []Element // in which it writes to the model with the role of the user or the system
	Banners   []Fact    // lines that it puts before such an element, and more lines behind them
	Nudges    []Fact    // messages in its user's name that tell the model to go on; users of other agents write them, too
	Summaries []Fact    // how a message in its user's name begins with which it goes on, once it has shortened the conversation
	Headings  []Fact    // lines that separate the agent's text above from the user's own words below
	Reports   []Fact    // how a line begins that reports without an element of its own, in lower case
	Launches  []Launch  // how the results of calls say that work has begun in the background
	Stops     []Call    // that end work in the background
	Looks     []Call    // that look at it
	Ends      []Fact    // how an event of it begins, or what a look at it returns, that says without a status that it has ended, in lower case
	Mailboxes []Mailbox
}

// Fact is a text.
type Fact struct{ Text, Seen string }

// ToolKind is what a tool does to a todo list.
type ToolKind uint8

// The kinds of tools.
const (
	NoList         ToolKind = iota // nothing
	WritesList                     // writes a whole list, or a part of one, as its arguments say
	CreatesItem                    // adds one todo
	CreatesItems                   // adds todos; its result has the new ones, with their ids
	UpdatesItems                   // changes one todo, or several
	CompletesItems                 // completes one todo, or several
	RemovesItems                   // removes one todo, or several
	ShowsList                      // shows the list
	RunsSQL                        // runs SQL statements, which may change or show a list in a table
	CallsTool                      // calls another tool, which its arguments name
	FindsTools                     // finds other tools, which requests offer from then on
	RunsScripts                    // runs a script in JavaScript, which may call a tool that writes a whole list
	AwaitsScript                   // waits for the end of such a script
)

// Tool is a tool of a todo list. Case, "_" and "-" in its name do not count.
type Tool struct {
	Name string
	Kind ToolKind
	Seen string
}

// Mark is a member of such JSON, or a header, with the value that says something of a
// request.
type Mark struct{ Member, Value, Seen string }

// Element is the name of an element such as <system-reminder>…</system-reminder>.
type Element struct {
	Name  string
	Kind  ElementKind
	Seen  string
	Needs string // what its attributes must hold: without it, users write such elements, too
}

// ElementKind is what an element holds.
type ElementKind uint8

// The kinds of elements.
const (
	Holds    ElementKind = iota // words for the model
	Wraps                       // words for the model, or other elements
	Reports                     // how work in the background goes on, or that it has ended
	Precedes                    // words for the model, before those of the user in the same text
)

// Launch is how the result of a call says that it has begun work whose outcome the agent
// will report. All texts are in lower case.
type Launch struct {
	Begins  string // how the result begins, or a line of it that has the id near
	Promise string // words that must follow Begins, alternatives separated by "|"; "" if Begins is the promise
	Tools   string // the tools that make it, in lower case and without "_" and "-", separated by "|"
	IDs     string // what stands before the id of the work, alternatives likewise
	Command bool   // it may be a server, which never ends
	Lead    string // the name in its team of the agent that launches a teammate, which lives on and is at work or idle
	Seen    string
}

// Call is a call of a tool, with the arguments that name the work, separated by "|".
type Call struct{ Tool, IDs, Seen string }

// Mailbox is how the agents of a team write to each other.
type Mailbox struct {
	Element string // that a message comes in
	From    string // its attribute that names the sender
	Lead    string // the name of the agent that leads the team
	Send    Call   // that writes a message; its arguments name who gets it
	Sender  string // the member of its result that names who wrote it
	Disband string // the tool that ends the team
	Idle    string // the types of messages that say that their sender does nothing now, separated by "|"
	Gone    string // the types of messages whose text says who has ended
	Seen    string
}

// All returns what is known of all agents. It must not be changed.
func All() []Agent { return all() }

var all = sync.OnceValue(func() []Agent { //nolint:gochecknoglobals // facts, put together once
	return append([]Agent{claudeCode, codex, openCode, ohMyOpenCode, copilotCLI, qwenCode, geminiCLI, mastra, agentFramework}, lessKnown...)
})

// Collect returns the facts of all agents that of returns for each, in order.
func Collect[T any](of func(*Agent) []T) []T {
	facts := make([][]T, len(all()))
	for i := range facts {
		facts[i] = of(&all()[i])
	}
	return slices.Concat(facts...)
}
