package quirks

// textAnswer returns an answer in text.
func textAnswer(name, why string) shape {
	return shape{
		name: name, why: why, text: "The file is edited.",
		head: roleChunk() + textChunks("The file", " is edited."),
	}
}

// withTail replaces the tail: what comes from the finish reason on.
func (s shape) withTail(tail string) shape {
	s.tail = tail
	return s
}

// withFinish sets the finish reason.
func (s shape) withFinish(reason string) shape {
	s.reason = reason
	return s
}

// asRelayed says that carryon does not continue after the answer.
func (s shape) asRelayed() shape {
	s.relayed = true
	return s
}

// asRefused says that the model or a filter says no. As a second answer it counts as
// failed, and is not asked for again.
func (s shape) asRefused() shape {
	s.refused = true
	return s
}

// finishes are the quirks of finish reasons.
func finishes() []Quirk {
	return atBothPositions(append(append(finishPlaces(), finishRepeats()...), finishReasons()...)...)
}

func finishPlaces() []shape {
	bare := func(delta, more string) string {
		return chunkOf(`"choices":[{"index":0,"delta":` + delta + more + `}]`)
	}
	return []shape{
		{
			name: "Q29 finish empty on every chunk", why: "Several proxies send it in the place of null.",
			head: bare(`{"role":"assistant","content":"The file"}`, `,"finish_reason":""`) +
				bare(`{"content":" is edited."}`, `,"finish_reason":""`),
			text: "The file is edited.",
		},
		{
			name: "Q30 finish not there but at the end", why: "xAI and z.ai leave it out.",
			head: bare(`{"role":"assistant","content":"The file"}`, ``) + bare(`{"content":" is edited."}`, ``),
			text: "The file is edited.",
		},
		textAnswer("Q34 finish with the last words", "Moonshot, and Venice behind OpenRouter.").
			withTextAndTail(" Done.", finishChunk(`{"content":" Done."}`, "stop")+usageChunk(replyUsage())+done),
		{
			name: "Q34 finish with the only words and usage", why: "Whole answers that a gateway makes a stream of.",
			tail: finishChunk(`{"role":"assistant","content":"The file is edited."}`, "stop", `"usage":`+replyUsage()) + done,
			text: "The file is edited.",
		},
		textAnswer("Q27 the finish tool_calls without a call", "It is no plain stop, whatever became of the call.").
			withFinish("tool_calls").asRelayed(),
	}
}

// withTextAndTail replaces the tail by one that has text, too.
func (s shape) withTextAndTail(text, tail string) shape {
	s.text, s.tail = s.text+text, tail
	return s
}

func finishRepeats() []shape {
	null := chunkOf(`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`, `"usage":`+replyUsage())
	return []shape{
		textAnswer("Q32 finish twice", "OpenRouter and Avian send it again with the usage.").withTail(
			finishChunk(`{"content":""}`, "stop") + finishChunk(`{"role":"assistant","content":""}`, "stop", `"usage":`+replyUsage()) + done),
		textAnswer("Q33 null after the finish, with the usage", "OpenRouter in 2025.").withTail(
			finishChunk(`{"content":""}`, "stop") + null + done),
		textAnswer("Q33 no finish on a chunk after the finish", "OpenAI's audio ends so.").withTail(
			finishChunk(`{}`, "stop") + chunkOf(`"choices":[{"index":0,"delta":{}}]`) + usageChunk(replyUsage()) + done),
		textAnswer("Q33 other finish after the finish", "A gateway that adds one of its own; the first counts.").withTail(
			finishChunk(`{}`, "stop") + finishChunk(`{}`, "end_turn") + usageChunk(replyUsage()) + done),
		textAnswer("Q33 text after the finish", "It was not the end, whatever the finish said.").asRelayed().
			withTextAndTail(" Done.", finishChunk(`{}`, "stop")+textChunks(" Done.")+usageChunk(replyUsage())+done),
		{
			name: "Q33 a call after the finish", why: "It was not the end, whatever the finish said.", reason: "stop",
			head: roleChunk() + textChunks("I edit it."),
			tail: finishChunk(`{}`, "stop") + callChunk("0 call_a function edit_file "+aArgs) + usageChunk(replyUsage()) + done,
			text: "I edit it.", calls: []Call{edit()},
		},
	}
}

func finishReasons() []shape {
	stop := func(reason string) shape {
		return textAnswer("Q35 finish "+reason, "A plain stop in the words of another API.").withFinish(reason)
	}
	trouble := func(reason string) shape {
		return textAnswer("Q35 finish "+reason, "Trouble of the provider's, and no stop.").withFinish(reason).asRelayed()
	}
	return []shape{
		textAnswer("Q31 no finish, only DONE", "A provider of DeepSeek models; it cannot be told from an answer that broke off.").
			asRelayed().unfinished(usageChunk(replyUsage()) + done),
		textAnswer("Q31 no finish and no DONE", "It cannot be told from an answer that broke off.").asRelayed().unfinished("\n"),
		stop("end_turn"), stop("eos"), stop("STOP"), stop("FINISH_REASON_STOP"),
		trouble("error"), trouble("insufficient_system_resource"), trouble("sensitive").asRefused(), trouble("network_error"),
		trouble("MALFORMED_FUNCTION_CALL"),
		textAnswer("Q36 finish length", "The answer was cut off, which is for the caller to deal with.").withFinish("length").asRelayed(),
		textAnswer("Q50 finish content_filter", "Azure; the answer was cut off on purpose.").withFinish("content_filter").asRelayed().asRefused(),
	}
}

// unfinished replaces the tail by one without a finish reason. As a second
// answer it counts as failed.
func (s shape) unfinished(tail string) shape {
	s.tail, s.err = tail, "no finish"
	return s
}
