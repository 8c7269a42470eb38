package gemini

import (
	"bytes"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// document reads and shows one answer that is not streamed.
type document struct {
	usages

	wrapped bool     // answers are members of another object
	turn    *chunk   // the answer of the current turn
	kept    []*chunk // those of the turns that were kept
}

var _ adapter.Dialect[sse.Event] = (*document)(nil)

// EndTurn implements [adapter.Dialect].
func (d *document) EndTurn(keep bool) {
	d.usages.EndTurn(keep)
	if keep && d.turn != nil {
		d.kept = append(d.kept, d.turn)
	}
	d.turn = nil
}

// Clone implements [adapter.Dialect].
func (d *document) Clone(e *sse.Event) sse.Event { return e.Clone() }

// Read implements [adapter.Dialect].
func (d *document) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	d.turn = parse(e, d.wrapped)
	if d.turn == nil {
		t.Fail(wire.ErrUnreadable)
		return
	}
	d.set(d.turn.usage)
	if counts := countsOf(d.usages.turn); counts != (adapter.Usage{}) {
		t.Usage(counts)
	}
	r := reader{turn: new(progress), later: len(d.kept) > 0, text: rawjson.TextOf, to: t}
	r.read(d.turn)
}

// AppendShown implements [adapter.Dialect]: the first turn's answer, with the parts of
// all turns, and the end of the last one.
func (d *document) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	last := parse(e, d.wrapped)
	if len(d.kept) == 0 || last == nil {
		return append(dst, *e)
	}
	first := d.kept[0]
	w := partWriter{show: new(show), edit: edit}
	d.writeParts(&w)
	shown := shownChunk{parts: w.parts, finish: last.finish, message: true, extras: true}
	paused := w.show.turn.dropped && !w.called
	word := strings.TrimSuffix(edit.FinishOr(stop), notPlain)
	if finishWord(last.finish) != word {
		shown.finish = rawjson.Quote(word)
	}
	candidate := shown.changedCandidate(first, lastChanges(first.candidate, last.candidate, paused)...)
	body := rawjson.With(first.body, rawjson.Set("candidates", inList(candidate)))
	if usage := d.shown(edit.Usage); usage != nil {
		body = rawjson.With(body, rawjson.Set("usageMetadata", usage))
	}
	if d.wrapped {
		body = rawjson.With(first.outer, rawjson.Set("response", body))
	}
	return append(dst, sse.Document(body, true))
}

// writeParts writes the parts of all turns, and the notice of a pause behind them. A
// turn that has only an empty text adds nothing.
func (d *document) writeParts(w *partWriter) {
	edit, from := *w.edit, 0
	var all [][]byte
	for i, turn := range d.kept {
		to := len(edit.Text)
		if i < len(edit.TurnEnds) {
			to = edit.TurnEnds[i]
		}
		own := edit
		own.Text = edit.Text[from:to]
		if i < len(d.kept)-1 {
			own.Calls = nil // only the last turn has calls to show
		}
		w.edit, w.show.turn, w.calls, w.called, from = &own, shownTurn{}, 0, false, to
		w.parts, w.groups = nil, nil
		w.write(turn)
		for _, group := range append(w.groups, w.parts) {
			if len(group) > 1 || len(group) == 1 && !isEmptyText(group[0]) {
				all = append(all, group...)
			}
		}
	}
	w.parts = all
	if notice := edit.Text[from:]; notice != "" {
		w.add(textPart(notice))
	}
	if len(w.parts) == 0 {
		w.parts = [][]byte{[]byte(emptyText)}
	}
}

// isEmptyText reports whether a part is an empty text.
func isEmptyText(raw []byte) bool {
	p := readPart(raw)
	return p.kind == plain && string(p.text) == `""`
}

// lastChanges returns what the end of the last turn changes in the first one's
// candidate. Its notes to the content are shown if the first has none, without the
// places in the text that they are about, which are other ones now.
func lastChanges(first, last []byte, paused bool) []rawjson.Change {
	var with []rawjson.Change
	for _, name := range []string{"groundingMetadata", "citationMetadata", "urlContextMetadata"} {
		own := rawjson.Member(last, name)
		if !rawjson.IsEmpty(rawjson.Member(first, name)) || rawjson.IsEmpty(own) {
			continue
		}
		with = append(with, rawjson.Set(name, withoutPlaces(own)))
	}
	if ratings := rawjson.Member(last, "safetyRatings"); ratings != nil {
		with = append(with, rawjson.Set("safetyRatings", ratings))
	}
	message := rawjson.Member(last, "finishMessage")
	if paused {
		message = nil
	}
	return append(with, rawjson.Set("finishMessage", message))
}

// withoutPlaces returns notes to a content without places in it.
func withoutPlaces(notes []byte) []byte {
	with := append(make([]rawjson.Change, 0, rawjson.FewChanges), rawjson.Remove("groundingSupports"))
	for _, name := range []string{"citationSources", "citations"} {
		list := rawjson.MemberElements(notes, name)
		for i := range list {
			list[i] = rawjson.With(list[i], rawjson.Remove("startIndex"), rawjson.Remove("endIndex"))
		}
		with = append(with, rawjson.Replace(name, inList(bytes.Join(list, []byte{','}))))
	}
	return rawjson.With(notes, with...)
}
