package transport

import (
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// Read implements [middleware.Dialect].
func (d *wire) Read(e *event, s *middleware.Sink) {
	d.scratch = d.scratch[:0]
	s.Size(len(e.raw))
	switch e.kind {
	case done:
		d.ended = true
		s.Done()
	case failure:
		if raw := member(e.json(), "error"); raw != nil {
			s.Fail(reported(raw))
			return
		}
		s.Fail(ErrUnreadable)
	case chunk:
		d.readChunk(e.json(), s)
	case filler:
	}
}

func (d *wire) readChunk(json []byte, sink *middleware.Sink) {
	s := rawjson.Over(json)
	var found [len(envelopeNames)][]byte
	if d.extra != nil {
		d.extra.pending = ""
	}
	for s.Open('{'); s.Member(); {
		switch key := s.Key(); string(key) {
		case "choices":
			d.readChoices(&s, sink)
		case "usage":
			if s.Kind() == '{' {
				d.readUsage(s.Raw(), sink)
			} else {
				s.Skip()
			}
		case "error":
			if raw := s.Raw(); !rawjson.IsNull(raw) {
				sink.Fail(reported(raw))
			}
		default:
			raw := s.Raw()
			if i := d.envelope.at(key); i >= 0 {
				found[i] = raw
			}
		}
	}
	if !s.OK() {
		sink.Fail(ErrUnreadable)
	}
	if string(found[1]) == `"error"` {
		sink.Fail(reported(json))
	}
	if !d.envelope.anchored {
		d.envelope.anchor(&found)
	}
}

func (d *wire) readChoices(s *rawjson.Scanner, sink *middleware.Sink) {
	if !s.Open('[') {
		return
	}
	for at := 0; s.Element(); at++ {
		switch {
		case s.Kind() != '{':
			s.Skip()
		case d.isFirst(*s, at):
			d.readChoice(s, sink)
		default:
			sink.OtherChoice()
			if callsTool(s.Raw()) {
				sink.OtherCall()
			}
		}
	}
}

// isFirst reports whether the choice that comes next is the first one of the
// answer. In a chunk, its index says so, and one without an index is.
func (d *wire) isFirst(s rawjson.Scanner, at int) bool {
	if d.whole {
		return at == 0
	}
	index := peek(s, "index")
	return rawjson.IsNull(index) || string(index) == "0"
}

// peek returns the member of the object that comes next, or nil. It has a
// scanner of its own, so that the caller's stays where it is.
func peek(s rawjson.Scanner, name string) []byte {
	for s.Open('{'); s.Member(); {
		if string(s.Key()) == name {
			return s.Raw()
		}
		s.Skip()
	}
	return nil
}

// callsTool reports whether a choice calls a tool.
func callsTool(choice []byte) bool {
	for _, name := range []string{"delta", "message"} {
		body := member(choice, name)
		calls := member(body, "tool_calls")
		if len(elements(calls)) > 0 || !rawjson.IsNull(member(body, "function_call")) {
			return true
		}
	}
	return false
}

// body is the member of a choice that has what the model says.
func (d *wire) body() string {
	if d.whole {
		return "message"
	}
	return "delta"
}

func (d *wire) readChoice(s *rawjson.Scanner, sink *middleware.Sink) {
	finish := ""
	for s.Open('{'); s.Member(); {
		switch string(s.Key()) {
		case d.body():
			d.readBody(s, sink)
		case "finish_reason":
			finish = d.text(s.Raw())
		default:
			s.Skip()
		}
	}
	sink.Finish(finish)
}

func (d *wire) readBody(s *rawjson.Scanner, sink *middleware.Sink) {
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	reasoned := false
	for s.Open('{'); s.Member(); {
		switch key := s.Key(); string(key) {
		case "content":
			d.readContent(s, sink)
		case reasoningNames[0], reasoningNames[1]:
			if text := d.text(s.Raw()); text != "" && !reasoned {
				reasoned = true // some send it under both names
				d.readReasoning(key, text, sink)
			}
		case "refusal":
			if d.text(s.Raw()) != "" {
				sink.Refusal()
			}
		case "tool_calls":
			d.readCalls(s, sink)
		case "function_call":
			if !rawjson.IsNull(s.Raw()) {
				sink.OtherCall()
			}
		case "audio":
			if !rawjson.IsNull(s.Raw()) {
				sink.OtherChoice() // it is not in the text, so that it can't be joined
			}
		default:
			s.Skip()
		}
	}
}

func (d *wire) readReasoning(name []byte, text string, sink *middleware.Sink) {
	sink.Reasoning(text)
	if d.whole {
		d.known().reasonKey, d.extra.pending = string(name), strings.Clone(text) // which is valid until the next turn is read
	}
}

// readContent reads a content, which is a string or a list of parts.
func (d *wire) readContent(s *rawjson.Scanner, sink *middleware.Sink) {
	if s.Kind() != '[' {
		sink.Text(d.text(s.Raw()))
		return
	}
	if d.whole && !d.envelope.anchored {
		d.known().listed = true
	}
	for s.Open('['); s.Element(); {
		part := s.Raw()
		if d.text(member(part, "type")) == "text" {
			sink.Text(d.text(member(part, "text")))
		}
	}
}

func (d *wire) readCalls(s *rawjson.Scanner, sink *middleware.Sink) {
	if !s.Open('[') {
		return
	}
	for at := 0; s.Element(); at++ {
		c := readCall(s)
		index := at // every call of a whole answer is one of its own
		if !d.whole {
			index = indexOf(c.index)
		}
		arguments := d.text(c.arguments)
		if !rawjson.IsString(c.arguments) && !rawjson.IsNull(c.arguments) {
			arguments = view(c.arguments) // some send an object
		}
		sink.Call(index, d.text(c.id), d.text(c.name), arguments)
		d.called = index
	}
}

// toolCall is a tool call, or a fragment of one, as it stands in a chunk.
type toolCall struct {
	index, id, kind, name, arguments []byte
	more                             bool // it has members beside these
}

// readCall reads the tool call that comes next.
func readCall(s *rawjson.Scanner) toolCall {
	var c toolCall
	if s.Kind() != '{' {
		s.Skip()
		return c
	}
	for s.Open('{'); s.Member(); {
		switch string(s.Key()) {
		case "index":
			c.index = s.Raw()
		case "id":
			c.id = s.Raw()
		case "type":
			c.kind = s.Raw()
		case "function", "custom":
			c.readFunction(s)
		default:
			c.more = !rawjson.IsNull(s.Raw()) || c.more
		}
	}
	return c
}

func (c *toolCall) readFunction(s *rawjson.Scanner) {
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	for s.Open('{'); s.Member(); {
		switch string(s.Key()) {
		case "name":
			c.name = s.Raw()
		case "arguments", "input":
			c.arguments = s.Raw()
		default:
			s.Skip()
		}
	}
}

// indexOf reads the index of a tool call.
func indexOf(raw []byte) int {
	if rawjson.IsNull(raw) {
		return middleware.NoIndex
	}
	index, err := strconv.Atoi(view(raw))
	if err != nil {
		return middleware.NoIndex
	}
	return index
}

func (d *wire) readUsage(raw []byte, sink *middleware.Sink) {
	u := usageOf(raw)
	if d.whole && u == (middleware.Usage{}) {
		return // it says nothing: an answer costs tokens
	}
	d.noteUsage(raw)
	sink.Usage(u)
}

func usageOf(raw []byte) middleware.Usage {
	var u middleware.Usage
	s := rawjson.Over(raw)
	for s.Open('{'); s.Member(); {
		switch string(s.Key()) {
		case "prompt_tokens":
			u.Prompt = count(s.Raw())
		case "completion_tokens":
			u.Completion = count(s.Raw())
		case "total_tokens":
			u.Total = count(s.Raw())
		default:
			s.Skip()
		}
	}
	return u
}

// count reads a number of tokens.
func count(raw []byte) int {
	if n, err := strconv.Atoi(view(raw)); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(view(raw), 64)
	return int(f)
}
