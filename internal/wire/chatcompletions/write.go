package chatcompletions

import (
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// AppendShown implements [adapter.Dialect]. Members and values that the edit
// does not change keep their place and their spelling.
func (d *dialect) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	if edit.Part == adapter.TurnError {
		return appendError(dst, e)
	}
	if edit.Part == adapter.AnswerEnd && d.saidDone {
		head := sse.AppendHead(nil, "")
		return append(dst, sse.New(append(head, doneMark...), len(head), sse.Text))
	}
	w := writer{dialect: d, edit: edit, text: edit.Text, finish: edit.FinishOr("stop")}
	json := []byte("{}") // the model sent no chunk for it
	if kindOf(e) == chunk {
		json = e.Data()
	} else if w.text == "" && w.finish == "" {
		return dst
	}
	w.out = make([]byte, 0, len(e.Raw)+len(w.text)+128)
	if d.document == nil {
		w.out = sse.AppendHead(w.out, "")
	}
	from := len(w.out)
	w.object(json, w.chunkMember, chunkNames[:]...)
	switch {
	case d.document != nil:
		return append(dst, sse.Document(w.out, true))
	case !w.shows:
		return dst
	}
	return append(dst, sse.New(w.out, from, sse.Object))
}

// appendError shows the provider's report of an error.
func appendError(dst []sse.Event, e *sse.Event) []sse.Event {
	isReport := kindOf(e) == chunk && string(rawjson.Member(e.Data(), "object")) == `"error"`
	if !isReport && rawjson.IsNull(rawjson.Member(e.Data(), "error")) {
		return dst
	}
	head := sse.AppendHead(nil, string(e.Name()))
	return append(dst, sse.New(append(head, e.Data()...), len(head), sse.Object))
}

// chunkNames are the members that writer adds to a chunk if they are missing.
var chunkNames = append(envelopeNames[:], "choices", "usage") //nolint:gochecknoglobals // constant

// writer writes a changed chunk.
type writer struct {
	*dialect

	edit   *adapter.Edit
	text   string // to show; "" once it was written
	finish string // likewise
	out    []byte
	calls  int  // how many calls of the chunk were written or dropped
	first  bool // the first choice was written
	shows  bool // something that the caller must see was
}

// AppendHeartbeat implements [adapter.Heartbeat] with an empty text, which
// models send too. The standard allows a comment, but some clients fail on one,
// and others after many. Between the fragments of a call it sends nothing: any
// chunk looks like the end of the call to some client.
func (d *dialect) AppendHeartbeat(dst []sse.Event) []sse.Event {
	if d.lastCall != adapter.NoIndex {
		return dst
	}
	w := writer{dialect: d, edit: &adapter.Edit{Continuation: true}, out: sse.AppendHead(nil, "")}
	from := len(w.out)
	w.object([]byte("{}"), func(name string, _ []byte) {
		if name == "choices" {
			w.member(name, []byte(`[{"index":0,"delta":{"content":""},"finish_reason":null}]`))
			return
		}
		w.chunkMember(name, nil)
	}, append(envelopeNames[:], "choices")...)
	return append(dst, sse.New(w.out, from, sse.Object))
}

// synthetic reports whether the chunk shows only the edit, and nothing of a
// chunk that was read.
func (w *writer) synthetic() bool { return w.edit.Part != adapter.Whole }

// comma writes a comma if a member or an element precedes.
func (w *writer) comma(bracket byte) {
	if w.out[len(w.out)-1] != bracket {
		w.out = append(w.out, ',')
	}
}

// key writes the name of a member.
func (w *writer) key(name string) {
	w.comma('{')
	w.out = append(rawjson.AppendQuote(w.out, name), ':')
}

func (w *writer) member(name string, value []byte) {
	w.key(name)
	w.out = append(w.out, value...)
}

// object writes an object. It calls put for each member of json, and then, with
// a nil own, for those of the names that json does not have.
func (w *writer) object(json []byte, put func(name string, own []byte), names ...string) {
	missing := append(make([]string, 0, 8), names...)
	w.out = append(w.out, '{')
	s := rawjson.Over(json)
	for name := range s.Members() {
		missing = slices.DeleteFunc(missing, func(other string) bool { return other == name })
		put(name, s.Raw())
	}
	for _, name := range missing {
		put(name, nil)
	}
	w.out = append(w.out, '}')
}

// chunkMember writes a member of a chunk.
func (w *writer) chunkMember(name string, own []byte) {
	switch i := slices.Index(envelopeNames[:], name); {
	case i >= 0:
		if token := w.envelope.First.token(i); token != "" {
			w.key(name)
			w.out = append(w.out, token...)
		}
	case name == "usage":
		w.usage(own)
	case name == "choices":
		w.key(name)
		w.choices(own)
	case name == "obfuscation": // hides the length of another text
	case name == "error":
		if !rawjson.IsNull(own) {
			w.member(name, []byte("null"))
		}
	case w.edit.Continuation && (name == "prompt_filter_results" || name == "prompt_annotations"):
	default:
		w.member(name, own)
	}
}

// usage writes the usage that is shown, or null in place of the chunk's own.
func (w *writer) usage(own []byte) {
	shown := w.ShownUsage(w.edit.Usage, own)
	switch {
	case !rawjson.IsNull(shown):
		w.shows = true
		w.member("usage", shown)
	case own != nil:
		w.member("usage", []byte("null"))
	}
}

func (w *writer) choices(own []byte) {
	w.out = append(w.out, '[')
	s := rawjson.Over(own)
	for range s.Elements() {
		at := 0 // where only the order of choices tells them apart
		if w.first {
			at = 1
		}
		switch {
		case w.edit.Part == adapter.UsageOnly, s.Kind() != '{':
		case w.isFirst(&s, at):
			w.choice(s.Raw())
		case !w.synthetic():
			w.comma('[')
			w.out, w.shows = append(w.out, s.Raw()...), true
		}
	}
	if w.edit.Part != adapter.UsageOnly && !w.first && (w.text != "" || w.finish != "") {
		w.choice([]byte(`{"index":0,"` + w.body() + `":{},"finish_reason":null}`)) // no choice has shown it
	}
	w.out = append(w.out, ']')
}

func (w *writer) choice(json []byte) {
	own := w.dialect.text(rawjson.Member(json, "finish_reason"))
	logprobs, names := w.logprobs(json), []string{w.body(), "finish_reason"}
	if !rawjson.IsNull(logprobs) {
		names = append(names, "logprobs")
		w.shows = w.shows || !rawjson.IsEmpty(rawjson.Member(logprobs, "content"))
	}
	w.comma('[')
	w.object(json, func(name string, value []byte) {
		switch {
		case name == w.body():
			w.writeBody(value)
		case name == "finish_reason":
			w.finishReason(value)
		case name == "native_finish_reason" && own != w.finish: // it would tell of another end
		case name == "logprobs" && rawjson.IsNull(logprobs):
			w.member(name, []byte("null"))
		case name == "logprobs":
			w.member(name, logprobs)
		case name == "index" && w.edit.Continuation:
			w.member(name, []byte("0"))
		default:
			w.member(name, value)
		}
	}, names...)
	w.text, w.finish, w.first = "", "", true
}

// finishReason writes the finish reason that is shown, or null in place of the
// chunk's own.
func (w *writer) finishReason(own []byte) {
	switch {
	case w.finish == "" && own == nil:
		return
	case w.finish == "":
		own = []byte("null")
	case w.dialect.text(own) != w.finish:
		own = rawjson.Quote(w.finish)
	}
	w.shows = w.shows || w.finish != ""
	w.member("finish_reason", own)
}
