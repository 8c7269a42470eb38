package quirks

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The envelopes of whole answers.
const (
	wholeOne = `"id":"chatcmpl-1","object":"chat.completion","created":1700000001,"model":"model-one"`
	wholeTwo = `"id":"chatcmpl-2","object":"chat.completion","created":1700000002,"model":"model-two"`
)

// message returns the choice of a whole answer with the message's members after
// the role.
func message(members, reason string) string {
	return `{"index":0,"message":{"role":"assistant",` + members + `},"finish_reason":` + strconv.Quote(reason) + `}`
}

// answer returns a whole answer. More are further members of it.
func answer(choices, usage string, more ...string) string {
	members := []string{placeholder, `"choices":[` + choices + `]`}
	if usage != "" {
		members = append(members, `"usage":`+usage)
	}
	return "{" + strings.Join(append(members, more...), ",") + "}"
}

const editedText = `"content":"The file is edited."`

// whole is an answer in one piece that may be the first or the second one. Its
// zero values mean the same as those of [shape].
type whole struct{ shape }

// answers returns an answer in one piece that has text.
func answers(name, why, body string) whole {
	return whole{shape{name: name, why: why, head: body, text: "The file is edited."}}
}

// withCalls replaces the text by calls.
func (w whole) withCalls(calls ...Call) whole {
	w.text, w.calls, w.reason = "", calls, "tool_calls"
	return w
}

func (w whole) turn(envelope string) Turn {
	t := w.shape.turn(envelope)
	t.Head, t.Tail = strings.ReplaceAll(w.head, placeholder, envelope), ""
	return t
}

func wholeDraft() Turn {
	w := answers("", "", answer(message(`"content":"I will edit the file next."`, "stop"), draftUsage()))
	w.usage, w.text = draftUsage(), "I will edit the file next."
	return w.turn(wholeOne)
}

func wholeReply() Turn {
	return answers("", "", answer(message(editedText, "stop"), replyUsage())).turn(wholeTwo).reworded()
}

func (w whole) first() Quirk {
	q := Quirk{Name: w.name, Why: w.why, Unary: true, First: w.turn(wholeOne), Second: wholeReply()}
	if w.relayed || len(w.calls) > 0 {
		q.Effect = Relayed
	}
	return q
}

func (w whole) second() Quirk {
	q := Quirk{Name: w.name, Why: w.why, Unary: true, First: wholeDraft(), Second: w.turn(wholeTwo)}
	if w.err != "" || w.refused {
		q.Effect = Dropped
	}
	return q
}

func wholeAtBothPlaces(list ...whole) []Quirk {
	rows := make([]Quirk, 0, 2*len(list))
	for _, w := range list {
		first, second := w.first(), w.second()
		first.Name, second.Name = first.Name+", unary turn 1", second.Name+", unary turn 2"
		rows = append(rows, first, second)
	}
	return rows
}

// unaries are the quirks of answers in one piece.
func unaries() []Quirk {
	rows := wholeAtBothPlaces(append(append(unaryTexts(), unaryMembers()...), unaryCalls()...)...)
	return slices.Concat(rows, unaryTwice(), unaryLists(), unaryPauses())
}

// unaryTwice are the rows in which both answers are of one shape.
func unaryTwice() []Quirk {
	twice := func(w whole) Quirk {
		q := w.second()
		q.First = w.turn(wholeOne).reworded()
		return q
	}
	text := message(editedText, "stop")
	unbilled := answers("Q47 usage in neither turn, unary", "Small local servers.", answer(text, ""))
	unbilled.usage = "-"
	usage := `{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"cost":0.1,"prompt_tokens_details":{"cached_tokens":16}}`
	detailed := answers("Q44 usage with details in both turns, unary", "Every number is added to its like.", answer(text, usage))
	detailed.usage = usage
	thinking := answers("Q58 reasoning_content in both turns, unary", "It is joined as the text is.",
		answer(message(`"reasoning_content":"Let me see.",`+editedText, "stop"), replyUsage()))
	return []Quirk{twice(unbilled), twice(detailed), twice(thinking)}
}

// unaryLists are the rows of text in a list.
func unaryLists() []Quirk {
	const list = `[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"`
	rows := wholeAtBothPlaces(answers("Q57 content as a list", "Mistral.",
		answer(message(`"content":`+list+`The file is edited."}]`, "stop"), replyUsage())))
	rows[1].ReadsAs = map[string]string{OpenAIGo: list + `I will edit the file next.\n\nThe file is edited."}]`}
	return rows
}

func unaryTexts() []whole {
	pretty := "{\n  " + strings.ReplaceAll(placeholder, ",", ",\n  ") + ",\n  \"choices\": [\n    {\n      \"index\": 0,\n      \"message\": {\n" +
		"        \"role\": \"assistant\",\n        \"content\": \"The file is edited.\"\n      },\n      \"finish_reason\": \"stop\"\n" +
		"    }\n  ],\n  \"usage\": {\n    \"prompt_tokens\": 13,\n    \"completion_tokens\": 5,\n    \"total_tokens\": 18\n  }\n}\n"
	ended := func(reason, name, why string) whole {
		w := answers(name, why, answer(message(editedText, reason), replyUsage()))
		w.reason, w.relayed, w.refused = reason, reason != "end_turn", reason == "content_filter"
		return w
	}
	silent := answers("Q56 content null", "A model that has nothing to say.", answer(message(`"content":null`, "stop"), replyUsage()))
	silent.text = ""
	thinking := answers("Q58 nothing but reasoning", "A model that thought, and then said nothing.",
		answer(message(`"content":"","reasoning_content":"Let me see."`, "stop"), replyUsage()))
	thinking.text = ""
	return []whole{
		answers("Q00 an answer as OpenAI sends it", "The shape that all the others deviate from.",
			answer(message(editedText+`,"refusal":null,"annotations":[]`, "stop"), replyUsage(),
				`"service_tier":"default"`, `"system_fingerprint":"fp_9"`)),
		answers("Q66 blank lines before the answer", "DeepSeek keeps the connection alive with them.",
			"\n\n\n"+answer(message(editedText, "stop"), replyUsage())),
		answers("Q68 a printed answer", "Servers in Python, and OpenAI itself.", pretty),
		answers("Q81 letters in escapes", "Encoders for ASCII.",
			answer(message(`"content":"The file \u0069s\u0020edited\u002e"`, "stop"), replyUsage())),
		answers("Q58 reasoning_content", "DeepSeek and others.",
			answer(message(`"reasoning_content":"Let me see.",`+editedText, "stop"), replyUsage())),
		answers("Q58 reasoning and its details", "OpenRouter and others.", answer(message(editedText+
			`,"reasoning":"Let me see.","reasoning_details":[{"type":"reasoning.text","text":"Let me see."}]`, "stop"), replyUsage())),
		ended("end_turn", "Q35 finish end_turn", "A plain stop in the words of another API."),
		ended("length", "Q36 finish length", "The answer was cut off, which is for the caller to deal with."),
		ended("content_filter", "Q50 finish content_filter", "Azure; the answer was cut off on purpose."),
		silent, thinking,
	}
}

func unaryMembers() []whole {
	text := message(editedText, "stop")
	extra := answers("Q64 members of the provider's own at every level", "They are the later turn's, and stay as they stand there.",
		answer(`{"index":0,"native_finish_reason":"STOP","message":{"role":"assistant","content":"The file is edited.",`+
			`"annotations":[{"type":"url_citation"}],"weight":1.0e2},"finish_reason":"stop","logprobs":null,"serial":12345678901234567890}`,
			replyUsage(), `"provider":"Venice"`, `"score":1.0e2`, `"serial":12345678901234567890`, `"timings":{"predicted_ms":1.50}`))
	usage := `{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"cost":0.0001234,"is_byok":false,` +
		`"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3},"nanos":12345678901234567890}`
	detailed := answers("Q44 usage with details", "OpenRouter.", answer(text, usage))
	detailed.usage = usage
	billless := answers("Q47 no usage", "Small local servers.", answer(text, ""))
	billless.usage = "-"
	unbilled := answers("Q47 usage null", "Gateways.", answer(text, "null"))
	unbilled.usage = "-"
	enveloped := func(name, why, members string) whole {
		return answers(name, why, strings.Replace(answer(text, replyUsage()), placeholder, members, 1))
	}
	choiceless := answers("Q61 choice without an index", "It means the first.",
		answer(strings.Replace(text, `"index":0,`, "", 1), replyUsage()))
	second := answers("Q61 a second choice", "Nobody knows which of the two would be continued.",
		answer(text+`,`+strings.Replace(text, `"index":0`, `"index":1`, 1), replyUsage()))
	second.relayed = true
	refusal := answers("Q59 refusal", "The model will not do it, and is not to be asked again.",
		answer(message(editedText+`,"refusal":"I cannot help."`, "stop"), replyUsage()))
	refusal.relayed, refusal.refused = true, true
	audio := answers("Q60 audio", "What was spoken cannot be continued in writing.",
		answer(message(editedText+`,"audio":{"id":"audio_1","data":"AAAA","expires_at":1,"transcript":"The file"}`, "stop"), replyUsage()))
	audio.relayed = true
	return []whole{
		extra, detailed, billless, unbilled, choiceless, second, refusal, audio,
		enveloped("Q52 id missing", "Small local servers.", `"object":"chat.completion","created":1700000009,"model":"m"`),
		enveloped("Q52 id null", "Gateways.", `"id":null,"object":"chat.completion","created":1700000009,"model":"m"`),
		enveloped("Q53 created a fraction", "Servers that send their clock as it is.",
			`"id":"chatcmpl-9","object":"chat.completion","created":1700000009.75,"model":"m"`),
		answers("Q50 what the filters say", "Azure.", answer(strings.Replace(text, `"finish_reason"`,
			`"content_filter_results":{"hate":{"filtered":false}},"finish_reason"`, 1), replyUsage(),
			`"prompt_filter_results":[{"prompt_index":0}]`)),
		answers("Q65 error null", "Gateways.", answer(text, replyUsage(), `"error":null`)),
	}
}

func unaryCalls() []whole {
	called := func(name, why, members string, calls ...Call) whole {
		return answers(name, why, answer(message(`"content":null,`+members, "tool_calls"), replyUsage())).withCalls(calls...)
	}
	empty := func(name, value string) whole {
		return answers(name, "It means that there are none.", answer(message(editedText+`,"tool_calls":`+value, "stop"), replyUsage()))
	}
	legacy := answers("Q23 function_call", "What tool calls were before there were tool calls.",
		answer(message(`"content":null,"function_call":{"name":"edit_file","arguments":"{}"}`, "function_call"), replyUsage()))
	legacy = legacy.withCalls(Call{"", "", "edit_file", "{}"})
	legacy.reason = "function_call"
	custom := called("Q24 custom tool call", "A tool that takes text and no JSON.",
		`"tool_calls":[{"id":"call_a","type":"custom","custom":{"name":"edit_file","input":"a.go"}}]`, Call{"call_a", "custom", "", ""})
	plain := called("Q27 a call with the finish stop", "Gemini; a call counts, whatever the finish says.",
		callList("_ call_a function edit_file "+aArgs), edit())
	plain.head, plain.reason = strings.Replace(plain.head, `"finish_reason":"tool_calls"`, `"finish_reason":"stop"`, 1), "stop"
	spoken := answers("Q25 text and a call", "Most models announce what they do.",
		answer(message(`"content":"I edit it.",`+callList("_ call_a function edit_file "+aArgs), "tool_calls"), replyUsage())).withCalls(edit())
	spoken.text = "I edit it."
	return []whole{
		called("Q11 two calls", "As OpenAI sends them.",
			callList("_ call_a function edit_file "+aArgs, "_ call_b function run_tests "+bArgs), edit(), test()),
		called("Q07 calls with an index", "Mistral, Ollama and others number them here, too.",
			callList("0 call_a function edit_file "+aArgs, "1 call_b function run_tests "+bArgs), edit(), test()),
		called("Q08 calls without an id", "Local servers.",
			callList("_ _ function edit_file "+aArgs, "_ _ function run_tests "+bArgs),
			Call{"", "function", "edit_file", aArgs}, Call{"", "function", "run_tests", bArgs}),
		called("Q10 a call without a type", "Mistral.", callList("_ call_a _ edit_file "+aArgs), edit()),
		called("Q20 arguments as an object", "LiteLLM before Ollama.",
			`"tool_calls":[{"id":"call_a","type":"function","function":{"name":"edit_file","arguments":`+aArgs+`}}]`, edit()),
		called("Q21 arguments empty", "Tools without arguments.", callList("_ call_a function list_files "),
			Call{"call_a", "function", "list_files", ""}),
		called("Q22 members of the provider's own on the call", "Gemini signs its thoughts.",
			`"tool_calls":[{"id":"call_a","type":"function","function":{"name":"edit_file","arguments":`+jsonString(aArgs)+
				`},"extra_content":{"google":{"thought_signature":"c2lnbmVk"}}}]`, edit()),
		empty("Q19 tool_calls empty", "[]"), empty("Q19 tool_calls null", "null"), empty("Q23 function_call null", `null,"function_call":null`),
		legacy, custom, plain, spoken,
	}
}

// unaryPauses are the whole answers that call todo_pause.
func unaryPauses() []Quirk {
	pausing := func(name, why, content, finish string, calls ...Call) Quirk {
		list := make([]string, 0, len(calls))
		for _, c := range calls {
			list = append(list, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`,
				c.ID, c.Name, jsonString(c.Arguments)))
		}
		w := answers(name, why, answer(message(`"content":`+jsonString(content)+`,"tool_calls":[`+strings.Join(list, ",")+`]`, finish),
			replyUsage())).withCalls(calls...)
		w.text, w.reason = content, finish
		q := w.second()
		q.Notice = pauseNotice
		return q
	}
	printed := answers("Q28 pause printed, unary", "Models without tool calls of their own.",
		answer(message(`"content":"I am blocked. todo_pause('`+pauseReason+`')"`, "stop"), replyUsage()))
	printed.text = "I am blocked. todo_pause('" + pauseReason + "')"
	shown := "I am blocked. "
	q := printed.second()
	q.Shown, q.Notice = &shown, pauseNotice
	return []Quirk{
		pausing("Q28 pause alone, unary", "The finish tool_calls without a call would make agents loop.", "", "tool_calls", pauseCall()),
		pausing("Q25 pause with text, unary", "What the model says is shown.", "I am blocked.", "tool_calls", pauseCall()),
		pausing("Q18 pause before another call, unary", "The other is shown.", "", "tool_calls", pauseCall(), edit()),
		pausing("Q18 pause between two calls, unary", "The others are shown.", "", "tool_calls", edit(), pauseCall(), test()),
		pausing("Q26 pause in capitals, unary", "Models that write names as they like.", "", "tool_calls",
			Call{"call_p", "function", "TODO_PAUSE", pauseArgs}),
		pausing("Q27 pause with the finish stop, unary", "Gemini.", "", "stop", pauseCall()),
		pausing("Q21 pause without arguments, unary", "Models that see nothing to say.", "", "tool_calls",
			Call{"call_p", "function", "todo_pause", ""}).withNotice(noReason),
		q,
	}
}

// unaryFailures are the answers in one piece that are errors, or not complete.
func unaryFailures() []Quirk {
	failed := func(name, why, body string, alter func(*Turn)) whole {
		return whole{shape{
			name: name, why: why, head: body, usage: "-", err: "fails", relayed: true, alter: alter,
		}}
	}
	as := func(contentType string) func(*Turn) { return func(t *Turn) { t.Type = contentType } }
	status := func(code int) func(*Turn) { return func(t *Turn) { t.Status = code } }
	complete := answer(message(editedText, "stop"), replyUsage())
	gzipped := compressed().turn(wholeTwo)
	return wholeAtBothPlaces(
		failed("Q78 error with status 200", "Gateways.", errorObject, nil),
		failed("Q78 status 429", "It costs the continuation, and never the answer.", errorObject, status(http.StatusTooManyRequests)),
		failed("Q78 status 500", "It costs the continuation, and never the answer.", errorObject, status(http.StatusInternalServerError)),
		failed("Q78 page", "A proxy that asks for a login.", "<html><body>Log in</body></html>\n", as("text/html")),
		failed("Q78 nothing", "A proxy that lost its upstream.", "", nil),
		failed("Q78 no choices", "Gateways whose upstream failed.", answer("", replyUsage()), nil),
		failed("Q78 a stream that nobody asked for", "Servers that always stream.", reply().Body(), as("text/event-stream")),
		failed("Q75 broken JSON", "A proxy that cuts long answers.", complete[:len(complete)-40], nil),
		failed("Q79 cut", "A connection that broke.", complete[:len(complete)-40], func(t *Turn) { t.Cut = true }),
		failed("Q80 gzip", "A client that asks for it itself must decode it itself.", gzipped.Body(),
			func(t *Turn) { t.Encoding = "gzip" }),
		failed("Q31 finish null", "It cannot be told from an answer that broke off.",
			strings.Replace(complete, `"finish_reason":"stop"`, `"finish_reason":null`, 1), nil),
	)
}
