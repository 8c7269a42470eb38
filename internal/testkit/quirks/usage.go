package quirks

import "slices"

// withUsage replaces the tail by one with this usage.
func (s shape) withUsage(usage, tail string) shape {
	s.usage, s.tail = usage, tail
	return s
}

// usages are the quirks of token counts.
func usages() []Quirk {
	rows := atBothPositions(append(usagePlaces(), usageMembers()...)...)
	return slices.Concat(rows, usageMissing(), usageSums())
}

func usagePlaces() []shape {
	null := `"usage":null`
	usage := func(completion int) string { return `"usage":` + tokens(13, completion) }
	counting := deltaChunk(`{"role":"assistant","content":"The"}`, usage(1)) + deltaChunk(`{"content":" file"}`, usage(2)) +
		deltaChunk(`{"content":" is edited."}`, usage(4))
	return []shape{
		{
			name: "Q37 usage in a chunk of its own, null before", why: "OpenAI, if the request asks for it.",
			head: deltaChunk(`{"role":"assistant","content":""}`, null) + deltaChunk(`{"content":"The file is edited."}`, null),
			tail: finishChunk(`{}`, "stop", null) + usageChunk(replyUsage()) + done, text: "The file is edited.",
		},
		textAnswer("Q38 usage with choices null", "Gateways written in Go encode an empty list so.").
			withUsage(replyUsage(), finishChunk(`{}`, "stop")+chunkOf(`"choices":null`, `"usage":`+replyUsage())+done),
		textAnswer("Q38 usage without choices", "Some leave the empty list out.").
			withUsage(replyUsage(), finishChunk(`{}`, "stop")+chunkOf(`"usage":`+replyUsage())+done),
		textAnswer("Q39 usage with the finish", "DeepSeek, z.ai, Mistral and Moonshot.").
			withUsage(replyUsage(), finishChunk(`{}`, "stop", `"usage":`+replyUsage())+done),
		textAnswer("Q40 usage with the finish and again", "Groq, and Hugging Face's router before it.").
			withUsage(replyUsage(), finishChunk(`{}`, "stop", `"usage":`+replyUsage())+usageChunk(replyUsage())+done),
		{
			name: "Q41 usage on every chunk, growing", why: "Perplexity, Gemini, and vLLM with continuous usage.",
			head: counting, tail: finishChunk(`{}`, "stop", usage(5)) + done, text: "The file is edited.",
		},
		{
			name: "Q41 usage on every chunk, and at the end", why: "vLLM with continuous usage.",
			head: counting, tail: finishChunk(`{}`, "stop", usage(5)) + usageChunk(tokens(13, 5)) + done, text: "The file is edited.",
		},
		{
			name: "Q42 usage before the finish", why: "Anthropic tells of the prompt first, and gateways pass that on.",
			head: usageChunk(replyUsage()) + roleChunk() + textChunks("The file is edited."), tail: finishChunk(`{}`, "stop") + done,
			text: "The file is edited.",
		},
		{
			name: "Q42 usage just before the finish", why: "Gateways that have the order wrong.",
			head: roleChunk() + textChunks("The file is edited.") + usageChunk(replyUsage()), tail: finishChunk(`{}`, "stop") + done,
			text: "The file is edited.",
		},
	}
}

func usageMembers() []shape {
	groq := `{"queue_time":0.25,"prompt_tokens":13,"prompt_time":0.001,"completion_tokens":5,"completion_time":0.125,` +
		`"total_tokens":18,"total_time":0.126}`
	router := `{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"cost":0.0001234,"is_byok":false,` +
		`"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"cost_details":{"upstream_inference_cost":null,` +
		`"upstream_inference_prompt_cost":0.00005},"completion_tokens_details":{"reasoning_tokens":3}}`
	nested := `{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"cost":{"usd":0.5,"hypercredits":50},` +
		`"tier":"default","steps":[1,2]}`
	xai := `{"prompt_tokens":291,"completion_tokens":26,"total_tokens":513,"completion_tokens_details":{"reasoning_tokens":196}}`
	large := `{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"nanos":12345678901234567890}`
	floats := `{"prompt_tokens":13.0,"completion_tokens":5.0,"total_tokens":18.0}`
	end := func(usage string) string { return finishChunk(`{}`, "stop") + usageChunk(usage) + done }
	return []shape{
		textAnswer("Q43 a copy of the usage under x_groq", "Groq; what a vendor has of its own is left alone.").
			withUsage(replyUsage(), finishChunk(`{}`, "stop", `"x_groq":{"id":"req_1","usage":`+replyUsage()+`}`, `"usage":`+replyUsage())+done),
		textAnswer("Q43 the usage in the choice", "Moonshot once; nobody counts it there.").withUsage("-",
			chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":`+replyUsage()+`}]`)+done),
		textAnswer("Q44 usage with times", "Groq.").withUsage(groq, end(groq)),
		textAnswer("Q44 usage with costs and details", "OpenRouter.").withUsage(router, end(router)),
		textAnswer("Q44 usage with lists and words", "Hyper; what cannot be added is the later turn's.").withUsage(nested, end(nested)),
		textAnswer("Q44 usage with a number beyond 64 bits", "It is a number all the same.").withUsage(large, end(large)),
		textAnswer("Q44 usage with counts as fractions", "Encoders that know one kind of number; most clients do not take it.").
			withUsage(floats, end(floats)),
		textAnswer("Q45 a total that is not the sum", "xAI counts the reasoning apart.").withUsage(xai, end(xai)),
		textAnswer("Q46 usage on the finish though nobody asked", "OpenRouter, Mistral, DeepSeek and Perplexity.").
			withUsage(replyUsage(), finishChunk(`{"content":""}`, "stop", `"usage":`+replyUsage())+done),
	}
}

// usageMissing are the rows in which one turn, or neither, has usage.
func usageMissing() []Quirk {
	none := func(name string) shape {
		return textAnswer(name, "A provider sends it, and its fallback does not.").withUsage("-", finishChunk(`{}`, "stop")+done)
	}
	onFinish := none("Q47 usage with the finish of turn 1 only").second()
	onFinish.First = usageOnFinish("").turn(firstEnvelope).reworded()
	early := none("Q47 usage in turn 1 only, on every chunk").second()
	early.First = shape{
		head: deltaChunk(`{"role":"assistant","content":"The"}`, `"usage":`+tokens(13, 1)) +
			deltaChunk(`{"content":" file is edited."}`, `"usage":`+tokens(13, 5)),
		tail: finishChunk(`{}`, "stop") + done, text: "The file is edited.",
	}.turn(firstEnvelope).reworded()
	return []Quirk{
		none("Q47 usage in turn 2 only").first(), none("Q47 usage in turn 1 only").second(),
		none("Q47 usage in neither turn").twice(), onFinish, early,
	}
}

func usageOnFinish(name string) shape {
	return textAnswer(name, "A router changed the provider between the turns.").
		withUsage(replyUsage(), finishChunk(`{}`, "stop", `"usage":`+replyUsage())+done)
}

// usageSums are the rows in which more than three counts must be added up.
func usageSums() []Quirk {
	const why = "Every number is added to its like, and stays as exact as it was."
	ended := func(name, why, usage string) shape {
		return textAnswer(name, why).withUsage(usage, finishChunk(`{}`, "stop")+usageChunk(usage)+done)
	}
	sums := func(name, usage, other string) Quirk {
		q := ended(name, why, other).second()
		q.First = ended("", "", usage).turn(firstEnvelope).reworded()
		return q
	}
	detailed := `{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"prompt_tokens_details":{"cached_tokens":16},` +
		`"service":"a"}`
	other := `{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":2},` +
		`"prompt_tokens_details":null,"service":null,"cost":0.5}`
	apart := textAnswer("Q47 usage with the finish, then in a chunk of its own", "A router changed the provider between the turns.").second()
	apart.First = usageOnFinish("").turn(firstEnvelope).reworded()
	return []Quirk{
		apart, usageOnFinish("Q47 usage in a chunk of its own, then with the finish").second(),
		sums("Q44 usages of two shapes", detailed, other),
		ended("Q44 usage with details in both turns", why, `{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,`+
			`"prompt_tokens_details":{"cached_tokens":16,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":2}}`).twice(),
		sums("Q44 usage with fractions in both turns",
			`{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"cost":0.1,"queue_time":0.25,"total_time":1}`,
			`{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"cost":0.2,"queue_time":1.5,"total_time":0.5}`),
		sums("Q44 usage with powers of ten in both turns",
			`{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"cost":1.5e-05,"nanos":1e3}`,
			`{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"cost":2E-6,"nanos":5}`),
		sums("Q44 usage with numbers beyond 64 bits in both turns",
			`{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"nanos":9223372036854775807,"more":12345678901234567890}`,
			`{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"nanos":1,"more":12345678901234567890}`),
		sums("Q44 usage with null in one turn, and nothing in the other",
			`{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"cost":null,"cost_details":{"upstream":null}}`,
			`{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"cost_details":{},"tier":null}`),
		sums("Q44 usage with members of another kind in turn 2",
			`{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"cost":0.5,"tier":"a","details":{"n":1},"free":true}`,
			`{"prompt_tokens":13,"completion_tokens":5,"total_tokens":18,"cost":{"usd":0.5},"tier":"b","details":7,"free":false}`),
	}
}
