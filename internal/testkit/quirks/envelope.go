package quirks

import "strings"

// enveloped returns an answer in text. Its chunks have the envelopes in order,
// and all further chunks have the last one.
func enveloped(name, why string, envelopes ...string) shape {
	texts := []string{"The file", " is", " edited."}
	s := shape{name: name, why: why, text: "The file is edited."}
	last := envelopes[len(envelopes)-1]
	for i, text := range texts {
		e := last
		if i < len(envelopes) {
			e = envelopes[i]
		}
		s.head += strings.ReplaceAll(textChunks(text), placeholder, e)
	}
	s.tail = strings.ReplaceAll(finishChunk(`{}`, "stop")+usageChunk(replyUsage())+done, placeholder, last)
	return s
}

// envelopes are the quirks of the members around the choices.
func envelopes() []Quirk {
	return atBothPositions(append(append(envelopeIDs(), envelopeTokens()...), envelopeMembers()...)...)
}

func envelopeIDs() []shape {
	azure := data(`{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,` +
		`"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`)
	note := data(`{"id":"","object":"","created":0,"model":"","choices":[{"index":0,"finish_reason":null,` +
		`"content_filter_results":{},"content_filter_offsets":{"check_offset":44,"start_offset":44,"end_offset":198}}]}`)
	const rest = `"object":"chat.completion.chunk","created":1700000009,"model":"model-nine"`
	return []shape{
		{
			name: "Q48 first chunk without id, model and choices", why: "Azure tells what its filters say of the prompt.",
			head: azure + roleChunk() + textChunks("The file is edited."), text: "The file is edited.",
		},
		textAnswer("Q49 chunk without id and delta after the finish", "Azure's filters, when they work beside the stream.").
			withTail(finishChunk(`{}`, "stop") + note + usageChunk(replyUsage()) + done),
		{
			name: "Q49 chunk without id and delta in the middle", why: "Azure's filters, when they work beside the stream.",
			head: roleChunk() + textChunks("The file") + note + textChunks(" is edited."), text: "The file is edited.",
		},
		enveloped("Q51 id changes after the first chunk", "Avian.", `"id":"a-1",`+rest, `"id":"a-2",`+rest),
		enveloped("Q51 another id on every chunk", "LiteLLM before Ollama.",
			`"id":"a-1",`+rest, `"id":"a-2",`+rest, `"id":"a-3",`+rest, `"id":"a-4",`+rest),
		enveloped("Q52 id missing", "Small local servers.", rest),
		enveloped("Q52 id null", "Gateways.", `"id":null,`+rest),
		enveloped("Q52 id empty", "Gateways.", `"id":"",`+rest),
		enveloped("Q52 id a number", "Small local servers.", `"id":17,`+rest),
	}
}

func envelopeTokens() []shape {
	const id = `"id":"chatcmpl-9"`
	with := func(object, created, model string) string {
		return id + `,"object":` + object + `,"created":` + created + `,"model":` + model
	}
	const chunk = `"chat.completion.chunk"`
	return []shape{
		enveloped("Q53 created a fraction", "Servers that send their clock as it is.", with(chunk, `1700000009.75`, `"m"`)),
		enveloped("Q53 created as a power of ten", "A number that must come through as it stands there.", with(chunk, `1.7e9`, `"m"`)),
		enveloped("Q53 created 0", "Gateways.", with(chunk, `0`, `"m"`)),
		enveloped("Q53 another created on every chunk", "Ollama.",
			with(chunk, `1700000009`, `"m"`), with(chunk, `1700000010`, `"m"`), with(chunk, `1700000011`, `"m"`)),
		enveloped("Q53 another object at the end", "Perplexity.",
			with(`"chat.completion"`, `1700000009`, `"m"`), with(`"chat.completion"`, `1700000009`, `"m"`),
			with(`"chat.completion"`, `1700000009`, `"m"`), with(`"chat.completion.done"`, `1700000009`, `"m"`)),
		enveloped("Q53 nothing but an id", "Small local servers.", id),
		enveloped("Q54 another model on every chunk", "Routers.",
			with(chunk, `1700000009`, `"a"`), with(chunk, `1700000009`, `"b"`), with(chunk, `1700000009`, `"c"`)),
		enveloped("Q54 model with letters beyond ASCII", "Names are the host's to choose.", with(chunk, `1700000009`, `"modèle \u00e9\/1"`)),
	}
}

func envelopeMembers() []shape {
	fingerprint := `"system_fingerprint":"fp_9","service_tier":"default"`
	own := `"provider":"Venice","moderation":{"flagged":false},"timings":{"predicted_ms":1.50},"x_groq":{"id":"req_9"}`
	return []shape{
		{
			name: "Q54 fingerprint and service tier", why: "OpenAI sends them on every chunk.",
			head: deltaChunk(`{"role":"assistant","content":"The file"}`, fingerprint) + deltaChunk(`{"content":" is edited."}`, fingerprint),
			tail: finishChunk(`{}`, "stop", fingerprint) + usageChunk(replyUsage()) + done, text: "The file is edited.",
		},
		{
			name: "Q63 obfuscation", why: "OpenAI pads its chunks.",
			head: deltaChunk(`{"role":"assistant","content":"The file"}`, `"obfuscation":"aB3"`) +
				deltaChunk(`{"content":" is edited."}`, `"obfuscation":""`),
			tail: finishChunk(`{}`, "stop", `"obfuscation":"x"`) + usageChunk(replyUsage()) + done, text: "The file is edited.",
		},
		{
			name: "Q64 members of the provider's own", why: "OpenRouter, llama.cpp, Groq and others.",
			head: deltaChunk(`{"role":"assistant","content":"The file"}`, own) + chunkOf(
				`"choices":[{"index":0,"delta":{"content":" is edited."},"finish_reason":null,"native_finish_reason":null}]`, own),
			tail: chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":"end_turn"}]`, own) +
				usageChunk(replyUsage()) + done,
			text: "The file is edited.",
		},
		{
			name: "Q64 a chunk of the provider's own without choices", why: "OpenAI's moderation has one.",
			head: roleChunk() + textChunks("The file") + chunkOf(`"moderation":{"flagged":false}`, `"choices":[]`) + textChunks(" is edited."),
			text: "The file is edited.",
		},
		{
			name: "Q65 error null", why: "Some gateways have the member in every chunk.",
			head: deltaChunk(`{"role":"assistant","content":"The file"}`, `"error":null`) + deltaChunk(`{"content":" is edited."}`, `"error":null`),
			tail: finishChunk(`{}`, "stop", `"error":null`) + usageChunk(replyUsage()) + done, text: "The file is edited.",
		},
	}
}
