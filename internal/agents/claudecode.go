package agents

func claudeCode() Agent {
	const (
		now      = "2.1.330"
		teamLead = "team-lead"
	)
	return Agent{
		Name: "Claude Code",
		Tools: []Tool{
			{"TodoWrite", WritesList, now},
			{"TaskCreate", CreatesItem, now},
			{"TaskUpdate", UpdatesItems, now},
			{"TaskList", ShowsList, now},
			{"TodoRead", ShowsList, ""},
			{"ToolSearch", FindsTools, now},
		},
		Headers: []Fact{{"X-Claude-Code-Session-Id", now}},
		SideCalls: []Fact{
			{"CRITICAL: Respond with TEXT ONLY", now},                        // to shorten the conversation
			{"[SUGGESTION MODE:", now},                                       // to guess what the user may write next
			{"<system-reminder>This is a side question from the user.", now}, // to answer it while the work goes on
			{"The user stepped away and is coming back. Recap", now},         // to say where the work stands
			{"Generate a short kebab-case name", now},                        // to name the conversation
			{"You are now acting as the memory extraction subagent.", now},   // to remember it
		},
		Elements: []Element{
			{"system-reminder", Wraps, now, ""},
			{"task-notification", Reports, now, ""},
			{"teammate-message", Holds, now, ""},
			{"agent-message", Holds, "2.1.283", ""},
			{"cross-session-message", Holds, "2.1.283", ""},
		},
		Banners: []Fact{
			{"[SYSTEM NOTIFICATION - NOT USER INPUT]", "2.1.193"},
			{"Another Claude session sent a message", "2.1.259"},
		},
		Trailers: []Fact{
			{"Read the output file to retrieve the result:", "2.1.37"},
			{"This came from another Claude session", "2.1.259"},
			{`That "other Claude session" is an agent working inside this same session`, "2.1.283"},
		},
		Launches: []Launch{
			{Begins: "async agent launched successfully", IDs: "agentid:", Seen: now},
			{Begins: "remote agent launched", IDs: "taskid:", Seen: "2.1.88"},
			{Begins: "the agent is working in the background", Promise: "you will be notified automatically when", IDs: "agentid:", Seen: now},
			{Begins: "workflow launched in background", IDs: "task id:", Seen: "2.1.270"},
			{Begins: "command ", Promise: "you will be notified when", IDs: "with id:", Command: true, Seen: now},
			{Begins: "you will be notified when", IDs: "with id:|task id:", Seen: ""},
			{Begins: "you will be notified automatically when", IDs: "agentid:|task id:", Seen: ""},
			{Begins: "spawned successfully", Promise: "will receive instructions via mailbox", IDs: "agent_id:|name:", Lead: teamLead, Seen: now},
		},
		Stops: []Call{{"TaskStop", "task_id|shell_id", now}, {"KillShell", "shell_id|task_id", "2.0"}, {"KillBash", "shell_id", "1.0"}},
		Looks: []Call{
			{"TaskOutput", "task_id", now}, {"AgentOutputTool", "agentId|agent_id", "2.0"}, {"BashOutput", "bash_id|shell_id", "2.0"},
		},
		Mailboxes: []Mailbox{{
			Element: "teammate-message", From: "teammate_id", Lead: teamLead,
			Send: Call{"SendMessage", "to|recipient", now}, Sender: "sender", Disband: "TeamDelete",
			Idle: "idle_notification|shutdown_approved", Gone: "teammate_terminated", Seen: now,
		}},
	}
}
