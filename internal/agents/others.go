package agents

func copilotCLI() Agent {
	const now = "1.0.102"
	return Agent{
		Name:     "Copilot CLI",
		Tools:    []Tool{{"sql", RunsSQL, now}, {"update_todo", WritesList, ""}},
		Headers:  []Fact{{"X-Client-Session-Id", now}, {"X-Agent-Task-Id", now}},
		Elements: []Element{{"system_notification", Reports, "1.0.95", ""}},
		Launches: []Launch{
			{Begins: "agent started in background with agent_id:", Promise: "be notified|end your response", IDs: "agent_id:", Seen: "1.0.95"},
			{Begins: "<command with shellid:", Promise: "automatically notified when", IDs: "shellid:", Command: true, Seen: "1.0.95"},
		},
		Stops: []Call{{"stop_bash", "shellId", "1.0.95"}},
		Looks: []Call{{"read_agent", "agent_id", "1.0.95"}, {"read_bash", "shellId", "1.0.95"}},
	}
}

func qwenCode() Agent {
	const now = "0.24.4"
	return Agent{
		Name:  "qwen-code",
		Tools: []Tool{{"todo_write", WritesList, now}, {"tool_call", CallsTool, now}},
		Launches: []Launch{
			{Begins: "agent launched successfully", Promise: "<task-notification>", IDs: "task_id:|agentid:", Seen: ""},
			{Begins: "background agent launched successfully", IDs: "task_id:|agentid:", Seen: now},
		},
	}
}

func geminiCLI() Agent {
	const now = "0.61.0"
	return Agent{
		Name: "gemini-cli",
		Tools: []Tool{
			{"write_todos", WritesList, now},
			{"tracker_create_task", CreatesItem, now},
			{"tracker_update_task", UpdatesItems, now},
			{"tracker_list_tasks", ShowsList, now},
		},
	}
}

func mastra() Agent {
	const now = "1.71.0"
	return Agent{
		Name:     "Mastra",
		Tools:    []Tool{{"task_write", WritesList, now}, {"task_update", UpdatesItems, now}, {"task_complete", CompletesOne, now}},
		Elements: []Element{{"current-task-list", Holds, now, ""}, {"task-list-update", Holds, now, ""}},
	}
}

// others returns the agents of which little is known.
func others() []Agent {
	lists := func(name string, tools ...Tool) Agent { return Agent{Name: name, Tools: tools} }
	return []Agent{
		lists("LangChain, deepagents, Eino", Tool{"write_todos", WritesList, "deepagents 1.14.1"}),
		lists("Roo Code, grok-cli", Tool{"update_todo_list", WritesList, ""}, Tool{"create_todo_list", WritesList, ""}),
		lists("Copilot in VS Code", Tool{"manage_todo_list", WritesList, ""}),
		lists("Kimi CLI", Tool{"SetTodoList", WritesList, ""}),
		lists("nanocoder", Tool{"write_tasks", WritesList, ""}),
		lists("Hermes", Tool{"todo_list", WritesList, ""}),
		lists("Crush", Tool{"todos", WritesList, ""}),
		lists("Mistral Vibe, pi", Tool{"todo", WritesList, ""}),
		lists("OpenHands", Tool{"task_tracker", WritesList, ""}),
		lists("Continue", Tool{"Checklist", WritesList, "1.5.47"}),
		lists("the providers' tool search", Tool{"tool_search_tool_regex", FindsTools, ""}, Tool{"tool_search_tool_bm25", FindsTools, ""}),
		{Name: "pi", Headers: []Fact{{"Session_id", "0.73.1"}}, Launches: []Launch{
			{Begins: "background task started:", Promise: "you will be notified when", IDs: "task id:"}, // an extension
		}},
		{Name: "Letta Code", Launches: []Launch{
			{Begins: "task running in background with task id:", Promise: "you will be notified automatically when", IDs: "with task id:"},
		}},
		{Name: "LiteLLM", Headers: []Fact{{"X-Litellm-Session-Id", ""}, {"X-Litellm-Trace-Id", ""}}},
		{Name: "agents that spell it so", Elements: []Element{{"system_reminder", Wraps, "", ""}}},
	}
}
