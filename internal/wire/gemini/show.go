package gemini

import (
	"bytes"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// show shows the chunks of one answer.
type show struct {
	usages

	wrapped  bool // chunks are members of another object
	later    bool // the first turn has ended
	envelope envelope
	turn     shownTurn          // the current one, as it is shown
	paused   bool               // the last turn that was kept has called todo_pause, and nothing else
	runs     bool               // code was shown that the provider runs, and not its result
	counted  adapter.UsageShown // which usage a turn that has failed was shown with; UsageHidden if none was
	held     *shownChunk        // it waits for the finish, or for what follows it; nil if there is none
}

// envelope has the members of the first turn's chunks that each chunk has.
type envelope struct{ response, model, created, trace []byte }

// take takes the envelope from a chunk of the first turn.
func (v *envelope) take(c *chunk, later bool) {
	if later || v.response != nil {
		return
	}
	keep := func(own *[]byte, raw []byte) {
		if *own == nil && !rawjson.IsNull(raw) {
			*own = bytes.Clone(raw)
		}
	}
	s := rawjson.Over(c.body)
	for name := range s.Members() {
		switch name {
		case "responseId":
			keep(&v.response, s.Raw())
		case "modelVersion":
			keep(&v.model, s.Raw())
		case "createTime":
			keep(&v.created, s.Raw())
		}
	}
	keep(&v.trace, rawjson.Member(c.outer, "traceId"))
}

// size returns how many bytes the members have.
func (v *envelope) size() int { return len(v.response) + len(v.model) + len(v.created) + len(v.trace) }

// shownTurn is a turn as it is shown.
type shownTurn struct {
	open      bool // a call comes in pieces
	pause     bool // the open call is a todo_pause
	hiding    bool // the open call is left out
	dropped   bool // a todo_pause was left out
	called    bool // another call was shown
	counted   adapter.UsageShown
	choice    choice
	signature []byte // of a todo_pause that was left out, for the next call
}

// endTurn ends a turn.
func (s *show) endTurn(keep bool) {
	// The counts of a turn that has failed stay, if clients have seen them: output never
	// becomes less from chunk to chunk.
	s.EndTurn(keep || s.turn.counted != adapter.UsageHidden)
	if keep {
		s.paused, s.runs = s.turn.dropped && !s.turn.called, false
	} else if s.turn.counted != adapter.UsageHidden {
		s.counted = s.turn.counted
	}
	s.later, s.turn = true, shownTurn{}
}

// shownChunk is a chunk that is shown.
type shownChunk struct {
	source  *chunk // what it is made of; nil for nothing
	parts   [][]byte
	finish  []byte // nil for none
	message bool   // the source's message on its finish stays
	extras  bool   // so do its notes to the content
	usage   []byte // nil for the source's own
}

// emptyText is the part of a chunk that has none of its own. Clients drop a turn with a
// chunk that has no parts.
const emptyText = `{"text":""}`

// appendWhole shows a chunk without its finish, which is shown at the end of the
// answer. A chunk with which nothing is shown is left out. One with a call waits for its
// finish: a later chunk would come between the call and its result in the history of
// clients that keep each chunk's content as it came.
func (s *show) appendWhole(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	dst = s.flush(dst)
	c := parse(e, s.wrapped)
	switch {
	case c == nil && !s.later && e.Kind != sse.NonData:
		return append(dst, *e)
	case c == nil, s.later && (c.bare || !s.turn.choice.takes(c)):
		return dst
	case c.finish != nil: // it may have to wait
		clone := e.Clone()
		c = parse(&clone, s.wrapped)
	}
	w := partWriter{show: s, edit: edit}
	w.write(c)
	dst = s.appendGroups(dst, c, &w)
	if c.finish != nil && w.called {
		return dst
	}
	return s.flush(dst)
}

// appendGroups shows the parts of a chunk, and holds the last of its groups.
func (s *show) appendGroups(dst []sse.Event, c *chunk, w *partWriter) []sse.Event {
	if len(w.parts) == 0 && len(w.groups) == 0 && !c.extras {
		return dst
	}
	for _, group := range append(w.groups, w.parts) {
		dst = s.flush(dst)
		s.held = &shownChunk{source: c, parts: group, extras: true}
		if s.later && c.usage != nil {
			s.held.usage, s.turn.counted = s.shown(w.edit.Totals), w.edit.Totals
		}
	}
	return dst
}

// appendSynthetic shows a text that has no chunk, or the finish of the answer. A text
// waits for what follows: the notice of a pause stands in the chunk with the finish.
func (s *show) appendSynthetic(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	usage := s.shown(edit.Totals)
	if edit.Text != "" {
		if s.held == nil {
			s.held = new(shownChunk)
		}
		s.held.parts = append(s.held.parts, textPart(edit.Text))
		s.held.usage = usage
	}
	word := strings.TrimSuffix(edit.FinishOr(stop), notPlain)
	if word == "" {
		return dst
	}
	c := parse(e, s.wrapped)
	if c != nil && c.candidate == nil {
		c = nil
	}
	last := s.held
	switch {
	case last == nil:
		last = &shownChunk{source: c}
	case last.source == nil:
		last.source = c
	}
	last.finish = rawjson.Quote(word)
	if c != nil && finishWord(c.finish) == word {
		last.finish, last.message = c.finish, !s.paused
	}
	last.usage = usage
	if edit.Usage == adapter.UsageOwn {
		last.usage = nil
		if s.counted != adapter.UsageHidden {
			last.usage = s.shown(s.counted)
		}
	}
	s.held = last
	return s.flush(dst)
}

// appendError shows the provider's report of an error.
func (s *show) appendError(dst []sse.Event, e *sse.Event) []sse.Event {
	c := parse(e, s.wrapped)
	if c == nil || rawjson.IsNull(c.failure) {
		return dst
	}
	return append(dst, sse.Written("", c.outer, sse.Object))
}

// cut ends what a failed turn has left open: code of which no result has come has
// failed. A call stays open: half a call must not look whole.
func (s *show) cut(dst []sse.Event) []sse.Event {
	dst = s.flush(dst)
	if !s.runs {
		return dst
	}
	s.runs = false
	s.held = &shownChunk{parts: [][]byte{[]byte(failedCode)}, usage: s.shown(s.counted)}
	return s.flush(dst)
}

// failedCode is the result of code that has failed.
const failedCode = `{"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":""}}`

// recounted returns an event of turn 1 that ends the answer after a failed turn, with the
// usage that clients have seen last.
func (s *show) recounted(e sse.Event) sse.Event {
	c := parse(&e, s.wrapped)
	if c == nil || c.usage == nil || s.counted == adapter.UsageHidden {
		return e
	}
	body := rawjson.With(c.body, rawjson.Set("usageMetadata", s.shown(s.counted)))
	if s.wrapped {
		body = rawjson.With(c.outer, rawjson.Set("response", body))
	}
	return sse.Written("", body, sse.Object)
}

// flush shows the chunk that waits.
func (s *show) flush(dst []sse.Event) []sse.Event {
	if s.held == nil {
		return dst
	}
	if len(s.held.parts) == 0 {
		s.held.parts = [][]byte{[]byte(emptyText)}
	}
	dst = append(dst, sse.Written("", s.data(s.held), sse.Object))
	s.held = nil
	return dst
}

// data returns the data of a chunk.
func (s *show) data(c *shownChunk) []byte {
	var source chunk
	var own []rawjson.Change // of a chunk that is made of nothing
	if c.source != nil {
		source = *c.source
	} else {
		own = []rawjson.Change{rawjson.Set("index", []byte("0"))}
	}
	changes := append(make([]rawjson.Change, 0, rawjson.FewChanges), rawjson.Set("candidates", inList(c.changedCandidate(&source, own...))))
	if c.usage != nil {
		changes = append(changes, rawjson.Set("usageMetadata", c.usage))
	}
	moved := s.later || c.source == nil
	if moved {
		changes = append(changes, rawjson.Set("modelVersion", s.envelope.model), rawjson.Set("createTime", s.envelope.created), rawjson.Set("responseId", s.envelope.response))
	}
	body := rawjson.With(source.body, changes...)
	if !s.wrapped {
		return body
	}
	outer := rawjson.With(source.outer, rawjson.Set("response", body))
	if moved {
		outer = rawjson.With(outer, rawjson.Set("traceId", s.envelope.trace))
	}
	return outer
}

// changedCandidate returns the candidate of a chunk as it is shown.
func (c *shownChunk) changedCandidate(source *chunk, more ...rawjson.Change) []byte {
	parts := rawjson.Set("parts", inList(bytes.Join(c.parts, []byte{','})))
	role := rawjson.Member(source.content, "role")
	if rawjson.IsEmpty(role) {
		role = []byte(`"model"`)
	}
	content := rawjson.With(source.content, parts, rawjson.Set("role", role))
	changes := append(more, rawjson.Set("content", content), rawjson.Set("finishReason", c.finish), rawjson.Replace("index", []byte("0")), rawjson.Remove("continuationToken"))
	if !c.message {
		changes = append(changes, rawjson.Remove("finishMessage"))
	}
	if !c.extras {
		changes = append(changes, rawjson.Remove("groundingMetadata"), rawjson.Remove("citationMetadata"), rawjson.Remove("urlContextMetadata"))
	}
	return rawjson.With(source.candidate, changes...)
}

// inList returns a list of the elements, which are separated by commas.
func inList(elements []byte) []byte { return slices.Concat([]byte{'['}, elements, []byte{']'}) }

// partWriter writes the parts of a chunk that are shown.
type partWriter struct {
	show   *show
	edit   *adapter.Edit
	parts  [][]byte
	groups [][][]byte // parts that go into chunks of their own, before those in parts
	calls  int        // how many calls the reader has reported of the chunk so far
	called bool       // one was written
	texts  textEdit
	reason string // the separator before the chunk's own reasoning; "" once it was written
}

// write writes the parts of a chunk.
func (w *partWriter) write(c *chunk) {
	w.texts, w.reason = textEditOf(c, w.edit.Text), w.edit.ReasoningSeparator
	for i := range c.parts {
		switch p := &c.parts[i]; p.kind {
		case plain:
			w.text(p)
		case thought:
			w.thought(p)
		case call:
			w.call(p)
		case empty:
			if p.signature != nil {
				w.add(p.raw)
			}
		case code:
			w.show.runs = rawjson.Member(p.raw, "executableCode") != nil
			w.add(p.raw)
		case serverCall, serverResult, unknown:
			w.add(p.raw)
		}
	}
	if rest := w.texts.before + w.texts.instead; rest != "" { // there was no text to put it into
		w.add(textPart(rest))
	}
}

func (w *partWriter) add(part []byte) { w.parts = append(w.parts, part) }

// text writes a text. A text that was left out leaves its signature, in a chunk of its
// own: some clients drop a turn that has an empty text beside other parts.
func (w *partWriter) text(p *part) {
	before, own, shown := w.texts.next(rawjson.TextOf(p.text))
	switch {
	case shown == "" && p.signature == nil: // nor is anything before it: that goes before a text that is shown
	case shown == "" && own != "":
		w.split()
		w.add(rawjson.With(p.raw, rawjson.Replace("text", []byte(`""`))))
		w.split()
	case p.signature != nil && before != "":
		w.add(textPart(before))
		w.add(w.withText(p, own, shown))
	default:
		w.add(w.withText(p, own, before+shown))
	}
}

// withText returns a part with another text.
func (w *partWriter) withText(p *part, own, shown string) []byte {
	if own == shown {
		return p.raw
	}
	return rawjson.With(p.raw, rawjson.Replace("text", rawjson.Quote(shown)))
}

// split begins another chunk.
func (w *partWriter) split() {
	if len(w.parts) > 0 {
		w.groups = append(w.groups, w.parts)
	}
	w.parts = nil
}

// thought writes what the model wrote for itself.
func (w *partWriter) thought(p *part) {
	own := rawjson.TextOf(p.text)
	switch {
	case own == "" || w.reason == "":
		w.add(p.raw)
		return
	case p.signature != nil:
		w.add(rawjson.Object("text", w.reason, "thought", true))
		w.add(p.raw)
	default:
		w.add(w.withText(p, own, w.reason+own))
	}
	w.reason = ""
}

// call writes a call, or leaves a todo_pause out. The API wants a signature on the first
// call of a step, so the one of a todo_pause goes to the call behind it.
func (w *partWriter) call(p *part) {
	turn, name := &w.show.turn, rawjson.Member(p.call, "name")
	isPiece := turn.open && rawjson.IsEmpty(name)
	if !isPiece {
		if turn.open && turn.pause {
			w.calls++ // the reader has ended the pause
		}
		turn.pause, turn.hiding = pause.Is(rawjson.TextOf(name)), w.edit.Call(w.calls).Drop
	}
	w.calls++
	turn.open = string(rawjson.Member(p.call, "willContinue")) == "true"
	raw := p.raw
	switch {
	case turn.hiding:
		turn.dropped = true
		if p.signature != nil {
			turn.signature = slices.Clone(p.signature)
		}
		return
	case !isPiece && p.signature == nil && turn.signature != nil:
		raw = rawjson.With(raw, rawjson.Set("thoughtSignature", turn.signature))
		turn.signature = nil
	}
	turn.called, w.called = true, true
	w.add(raw)
}

// textEdit is how the texts of a chunk differ from those that are shown.
type textEdit struct {
	before  string // goes before the first text that is not empty
	instead string // is shown in place of the first text, if whole is false
	whole   bool   // the texts are shown as they are
}

// textEditOf returns how the texts of a chunk become the text. Nearly always, that is
// their own with something before it. If it is not, because a part of them is held back
// or left out, all of it goes into the first text.
func textEditOf(c *chunk, text string) textEdit {
	var own strings.Builder
	for i := range c.parts {
		if p := &c.parts[i]; p.kind == plain {
			own.WriteString(rawjson.TextOf(p.text))
		}
	}
	if before, isWhole := strings.CutSuffix(text, own.String()); isWhole {
		return textEdit{before: before, whole: true}
	}
	return textEdit{instead: text}
}

// next returns what is shown of the next text, and before it.
func (t *textEdit) next(text string) (before, own, shown string) {
	switch {
	case !t.whole:
		shown, t.instead = t.instead, ""
		return "", text, shown
	case text == "":
		return "", "", ""
	}
	before, t.before = t.before, ""
	return before, text, text
}
