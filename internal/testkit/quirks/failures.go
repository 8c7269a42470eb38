package quirks

import (
	"compress/gzip"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// What errors are sent as.
const (
	errorObject = `{"error":{"message":"The server is overloaded","type":"server_error","param":null,"code":null}}`
	vllmError   = `{"object":"error","message":"The server is overloaded","type":"ServerError","param":null,"code":500}`
)

// thenAFinish ends the name of a row in which a finish reason follows the error.
const thenAFinish = ", then a finish"

// failing returns an answer that fails after its text.
func failing(name, why, body string) shape {
	return shape{name: name, why: why, head: body, tail: "\n", usage: "-", err: "fails", relayed: true}
}

// afterText returns the answer with text before the failure.
func (s shape) afterText() shape {
	s.text = "The file"
	s.head = roleChunk() + textChunks(s.text) + s.head
	return s
}

// failures are the answers that are errors, or not complete.
func failures() []Quirk {
	rows := atBothPositions(append(append(failuresInBand(), failuresOfConnection()...), failuresOfKind()...)...)
	return slices.Concat(rows, failuresToOpen(), failuresInTail(), failuresInCalls())
}

func failuresInBand() []shape {
	errs := errorsInBand()
	whole := make([]shape, 0, len(errs))
	for _, s := range errs {
		s.name += thenAFinish
		s.why += " A gateway ends every stream properly."
		s.tail = finishChunk(`{}`, "stop") + done
		whole = append(whole, s)
	}
	return slices.Concat(errs, whole, []shape{
		failing("Q77 error object at once", "A provider that answers 200 before it knows.", data(errorObject)+done),
		failing("Q75 broken JSON", "A gateway that cuts long lines.",
			data(`{`+placeholder+`,"choices":[{"index":0,"delta":{"content":" is`)+finishChunk(`{}`, "stop")+usageChunk(replyUsage())+done).afterText(),
	})
}

// errorsInBand are the forms that an error takes in the middle of a stream.
func errorsInBand() []shape {
	return []shape{
		failing("Q77 error object", "OpenAI, vLLM and SGLang.", data(errorObject)).afterText(),
		failing("Q77 error on a line without data", "Servers whose error handler knows nothing of streams.", errorObject+"\n\n").
			afterText(),
		failing("Q77 error event", "Groq, when a call was malformed.", "event: error\n"+data(errorObject)).afterText(),
		failing("Q77 error event without an error", "Gateways that word it as they like.",
			"event: error\n"+data(`{"reason":"overloaded"}`)).afterText(),
		failing("Q77 error as vLLM words it", "It is an object of its own kind.", data(vllmError)).afterText(),
		failing("Q77 error that is a string", "Ollama, and small local servers.", data(`{"error":"overloaded"}`)).afterText(),
		failing("Q77 error beside choices", "OpenRouter, with a finish of its own.", data(`{`+placeholder+`,"error":{"code":502,`+
			`"message":"The provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`)).
			afterText(),
	}
}

func failuresOfConnection() []shape {
	cut := func(s shape) shape {
		s.alter = func(t *Turn) { t.Cut = true }
		return s
	}
	half := data(`{` + placeholder + `,"choices":[{"index":0,"delta":{"content":" is edited."},"finish_reason":null}]}`)
	return []shape{
		cut(failing("Q79 cut between events", "A connection that broke.", "").afterText()),
		cut(failing("Q79 cut within an event", "A connection that broke.", half[:60]).afterText()).withoutTail(),
		cut(failing("Q79 cut at once", "A connection that broke.", "")).withoutTail(),
		failing("Q79 truncated within an event", "A proxy that broke, and ended its own answer well.", half[:60]).afterText().withoutTail(),
	}
}

// withoutTail leaves nothing after the head.
func (s shape) withoutTail() shape {
	alter := s.alter
	s.alter = func(t *Turn) {
		t.Tail = ""
		if alter != nil {
			alter(t)
		}
	}
	return s
}

func failuresOfKind() []shape {
	kind := func(name, why, contentType, body string) shape {
		s := failing(name, why, body)
		s.alter = func(t *Turn) { t.Type = contentType }
		return s
	}
	completion := `{` + placeholder + `,"choices":[{"index":0,"message":{"role":"assistant","content":"The file is edited."},` +
		`"finish_reason":"stop"}],"usage":` + replyUsage() + `}`
	return []shape{
		kind("Q78 error in JSON, with status 200", "Gateways.", "application/json", errorObject),
		kind("Q78 completion in JSON", "Servers that do not stream.", "application/json", completion),
		kind("Q78 completion in JSON, called a stream", "Servers that do not stream.", "text/event-stream", completion),
		kind("Q78 page", "A proxy that asks for a login.", "text/html", "<html><body>Log in</body></html>\n"),
		kind("Q78 nothing", "A proxy that lost its upstream.", "text/event-stream", ""),
		compressed(), mislabelled("Q80 said to be gzip", "What cannot be trusted is left alone.", func(t *Turn) { t.Encoding = "gzip" }),
		mislabelled("Q78 stream called JSON", "A proxy that guesses.", func(t *Turn) { t.Type = "application/json" }),
		mislabelled("Q78 stream with status 500", "A proxy that failed after all.", func(t *Turn) { t.Status = http.StatusInternalServerError }),
	}
}

// mislabelled returns an ordinary answer with a header that says otherwise.
func mislabelled(name, why string, alter func(*Turn)) shape {
	s := failing(name, why, roleChunk()+textChunks("The file is edited."))
	s.tail, s.alter = finishChunk(`{}`, "stop")+usageChunk(replyUsage())+done, alter
	return s
}

// compressed returns an ordinary answer in gzip, which nobody asked for.
func compressed() shape {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	turn := reply()
	_, err := w.Write([]byte(turn.Body()))
	err = errors.Join(err, w.Close())
	if err != nil {
		return failing("Q80 gzip: "+err.Error(), "", "") // a builder takes everything
	}
	s := failing("Q80 gzip", "A client that asks for it itself must decode it itself.", b.String()).withoutTail()
	encode := s.alter
	s.alter = func(t *Turn) {
		encode(t)
		t.Encoding = "gzip"
	}
	return s
}

// failuresToOpen are the second answers that never begin.
func failuresToOpen() []Quirk {
	var rows []Quirk
	for _, status := range []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable,
	} {
		s := failing("Q78 status "+strconv.Itoa(status), "It costs the continuation, and never the answer.", errorObject)
		s.alter = func(t *Turn) { t.Status, t.Type = status, "application/json" }
		rows = append(rows, s.both()...)
	}
	fault := failing("Q79 no connection", "It costs the continuation, and never the answer.", "")
	fault.alter = func(t *Turn) { t.Fault = errors.New("connection refused") }
	return append(rows, fault.second())
}

// failuresInTail are the answers that fail after their finish reason. As a
// second answer, one counts as complete; as a first answer, it is not
// continued.
func failuresInTail() []Quirk {
	failed := textAnswer("Q77 error object after the finish", "The answer was whole.").asRelayed().
		withUsage("-", finishChunk(`{}`, "stop")+data(errorObject)+done)
	cut := textAnswer("Q79 cut after the finish", "The answer was whole.").asRelayed().withUsage("-", finishChunk(`{}`, "stop"))
	cut.alter = func(t *Turn) { t.Cut = true }
	late := textAnswer("Q79 cut after the usage", "The answer was whole.").asRelayed().withTail(finishChunk(`{}`, "stop") + usageChunk(replyUsage()))
	late.alter = func(t *Turn) { t.Cut = true }
	return atBothPositions(failed, cut, late)
}

// failuresInCalls are the second answers that fail in the middle of a call.
func failuresInCalls() []Quirk {
	header := callChunk("0 call_a function edit_file ") + callChunk(`0 _ _ _ {"path":`)
	broken := func(name, why, body string) Quirk {
		s := failing(name, why, header+body).afterText().withoutTail()
		s.calls = []Call{{"call_a", "function", "edit_file", `{"path":`}}
		q := s.second()
		q.Effect = Broken
		return q
	}
	cut := broken("Q79 cut within a call", "Half a call must not look whole.", "")
	cut.Second.Cut = true
	dropped := func(name, why, body string) Quirk {
		q := failing(name, why, body).afterText().withoutTail().second()
		q.Second.Cut = true
		return q
	}
	undecided := dropped("Q79 cut within the name of a pause", "Nothing of it was shown yet.", callChunk("0 call_p function todo_ _"))
	undecided.Second.Means.Calls = []Call{{"call_p", "function", "todo_", ""}}
	pause := dropped("Q79 cut after a pause", "A turn that broke off did not pause.", callChunk("0 call_p function todo_pause "+pauseArgs))
	pause.Second.Means.Calls = []Call{pauseCall()}
	return []Quirk{
		cut, undecided, pause,
		broken("Q31 a call, and no finish", "It may be half a call.", done),
		broken("Q77 error object within a call", "Half a call must not look whole.", data(errorObject)+done),
	}
}
