package main

import "slices"

// agent is an agent, and what its user has set up. Commands, variables and files may name places: {HOME} is the user's
// home and where the agent works, {AGENTS} this folder, {URL} an endpoint in plain HTTP,
// and {ROOT} the same without /v1.
type agent struct {
	name, protocol string
	pkg            string            // the npm package, or the Go module that the agent's folder requires
	company        bool              // its user's network has a proxy with a password
	unreached      bool              // carryon says that it does not reach it
	plain          bool              // its user has an endpoint in plain HTTP, which the environment names
	command        []string          // what its user types; nil if it only runs in a terminal
	terminal       []string          // what its user types to talk to it in a terminal; nil if that is not tried
	flags          []string          // of "carryon run"
	list           bool              // it needs "carryon run -list" to keep a list
	env            []string          // variables that the user has set
	alone          []string          // more variables for the run without carryon
	home           map[string]string // files in the user's home
	before         bool              // it has run before, without carryon
	claims         bool              // its model claims to be done after each file
	onScreen       bool              // this is the run in a terminal, which lasts until the model has nothing more to do
}

// The protocols.
const (
	chat      = "Chat Completions"
	responses = "Responses"
	messages  = "Messages"
	gemini    = "Gemini"
)

// allAgents returns all agents, those as most people run them first.
func allAgents() []agent {
	return slices.Concat(agentsWithLogin, agentsWithKey, agentsUnknown, frameworks, goAgents)
}

// runs returns the ways in which an agent runs: by itself, and in a terminal.
func (a agent) runs() (all []agent) {
	if a.command != nil {
		all = append(all, a)
	}
	if a.terminal != nil {
		a.command, a.onScreen = a.terminal, true
		all = append(all, a)
	}
	return all
}

// kind says how the agent runs.
func (a agent) kind() string {
	switch {
	case a.onScreen:
		return "as its user runs it, in a terminal"
	case a.company:
		return "as its user runs it, behind a company's proxy"
	case a.plain:
		return "as its user runs it, with an endpoint in plain HTTP"
	}
	return "as its user runs it"
}
