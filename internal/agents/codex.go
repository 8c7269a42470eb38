package agents

const codexSeen = "0.169.0"

var codex = Agent{ //nolint:gochecknoglobals // facts
	Name:      "Codex",
	Tools:     []Tool{{"update_plan", WritesList, codexSeen}, {"exec", RunsScripts, codexSeen}, {"wait", AwaitsScript, codexSeen}},
	Declares:  []Fact{{"declare const tools: { ", codexSeen}},
	Headers:   []Fact{{"Thread-Id", codexSeen}, {"Session-Id", codexSeen}, {"Session_id", ""}},
	SideCalls: []Fact{{"You are performing a CONTEXT CHECKPOINT COMPACTION.", codexSeen}},
	Metadata:  []Fact{{"X-Codex-Turn-Metadata", codexSeen}},
	SideMarks: []Mark{
		{"request_kind", "compaction", codexSeen},
		{"thread_source", "thread_title", codexSeen},
	},
	SubAgentMarks:   []Mark{{"thread_source", "subagent", codexSeen}},
	SubAgentHeaders: []Mark{{"X-Openai-Subagent", "", codexSeen}},
	Summaries:       []Fact{{"Another language model started to solve this problem and produced a summary of its thinking process.", "0.171.0"}},
	Headings:        []Fact{{"## My request for Codex:", ""}},
	Elements: []Element{
		{"environment_context", Holds, codexSeen, ""},
		{"codex_internal_context", Holds, codexSeen, ""},
		{"goal_context", Holds, "", ""},
		{"subagent_notification", Holds, "", ""},
		{"turn_aborted", Holds, "", ""},
	},
}
