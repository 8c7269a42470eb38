package quirks

const (
	aArgs = `{"path":"a.go"}`
	bArgs = `{"path":"b.go"}`
)

// The calls that turns make.
func edit() Call { return Call{"call_a", "function", "edit_file", aArgs} }
func test() Call { return Call{"call_b", "function", "run_tests", bArgs} }

func oneCall(head string) shape {
	return shape{head: head, reason: "tool_calls", calls: []Call{edit()}}
}

func twoCalls(head string) shape {
	return shape{head: head, reason: "tool_calls", calls: []Call{edit(), test()}}
}

func (s shape) named(name, why string) shape {
	s.name, s.why = name, why
	return s
}

// calls are the quirks of tool calls, except those of todo_pause.
func calls() []Quirk {
	return atBothPositions(append(append(callIndexes(), callParts()...), callMembers()...)...)
}

func callIndexes() []shape {
	return []shape{
		oneCall(callChunk("0 call_a function edit_file ")+callChunk(`0 _ _ _ {"path":`)+callChunk(`0 _ _ _ "a.go"}`)).
			named("Q00 a tool call as OpenAI sends it", "The shape that all the others deviate from."),
		twoCalls(callChunk("_ call_a function edit_file "+aArgs)+callChunk("_ call_b function run_tests "+bArgs)).
			named("Q01 index missing", "Gemini's compatible endpoint and old Ollama number no call."),
		{
			name: "Q01 index and type missing", why: "Mistral sends neither, and the whole call with its finish and usage.",
			tail:   finishChunk(callsDelta("_ call_a _ edit_file "+aArgs), "tool_calls", `"usage":`+replyUsage()) + done,
			reason: "tool_calls", calls: []Call{edit()},
		},
		twoCalls(callChunk("0 call_a function edit_file "+aArgs)+callChunk("0 call_b function run_tests "+bArgs)).
			named("Q02 index 0 for all calls", "Ollama up to 0.20 and Gemini proxies number every call 0."),
		twoCalls(callChunk("0 call_a function edit_file ")+callChunk("0 _ _ _ "+aArgs)+callChunk("0  function  "+bArgs)).
			named("Q03 second call under the first one's index", "A Gemini proxy sends it without id and name, so that nothing can be done."),
		oneCall(callChunk("1 call_a function edit_file ")+callChunk("1 _ _ _ "+aArgs)).
			named("Q04 index from 1", "Gateways to Anthropic count the text block as 0."),
		twoCalls(callChunk("1 call_a function edit_file "+aArgs)+callChunk("4 call_b function run_tests "+bArgs)).
			named("Q04 indexes with gaps", "Gateways to Anthropic count every block."),
		oneCall(callChunk("-1 call_a function edit_file ")+callChunk("-1 _ _ _ "+aArgs)).
			named("Q05 index -1", "Bedrock proxies number a single call so."),
		oneCall(callChunk("null call_a function edit_file ")+callChunk("null _ _ _ "+aArgs)).
			named("Q06 index null", "It means that there is none."),
		oneCall(deltaChunk(`{"index":0,"tool_calls":[`+spec("0 call_a function edit_file "+aArgs)+`]}`)).
			named("Q07 index in the delta, too", "GLM as Mistral hosts it."),
		twoCalls(callChunk("0 call_a function edit_file ")+callChunk("1 call_b function run_tests ")+
			callChunk(`0 _ _ _ {"path":`)+callChunk(`1 _ _ _ {"path":`)+callChunk(`0 _ _ _ "a.go"}`)+callChunk(`1 _ _ _ "b.go"}`)).
			named("Q17 calls by turns", "OpenAI's model of indexes allows it."),
		twoCalls(callChunk("0 call_a function edit_file "+aArgs, "1 call_b function run_tests "+bArgs)).
			named("Q18 two calls in one chunk", "Providers that send whole calls do so."),
		oneCall(callChunk(`0 call_a function edit_file {"path":`, `0 _ _ _ "a.go"}`)).
			named("Q18 two fragments with one index in one chunk", "The official Python client has code for it."),
	}
}

func callParts() []shape {
	return []shape{
		oneCall(callChunk("0 call_a function edit_file ")+callChunk(`0  _ _ {"path":`)+callChunk(`0  _ _ "a.go"}`)).
			named("Q08 id empty in later fragments", "Qwen on DashScope."),
		oneCall(callChunk("0 call_a function edit_file ")+callChunk("0 null _ _ "+aArgs)).
			named("Q08 id null in later fragments", "Hugging Face's router."),
		oneCall(callChunk("0 call_a function edit_file ")+callChunk(`0 call_a _ _ {"path":`)+callChunk(`0 call_a _ _ "a.go"}`)).
			named("Q08 id in every fragment", "Several proxies repeat it."),
		oneCall(callChunk("0 _ function edit_file ")+callChunk("0 call_a _ _ "+aArgs)).
			named("Q08 id in the second fragment", "Groq, as LiteLLM saw it."),
		shape{
			head: callChunk("0 _ function edit_file ") + callChunk("0 _ _ _ "+aArgs), reason: "tool_calls",
			calls: []Call{{"", "function", "edit_file", aArgs}},
		}.named("Q08 no id at all", "Local servers; nothing was taken out, so that nothing is made up."),
		oneCall(callChunk("0 call_a function edit_file ")+callChunk(`0 _ function _ {"path":`)+callChunk(`0 _ function _ "a.go"}`)).
			named("Q09 type in every fragment", "Qwen, GLM as Mistral hosts it, and variants of vLLM."),
		oneCall(callChunk("0 call_a _ edit_file ")+callChunk("0 _ _ _ "+aArgs)).
			named("Q10 type missing", "Mistral leaves it out."),
		oneCall(callChunk("0 call_a null edit_file ")+callChunk("0 _ _ _ "+aArgs)).
			named("Q10 type null", "Seen with gateways."),
		oneCall(callChunk("0 call_a  edit_file ")+callChunk("0 _ _ _ "+aArgs)).
			named("Q10 type empty", "Seen with gateways."),
		twoCalls(callChunk("0 call_a function edit_file "+aArgs)+callChunk("1 call_b function run_tests "+bArgs)).
			named("Q11 whole calls", "xAI, Groq, GLM, Mistral and Ollama send a call in one piece."),
		{
			name: "Q12 whole call with finish and usage", why: "Mistral sends all in one chunk.",
			tail:   finishChunk(callsDelta("0 call_a function edit_file "+aArgs), "tool_calls", `"usage":`+replyUsage()) + done,
			reason: "tool_calls", calls: []Call{edit()},
		},
		oneCall(callChunk("0 call_a function edit_file ")+callChunk("0 _ _ _ ")+callChunk("0 _ _ _ "+aArgs)+callChunk("0 _ _ _ ")).
			named("Q13 empty fragments", "OpenRouter before Anthropic, and Qwen at the end."),
		oneCall(callChunk("0 call_a function edit_f ")+callChunk("0 _ _ ile _")+callChunk("0 _ _ _ "+aArgs)).
			named("Q14 name in two parts", "Gemini."),
		oneCall(callChunk("0 call_a function edit_file ")+callChunk(`0 _ _ edit_file {"path":`)+callChunk(`0 _ _ edit_file "a.go"}`)).
			named("Q14 name in every fragment", "Claude behind proxies, and a fork of vLLM."),
		oneCall(callChunk("0 call_a function  _")+callChunk("0 _ _ edit_file _")+callChunk("0 _ _ _ "+aArgs)).
			named("Q15 name empty at first", "The name comes in the second fragment."),
		oneCall(callChunk("0 call_a function _ _")+callChunk(`0 _ _ _ {"path":`)+callChunk(`0 _ _ edit_file "a.go"}`)).
			named("Q15 name comes last", "Some buffer until they know it; the arguments come before it."),
		oneCall(callChunk("0 call_a function edit_file ")+callChunk(`0 _ _  {"path":`)+callChunk(`0 _ _ null "a.go"}`)).
			named("Q16 name empty or null in later fragments", "GLM as Mistral hosts it, and vLLM."),
	}
}

func callMembers() []shape {
	signed := `{"index":0,"id":"call_a","type":"function","function":{"name":"edit_file","arguments":` +
		jsonString(aArgs) + `},"extra_content":{"google":{"thought_signature":"c2lnbmVk"}}}`
	return []shape{
		shape{
			head: roleChunk() + deltaChunk(`{"content":"The file","tool_calls":[]}`) + deltaChunk(`{"content":" is edited.","tool_calls":null}`),
			text: "The file is edited.",
		}.named("Q19 tool_calls empty or null beside text", "Hyperbolic; it means that there are none."),
		oneCall(deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"edit_file","arguments":`+
			aArgs+`}}]}`)).
			named("Q20 arguments as an object", "LiteLLM before Ollama."),
		shape{
			head: callChunk("0 call_a function list_files "), reason: "tool_calls",
			calls: []Call{{"call_a", "function", "list_files", ""}},
		}.named("Q21 arguments empty", "Tools without arguments; some send nothing, and not {}."),
		oneCall(deltaChunk(`{"tool_calls":[`+signed+`]}`)).
			named("Q22 members of the provider's own on the call", "Gemini signs its thoughts."),
		oneCall(callChunk("0 call_a function edit_file "+aArgs)+deltaChunk(
			`{"tool_calls":[{"index":0,"function":{"arguments":""},"extra_content":{"google":{"thought_signature":"c2lnbmVk"}}}]}`)).
			named("Q22 members of the provider's own in a fragment of their own", "Gemini signs its thoughts."),
		shape{
			head: deltaChunk(`{"role":"assistant","content":null,"function_call":{"name":"edit_file","arguments":""}}`) +
				deltaChunk(`{"function_call":{"arguments":"{}"}}`),
			reason: "function_call", calls: []Call{{"", "", "edit_file", "{}"}},
		}.named("Q23 function_call", "What tool calls were before there were tool calls."),
		shape{
			head:   deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","type":"custom","custom":{"name":"edit_file","input":"a.go"}}]}`),
			reason: "tool_calls", relayed: true, calls: []Call{{"call_a", "custom", "", ""}},
		}.named("Q24 custom tool call", "A tool that takes text and no JSON."),
		shape{
			head: roleChunk() + textChunks("I edit it.") + callChunk("0 call_a function edit_file "+aArgs), reason: "tool_calls",
			text: "I edit it.", calls: []Call{edit()},
		}.named("Q25 text before a call", "Most models announce what they do."),
		shape{
			head: roleChunk() + callChunk("0 call_a function edit_file "+aArgs) + textChunks("I edit it."), reason: "tool_calls",
			text: "I edit it.", calls: []Call{edit()},
		}.named("Q25 text after a call", "Claude behind proxies."),
		shape{
			head:   deltaChunk(`{"content":"I edit it.","tool_calls":[` + spec("0 call_a function edit_file "+aArgs) + `]}`),
			reason: "tool_calls", text: "I edit it.", calls: []Call{edit()},
		}.named("Q25 text and a call in one chunk", "Providers that send whole calls do so."),
		shape{
			head: roleChunk() + textChunks("I edit it.") + chunkOf(`"choices":[{"index":1,"delta":`+
				callsDelta("0 call_a function edit_file "+aArgs)+`,"finish_reason":null}]`),
			text: "I edit it.", relayed: true,
		}.named("Q25 a call in another choice", "Copilot before Claude is said to do so."),
		shape{
			head: roleChunk() + textChunks("I edit it."), tail: finishChunk(callsDelta("0 call_a function edit_file "+aArgs), "stop") + usageChunk(replyUsage()) + done,
			text: "I edit it.", calls: []Call{edit()},
		}.named("Q27 a call with the finish stop", "Gemini; a call counts, whatever the finish says."),
	}
}
