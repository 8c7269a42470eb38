package agents

const (
	claudeCodeSeen     = "2.1.330"
	claudeCodeTeamLead = "team-lead"
)

var claudeCode = Agent{ //nolint:gochecknoglobals // facts
	Name: "Claude Code",
	Tools: []Tool{
		{"TodoWrite", WritesList, claudeCodeSeen},
		{"TaskCreate", CreatesItem, claudeCodeSeen},
		{"TaskUpdate", UpdatesItems, claudeCodeSeen},
		{"TaskList", ShowsList, claudeCodeSeen},
		{"TodoRead", ShowsList, ""},
		{"ToolSearch", FindsTools, claudeCodeSeen},
	},
	Headers:         []Fact{{"X-Claude-Code-Session-Id", claudeCodeSeen}},
	SubAgentHeaders: []Mark{{"X-Claude-Code-Agent-Id", "", claudeCodeSeen}},
	SideCalls: []Fact{
		{"CRITICAL: Respond with TEXT ONLY", claudeCodeSeen},                        // to shorten the conversation
		{"[SUGGESTION MODE:", claudeCodeSeen},                                       // to guess what the user may write next
		{"<system-reminder>This is a side question from the user.", claudeCodeSeen}, // to answer it while the work goes on
		{"The user stepped away and is coming back. Recap", claudeCodeSeen},         // to say where the work stands
		{"Generate a short kebab-case name", claudeCodeSeen},                        // to name the conversation
		{"You are now acting as the memory extraction subagent.", claudeCodeSeen},   // to remember it
	},
	Elements: []Element{
		{"system-reminder", Wraps, claudeCodeSeen, ""},
		{"task-notification", Reports, claudeCodeSeen, ""},
		{"teammate-message", Holds, claudeCodeSeen, ""},
		{"agent-message", Holds, "2.1.283", ""},
		{"cross-session-message", Holds, "2.1.283", ""},
		{"ide_opened_file", Precedes, "", ""},
		{"ide_selection", Precedes, "", ""},
	},
	Banners: []Fact{
		{"[SYSTEM NOTIFICATION - NOT USER INPUT]", "2.1.193"},
		{"Another Claude session sent a message", "2.1.259"},
	},
	Summaries: []Fact{
		{"This session is being continued from a previous conversation", "2.1.332"},
		{"This conversation was compacted. What follows are the user's earlier messages", "2.1.332"},
	},
	Launches: []Launch{
		{Tools: "agent|task", Begins: "async agent launched successfully", IDs: "agentid:", Seen: claudeCodeSeen},
		{Tools: "agent|task", Begins: "remote agent launched", IDs: "taskid:", Seen: "2.1.88"},
		{Tools: "agent|task", Begins: "the agent is working in the background", Promise: "you will be notified automatically when", IDs: "agentid:", Seen: claudeCodeSeen},
		{Tools: "workflow", Begins: "workflow launched in background", IDs: "task id:", Seen: "2.1.270"},
		{Tools: "bash|powershell", Begins: "command ", Promise: "you will be notified when|output is being written to:", IDs: "with id:|(id:", Command: true, Seen: claudeCodeSeen},
		{Tools: "monitor", Begins: "monitor started (task ", Promise: "you will be notified on each event", IDs: "(task ", Command: true, Seen: "2.1.286"},
		{Tools: "schedulewakeup", Begins: "next wakeup scheduled for ", IDs: "scheduled for ", Command: true, Seen: ""}, // its report is a message that looks like the user's
		{Tools: "agent|task|workflow", Begins: "you will be notified when", IDs: "with id:|task id:|task_id:|agent_id:|job id:|job_id:|id:", Seen: ""},
		{Tools: "agent|task|workflow", Begins: "you will be notified automatically when", IDs: "agentid:|task id:|task_id:|agent_id:|job id:|job_id:|id:", Seen: ""},
		{Tools: "agent|task", Begins: "spawned successfully", Promise: "will receive instructions via mailbox", IDs: "agent_id:|name:", Lead: claudeCodeTeamLead, Seen: claudeCodeSeen},
	},
	Stops: []Call{{"TaskStop", "task_id|shell_id", claudeCodeSeen}, {"KillShell", "shell_id|task_id", "2.0"}, {"KillBash", "shell_id", "1.0"}},
	Looks: []Call{
		{"TaskOutput", "task_id", claudeCodeSeen}, {"AgentOutputTool", "agentId|agent_id", "2.0"}, {"BashOutput", "bash_id|shell_id", "2.0"},
	},
	Ends: []Fact{{"[monitor expired", "2.1.286"}, {"[monitor timed out", ""}},
	Mailboxes: []Mailbox{{
		Element: "teammate-message", From: "teammate_id", Lead: claudeCodeTeamLead,
		Send: Call{"SendMessage", "to|recipient", claudeCodeSeen}, Sender: "sender", Disband: "TeamDelete",
		Idle: "idle_notification|shutdown_approved", Gone: "teammate_terminated", Seen: claudeCodeSeen,
	}},
}
