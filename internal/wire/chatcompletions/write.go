package chatcompletions

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/logprobs"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// AppendShown implements [adapter.Dialect]. Members and values that the edit
// does not change keep their place and their spelling.
func (d *dialect) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	if edit.Part == adapter.TurnError {
		return appendError(dst, e)
	}
	if edit.Part == adapter.AnswerEnd && d.hasDone {
		return append(dst, sse.Written("", []byte(doneMark), sse.Text))
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
		w.out = append(w.out, sse.DataStart...)
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
	return append(dst, sse.Written(string(e.Name()), e.Data(), sse.Object))
}

// chunkNames are the members that writer adds to a chunk if they are missing.
var chunkNames = append(envelopeNames[:], "choices", "usage") //nolint:gochecknoglobals // constant

// writer writes a changed chunk.
type writer struct {
	dialect *dialect
	edit    *adapter.Edit
	text    string // to show; "" once it was written
	finish  string // likewise
	out     []byte
	calls   int  // how many calls of the chunk were written or dropped
	first   bool // the first choice was written
	shows   bool // something that the caller must see was
}

// AppendHeartbeat implements [adapter.Heartbeat] with an empty text, which
// models send too. The standard allows a comment, but some clients fail on one,
// and others after many. Between the fragments of a call it sends nothing: any
// chunk looks like the end of the call to some client.
func (d *dialect) AppendHeartbeat(dst []sse.Event) []sse.Event {
	if d.lastCall != adapter.NoIndex {
		return dst
	}
	w := writer{dialect: d, edit: &adapter.Edit{Continuation: true}, out: []byte(sse.DataStart)}
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
		if token := w.dialect.envelope.First.token(i); token != "" {
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
	shown := w.dialect.ShownUsage(w.edit.Usage, own)
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
		case w.dialect.isFirst(&s, at):
			w.choice(s.Raw())
		case !w.synthetic():
			w.comma('[')
			w.out, w.shows = append(w.out, s.Raw()...), true
		}
	}
	if w.edit.Part != adapter.UsageOnly && !w.first && (w.text != "" || w.finish != "") {
		w.choice([]byte(`{"index":0,"` + w.dialect.body() + `":{},"finish_reason":null}`)) // no choice has shown it
	}
	w.out = append(w.out, ']')
}

func (w *writer) choice(json []byte) {
	own := w.dialect.texts.Of(rawjson.Member(json, "finish_reason"))
	logprobs, names := w.logprobs(json), []string{w.dialect.body(), "finish_reason"}
	if !rawjson.IsNull(logprobs) {
		names = append(names, "logprobs")
		w.shows = w.shows || !rawjson.IsEmpty(rawjson.Member(logprobs, "content"))
	}
	w.comma('[')
	w.object(json, func(name string, value []byte) {
		switch {
		case name == w.dialect.body():
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
	case w.dialect.texts.Of(own) != w.finish:
		own = rawjson.Quote(w.finish)
	}
	w.shows = w.shows || w.finish != ""
	w.member("finish_reason", own)
}

// writeBody writes the part of the model's message that is shown.
func (w *writer) writeBody(own []byte) {
	reasoning := w.reasoningKey()
	if own == nil && w.text == "" && reasoning == "" {
		return
	}
	if w.synthetic() {
		own = nil
	}
	w.key(w.dialect.body())
	w.object(own, func(name string, value []byte) {
		switch {
		case name == "role" && w.edit.Continuation && w.dialect.document == nil: // of the chunks only the first turn's have one
		case name == "content":
			w.content(value)
		case name == "tool_calls":
			w.toolCalls(value)
		case name != "" && name == reasoning:
			w.shown(name, rawjson.Quote(w.dialect.document.reasoning.Text()))
		case value != nil:
			w.shown(name, w.apart(name, value))
		}
	}, "content", reasoning)
}

// apart returns the value of a member with the separator put before its
// reasoning, if it has any.
func (w *writer) apart(name string, value []byte) []byte {
	switch text := w.dialect.texts.Of(value); {
	case w.edit.ReasoningSeparator == "":
		return value
	case slices.Contains(reasoningNames[:], name) && text != "":
		return rawjson.Quote(w.edit.ReasoningSeparator + text)
	case name == "reasoning_details":
		return w.detailsApart(value)
	}
	return value
}

// detailsApart returns reasoning in OpenRouter's form with the separator before
// its first text. It does not change Anthropic's reasoning, which is signed:
// the provider checks the signature when the reasoning is sent back.
func (w *writer) detailsApart(details []byte) []byte {
	s := rawjson.Over(details)
	for range s.Elements() {
		detail := s.Raw()
		if strings.HasPrefix(rawjson.TextOf(rawjson.Member(detail, "format")), "anthropic") {
			return details
		}
		m := rawjson.Over(detail)
		for name := range m.Members() {
			own := m.Raw()
			if (name == "text" || name == "summary") && rawjson.IsString(own) && !rawjson.IsEmpty(own) {
				at := s.At() - len(detail) + m.At() - len(own) + 1
				return slices.Concat(details[:at], bytes.Trim(rawjson.Quote(w.edit.ReasoningSeparator), `"`), details[at:])
			}
		}
	}
	return details
}

// shown writes a member, which the caller must see unless it is empty.
func (w *writer) shown(name string, value []byte) {
	w.shows = w.shows || !rawjson.IsEmpty(value)
	w.member(name, value)
}

// content writes the text in place of own, which is a string, a list of parts,
// null, or absent.
func (w *writer) content(own []byte) {
	w.shows = w.shows || w.text != ""
	switch {
	case len(own) > 0 && own[0] == '[' && (w.dialect.document == nil || w.dialect.document.inParts):
		w.parts(own)
	case own != nil && w.text == w.dialect.texts.Of(own):
		w.member("content", own)
	case own != nil || w.text != "":
		w.member("content", rawjson.Quote(w.text))
	}
}

// parts writes a content that is a list of parts: the text goes into the first
// text part, and other parts do not change.
func (w *writer) parts(own []byte) {
	text := w.text
	w.key("content")
	w.out = append(w.out, '[')
	s := rawjson.Over(own)
	for range s.Elements() {
		part := s.Raw()
		if w.dialect.texts.Of(rawjson.Member(part, "type")) != "text" {
			w.comma('[')
			w.out, w.shows = append(w.out, part...), true
			continue
		}
		w.part(text)
		text = ""
	}
	w.part(text)
	w.out = append(w.out, ']')
}

func (w *writer) part(text string) {
	if text != "" {
		w.comma('[')
		w.out = rawjson.AppendQuote(append(w.out, `{"type":"text","text":`...), text)
		w.out = append(w.out, '}')
	}
}

// reasoningKey returns the member in which a whole answer shows the reasoning of
// the turns that were kept, or "" if there is none.
func (w *writer) reasoningKey() string {
	if w.dialect.document == nil || w.dialect.document.reasoning.Text() == "" {
		return ""
	}
	return w.dialect.document.reasoningKey
}

// toolCalls writes the calls that are shown. It leaves out an empty list, which
// some clients take for the end of the text.
func (w *writer) toolCalls(own []byte) {
	mark := len(w.out)
	w.key("tool_calls")
	w.out = append(w.out, '[')
	s := rawjson.Over(own)
	for range s.Elements() {
		w.toolCall(s.Raw())
	}
	if w.out[len(w.out)-1] == '[' {
		w.out = w.out[:mark]
		return
	}
	w.shows = true
	w.out = append(w.out, ']')
}

func (w *writer) toolCall(own []byte) {
	edit := w.edit.Call(w.calls)
	w.calls++
	s := rawjson.Over(own)
	switch {
	case edit.Drop && (!edit.Rewrite || !readCall(&s).more): // a fragment of a shown call may have more to say
		return
	case !edit.Rewrite || w.dialect.document != nil:
		w.comma('[')
		w.out = append(w.out, own...)
		return
	}
	w.comma('[')
	w.object(own, func(name string, value []byte) {
		switch {
		case name == "index":
			w.member(name, strconv.AppendInt(nil, int64(edit.Index), 10))
		case name != "type":
			w.member(name, value)
		case edit.First && rawjson.IsEmpty(value):
			w.member(name, []byte(`"function"`))
		case edit.First:
			w.member(name, value)
		}
	}, "index", "type")
}

// tokens are the log probabilities of a turn's text that is not shown yet.
type tokens struct{ logprobs.Queue[[]byte] }

// add adds the text of a choice, and its log probabilities.
func (t *tokens) add(d *dialect, choice []byte) {
	own := tokensOf(rawjson.Member(choice, "logprobs"))
	for i, token := range own {
		own[i] = slices.Clone(token)
	}
	t.Add(d.contentOf(choice), own, func(token *[]byte) int { return len(rawjson.TextOf(rawjson.Member(*token, "token"))) })
}

// tokensOf returns the tokens of the text in log probabilities.
func tokensOf(logprobs []byte) [][]byte { return rawjson.Elements(rawjson.Member(logprobs, "content")) }

// contentOf returns the text of a choice.
func (d *dialect) contentOf(choice []byte) string {
	content := rawjson.Member(rawjson.Member(choice, d.body()), "content")
	if len(content) == 0 || content[0] != '[' {
		return rawjson.TextOf(content)
	}
	var text strings.Builder
	for _, part := range rawjson.Elements(content) {
		if rawjson.TextOf(rawjson.Member(part, "type")) == "text" {
			text.WriteString(rawjson.TextOf(rawjson.Member(part, "text")))
		}
	}
	return text.String()
}

// keptTokens are those of the turns of an answer that is not streamed.
type keptTokens struct {
	turn tokens   // the current one
	kept []tokens // of each turn that was kept
}

func (k *keptTokens) endTurn(keep bool) {
	if keep {
		k.kept = append(k.kept, k.turn)
	}
	k.turn = tokens{}
}

// logprobs returns the log probabilities of the text that a choice shows.
func (w *writer) logprobs(choice []byte) []byte {
	own := rawjson.Member(choice, "logprobs")
	switch {
	case w.dialect.document != nil:
		return withTokens(own, w.keptTokens())
	case w.synthetic():
		own = nil
	}
	held := w.dialect.held
	if held == nil {
		return own
	}
	if !w.synthetic() {
		if held.IsEmpty() && w.text == w.dialect.contentOf(choice) {
			return own
		}
		held.add(w.dialect, choice)
	}
	return withTokens(own, held.Take(w.text))
}

// keptTokens returns the tokens of the text of all turns.
func (w *writer) keptTokens() (all [][]byte) {
	from := 0
	for i := range min(len(w.dialect.document.tokens.kept), len(w.edit.TurnEnds)) {
		to := w.edit.TurnEnds[i]
		all = append(all, w.dialect.document.tokens.kept[i].Take(w.edit.Text[from:to])...)
		from = to
	}
	return all
}

// withTokens returns log probabilities with other tokens of the text.
func withTokens(own []byte, tokens [][]byte) []byte {
	switch {
	case slices.EqualFunc(tokensOf(own), tokens, bytes.Equal):
		return own
	case rawjson.IsNull(own):
		return slices.Concat([]byte(`{"content":[`), bytes.Join(tokens, []byte{','}), []byte(`],"refusal":null}`))
	}
	var e rawjson.Edits
	s := rawjson.Over(own)
	for name := range s.Members() {
		if name == "content" {
			e = e[:0] // the last member of a name counts
			e.ReplaceNext(&s, slices.Concat([]byte{'['}, bytes.Join(tokens, []byte{','}), []byte{']'}))
		}
	}
	return e.Apply(own)
}
