// Package wire has the common parts of the wire protocols, and the interface that each of them implements in a package
// of its own. It knows JSON and server-sent events, but neither net/http nor the engine.
//
// A protocol edits bytes and translates nothing: everything that carryon does not
// edit keeps its place and its spelling.
package wire

import (
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/todo"
)

// Protocol is a wire protocol. Its methods may be called by any number of
// goroutines.
type Protocol interface {
	// Match reports whether a POST request to the URL may belong to the protocol.
	Match(u *url.URL) bool
	// Parse reads the body of a request to the URL, and returns everything that the engine must know about it, except
	// Attachable.
	// The History and the ToolNames that it returns re-read the body from source when called; the Loop
	// reads body. Parse reports false if the request is not of the protocol; it then passes untouched.
	Parse(u *url.URL, body []byte, source Body) (adapter.Request, Request, bool)
}

// Translator is a [Protocol] in which a request may refer to a joined answer by an id that means something else to the
// server. It translates such requests, whether or not carryon continues their answers. An id has its meaning for the
// caller who was shown it, and for nobody else.
type Translator interface {
	// For returns the protocol for the requests of one caller. The function adds the texts that tell the caller from
	// others, which are hashed and not stored.
	For(caller func(add func(text string))) Protocol
	// Translates reports whether any request may need translation.
	Translates() bool
	// Translate returns the body that the server must get, or nil if that is the body itself.
	Translate(body []byte) []byte
}

// MaxRepeated is how many bytes of an answer, such as its id, carryon writes into each of the later chunks. More would
// make a small answer very large, so it is not joined.
const MaxRepeated = 4 << 10

// Body is the body of a request. It is available until the call ends.
type Body interface {
	// Bytes returns the body. The caller must not change it.
	Bytes() ([]byte, error)
}

// Request is a parsed request, as its protocol needs it to read the answer. It keeps no part of the body, which may be
// large.
type Request interface {
	// Stream reports whether the request asks for a stream.
	Stream() bool
	// Attachable returns the function of that name in [adapter.Request]. It
	// reads the body from source when it is first called.
	Attachable(source Body) func(message int) (text string, ok bool)
	// Add returns the body with carryon's additions to the caller's own request.
	Add(body []byte, a *adapter.Additions) []byte
	// Continue returns the body of a continuation's request.
	Continue(body []byte, k *adapter.Continuation) []byte
	// NewCodec returns the codec for the answer, if it is streamed.
	NewCodec() Codec
	// NewDialect returns the dialect for the answer, if it is not streamed. The answer of each turn is one event; see
	// [sse.Document].
	NewDialect() adapter.Dialect[sse.Event]
	// Refusal returns the error in the body of an answer whose status is not
	// 200, or nil if there is none. The body may be cut off.
	Refusal(body []byte) error
}

// Codec reads and shows the events of one streamed answer. It is a dialect that also says which events of the caller's
// own turn may be relayed unread.
type Codec interface {
	adapter.Dialect[sse.Event]
	adapter.Heartbeat[sse.Event]

	// Classify reports whether an event may be relayed: it does not end the turn, and a continuation needs only its
	// values. Classify adds to v the values that vary from event to event. An event that differs only in these values,
	// and has values of the same JSON types, may be relayed too. No event may be relayed before the codec has read the
	// first turn's id, which Classify may do itself.
	//
	// The data is one line, and need not be JSON.
	Classify(name, data []byte, v *Values) bool
	// Observe reports a value of a relayed event to r, by its role: the text of a string, or the JSON of any other
	// value. The value is valid until Observe returns.
	Observe(role Role, value []byte, r Relay)
}

// Holder is a [Codec] that delays some events of the caller's own turn that the engine shows unchanged, because a
// continuation would change them.
type Holder interface {
	// Hold takes such an event. After that, Next returns the events to show now.
	Hold(e sse.Event)
	// Release makes Next return all events that are held, at the end of the stream.
	Release()
	// Next returns the next event to show, if there is one. It is valid until the
	// next Hold.
	Next() (sse.Event, bool)
	// IsHolding reports whether any events are held. Nothing may be relayed before them.
	IsHolding() bool
}

// sideCalls are the signs of side calls, which are not part of an agent's work. Such a
// request has the conversation and all of its tools, so that it hits the provider's
// cache.
type sideCalls struct {
	prompts []agents.Fact
	headers []string
	members []string // the same in lower case
	marks   []agents.Mark

	subMarks, subHeads []agents.Mark // of what is not of the main conversation, such as a sub-agent's
}

var knownSideCalls = sync.OnceValue(func() *sideCalls { //nolint:gochecknoglobals // facts, put together once
	k := &sideCalls{
		prompts: agents.Collect(func(a *agents.Agent) []agents.Fact { return a.SideCalls }),
		marks:   agents.Collect(func(a *agents.Agent) []agents.Mark { return a.SideMarks }),

		subMarks: agents.Collect(func(a *agents.Agent) []agents.Mark { return a.SubMarks }),
		subHeads: agents.Collect(func(a *agents.Agent) []agents.Mark { return a.SubHeads }),
	}
	for _, h := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Metadata }) {
		k.headers, k.members = append(k.headers, h.Text), append(k.members, strings.ToLower(h.Text))
	}
	return k
})

// IsSideCall reports whether text, the last message of a request and the
// user's, is the prompt of a side call. The answer to a side call is not a turn
// of the work.
func IsSideCall(text string) bool {
	for i := range knownSideCalls().prompts {
		if strings.HasPrefix(text, knownSideCalls().prompts[i].Text) {
			return true
		}
	}
	return false
}

var knownNudges = sync.OnceValue(func() []agents.Fact { //nolint:gochecknoglobals // the same
	return agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Nudges })
})

// IsNudge reports whether an agent of the protocol's own may have written text, a message
// with the role of the user that tells the model to go on. Users of other agents write the
// same.
func IsNudge(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(knownNudges(), func(f agents.Fact) bool { return f.Text == text })
}

// HasSideHeader reports whether a header of a request, which get returns by its name, says
// that it is a side call.
func HasSideHeader(get func(name string) string) bool {
	return headerHas(get, knownSideCalls().marks)
}

// headerHas reports whether what a request says about itself in a header has one of the
// marks.
func headerHas(get func(name string) string, marks []agents.Mark) bool {
	for _, name := range knownSideCalls().headers {
		if text := get(name); text != "" && hasMark([]byte(text), marks) {
			return true
		}
	}
	return false
}

// HasSubHeader reports whether a header of a request, which get returns by its name, says
// that it is not of the main conversation: a sub-agent sends it, for example.
func HasSubHeader(get func(name string) string) bool {
	for i := range knownSideCalls().subHeads {
		m := &knownSideCalls().subHeads[i]
		if value := get(m.Member); value != "" && (m.Value == "" || m.Value == value) {
			return true
		}
	}
	return headerHas(get, knownSideCalls().subMarks)
}

// HasSideMetadata reports whether the client_metadata of a request says that it is a side
// call.
func HasSideMetadata(metadata []byte) bool { return metadataHas(metadata, knownSideCalls().marks) }

// HasSubMetadata reports whether the client_metadata of a request says that a sub-agent
// sends it.
func HasSubMetadata(metadata []byte) bool {
	return metadataHas(metadata, knownSideCalls().subMarks)
}

func metadataHas(metadata []byte, marks []agents.Mark) bool {
	for _, name := range knownSideCalls().members {
		if raw := rawjson.Member(metadata, name); rawjson.IsString(raw) {
			text, _ := rawjson.Text(raw, nil)
			if hasMark(text, marks) {
				return true
			}
		}
	}
	return false
}

// hasMark reports whether what a request says about itself has one of the marks.
func hasMark(object []byte, marks []agents.Mark) bool {
	for i := range marks {
		m := &marks[i]
		if rawjson.TextOf(rawjson.Member(object, m.Member)) == m.Value {
			return true
		}
	}
	return false
}

// List says where a list stands in the body of a request, such as the list of its messages. A body is read several times
// in a call, and a long list takes a while. The zero value is an empty list.
type List struct {
	at   uint32    // where the list begins; 0 if there is none
	long *[]uint32 // where the elements of a long list begin; nil for any other list
}

// Lists of more than minLong and fewer than maxLong elements are long. Shorter ones are quickly read again, and the
// positions in longer ones take memory.
const (
	minLong = 32
	maxLong = 1 << 16
)

// Begin records where the list is: it is the next value in s.
func (l *List) Begin(s *rawjson.Scanner) {
	s.Kind()
	*l = List{at: uint32(s.At())} //nolint:gosec // no body is that long
}

// Elements records where the list and its elements are, and yields their indexes, as [rawjson.Scanner.Elements] does.
func (l *List) Elements(s *rawjson.Scanner) iter.Seq[int] {
	l.Begin(s)
	return func(yield func(i int) bool) {
		var room [minLong]uint32
		starts := room[:0]
		for i := range s.Elements() {
			if i < maxLong {
				s.Kind()
				starts = append(starts, uint32(s.At())) //nolint:gosec // no body is that long
			}
			if !yield(i) {
				return
			}
		}
		if n := len(starts); minLong < n && n < maxLong {
			kept := slices.Clone(starts)
			l.long = &kept
		}
	}
}

// starts returns where the elements begin. A string is its own element.
func (l *List) starts(body []byte) (all []uint32) {
	switch {
	case l.long != nil:
		return *l.long
	case l.at == 0:
		return nil
	}
	s := rawjson.From(body, int(l.at))
	if s.Kind() == '"' {
		return []uint32{l.at}
	}
	for range s.Elements() {
		s.Kind()
		all = append(all, uint32(s.At())) //nolint:gosec // no body is that long
	}
	return all
}

// Attachable returns the function of that name in [adapter.Request]. read reads an element.
func (l *List) Attachable(b Body, read func(element rawjson.Scanner) (text string, ok bool)) func(int) (string, bool) {
	var body []byte
	var starts []uint32
	return func(i int) (string, bool) {
		if body == nil {
			var err error
			if body, err = b.Bytes(); err != nil {
				return "", false
			}
			starts = l.starts(body)
		}
		if i >= len(starts) {
			return "", false
		}
		return read(rawjson.From(body, int(starts[i])))
	}
}

// Append adds elements to the array that is next in s, which it skips. If that is this list, it does not read the others.
func (l *List) Append(e *rawjson.Edits, s *rawjson.Scanner, elements ...[]byte) {
	s.Kind()
	if l.long == nil || s.At() != int(l.at) {
		e.Append(s, elements...)
		return
	}
	starts := *l.long
	e.AppendAfter(s, int(starts[len(starts)-1]), elements...)
}

// Walk is a walk through a list of messages, from the last one, that yields what [adapter.Request].History does.
type Walk struct {
	adapter.HistoryWalk

	Results adapter.ToolResults[[]byte] // of calls that are still to come
}

// Walk yields the entries of a request's history, or none if the body cannot be read. pass passes an element to the walk,
// and reports whether it goes on.
func (l *List) Walk(b Body, yield func(adapter.Entry) bool, pass func(w *Walk, element rawjson.Scanner) bool) {
	body, err := b.Bytes()
	if err != nil {
		return
	}
	w := Walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
	for _, at := range slices.Backward(l.starts(body)) {
		if !pass(&w, rawjson.From(body, int(at))) {
			return
		}
	}
}

// PassUser passes a message of the user. Its content is a string or a list of parts, for which textOf returns the text.
// A string is not copied: long histories hold many, and few are more than looked at.
func (w *Walk) PassUser(content []byte, textOf func(parts []byte) string) bool {
	if rawjson.IsString(content) {
		return w.User(rawjson.TextView(content), nil)
	}
	return w.User(textOf(content), TextsIn(content))
}

// PassCall passes a tool call with its result: the newest one of the first key that has any. textOf returns the text of a
// result.
func (w *Walk) PassCall(id, name, arguments string, textOf func(result []byte) string, keys ...string) bool {
	c := todo.Call{ID: id, Name: name, Arguments: arguments}
	for _, key := range keys {
		if result, ok := w.Results.Take(key); ok {
			c.Answered, c.Result = true, textOf(result)
			break
		}
	}
	return w.Call(c)
}

// TextsIn yields the texts in a list of a message's parts, the last one first.
func TextsIn(parts []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(rawjson.Elements(parts)) {
			if text := rawjson.Member(part, "text"); rawjson.IsString(text) && !yield(rawjson.TextOf(text)) {
				return
			}
		}
	}
}

// TextOrJSON returns the text of a string, or the JSON of any other value.
func TextOrJSON(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	return string(raw)
}

// TakesText reports whether text can be added to a content, which is a string or a list of parts.
func TakesText(content []byte) bool {
	s := rawjson.Over(content)
	return s.Kind() == '"' || s.Open('[') && s.Element()
}
