package chatcompletions

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/firstchoice"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// Read implements [adapter.Dialect].
func (d *dialect) Read(e *sse.Event, t adapter.TurnReader) {
	d.texts.Reset()
	if d.over {
		d.over, d.held = false, new(tokens)
		d.first.BeginContinuation()
	}
	t.Size(len(e.Raw))
	switch kindOf(e) {
	case done:
		d.hasDone = true
		t.Done()
	case failure:
		if raw := rawjson.Member(e.Data(), "error"); raw != nil {
			t.Fail(wire.Reported(raw))
			return
		}
		t.Fail(wire.ErrUnreadable)
	case chunk:
		d.readChunk(e.Data(), t)
	}
}

func (d *dialect) readChunk(json []byte, t adapter.TurnReader) {
	var found [len(envelopeNames)][]byte
	var seen seenMembers
	if d.document != nil {
		d.document.reasoning.SetTurn("")
	}
	s := rawjson.Over(json)
	for name := range s.Members() {
		at := slices.Index(chunkNames, name)
		seen.add(at)
		switch name {
		case "choices":
			d.readChoices(&s, t)
		case "usage":
			if s.Kind() == '{' {
				d.readUsage(s.Raw(), t)
			}
		case "error":
			if raw := s.Raw(); !rawjson.IsNull(raw) {
				t.Fail(wire.Reported(raw))
			}
		default:
			if 0 <= at && at < len(found) {
				found[at] = s.Raw()
			}
		}
	}
	if !s.OK() {
		t.Fail(wire.ErrUnreadable)
	}
	seen.failIfTwice(t)
	if string(found[1]) == `"error"` {
		t.Fail(wire.Reported(json))
	}
	t.Response(rawjson.TextView(found[0]), rawjson.TextView(found[3]))
	d.takeEnvelope(&found, t)
}

// seenMembers is a bit set of the members that were read in an object. An answer must
// not have a member twice that carryon changes: showing the replacement twice
// could make a small answer very large.
type seenMembers struct {
	bits  uint16
	twice bool
}

// add records the i-th member that counts; -1 is none.
func (m *seenMembers) add(i int) {
	if i >= 0 {
		m.twice = m.twice || m.bits&(1<<i) != 0
		m.bits |= 1 << i
	}
}

// failIfTwice fails the turn if an object had a member twice.
func (m *seenMembers) failIfTwice(t adapter.TurnReader) {
	if m.twice {
		t.Fail(wire.ErrUnreadable)
	}
}

func (d *dialect) readChoices(s *rawjson.Scanner, t adapter.TurnReader) {
	for at := range s.Elements() {
		switch {
		case s.Kind() != '{':
		case d.readsFirst(s, at):
			d.readChoice(s, t)
		default:
			d.readOther(s.Raw(), t)
		}
	}
}

// readsFirst reports whether the next choice, which is read now, is the first one of the
// answer.
func (d *dialect) readsFirst(s *rawjson.Scanner, at int) bool {
	if d.document != nil {
		return at == 0
	}
	ends := func() bool { return !rawjson.IsEmpty(s.Peek("finish_reason")) }
	return d.first.Read(choiceIndex(s), func() bool { return saysAnything(s.Peek("delta")) }, ends)
}

// isFirst reports whether the next choice, which was read, is the first one of the answer.
func (d *dialect) isFirst(s *rawjson.Scanner, at int) bool {
	if d.document != nil {
		return at == 0
	}
	return d.first.IsFirst(choiceIndex(s), func() bool { return saysAnything(s.Peek("delta")) })
}

// choiceIndex returns the index of the next choice, 0 if it has none.
func choiceIndex(s *rawjson.Scanner) int {
	index, _ := rawjson.Int(s.Peek("index"))
	return index
}

// saysAnything reports whether a delta has more than a role.
func saysAnything(delta []byte) bool {
	s := rawjson.Over(delta)
	for name := range s.Members() {
		if name != "role" && !rawjson.IsEmpty(s.Raw()) {
			return true
		}
	}
	return false
}

// readOther reads a choice that is not the first. It is shown as it came, so a
// continuation in which it pauses fails: no caller knows that call.
func (d *dialect) readOther(choice []byte, t adapter.TurnReader) {
	calls, pauses := callsOf(choice)
	t.OtherChoice()
	if d.held != nil && pauses && !d.ownPause {
		t.Fail(&adapter.StatusError{Err: errOtherPause, Retry: adapter.Retry{Never: true}})
		return
	}
	if calls {
		t.OtherCall()
	}
}

var errOtherPause = errors.New("transport: another choice of the answer calls todo_pause")

// callsOf reports whether a choice calls a tool, and whether it calls todo_pause.
func callsOf(choice []byte) (calls, pauses bool) {
	for _, name := range []string{"delta", "message"} {
		body := rawjson.Member(choice, name)
		calls = calls || !rawjson.IsNull(rawjson.Member(body, "function_call"))
		s := rawjson.Over(rawjson.Member(body, "tool_calls"))
		for range s.Elements() {
			calls = true
			pauses = pauses || pause.Is(rawjson.TextOf(readCall(&s).name))
		}
	}
	return calls, pauses
}

func (d *dialect) readChoice(s *rawjson.Scanner, t adapter.TurnReader) {
	finish, choice := "", *s
	var seen seenMembers
	for name := range s.Members() {
		switch name {
		case d.body():
			seen.add(0)
			if kind := s.Kind(); kind != '{' && kind != 'n' {
				d.readOdd(t)
			}
			d.readBody(s, t)
		case "finish_reason":
			seen.add(1)
			finish = d.texts.Of(s.Raw())
		case "logprobs":
			if d.document != nil {
				d.document.tokens.turn.add(d, choice.Raw())
			}
		}
	}
	seen.failIfTwice(t)
	t.Finish(finish)
}

func (d *dialect) readBody(s *rawjson.Scanner, t adapter.TurnReader) {
	reasoned := false
	var seen seenMembers
	for name := range s.Members() {
		seen.add(slices.Index(bodyNames[:], name))
		switch name {
		case "content":
			d.readContent(s, t)
		case reasoningNames[0], reasoningNames[1]:
			if text := d.texts.Of(s.Raw()); text != "" && !reasoned {
				reasoned = true // some send it under both names
				d.readReasoning(name, text, t)
			}
		case "refusal":
			if d.texts.Of(s.Raw()) != "" {
				t.Refusal()
			}
		case "tool_calls":
			d.readCalls(s, t)
		case "function_call":
			if !rawjson.IsNull(s.Raw()) {
				t.OtherCall()
			}
		case "audio":
			if !rawjson.IsNull(s.Raw()) {
				t.OtherChoice() // it is not in the text, and cannot be joined
			}
		}
	}
	seen.failIfTwice(t)
}

// bodyNames are the names of a choice's member with the model's message.
var bodyNames = [...]string{"content", reasoningNames[0], reasoningNames[1], "tool_calls"} //nolint:gochecknoglobals // constant

func (d *dialect) readReasoning(name, text string, t adapter.TurnReader) {
	t.Reasoning(text)
	if d.document != nil {
		d.document.reasoningKey = strings.Clone(name)
		d.document.reasoning.SetTurn(strings.Clone(text)) // which is valid until the next turn is read
	}
}

// readContent reads a content, which is a string or a list of parts.
func (d *dialect) readContent(s *rawjson.Scanner, t adapter.TurnReader) {
	switch s.Kind() {
	case '"', 'n':
		t.Text(d.texts.Of(s.Raw()))
		return
	case '[':
	default:
		d.readOdd(t)
		return
	}
	if d.document != nil && !d.envelope.IsFixed() {
		d.document.inParts = true
	}
	for range s.Elements() {
		part := s.Raw()
		if d.texts.Of(rawjson.Member(part, "type")) == "text" {
			t.Text(d.texts.Of(rawjson.Member(part, "text")))
		}
	}
}

// readOdd reports content of a JSON type that the protocol does not have there. Nothing
// can be joined to it, nor can it be joined to anything.
func (d *dialect) readOdd(t adapter.TurnReader) {
	if d.held != nil {
		t.Fail(wire.ErrUnreadable)
		return
	}
	t.Unknown()
}

func (d *dialect) readCalls(s *rawjson.Scanner, t adapter.TurnReader) {
	for at := range s.Elements() {
		c := readCall(s)
		index := at // every call of a whole answer is one of its own
		if d.document == nil {
			index = indexOf(c.index)
		}
		arguments := d.texts.Of(c.arguments)
		if !rawjson.IsString(c.arguments) && !rawjson.IsNull(c.arguments) {
			arguments = rawjson.View(c.arguments) // some send an object
		}
		t.Call(index, d.texts.Of(c.id), d.texts.Of(c.name), arguments)
		d.lastCall = int32(max(min(index, math.MaxInt32), math.MinInt32)) // some send nonsense
	}
}

// toolCall holds the members of a tool call, or of a fragment of one.
type toolCall struct {
	index, id, name, arguments []byte
	more                       bool // it has members beside these and its type
}

// readCall reads the next tool call.
func readCall(s *rawjson.Scanner) toolCall {
	var c toolCall
	for name := range s.Members() {
		switch name {
		case "index":
			c.index = s.Raw()
		case "id":
			c.id = s.Raw()
		case "type":
		case "function", "custom":
			c.readFunction(s)
		default:
			c.more = !rawjson.IsNull(s.Raw()) || c.more
		}
	}
	return c
}

func (c *toolCall) readFunction(s *rawjson.Scanner) {
	for name := range s.Members() {
		switch name {
		case "name":
			c.name = s.Raw()
		case "arguments", "input":
			c.arguments = s.Raw()
		}
	}
}

// indexOf reads the index of a tool call.
func indexOf(raw []byte) int {
	if index, ok := rawjson.Int(raw); ok {
		return index
	}
	return adapter.NoIndex
}

func (d *dialect) readUsage(raw []byte, t adapter.TurnReader) {
	u := usageOf(raw)
	if d.document != nil && u == (adapter.Usage{}) {
		return // it says nothing: an answer costs tokens
	}
	d.SetUsage(raw)
	t.Usage(u)
}

func usageOf(raw []byte) (u adapter.Usage) {
	s := rawjson.Over(raw)
	for name := range s.Members() {
		switch name {
		case "prompt_tokens":
			u.Prompt, _ = wire.Count(s.Raw())
		case "completion_tokens":
			u.Completion, _ = wire.Count(s.Raw())
		case "total_tokens":
			u.Total, _ = wire.Count(s.Raw())
		case "prompt_tokens_details":
			u.Cached, _ = wire.Count(s.Peek("cached_tokens"))
		case "completion_tokens_details":
			u.Reasoning, _ = wire.Count(s.Peek("reasoning_tokens"))
		}
	}
	return u
}

// dialect reads and shows one answer.
type dialect struct {
	wire.Usage

	envelope adapter.Envelope[envelope]
	texts    rawjson.Texts // of the current event
	lastCall int32         // the index of the last tool call, or of the last fragment of one
	hasDone  bool          // a turn has ended with [DONE]
	over     bool          // the turn has ended: what is read next begins another
	ownPause bool          // the caller has a todo_pause of its own
	first    firstchoice.Finder
	held     *tokens   // of a continuation's text; nil in the caller's own turn
	document *document // nil if the answer is streamed
}

// document is the state of an answer that is not streamed.
type document struct {
	inParts      bool   // the first turn's content is a list of parts
	reasoningKey string // the member that has the reasoning
	reasoning    adapter.KeptReasoning
	tokens       keptTokens
}

var _ wire.Codec = (*dialect)(nil)

// EndTurn implements [adapter.Dialect].
func (d *dialect) EndTurn(keep bool) {
	d.envelope.Fix()
	d.lastCall, d.over = adapter.NoIndex, true
	d.Usage.EndTurn(keep)
	if d.document != nil {
		d.document.reasoning.EndTurn(keep)
		d.document.tokens.endTurn(keep)
	}
}

// Clone implements [adapter.Dialect].
func (d *dialect) Clone(e *sse.Event) sse.Event { return e.Clone() }

// body is the name of a choice's member with the model's message.
func (d *dialect) body() string {
	if d.document != nil {
		return "message"
	}
	return "delta"
}

// envelopeNames are the members that are the same in every chunk of an answer.
var envelopeNames = [...]string{"id", "object", "created", "model"} //nolint:gochecknoglobals // constant

// envelope has the first turn's values of these members.
type envelope struct {
	tokens string                    // one behind the other
	ends   [len(envelopeNames)]int32 // where they end; one that is not there is empty
}

// takeEnvelope takes a chunk's values as the envelope, unless the envelope is
// fixed. To values that are large, nothing is joined.
func (d *dialect) takeEnvelope(found *[len(envelopeNames)][]byte, t adapter.TurnReader) {
	if d.envelope.IsFixed() {
		return
	}
	taken := envelope{tokens: rawjson.View(bytes.Join(found[:], nil))}
	end := int32(0)
	for i := range found {
		end += int32(len(found[i])) //nolint:gosec // far smaller than a body may be
		taken.ends[i] = end
	}
	if d.document == nil && len(taken.tokens) > wire.MaxRepeated {
		t.Unknown()
		return
	}
	id := found[0]
	d.envelope.Take(taken, !rawjson.IsNull(id) && string(id) != `""`)
}

// token returns one of the values, or nothing.
func (v *envelope) token(i int) string {
	from := int32(0)
	if i > 0 {
		from = v.ends[i-1]
	}
	return v.tokens[from:v.ends[i]]
}

// kind is the kind of an event in this protocol.
type kind uint8

const (
	nonData kind = iota // nothing that the protocol knows
	chunk
	done    // [DONE]
	failure // an error, or what cannot be read
)

const doneMark = "[DONE]"

func kindOf(e *sse.Event) kind {
	switch {
	case e.Kind == sse.Text && bytes.HasPrefix(e.Data(), []byte(doneMark)):
		return done
	case e.Kind == sse.Broken, string(e.Name()) == "error":
		return failure
	case e.Kind == sse.Object:
		return chunk
	}
	return nonData
}

// The roles of the values that vary between chunks.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
	roleUsage
)

// Classify implements [wire.Codec]. A chunk that adds text, reasoning or the
// arguments of the last tool call, and nothing else, may be relayed.
func (d *dialect) Classify(name, data []byte, v *wire.Values) bool {
	if !d.envelope.IsFixed() || string(name) == "error" {
		return false
	}
	c := classifier{values: v, call: adapter.NoIndex, ok: true}
	c.chunk(data)
	return c.ok && c.adds && (c.call == adapter.NoIndex || c.call == int(d.lastCall))
}

// Observe implements [wire.Codec].
func (d *dialect) Observe(role wire.Role, value []byte, r wire.Relay) {
	switch role {
	case roleText:
		r.Text(rawjson.View(value))
	case roleReasoning:
		r.Reasoning(rawjson.View(value))
	case roleUsage:
		d.SetUsage(value)
		r.Usage(usageOf(value))
	}
}

// classifier classifies a chunk.
type classifier struct {
	values *wire.Values
	call   int  // the index of the tool call that the arguments belong to
	adds   bool // text, reasoning, or arguments
	ok     bool // and nothing else

	has [roleUsage]bool // text, reasoning
}

// require adds a condition that every relayed chunk must meet.
func (c *classifier) require(ok bool) { c.ok = c.ok && ok }

// value reads a value that varies between chunks. It must start with the byte
// begin, or be empty.
func (c *classifier) value(s *rawjson.Scanner, begin byte, r wire.Role) {
	kind, raw := s.Kind(), s.Raw()
	c.require(kind == begin && c.values.Add(s.At()-len(raw), s.At(), r) || kind != begin && rawjson.IsEmpty(raw))
}

// empty reads a value that must be empty.
func (c *classifier) empty(s *rawjson.Scanner) { c.require(rawjson.IsEmpty(s.Raw())) }

func (c *classifier) chunk(json []byte) {
	s := rawjson.Over(json)
	c.require(s.Kind() == '{')
	for name := range s.Members() {
		switch name {
		case "choices":
			c.choices(&s)
		case "usage":
			c.value(&s, '{', roleUsage)
		case "obfuscation":
			c.value(&s, s.Kind(), wire.Ignored)
		case "error":
			c.require(rawjson.IsNull(s.Raw()))
		case "object":
			c.require(string(s.Raw()) != `"error"`)
		}
	}
	c.require(s.OK() && s.At() == len(json))
}

// choices accepts a single choice, with index 0.
func (c *classifier) choices(s *rawjson.Scanner) {
	c.require(!c.adds)
	for i := range s.Elements() {
		c.require(i == 0)
		for name := range s.Members() {
			switch name {
			case "index":
				c.require(string(s.Raw()) == "0")
			case "delta":
				c.delta(s)
			case "message": // what was said so far
				c.value(s, s.Kind(), wire.Ignored)
			case "finish_reason":
				c.empty(s)
			}
		}
	}
}

func (c *classifier) delta(s *rawjson.Scanner) {
	for name := range s.Members() {
		switch name {
		case "content":
			c.says(s, roleText)
		case reasoningNames[0], reasoningNames[1]:
			c.says(s, roleReasoning)
		case "tool_calls":
			c.calls(s)
		case "role":
		default:
			c.empty(s)
		}
	}
}

// says reads a string that adds text or reasoning. A chunk may have only one.
func (c *classifier) says(s *rawjson.Scanner, r wire.Role) {
	if c.has[r] || s.Kind() != '"' {
		c.empty(s)
		return
	}
	c.has[r], c.adds = true, true
	c.value(s, '"', r)
}

// calls accepts a fragment of one call that adds only to its arguments.
func (c *classifier) calls(s *rawjson.Scanner) {
	if s.Kind() != '[' {
		c.empty(s)
	}
	for i := range s.Elements() {
		c.require(i == 0)
		for name := range s.Members() {
			switch name {
			case "index":
				c.call = indexOf(s.Raw())
			case "function":
				c.function(s)
			case "type":
			default:
				c.empty(s)
			}
		}
		c.require(c.call != adapter.NoIndex)
	}
}

func (c *classifier) function(s *rawjson.Scanner) {
	for name := range s.Members() {
		if name != "arguments" {
			c.empty(s)
			continue
		}
		c.adds = true
		c.value(s, '"', wire.Ignored)
	}
}
