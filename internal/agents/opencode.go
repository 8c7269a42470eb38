package agents

const openCodeSeen = "1.18.33"

var openCode = Agent{ //nolint:gochecknoglobals // facts
	Name:            "opencode",
	Tools:           []Tool{{"todowrite", WritesList, openCodeSeen}},
	Headers:         []Fact{{"X-Opencode-Session", openCodeSeen}, {"X-Session-Id", openCodeSeen}, {"X-Session-Affinity", openCodeSeen}},
	SubAgentHeaders: []Mark{{"X-Parent-Session-Id", "", openCodeSeen}}, // and kilo
	Summaries: []Fact{ // and kilo
		{"Continue if you have next steps, or stop and ask for clarification", openCodeSeen},
		{"The previous request exceeded the provider's size limit", openCodeSeen},
	},
	Elements: []Element{
		{"task", Reports, openCodeSeen, `state="`},
		{"subagent", Reports, "2.0 beta", `state="`},
	},
	Launches: []Launch{
		{Tools: "task", Begins: "the task is working in the background", Promise: "you will be notified automatically when", IDs: "task_id:|task id:", Seen: openCodeSeen},
		{Tools: "task", Begins: "<task id=", Promise: "you will be notified automatically when", IDs: "<task id=", Seen: openCodeSeen},
		{Tools: "subagent", Begins: "the subagent is working in the background", Promise: "you will be notified automatically when", IDs: "sessionid:", Seen: "2.0 beta"},
	},
}

// ohMyOpenCode is a plugin for opencode.
var ohMyOpenCode = Agent{ //nolint:gochecknoglobals // facts
	Name:     "oh-my-opencode",
	Elements: []Element{{"background-task", Reports, "", ""}},
	Reports:  []Fact{{"[background task", ""}, {"[all background tasks", ""}, {"all background tasks", ""}},
	Launches: []Launch{
		{Tools: "task|backgroundtask|delegatetask|callomoagent", Begins: "background task launched", Promise: "system notifies on completion|system will notify you when", IDs: "background task id:|task id:"},
	},
	Stops: []Call{{"background_cancel", "taskId|task_id", ""}},
	Looks: []Call{{"background_output", "task_id", ""}},
	Ends:  []Fact{{"task result\n", ""}},
}
