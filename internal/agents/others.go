package agents

const copilotCLISeen = "1.0.102"

var copilotCLI = Agent{ //nolint:gochecknoglobals // facts
	Name:    "Copilot CLI",
	Tools:   []Tool{{"sql", RunsSQL, copilotCLISeen}, {"update_todo", WritesList, ""}},
	Headers: []Fact{{"X-Client-Session-Id", copilotCLISeen}, {"X-Agent-Task-Id", copilotCLISeen}},
	SubAgentHeaders: []Mark{
		{"X-Parent-Agent-Id", "", copilotCLISeen},
		{"X-Interaction-Type", "conversation-subagent", copilotCLISeen},
		{"X-Interaction-Type", "conversation-background", copilotCLISeen},
		{"X-Interaction-Type", "conversation-compaction", copilotCLISeen},
	},
	Elements: []Element{{"system_notification", Reports, "1.0.95", ""}, {"current_datetime", Precedes, copilotCLISeen, ""}},
	Summaries: []Fact{
		{"Some of the conversation history has been summarized to free up context.", "0.0.400"},
		{"The conversation history has been summarized to free up context.", "0.0.400"},
	},
	Launches: []Launch{
		{Tools: "task", Begins: "agent started in background with agent_id:", Promise: "be notified|end your response", IDs: "agent_id:", Seen: "1.0.95"},
		{Tools: "bash|powershell", Begins: "<command with shellid:", Promise: "automatically notified when", IDs: "shellid:", Command: true, Seen: "1.0.95"},
	},
	Stops: []Call{{"stop_bash", "shellId", "1.0.95"}},
	Looks: []Call{{"read_agent", "agent_id", "1.0.95"}, {"read_bash", "shellId", "1.0.95"}},
}

const qwenCodeSeen = "0.24.4"

var qwenCode = Agent{ //nolint:gochecknoglobals // facts
	Name:     "qwen-code",
	Tools:    []Tool{{"todo_write", WritesList, qwenCodeSeen}, {"tool_call", CallsTool, qwenCodeSeen}},
	Elements: []Element{{"plan-mode-active", Holds, qwenCodeSeen, ""}, {"background-tasks", Holds, qwenCodeSeen, ""}}, // behind a summary
	Summaries: []Fact{ // the summary itself is a <state_snapshot>
		{"[Summary unavailable]", qwenCodeSeen},
		{"The following files were recently accessed before context was compacted.", qwenCodeSeen},
		{"Recently accessed file (full current content embedded):", qwenCodeSeen},
		{"Recent visual snapshots preserved from before context was compacted", qwenCodeSeen},
	},
	Launches: []Launch{
		{Tools: "agent|task", Begins: "agent launched successfully", Promise: "<task-notification>", IDs: "task_id:|agentid:", Seen: ""},
		{Tools: "agent|task", Begins: "background agent launched successfully", IDs: "task_id:|agentid:", Seen: qwenCodeSeen},
	},
}

const geminiCLISeen = "0.61.0"

var geminiCLI = Agent{ //nolint:gochecknoglobals // facts
	Name: "gemini-cli",
	Tools: []Tool{
		{"write_todos", WritesList, geminiCLISeen},
		{"tracker_create_task", CreatesItem, geminiCLISeen},
		{"tracker_update_task", UpdatesItems, geminiCLISeen},
		{"tracker_list_tasks", ShowsList, geminiCLISeen},
	},
	Elements: []Element{{"state_snapshot", Holds, geminiCLISeen, ""}, {"scratchpad", Holds, geminiCLISeen, ""}}, // once it has shortened the conversation
	Nudges:   []Fact{{"Please continue.", geminiCLISeen}},                                                       // when its own check says that the model should go on
}

const mastraSeen = "1.71.0"

var mastra = Agent{ //nolint:gochecknoglobals // facts
	Name:     "Mastra",
	Tools:    []Tool{{"task_write", WritesList, mastraSeen}, {"task_update", UpdatesItems, mastraSeen}, {"task_complete", CompletesItems, mastraSeen}},
	Elements: []Element{{"current-task-list", Holds, mastraSeen, ""}, {"task-list-update", Holds, mastraSeen, ""}},
}

// The names of the tools of Microsoft's agent framework were other ones before. Ids count
// from 0 in Go, and from 1 in .NET and Python.
const (
	agentFrameworkSeen = "Go 22fce0a1265b, .NET 025f08df55ab"
	agentFrameworkOld  = "Python 708a28cd3e5f"
)

var agentFramework = Agent{ //nolint:gochecknoglobals // facts
	Name: "Microsoft's agent framework",
	Tools: []Tool{
		{"todos_add", CreatesItems, agentFrameworkSeen},
		{"todos_complete", CompletesItems, agentFrameworkSeen},
		{"todos_remove", RemovesItems, agentFrameworkSeen},
		{"todos_get_all", ShowsList, agentFrameworkSeen}, // todos_get_remaining shows a part
		{"add_todos", CreatesItems, agentFrameworkOld},
		{"complete_todos", CompletesItems, agentFrameworkOld},
		{"remove_todos", RemovesItems, agentFrameworkOld},
		{"get_all_todos", ShowsList, agentFrameworkOld},
		{"TodoList_Add", CreatesItems, ""},
		{"TodoList_Complete", CompletesItems, ""},
		{"TodoList_Remove", RemovesItems, ""},
		{"TodoList_GetAll", ShowsList, ""},
	},
}

// lessKnown are the agents of which little is known.
var lessKnown = []Agent{ //nolint:gochecknoglobals // facts
	{Name: "LangChain, deepagents, Eino", Tools: []Tool{{"write_todos", WritesList, "deepagents 1.14.1"}}},
	{Name: "Roo Code, grok-cli", Tools: []Tool{{"update_todo_list", WritesList, ""}, {"create_todo_list", WritesList, ""}}},
	{Name: "Copilot in VS Code", Tools: []Tool{{"manage_todo_list", WritesList, ""}}},
	{Name: "cline", Summaries: []Fact{{"[TASK RESUMPTION]", "3.0.65"}}}, // its "Context summary:" is what people write, too
	{Name: "Kimi Code", Summaries: []Fact{{"The conversation so far has been compacted to free up context.", "on 28 November 2026"}}},
	{Name: "Kimi CLI", Tools: []Tool{{"SetTodoList", WritesList, ""}}},
	{Name: "nanocoder", Tools: []Tool{{"write_tasks", WritesList, ""}}},
	{Name: "Hermes", Tools: []Tool{{"todo_list", WritesList, ""}}},
	{Name: "Crush", Tools: []Tool{{"todos", WritesList, ""}}},
	{Name: "Mistral Vibe, pi", Tools: []Tool{{"todo", WritesList, ""}}},
	{Name: "docker-agent", Tools: []Tool{
		{"create_todo", CreatesItem, "c4c0e97e2a0e"},
		{"create_todos", CreatesItems, "c4c0e97e2a0e"},
		{"update_todos", WritesList, "c4c0e97e2a0e"},
		{"list_todos", ShowsList, "c4c0e97e2a0e"},
	}},
	{Name: "AstrBot", Tools: []Tool{{"todolist_add", CreatesItems, "b6f1c5c2a929"}, {"todolist_update", UpdatesItems, "b6f1c5c2a929"}}},
	{Name: "OpenHands", Tools: []Tool{{"task_tracker", WritesList, ""}}},
	{Name: "Continue", Tools: []Tool{{"Checklist", WritesList, "1.5.47"}}},
	{Name: "the providers' tool search", Tools: []Tool{{"tool_search_tool_regex", FindsTools, ""}, {"tool_search_tool_bm25", FindsTools, ""}}},
	{Name: "pi", Headers: []Fact{{"Session_id", "0.73.1"}}, Summaries: []Fact{
		{"The conversation history before this point was compacted into the following summary:", "0.73.1"},
	}, Launches: []Launch{
		{Tools: "subagent|bash", Begins: "background task started:", Promise: "you will be notified when", IDs: "task id:"}, // an extension
	}},
	{Name: "Letta Code", Launches: []Launch{
		{Tools: "agent|task|bash", Begins: "task running in background with task id:", Promise: "you will be notified automatically when", IDs: "with task id:"},
	}},
	{Name: "LiteLLM", Headers: []Fact{{"X-Litellm-Session-Id", ""}, {"X-Litellm-Trace-Id", ""}}},
	{Name: "agents that spell it so", Elements: []Element{{"system_reminder", Wraps, "", ""}}},
}
