package quirks

import "strings"

// framed returns an ordinary answer in another framing.
func framed(name, why string, frame func(string) string) shape {
	s := textAnswer(name, why)
	s.alter = func(t *Turn) { t.Head, t.Tail = frame(t.Head), frame(t.Tail) }
	return s
}

// replacing returns a function that replaces parts of the text.
func replacing(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

// framings are the quirks of server-sent events and of the HTTP responses around them.
func framings() []Quirk {
	rows := atBothPositions(append(append(framingLines(), framingEnds()...), framingCarriers()...)...)
	return append(rows, withoutDone("Q72 DONE in neither turn").twice())
}

func withoutDone(name string) shape {
	return textAnswer(name, "Perplexity, and Gemini at times.").withTail(finishChunk(`{}`, "stop") + usageChunk(replyUsage()))
}

func framingLines() []shape {
	pretty := func(body string) string {
		return replacing(`,"choices":`, ",\ndata:   \"choices\":", `,"delta":`, ",\ndata: \"delta\":")(body)
	}
	return []shape{
		{
			name: "Q66 comments", why: "OpenRouter and DeepSeek keep the connection alive with them.",
			head: ": OPENROUTER PROCESSING\n\n" + roleChunk() + ": keep-alive\n\n" + textChunks("The file is edited.") + ":\n",
			tail: finishChunk(`{}`, "stop") + ": keep-alive\n\n" + usageChunk(replyUsage()) + done, text: "The file is edited.",
		},
		{
			name: "Q66 comments without end", why: "A slow model behind a gateway that keeps the connection alive.",
			head: roleChunk() + strings.Repeat(": keep-alive\n\n", 200) + textChunks("The file is edited."), text: "The file is edited.",
		},
		framed("Q67 lines end in CRLF", "Perplexity.", replacing("\n", "\r\n")),
		framed("Q67 lines end in CR", "The standard allows it; no client in Go reads it.", replacing("\n", "\r")),
		framed("Q68 no space after the colon", "Gateways.", replacing("data: ", "data:")),
		framed("Q68 two spaces after the colon", "Gateways.", replacing("data: ", "data:  ")),
		framed("Q68 spaces at the end of lines", "Gateways that pad what they send.", replacing("}\n\n", "}  \n\n")),
		framed("Q69 event, id and retry lines", "Gateways that keep to the standard.",
			replacing("data: ", "event: message\nid: 7\nretry: 100\ndata: ")),
		framed("Q69 event lines after the data", "Their order is free.", replacing("}\n\n", "}\nevent: message\n\n")),
		framed("Q70 one chunk on several lines", "The standard allows it; most clients do not read it.", pretty),
		framed("Q71 one newline between events", "Servers that never read the standard.", replacing("\n\n", "\n")),
		framed("Q71 one CRLF between events", "Servers that never read the standard.", replacing("\n\n", "\r\n")),
		framed("Q71 one CR between events", "Servers that never read the standard.", replacing("\n\n", "\r")),
		framed("Q71 three newlines between events", "Blank lines mean nothing.", replacing("\n\n", "\n\n\n")),
	}
}

func framingEnds() []shape {
	ending := func(tail string) string { return finishChunk(`{}`, "stop") + usageChunk(replyUsage()) + tail }
	textAnswerWith := func(name, why, tail string) shape { return textAnswer(name, why).withTail(ending(tail)) }
	middle := func(name, why, extra string) shape {
		return shape{name: name, why: why, text: "The file is edited.", head: roleChunk() + textChunks("The file") + extra + textChunks(" is edited.")}
	}
	return []shape{
		withoutDone("Q72 no DONE"),
		textAnswerWith("Q73 no blank line at the end", "Servers that close at once.", "data: [DONE]\n"),
		textAnswerWith("Q73 no newline at the end", "Servers that close at once.", "data: [DONE]"),
		textAnswer("Q73 no newline after the last event, and no DONE", "Servers that close at once.").
			withTail(finishChunk(`{}`, "stop") + strings.TrimRight(usageChunk(replyUsage()), "\n")),
		textAnswer("Q73 no newline after the finish", "Servers that close at once.").
			withUsage("-", strings.TrimRight(finishChunk(`{}`, "stop"), "\n")),
		textAnswerWith("Q74 DONE without data", "Proxies that take it for a line of its own kind.", "[DONE]\n\n"),
		textAnswerWith("Q74 DONE twice", "A gateway's own after the provider's.", done+done),
		textAnswerWith("Q74 DONE with spaces around it", "Gateways that pad what they send.", "data:   [DONE]  \n\n"),
		textAnswer("Q74 DONE before the finish", "Every client stops there, and misses the rest.").asRelayed().
			unfinished(done + finishChunk(`{}`, "stop")),
		middle("Q75 empty data", "Some keep the connection alive so.", "data:\n\n"),
		middle("Q75 data that is no JSON", "Some keep the connection alive so.", "data: ping\n\n"),
		{
			name: "Q76 byte order mark", why: "Servers on Windows.",
			head: "\ufeff" + textChunks("The file", " is edited."), text: "The file is edited.",
		},
	}
}

// carried returns an ordinary answer in another HTTP response.
func carried(name, why string, alter func(*Turn)) shape {
	s := textAnswer(name, why)
	s.alter = alter
	return s
}

func framingCarriers() []shape {
	long := strings.Repeat("All work and no play. ", 3200) // 69 KiB
	args := `{"path":"` + strings.Repeat("a", 70000) + `"}`
	return []shape{
		carried("Q82 length of the body", "Gateways that have all of it before they send.", func(t *Turn) { t.Length = true }),
		carried("Q82 content type with a charset", "Most providers.", func(t *Turn) { t.Type = "text/event-stream; charset=utf-8" }),
		carried("Q83 headers of its own", "The first answer's are the caller's.", func(*Turn) {}),
		{
			name: "Q84 a line of 69 KiB", why: "Perplexity repeats all of the answer, and images are far longer.",
			head: roleChunk() + textChunks(long), text: long,
		},
		oneCall(callChunk("0 call_a function edit_file "+args)).withArguments(args).
			named("Q84 a call of 69 KiB", "A file in one fragment."),
		carried("Q85 open after DONE", "Servers that keep the connection for seconds.", func(t *Turn) { t.Open = true }),
	}
}

// withArguments replaces the arguments of the only call.
func (s shape) withArguments(arguments string) shape {
	call := edit()
	call.Arguments = arguments
	s.calls = []Call{call}
	return s
}
