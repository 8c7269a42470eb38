package quirks

// spoken is an answer in text.
func spoken(name, why string) shape {
	return shape{
		name: name, why: why, text: "The file is edited.",
		head: opens() + words("The file", " is edited."),
	}
}

// tailed replaces what comes from the finish on.
func (s shape) tailed(tail string) shape {
	s.tail = tail
	return s
}

// ended returns the answer with another finish reason.
func (s shape) ended(reason string) shape {
	s.reason = reason
	return s
}

// passed says that nothing is to be done after the answer.
func (s shape) passed() shape {
	s.relayed = true
	return s
}

// finishes are the quirks of finish reasons.
func finishes() []Quirk {
	return atBothPlaces(append(append(finishPlaces(), finishRepeats()...), finishReasons()...)...)
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
		spoken("Q34 finish with the last words", "Moonshot, and Venice behind OpenRouter.").
			tailedWords(" Done.", ends(`{"content":" Done."}`, "stop")+bill(replyUsage())+done),
		{
			name: "Q34 finish with the only words and usage", why: "Whole answers that a gateway makes a stream of.",
			tail: ends(`{"role":"assistant","content":"The file is edited."}`, "stop", `"usage":`+replyUsage()) + done,
			text: "The file is edited.",
		},
		spoken("Q27 the finish tool_calls without a call", "It is no plain stop, whatever became of the call.").
			ended("tool_calls").passed(),
	}
}

// tailedWords replaces what comes from the finish on, in which there are words.
func (s shape) tailedWords(text, tail string) shape {
	s.text, s.tail = s.text+text, tail
	return s
}

func finishRepeats() []shape {
	null := chunkOf(`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`, `"usage":`+replyUsage())
	return []shape{
		spoken("Q32 finish twice", "OpenRouter and Avian send it again with the usage.").tailed(
			ends(`{"content":""}`, "stop") + ends(`{"role":"assistant","content":""}`, "stop", `"usage":`+replyUsage()) + done),
		spoken("Q33 null after the finish, with the usage", "OpenRouter in 2025.").tailed(
			ends(`{"content":""}`, "stop") + null + done),
		spoken("Q33 no finish on a chunk after the finish", "OpenAI's audio ends so.").tailed(
			ends(`{}`, "stop") + chunkOf(`"choices":[{"index":0,"delta":{}}]`) + bill(replyUsage()) + done),
		spoken("Q33 other finish after the finish", "A gateway that adds one of its own; the first counts.").tailed(
			ends(`{}`, "stop") + ends(`{}`, "end_turn") + bill(replyUsage()) + done),
		spoken("Q33 text after the finish", "It was not the end, whatever the finish said.").passed().
			tailedWords(" Done.", ends(`{}`, "stop")+words(" Done.")+bill(replyUsage())+done),
		{
			name: "Q33 a call after the finish", why: "It was not the end, whatever the finish said.", reason: "stop",
			head: opens() + words("I edit it."),
			tail: ends(`{}`, "stop") + calling("0 call_a function edit_file "+aArgs) + bill(replyUsage()) + done,
			text: "I edit it.", calls: []Call{edit()},
		},
	}
}

func finishReasons() []shape {
	stop := func(reason string) shape {
		return spoken("Q35 finish "+reason, "A plain stop in the words of another API.").ended(reason)
	}
	trouble := func(reason string) shape {
		return spoken("Q35 finish "+reason, "Trouble of the provider's, and no stop.").ended(reason).passed()
	}
	return []shape{
		spoken("Q31 no finish, only DONE", "A provider of DeepSeek models; it cannot be told from an answer that broke off.").
			passed().unfinished(bill(replyUsage()) + done),
		spoken("Q31 no finish and no DONE", "It cannot be told from an answer that broke off.").passed().unfinished("\n"),
		stop("end_turn"), stop("eos"), stop("STOP"), stop("FINISH_REASON_STOP"),
		trouble("error"), trouble("insufficient_system_resource"), trouble("sensitive"), trouble("network_error"),
		trouble("MALFORMED_FUNCTION_CALL"),
		spoken("Q36 finish length", "The answer was cut off, which is for the caller to deal with.").ended("length").passed(),
		spoken("Q50 finish content_filter", "Azure; the answer was cut off on purpose.").ended("content_filter").passed(),
	}
}

// unfinished replaces all that an answer ends with. As a second answer it is a
// failed one.
func (s shape) unfinished(tail string) shape {
	s.tail, s.err = tail, "no finish"
	return s
}
