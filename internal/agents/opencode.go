package agents

func openCode() Agent {
	const now = "1.18.33"
	return Agent{
		Name:    "opencode",
		Tools:   []Tool{{"todowrite", WritesList, now}},
		Headers: []Fact{{"X-Opencode-Session", now}, {"X-Session-Id", now}, {"X-Session-Affinity", now}},
		Elements: []Element{
			{"task", Reports, now, `state="`},
			{"subagent", Reports, "2.0 beta", `state="`},
		},
		Launches: []Launch{
			{Begins: "the task is working in the background", Promise: "you will be notified automatically when", IDs: "task_id:|task id:", Seen: now},
			{Begins: "<task id=", Promise: "you will be notified automatically when", IDs: "<task id=", Seen: now},
			{Begins: "the subagent is working in the background", Promise: "you will be notified automatically when", IDs: "sessionid:", Seen: "2.0 beta"},
		},
	}
}

// ohMyOpenCode is a plugin for opencode.
func ohMyOpenCode() Agent {
	return Agent{
		Name:     "oh-my-opencode",
		Elements: []Element{{"background-task", Reports, "", ""}},
		Trailers: []Fact{{"<!-- OMO_INTERNAL_INITIATOR -->", ""}},
		Reports:  []Fact{{"[background task", ""}, {"[all background tasks", ""}, {"all background tasks", ""}},
		Launches: []Launch{
			{Begins: "background task launched", Promise: "system notifies on completion", IDs: "background task id:|task id:"},
		},
		Stops: []Call{{"background_cancel", "taskId|task_id", ""}},
		Looks: []Call{{"background_output", "task_id", ""}},
	}
}
