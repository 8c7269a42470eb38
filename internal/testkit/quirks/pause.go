package quirks

import "strings"

// A reason for a pause, as a call gives it and as the caller is shown it.
const (
	pauseReason = "The grammar file grammar.ebnf is missing"
	pauseArgs   = `{"reason":"` + pauseReason + `"}`
	pauseNotice = "Task paused: " + pauseReason
	noReason    = "Task paused: no reason given"

	// The arguments in two fragments.
	pauseHead = `{"reason":"The grammar file `
	pauseTail = `grammar.ebnf is missing"}`
)

func pauseCall() Call { return Call{"call_p", "function", "todo_pause", pauseArgs} }

// pausing returns the row in which the second turn calls todo_pause.
func pausing(name, why, head string, calls ...Call) Quirk {
	if len(calls) == 0 {
		calls = []Call{pauseCall()}
	}
	q := shape{name: name, why: why, head: roleChunk() + head, reason: "tool_calls", calls: calls}.second()
	q.Notice = pauseNotice
	return q
}

// withText sets the text of the second turn.
func (q Quirk) withText(text string) Quirk {
	q.Second.Means.Text = text
	return q
}

// withNotice sets the notice of the pause.
func (q Quirk) withNotice(notice string) Quirk {
	q.Notice = notice
	return q
}

// pauses are the quirks of calls of todo_pause, a tool that only the second turn
// is offered.
func pauses() []Quirk {
	rows := append(append(pauseParts(), pauseIndexes()...), pauseArguments()...)
	return append(append(append(rows, pauseBeside()...), pauseEnds()...), pausePrinted()...)
}

func pauseParts() []Quirk {
	const whole = "0 call_p function todo_pause " + pauseArgs
	rest := callChunk("0 _ _ _ "+pauseHead) + callChunk("0 _ _ _ "+pauseTail)
	return []Quirk{
		pausing("Q28 pause alone", "The finish tool_calls without a call would make agents loop.", callChunk(whole)),
		pausing("Q28 pause in fragments", "As OpenAI sends calls.", callChunk("0 call_p function todo_pause ")+rest),
		pausing("Q10 pause without a type", "Mistral.", callChunk("0 call_p _ todo_pause "+pauseArgs),
			Call{"call_p", "function", "todo_pause", pauseArgs}),
		pausing("Q13 pause with empty fragments", "OpenRouter before Anthropic.",
			callChunk("0 call_p function todo_pause ")+callChunk("0 _ _ _ ")+rest+callChunk("0 _ _ _ ")),
		pausing("Q14 pause with its name in two parts", "Gemini.", callChunk("0 call_p function todo_ _")+callChunk("0 _ _ pause _")+rest),
		pausing("Q14 pause with its name in many parts", "Nobody says where a name is cut.",
			callChunk("0 call_p function t _")+callChunk("0 _ _ odo _")+callChunk("0 _ _ _pau _")+callChunk("0 _ _ se _")+rest),
		pausing("Q14 pause with its name in every fragment", "Claude behind proxies.", callChunk("0 call_p function todo_pause ")+
			callChunk("0 _ _ todo_pause "+pauseHead)+callChunk("0 _ _ todo_pause "+pauseTail)),
		pausing("Q14 pause with its name in escapes", "Any letter of a string may be one.", deltaChunk(
			`{"tool_calls":[{"index":0,"id":"call_p","type":"function","function":{"name":"todo\u005fpause","arguments":`+
				jsonString(pauseArgs)+`}}]}`)),
		pausing("Q15 pause with its name in the second fragment", "The first has none.",
			callChunk("0 call_p function _ _")+callChunk("0 _ _ todo_pause _")+rest),
		pausing("Q15 pause with its name after the arguments", "Some buffer until they know it.",
			callChunk("0 call_p function  "+pauseHead)+callChunk("0 _ _ _ "+pauseTail)+callChunk("0 _ _ todo_pause _")),
		pausing("Q16 pause with its name empty in later fragments", "GLM as Mistral hosts it.",
			callChunk("0 call_p function todo_pause ")+callChunk("0 _ _  "+pauseHead)+callChunk("0 _ _ null "+pauseTail)),
		pausing("Q26 pause in capitals", "Models that write names as they like.",
			callChunk("0 call_p function Todo_Pause "+pauseArgs), Call{"call_p", "function", "Todo_Pause", pauseArgs}),
		pausing("Q26 pause with a prefix", "Gemini; another tool may well be called so, and is left alone.",
			callChunk("0 call_p function default_api:todo_pause "+pauseArgs),
			Call{"call_p", "function", "default_api:todo_pause", pauseArgs}).withNotice(""),
	}
}

func pauseIndexes() []Quirk {
	parts := func(index, id, laterID string) string {
		return callChunk(index+" "+id+" function todo_pause ") + callChunk(index+" "+laterID+" _ _ "+pauseHead) +
			callChunk(index+" "+laterID+" _ _ "+pauseTail)
	}
	anonymous := Call{"", "function", "todo_pause", pauseArgs}
	return []Quirk{
		pausing("Q01 pause without an index", "Gemini.", parts("_", "call_p", "_")),
		pausing("Q01 pause without index, id and type", "Mistral and local servers.",
			callChunk("_ _ _ todo_pause "+pauseArgs), anonymous),
		pausing("Q04 pause at index 5", "Gateways to Anthropic.", parts("5", "call_p", "_")),
		pausing("Q05 pause at index -1", "Bedrock proxies.", parts("-1", "call_p", "_")),
		pausing("Q06 pause at index null", "It means that there is none.", parts("null", "call_p", "_")),
		pausing("Q08 pause without an id", "Local servers.", parts("0", "_", "_"), anonymous),
		pausing("Q08 pause with an empty id later", "Qwen.", parts("0", "call_p", "")),
		pausing("Q08 pause with its id in every fragment", "Several proxies.", parts("0", "call_p", "call_p")),
	}
}

func pauseArguments() []Quirk {
	with := func(name, why, arguments string) Quirk {
		return pausing(name, why, callChunk("0 call_p function todo_pause "+arguments),
			Call{"call_p", "function", "todo_pause", strings.TrimPrefix(strings.TrimPrefix(arguments, "null"), "_")}).withNotice(noReason)
	}
	object := pausing("Q20 pause with arguments that are an object", "LiteLLM before Ollama.", deltaChunk(
		`{"tool_calls":[{"index":0,"id":"call_p","type":"function","function":{"name":"todo_pause","arguments":`+pauseArgs+`}}]}`))
	return []Quirk{
		with("Q21 pause without arguments", "Models that see nothing to say.", "_"),
		with("Q21 pause with empty arguments", "Models that see nothing to say.", ""),
		with("Q21 pause with null for arguments", "Models that see nothing to say.", "null"),
		with("Q21 pause with an empty object", "Models that see nothing to say.", "{}"),
		with("Q21 pause with arguments that break off", "A model must be able to stop, however badly it says so.",
			`{"reason":"The gra`),
		object,
	}
}

func pauseBeside() []Quirk {
	const pause = "0 call_p function todo_pause " + pauseArgs
	editAt := func(index string) string { return index + " call_a function edit_file " + aArgs }
	testAt := func(index string) string { return index + " call_b function run_tests " + bArgs }
	return []Quirk{
		pausing("Q18 pause before another call", "The other is shown under index 0.",
			callChunk(pause)+callChunk("1 call_a function edit_file ")+callChunk("1 _ _ _ "+aArgs), pauseCall(), edit()),
		pausing("Q18 pause after another call", "The other keeps its index.",
			callChunk(editAt("0"))+callChunk("1 call_p function todo_pause "+pauseArgs), edit(), pauseCall()),
		pausing("Q18 pause between two calls", "A gap in the indexes would be a call to some clients.",
			callChunk(editAt("0"))+callChunk("1 call_p function todo_pause "+pauseArgs)+callChunk(testAt("2")), edit(), pauseCall(), test()),
		pausing("Q18 pause and another call in one chunk", "Only a part of the chunk is shown.",
			callChunk(pause, editAt("1")), pauseCall(), edit()),
		pausing("Q18 pause between two calls in one chunk", "Only a part of the chunk is shown.",
			callChunk(editAt("0"), "1 call_p function todo_pause "+pauseArgs, testAt("2")), edit(), pauseCall(), test()),
		pausing("Q17 pause and another call by turns", "OpenAI's model of indexes allows it.",
			callChunk("0 call_p function todo_pause ")+callChunk("1 call_a function edit_file ")+callChunk("0 _ _ _ "+pauseHead)+
				callChunk(`1 _ _ _ {"path":`)+callChunk("0 _ _ _ "+pauseTail)+callChunk(`1 _ _ _ "a.go"}`), pauseCall(), edit()),
		pausing("Q14 another call while the name of a pause is open", "Nothing may overtake what is held back.",
			callChunk("0 call_p function todo_ _")+callChunk(editAt("1"))+callChunk("0 _ _ pause "+pauseArgs), pauseCall(), edit()),
		pausing("Q01 pause before another call, without indexes", "Gemini.",
			callChunk("_ call_p function todo_pause "+pauseArgs)+callChunk(editAt("_")), pauseCall(), edit()),
		pausing("Q01 pause after another call, without indexes", "Gemini; what was shown was shown without an index.",
			callChunk(editAt("_"))+callChunk("_ call_p function todo_pause "+pauseArgs), edit(), pauseCall()),
		pausing("Q02 pause before another call, all at index 0", "Ollama.",
			callChunk(pause)+callChunk(editAt("0")), pauseCall(), edit()),
		pausing("Q02 pause after another call, all at index 0", "Ollama.",
			callChunk(editAt("0"))+callChunk(pause), edit(), pauseCall()),
		pausing("Q04 pause before another call, from index 1", "Gateways to Anthropic.",
			callChunk("1 call_p function todo_pause "+pauseArgs)+callChunk(editAt("2")), pauseCall(), edit()),
		pausing("Q09 pause before a call with its type in every fragment", "Qwen; what is rewritten is put right.",
			callChunk(pause)+callChunk("1 call_a function edit_file ")+callChunk("1 _ function _ "+aArgs), pauseCall(), edit()),
		pausing("Q10 pause before a call without a type", "Mistral; what is rewritten is put right.",
			callChunk(pause)+callChunk("1 call_a _ edit_file "+aArgs), pauseCall(), edit()),
		pausing("Q13 pause before a call with empty fragments", "OpenRouter; what is rewritten is put right.",
			callChunk(pause)+callChunk("1 call_a function edit_file ")+callChunk("1 _ _ _ ")+callChunk("1 _ _ _ "+aArgs)+
				callChunk("1 _ _ _ "), pauseCall(), edit()),
		pausing("Q22 pause before a call with members of the provider's own", "Gemini signs its thoughts.",
			callChunk(pause)+deltaChunk(`{"tool_calls":[{"index":1,"id":"call_a","type":"function","function":{"name":"edit_file","arguments":`+
				jsonString(aArgs)+`},"extra_content":{"google":{"thought_signature":"c2lnbmVk"}}}]}`), pauseCall(), edit()),
		pausing("Q22 pause before a call with members in a fragment of their own", "Gemini signs its thoughts.",
			callChunk(pause)+callChunk(editAt("1"))+deltaChunk(
				`{"tool_calls":[{"index":1,"function":{"arguments":""},"extra_content":{"google":{"thought_signature":"c2lnbmVk"}}}]}`),
			pauseCall(), edit()),
		pausing("Q25 pause with text before it", "What the model says is shown.",
			textChunks("I am blocked.")+callChunk(pause)).withText("I am blocked."),
		pausing("Q25 pause with text in the same chunk", "What the model says is shown.",
			deltaChunk(`{"content":"I am blocked.","tool_calls":[`+spec(pause)+`]}`)).withText("I am blocked."),
		pausing("Q25 pause with text after it", "What the model says is shown.",
			callChunk(pause)+textChunks("I am blocked.")).withText("I am blocked."),
		pausing("Q28 pause twice", "The first counts.",
			callChunk(pause)+callChunk(`1 call_q function todo_pause {"reason":"The build server is down"}`),
			pauseCall(), Call{"call_q", "function", "todo_pause", `{"reason":"The build server is down"}`}),
	}
}

// pauseUnasked is the row in which the first turn calls todo_pause although it
// was not offered.
func pauseUnasked() Quirk {
	return shape{
		name: "Q28 pause in turn 1", why: "A model that remembers the name; the call is none of carryon's.",
		head: roleChunk() + callChunk("0 call_p function todo_pause "+pauseArgs), reason: "tool_calls", calls: []Call{pauseCall()},
	}.first()
}

func pauseEnds() []Quirk {
	const pause = "0 call_p function todo_pause " + pauseArgs
	ended := func(name, why, head, tail, usage string) Quirk {
		return pausingAt(shape{name: name, why: why, head: head, tail: tail, usage: usage})
	}
	q := pausing("Q35 pause after a turn that ended in end_turn", "The finish is in the provider's own words.", callChunk(pause))
	q.First = textAnswer("", "").withFinish("end_turn").turn(firstEnvelope)
	return []Quirk{
		pauseUnasked(),
		ended("Q12 pause with finish and usage in one chunk", "Mistral.", "",
			finishChunk(callsDelta(pause), "tool_calls", `"usage":`+replyUsage())+done, ""),
		ended("Q27 pause with the finish stop", "Gemini.", callChunk(pause), finishChunk(`{}`, "stop")+usageChunk(replyUsage())+done, ""),
		ended("Q32 pause with its finish twice", "OpenRouter.", callChunk(pause),
			finishChunk(`{"content":""}`, "tool_calls")+finishChunk(`{"content":""}`, "tool_calls", `"usage":`+replyUsage())+done, ""),
		ended("Q64 pause with a finish of the provider's own", "OpenRouter; it must not tell of a call that is gone.", callChunk(pause),
			chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls","native_finish_reason":"tool_use"}]`)+
				usageChunk(replyUsage())+done, ""),
		ended("Q41 pause with usage on every chunk", "Gemini.",
			deltaChunk(callsDelta(pause), `"usage":`+tokens(13, 2)), finishChunk(`{}`, "tool_calls", `"usage":`+replyUsage())+done, ""),
		ended("Q47 pause without usage", "The usage of turn 1 is shown.", callChunk(pause), finishChunk(`{}`, "tool_calls")+done, "-"),
		ended("Q72 pause without DONE", "Perplexity.", callChunk(pause), finishChunk(`{}`, "tool_calls")+usageChunk(replyUsage()), ""),
		q,
	}
}

// pausingAt returns the row in which the second turn calls todo_pause, and
// nothing else, and ends as the shape does.
func pausingAt(s shape) Quirk {
	s.calls, s.reason = []Call{pauseCall()}, "tool_calls"
	if strings.Contains(s.tail, `"finish_reason":"stop"`) {
		s.reason = "stop"
	}
	q := s.second()
	q.Notice = pauseNotice
	return q
}

// pausePrinted are the calls that a model printed as text.
func pausePrinted() []Quirk {
	const call = "todo_pause('" + pauseReason + "')"
	printed := func(name, why, shown, notice string, texts ...string) Quirk {
		q := shape{name: name, why: why, head: roleChunk() + textChunks(texts...), text: strings.Join(texts, "")}.second()
		q.Shown, q.Notice = &shown, notice
		return q
	}
	fenced := "```\n" + call + "\n```"
	return []Quirk{
		printed("Q28 pause printed", "Models without tool calls of their own.", "", pauseNotice, call),
		printed("Q28 pause printed after text", "What the model says is shown.", "I am blocked. ", pauseNotice, "I am blocked. "+call),
		printed("Q28 pause printed in pieces", "Text comes in pieces.", "I am blocked. ", pauseNotice,
			"I am", " blocked. to", "do_", "pause('The grammar", " file grammar.ebnf is", " missing'", ")"),
		printed("Q28 pause printed in a block", "Models that show code.", "I am blocked.\n", pauseNotice, "I am blocked.\n", fenced),
		printed("Q28 pause mentioned in text", "It is not the end of the answer, and stays text.",
			"I could call "+call+", but I need not.", "", "I could call "+call, ", but I need not."),
	}
}
