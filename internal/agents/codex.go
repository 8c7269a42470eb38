package agents

func codex() Agent {
	const now = "0.169.0"
	return Agent{
		Name:      "Codex",
		Tools:     []Tool{{"update_plan", WritesList, now}, {"exec", RunsScripts, now}, {"wait", AwaitsScript, now}},
		Declares:  []Fact{{"declare const tools: { ", now}},
		Headers:   []Fact{{"Thread-Id", now}, {"Session-Id", now}, {"Session_id", ""}},
		SideCalls: []Fact{{"You are performing a CONTEXT CHECKPOINT COMPACTION.", now}},
		Metadata:  []Fact{{"X-Codex-Turn-Metadata", now}},
		SideMarks: []Mark{
			{"request_kind", "compaction", now},
			{"thread_source", "thread_title", now},
		},
		Elements: []Element{
			{"environment_context", Holds, now, ""},
			{"codex_internal_context", Holds, now, ""},
			{"goal_context", Holds, "", ""},
			{"subagent_notification", Holds, "", ""},
			{"turn_aborted", Holds, "", ""},
		},
	}
}
