package quirks

import "slices"

// contents are the quirks of what a choice holds besides calls and a finish reason.
func contents() []Quirk {
	rows := atBothPositions(append(append(contentDeltas(), contentReasoning()...), contentOthers()...)...)
	return slices.Concat(rows, contentLists(), contentReasoningOnly())
}

// contentLists are the rows of text in lists. The separator goes into the first
// text of the list; a client that reads the list as text sees it in the middle.
func contentLists() []Quirk {
	const thoughts = `[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]`
	rows := shape{
		name: "Q57 content as a list", why: "Magistral's chunks of thoughts, and of text after them.",
		head: deltaChunk(`{"role":"assistant","content":`+thoughts+`}`) + deltaChunk(`{"content":[{"type":"text","text":"The file"}]}`) +
			deltaChunk(`{"content":[{"type":"text","text":" is edited."}]}`),
		text: "The file is edited.",
	}.both()
	rows[1].ReadsAs = map[string]string{OpenAIGo: "I will edit the file next." + thoughts +
		`[{"type":"text","text":"\n\nThe file"}][{"type":"text","text":" is edited."}]`}
	return rows
}

func contentDeltas() []shape {
	choiceless := func(delta, rest string) string { return chunkOf(`"choices":[{"delta":` + delta + rest + `}]`) }
	return []shape{
		{
			name: "Q55 role on every chunk", why: "OpenRouter, z.ai, Avian, Perplexity and Ollama.",
			head: deltaChunk(`{"role":"assistant","content":"The file"}`) + deltaChunk(`{"role":"assistant","content":" is edited."}`),
			tail: finishChunk(`{"role":"assistant","content":""}`, "stop") + usageChunk(replyUsage()) + done, text: "The file is edited.",
		},
		{
			name: "Q55 role empty", why: "Gateways written in Go.",
			head: deltaChunk(`{"role":"assistant","content":""}`) + deltaChunk(`{"role":"","content":"The file is edited."}`),
			text: "The file is edited.",
		},
		{
			name: "Q56 content null", why: "llama.cpp begins so.",
			head: deltaChunk(`{"role":"assistant","content":null}`) + textChunks("The file is edited.") + deltaChunk(`{"content":null}`),
			text: "The file is edited.",
		},
		{
			name: "Q56 delta null or missing", why: "Azure's chunks of notes, and gateways.",
			head: deltaChunk(`null`) + textChunks("The file is edited.") + chunkOf(`"choices":[{"index":0,"finish_reason":null}]`),
			text: "The file is edited.",
		},
		{
			name: "Q84 the answer so far beside the delta", why: "Perplexity repeats all of it in every chunk.",
			head: chunkOf(`"choices":[{"index":0,"message":{"role":"assistant","content":"The file"},`+
				`"delta":{"role":"assistant","content":"The file"},"finish_reason":null}]`) +
				chunkOf(`"choices":[{"index":0,"message":{"role":"assistant","content":"The file is edited."},`+
					`"delta":{"role":"assistant","content":" is edited."},"finish_reason":null}]`),
			tail: chunkOf(`"choices":[{"index":0,"message":{"role":"assistant","content":"The file is edited."},`+
				`"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]`, `"usage":`+replyUsage()),
			text: "The file is edited.",
		},
		{
			name: "Q61 choice without an index", why: "It means the first.",
			head: choiceless(`{"role":"assistant","content":"The file"}`, `,"finish_reason":null`) +
				choiceless(`{"content":" is edited."}`, `,"finish_reason":null`),
			tail: choiceless(`{}`, `,"finish_reason":"stop"`) + usageChunk(replyUsage()) + done, text: "The file is edited.",
		},
		{
			name: "Q81 letters of several bytes", why: "Reads end anywhere, in the middle of a letter, too.",
			head: roleChunk() + textChunks("Die Datei „größer.go“", " ist geändert – 完了 🎉."),
			text: "Die Datei „größer.go“ ist geändert – 完了 🎉.",
		},
		{
			name: "Q81 letters in escapes", why: "Encoders for ASCII, such as Python's.",
			head: roleChunk() + deltaChunk(`{"content":"\u5b8c\u4e86 \ud83c\udf89 \"a\\b\" \u003ctag\u003e\n"}`), text: "完了 🎉 \"a\\b\" <tag>\n",
		},
	}
}

func contentReasoning() []shape {
	return []shape{
		{
			name: "Q58 reasoning_content", why: "DeepSeek, Qwen, xAI, z.ai, llama.cpp and Moonshot.",
			head: deltaChunk(`{"role":"assistant","content":null,"reasoning_content":"Let me"}`) + deltaChunk(`{"reasoning_content":" see."}`) +
				textChunks("The file is edited."),
			text: "The file is edited.",
		},
		{
			name: "Q58 reasoning and its details", why: "OpenRouter, Vercel's gateway, Groq and Ollama.",
			head: deltaChunk(`{"role":"assistant","content":"","reasoning":"Let me see.","reasoning_details":[{"type":"reasoning.text",`+
				`"text":"Let me see.","signature":null,"index":0}]}`) + textChunks("The file is edited."),
			text: "The file is edited.",
		},
		{
			name: "Q58 thoughts in the text", why: "R1 behind Hyperbolic.",
			head: roleChunk() + textChunks("<think>\nLet me see.\n</think>\n\n", "The file is edited."),
			text: "<think>\nLet me see.\n</think>\n\nThe file is edited.",
		},
		{
			name: "Q58 reasoning beside text in one chunk", why: "Gateways that put chunks together.",
			head: deltaChunk(`{"role":"assistant","content":"The file","reasoning_content":"Hm."}`) + textChunks(" is edited."),
			text: "The file is edited.",
		},
	}
}

// contentReasoningOnly are the rows of turns without text: a first one is continued
// with a placeholder, and neither needs a separator of its own.
func contentReasoningOnly() []Quirk {
	thoughts := shape{
		name: "Q58 nothing but reasoning", why: "A model that thought, and then said nothing.",
		head: deltaChunk(`{"role":"assistant","content":null,"reasoning_content":"Let me"}`) + deltaChunk(`{"reasoning_content":" see."}`),
	}
	silent := shape{name: "Q56 nothing at all", why: "A model that has nothing to say.", head: roleChunk()}
	blank := shape{
		name: "Q56 nothing but white space", why: "Models end like that at times.", head: roleChunk() + textChunks(" ", "\n\n"), text: " \n\n",
	}
	return atBothPositions(thoughts, silent, blank)
}

func contentOthers() []shape {
	logprobs := func(token string) string {
		return `"logprobs":{"content":[{"token":` + jsonString(token) + `,"logprob":-0.10,"bytes":null,"top_logprobs":[]}]}`
	}
	said := func(text, more string) string {
		return chunkOf(`"choices":[{"index":0,"delta":{"content":` + jsonString(text) + `},"finish_reason":null,` + more + `}]`)
	}
	filter := `"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}`
	second := chunkOf(`"choices":[{"index":1,"delta":{"content":"Another answer."},"finish_reason":null}]`)
	return []shape{
		{
			name: "Q50 what the filters say on every choice", why: "Azure.",
			head: roleChunk() + said("The file", filter) + said(" is edited.", filter), text: "The file is edited.",
		},
		{
			name: "Q59 refusal", why: "The model will not do it, and is not to be asked again.", relayed: true, refused: true,
			head: deltaChunk(`{"role":"assistant","content":"","refusal":null}`) + textChunks("No.") + deltaChunk(`{"refusal":"I cannot help."}`),
			text: "No.",
		},
		{
			name: "Q59 refusal null", why: "OpenAI begins so; it means that there is none.",
			head: deltaChunk(`{"role":"assistant","content":"","refusal":null}`) + textChunks("The file is edited."), text: "The file is edited.",
		},
		{
			name: "Q60 audio", why: "What was spoken cannot be continued in writing.", relayed: true,
			head: roleChunk() + textChunks("The file is edited.") + deltaChunk(`{"audio":{"id":"audio_1","data":"AAAA","transcript":"The file"}}`),
			text: "The file is edited.",
		},
		{
			name: "Q60 citations and images", why: "Perplexity, web search, and models that draw.",
			head: roleChunk() + deltaChunk(`{"content":"The file is edited.","annotations":[{"type":"url_citation","url_citation":{"url":`+
				`"https://example.com","start_index":0,"end_index":4}}],"images":[{"type":"image_url"}]}`,
				`"citations":["https://example.com"]`, `"search_results":[{"title":"A"}]`),
			text: "The file is edited.",
		},
		{
			name: "Q61 a second choice", why: "Nobody knows which of the two would be continued.", relayed: true,
			head: roleChunk() + textChunks("The file is edited.") + second, text: "The file is edited.",
		},
		{
			name: "Q62 logprobs", why: "They belong to the words of their chunk.",
			head: roleChunk() + said("The file", logprobs("The file")) + said(" is edited.", logprobs(" is edited.")),
			tail: chunkOf(`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`) + usageChunk(replyUsage()) + done,
			text: "The file is edited.",
		},
	}
}
