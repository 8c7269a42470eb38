package fakellm

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Turn is one scripted answer. Its methods return changed copies and leave the turn itself as it was, so a Turn may be
// shared between servers and goroutines. The zero value is an answer without text.
//
// The methods that change the answer are for turns made by Text, Pieces, Call and Pause; on others they panic. The methods
// for headers, time and failure are for all turns except those of Func, where they have no effect: those come from the turn
// that its function returns.
type Turn struct {
	answer  answer
	framing framing
	pacing  pacing
	header  http.Header
	literal *literal           // sent instead of answer
	respond func(Request) Turn // asked instead of everything else
}

// answer is an answer of the model, for a protocol to render.
type answer struct {
	text       []string // the pieces that a stream has
	reasoning  string
	refusal    string
	calls      []call
	finish     string
	usage      usage
	model      string
	responseID string

	quirks     Quirk
	startIndex int // of the first call
}

// call is one tool call of an answer.
type call struct {
	id, name, arguments string
}

// usage is the tokens that an answer reports.
type usage struct {
	set, none          bool
	prompt, completion int
	literal            string // sent instead of the numbers
}

// literal is an answer that no protocol renders.
type literal struct {
	status   int
	stream   bool     // a text/event-stream, else a JSON body
	payloads []string // of events to be framed, or else
	pieces   []string // as they are
}

// Text answers with text, which a stream sends word by word. The finish reason is "stop".
func Text(text string) Turn { return Turn{}.AndText(text) }

// Pieces answers with a text that a stream sends in exactly these pieces.
func Pieces(pieces ...string) Turn {
	return Turn{answer: answer{text: slices.Clone(pieces)}}
}

// Call answers with a tool call, whose arguments a stream sends in fragments. They are sent as they are, JSON or not.
// The finish reason is "tool_calls". Call ids are unique per server ("call_2_1": the second answer's first call) unless ID
// sets one.
func Call(name, arguments string) Turn { return Turn{}.AndCall(name, arguments) }

// Pause answers with a call of todo_pause with this reason.
func Pause(reason string) Turn {
	return Call("todo_pause", marshal(map[string]string{"reason": reason}))
}

// Status answers with an HTTP status and a JSON body, streamed or not. Use status 200 for a server that answers a
// request for a stream in one piece.
func Status(status int, body string) Turn {
	if status < http.StatusOK || status > 999 {
		panic("carryon/carryontest: " + strconv.Itoa(status) + " is not a status to answer with")
	}
	return Turn{literal: &literal{status: status, pieces: halves(body)}}
}

// Chunks answers with an event stream of these data payloads, sent as they are, and the terminator, whether or not the
// request asks for a stream. A payload of several lines becomes an event of several data lines. In a protocol whose
// events have names, each event is named after its type.
func Chunks(payloads ...string) Turn {
	return Turn{literal: &literal{status: http.StatusOK, stream: true, payloads: append([]string{}, payloads...)}}
}

// Raw answers with these bytes as an event stream, whether or not the request asks for one. Each piece is flushed on
// its own, and counts as a chunk.
func Raw(pieces ...string) Turn {
	return Turn{literal: &literal{status: http.StatusOK, stream: true, pieces: slices.Clone(pieces)}}
}

// Func answers with the turn that respond returns for the request. respond may be called concurrently.
func Func(respond func(Request) Turn) Turn {
	if respond == nil {
		panic("carryon/carryontest: Func of a nil function")
	}
	return Turn{respond: respond}
}

// AndText adds text, which comes before all calls unless TextLast is set.
func (t Turn) AndText(text string) Turn {
	t.mustRender()
	words := strings.SplitAfter(text, " ")
	if words[len(words)-1] == "" {
		words = words[:len(words)-1]
	}
	t.answer.text = slices.Concat(t.answer.text, words)
	return t
}

// AndCall adds a tool call.
func (t Turn) AndCall(name, arguments string) Turn {
	t.mustRender()
	t.answer.calls = append(slices.Clone(t.answer.calls), call{name: name, arguments: arguments})
	return t
}

// ID sets the id of the call added last.
func (t Turn) ID(id string) Turn {
	t.mustRender()
	if len(t.answer.calls) == 0 {
		panic("carryon/carryontest: ID needs a call")
	}
	t.answer.calls = slices.Clone(t.answer.calls)
	t.answer.calls[len(t.answer.calls)-1].id = id
	return t
}

// Reasoning adds reasoning, which comes first.
func (t Turn) Reasoning(text string) Turn {
	t.mustRender()
	t.answer.reasoning = text
	return t
}

// Refusal adds a refusal.
func (t Turn) Refusal(text string) Turn {
	t.mustRender()
	t.answer.refusal = text
	return t
}

// Finish sets the finish reason.
func (t Turn) Finish(reason string) Turn {
	t.mustRender()
	t.answer.finish = reason
	return t
}

// Usage sets the numbers of tokens; the default is 10 and 5. An answer in one piece always reports them; a stream does
// if the request asks with include_usage, or if the turn has a quirk of usage.
func (t Turn) Usage(prompt, completion int) Turn {
	t.mustRender()
	t.answer.usage = usage{set: true, prompt: prompt, completion: completion}
	return t
}

// UsageJSON sets the usage object that is sent, for members that Usage can't set.
func (t Turn) UsageJSON(object string) Turn {
	t.mustRender()
	if !json.Valid([]byte(object)) {
		panic("carryon/carryontest: UsageJSON of invalid JSON: " + object)
	}
	t.answer.usage = usage{set: true, literal: object}
	return t
}

// NoUsage makes the answer report no usage.
func (t Turn) NoUsage() Turn {
	t.mustRender()
	t.answer.usage = usage{none: true}
	return t
}

// Model sets the model that the answer names; otherwise it is the request's.
func (t Turn) Model(model string) Turn {
	t.mustRender()
	t.answer.model = model
	return t
}

// ResponseID sets the id of the answer; otherwise it is "chatcmpl-1" for the first request, and so on.
func (t Turn) ResponseID(id string) Turn {
	t.mustRender()
	t.answer.responseID = id
	return t
}

// Header adds an HTTP header to the answer. The first value of a name replaces the server's own, if it has one.
func (t Turn) Header(name, value string) Turn {
	t.header = t.header.Clone()
	if t.header == nil {
		t.header = make(http.Header)
	}
	t.header.Add(name, value)
	return t
}

// mustRender panics if the turn has no answer that a protocol renders.
func (t Turn) mustRender() {
	if t.literal != nil || t.respond != nil {
		panic("carryon/carryontest: a turn made by Status, Chunks, Raw or Func has no answer to change")
	}
}
