package gemini

import (
	"errors"
	"strconv"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// errBlocked is the failure of a continuation whose prompt the provider has blocked.
var errBlocked = errors.New("transport: the provider blocked the prompt")

// endedError is the failure of a continuation that ended in a filter or in a malformed
// answer.
type endedError struct{ reason string }

func (e *endedError) Error() string { return "transport: the answer ended with " + e.reason }

// chunk is a chunk of an answer, or a whole one.
type chunk struct {
	outer []byte // all of the data
	bare  bool   // it should be wrapped and is not, which only an error may be
	body  []byte // the object with the candidates: a member of outer, or outer itself

	candidate  []byte // the one with index 0, or else the first; nil if there is none
	candidates int
	index      int // of the candidate
	content    []byte
	parts      []part
	extras     bool   // there are citations, or other notes to the content
	finish     []byte // the finish reason, or nil
	usage      []byte // nil if there is none
	failure    []byte // the error, or nil
	id, model  []byte // strings, or nil
	blocked    bool   // the provider has blocked the prompt
}

// part is a part of a chunk's content.
type part struct {
	raw       []byte
	kind      kind
	text      []byte // a string, or nil
	signature []byte // a string, or nil
	call      []byte // the functionCall
}

// kind is the kind of a part.
type kind uint8

const (
	empty      kind = iota
	plain           // text
	thought         // text that the model wrote for itself
	call            // of a function of the program
	serverCall      // of a tool that the provider runs
	serverResult
	code // that the provider has run, or its result
	unknown
)

// parse reads the data of an event. It returns nil if that is no chunk.
func parse(e *sse.Event, wrapped bool) *chunk {
	if e.Kind != sse.Object {
		return nil
	}
	c := &chunk{outer: e.Data()}
	c.body = c.outer
	if wrapped {
		c.body = rawjson.Member(c.outer, "response")
		if rawjson.IsNull(c.body) {
			c.body = c.outer
			c.bare = true
		}
	}
	s := rawjson.Over(c.body)
	for name := range s.Members() {
		switch name {
		case "candidates":
			c.candidate, c.candidates, c.index = nil, 0, 0
			for range s.Elements() {
				raw := s.Raw()
				if index, _ := rawjson.Int(rawjson.Member(raw, "index")); c.candidates == 0 || c.index != 0 && index == 0 {
					c.candidate, c.index = raw, index
				}
				c.candidates++
			}
		case "usageMetadata":
			c.usage = s.Raw()
		case "responseId":
			c.id = s.Raw()
		case "modelVersion":
			c.model = s.Raw()
		case "error":
			c.failure = s.Raw()
		case "promptFeedback":
			c.blocked = !rawjson.IsEmpty(rawjson.Member(s.Raw(), "blockReason"))
		}
	}
	c.readCandidate()
	return c
}

// readCandidate reads the first candidate.
func (c *chunk) readCandidate() {
	s := rawjson.Over(c.candidate)
	for name := range s.Members() {
		raw := s.Raw()
		switch name {
		case "content":
			c.content = raw
		case "finishReason":
			c.finish = raw
		case "groundingMetadata", "citationMetadata", "urlContextMetadata":
			c.extras = c.extras || !rawjson.IsEmpty(raw)
		}
	}
	for _, raw := range rawjson.MemberElements(c.content, "parts") {
		c.parts = append(c.parts, readPart(raw))
	}
	if rawjson.IsEmpty(c.finish) {
		c.finish = nil
	}
}

// readPart reads a part.
func readPart(raw []byte) part {
	p := part{raw: raw}
	isThought := false
	s := rawjson.Over(raw)
	for name := range s.Members() {
		value := s.Raw()
		switch name {
		case "text":
			p.kind, p.text = max(p.kind, plain), value
		case "thought":
			isThought = string(value) == "true"
		case "thoughtSignature":
			if !rawjson.IsEmpty(value) {
				p.signature = value
			}
		case "functionCall":
			p.kind, p.call = max(p.kind, call), value
		case "toolCall":
			p.kind = max(p.kind, serverCall)
		case "toolResponse":
			p.kind = max(p.kind, serverResult)
		case "executableCode", "codeExecutionResult":
			p.kind = max(p.kind, code)
		case "partMetadata":
		default:
			p.kind = unknown
		}
	}
	switch {
	case p.call != nil:
		p.kind = call // whatever else it has
	case isThought && p.kind <= plain:
		p.kind = thought
	}
	return p
}

// progress is what was read of the current turn. The next turn replaces it.
type progress struct {
	choice  choice
	calls   int       // of functions
	open    *openCall // the call that comes in pieces, or nil
	pending int       // calls of the provider's tools without a result
}

// choice is the candidate that is the turn's: the first that says anything. carryon asks
// for one; a second one that comes all the same must not end the first.
type choice struct {
	known bool
	index int
}

// takes reports whether a chunk belongs to the turn's candidate.
func (h *choice) takes(c *chunk) bool {
	if !h.known && (len(c.parts) > 0 || c.finish != nil) {
		*h = choice{true, c.index}
	}
	return !h.known || c.candidate == nil || c.index == h.index
}

// openCall is a call that comes in pieces.
type openCall struct {
	index  int
	pause  bool // it is a todo_pause
	reason bool // its reason has begun
}

// reader reads chunks and reports them. text decodes a string.
type reader struct {
	turn  *progress
	later bool
	text  func(raw []byte) string
	to    adapter.TurnReader
}

// read reports a chunk, but not its usage.
func (r *reader) read(c *chunk) {
	if !rawjson.IsNull(c.failure) {
		r.to.Fail(reported(c.failure))
		return
	}
	if c.bare {
		r.to.Unknown()
		return
	}
	r.to.Response(rawjson.TextView(c.id), rawjson.TextView(c.model))
	if c.blocked {
		r.blocked()
	}
	isOwn := r.turn.choice.takes(c)
	if c.candidates > 1 || !isOwn || c.index != 0 && !r.later {
		r.to.OtherChoice()
	}
	if !isOwn {
		return
	}
	for i := range c.parts {
		r.readPart(&c.parts[i])
	}
	if c.extras {
		r.to.Content()
	}
	if c.finish != nil {
		r.readFinish(c.finish)
	}
}

// blocked reports that the provider has blocked the prompt.
func (r *reader) blocked() {
	if r.later {
		r.to.Fail(errBlocked)
	}
	r.to.Refusal()
}

// readPart reports a part.
func (r *reader) readPart(p *part) {
	if p.signature != nil {
		r.to.Content() // shown even if there is no text
	}
	switch p.kind {
	case empty:
	case plain:
		r.to.Text(r.text(p.text))
	case thought:
		r.to.Reasoning(r.text(p.text))
	case call:
		r.readCall(p.call)
	case serverCall:
		r.turn.pending++
		r.to.Content()
	case serverResult:
		r.turn.pending--
		r.to.Content()
	case code:
		r.to.Content()
	case unknown:
		r.to.Unknown()
	}
}

// readCall reports a call, or a piece of one: the first piece has the name, and the
// last one does not say that more follows.
func (r *reader) readCall(raw []byte) {
	var name, id, args, pieces []byte
	more := false
	s := rawjson.Over(raw)
	for member := range s.Members() {
		value := s.Raw()
		switch member {
		case "name":
			name = value
		case "id":
			id = value
		case "args":
			args = value
		case "partialArgs":
			pieces = value
		case "willContinue":
			more = string(value) == "true"
		}
	}
	open := r.turn.open
	if open == nil || !rawjson.IsEmpty(name) {
		r.endOpen()
		open = &openCall{index: r.turn.calls, pause: pause.Is(rawjson.TextOf(name))}
		r.turn.calls++
	}
	r.turn.open = nil
	arguments := ""
	if !rawjson.IsNull(args) {
		arguments = rawjson.View(args)
	}
	switch {
	case more:
		arguments, r.turn.open = open.piece(pieces), open
	case open.reason || len(pieces) > 0:
		arguments = open.piece(pieces) + open.end()
	}
	r.to.Call(open.index, r.text(id), r.text(name), arguments)
}

// endOpen ends the arguments of a todo_pause that comes in pieces: some servers leave
// out the last piece. It reports one call, which [partWriter.call] counts.
func (r *reader) endOpen() {
	if open := r.turn.open; open != nil && open.pause {
		r.to.Call(open.index, "", "", open.end())
	}
}

// piece returns what a piece adds to the arguments of a todo_pause, whose only argument
// is the reason. The arguments of other calls are not put together.
func (o *openCall) piece(pieces []byte) string {
	if !o.pause {
		return ""
	}
	var arguments []byte
	s := rawjson.Over(pieces)
	for range s.Elements() {
		piece := s.Raw()
		value := rawjson.Member(piece, "stringValue")
		if !rawjson.IsString(value) || rawjson.TextView(rawjson.Member(piece, "jsonPath")) != "$.reason" {
			continue
		}
		if !o.reason {
			o.reason, arguments = true, append(arguments, `{"reason":"`...)
		}
		arguments = append(arguments, value[1:len(value)-1]...)
	}
	return string(arguments)
}

// end returns what ends the arguments.
func (o *openCall) end() string {
	if o.reason {
		return `"}`
	}
	return ""
}

// The finish reasons that carryon goes on after, or shows at the end of a continuation.
// An answer also stops to let the program answer its calls, or because it hit one of
// the caller's stop sequences; requests with such are left alone.
const (
	stop      = "STOP"
	maxTokens = "MAX_TOKENS"
	resumable = "CONTINUATION" // the client is to ask for the rest
)

// readFinish reports a finish reason.
func (r *reader) readFinish(raw []byte) {
	r.endOpen()
	if r.turn.pending > 0 {
		r.to.Unknown() // a tool of the provider still runs
	}
	reason := finishWord(raw)
	switch {
	case !r.later || reason == stop || reason == maxTokens:
	case reason == resumable:
		reason = maxTokens
	default:
		r.to.Fail(&endedError{reason})
		if handback.IsRefusal(reason) {
			r.to.Refusal()
		}
		return
	}
	if reason != stop && handback.IsPlainStop(reason) {
		reason += notPlain
	}
	r.to.Finish(reason)
}

// notPlain marks a finish reason that counts as a plain stop in other protocols.
const notPlain = " (not a plain end)"

// finishWord returns the word for a finish reason. Some clients ask for numbers.
func finishWord(raw []byte) string {
	if n, ok := rawjson.Int(raw); ok {
		switch n {
		case 1:
			return stop
		case 2:
			return maxTokens
		}
		return "finish reason " + strconv.Itoa(n)
	}
	if string(raw) == `"STOP"` {
		return stop
	}
	if word := rawjson.TextOf(raw); word != "" {
		return word
	}
	return "no finish reason"
}

// reported returns the error in raw, as Google writes it.
func reported(raw []byte) *wire.ProviderError {
	e := wire.Reported(raw)
	e.Type = rawjson.TextOf(rawjson.Member(raw, "status"))
	for _, detail := range rawjson.Elements(rawjson.Member(raw, "details")) {
		delay, err := time.ParseDuration(rawjson.TextOf(rawjson.Member(detail, "retryDelay")))
		if err == nil && delay > 0 {
			e.RetryAfter = delay
		}
	}
	return e
}
