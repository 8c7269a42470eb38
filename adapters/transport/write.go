package transport

import (
	"strconv"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// Write implements [middleware.Dialect]. Members and values that the edit does
// not speak of keep their place and their spelling.
func (d *wire) Write(e *event, edit *middleware.Edit) bool {
	w := writer{wire: d, edit: *edit}
	w.out = make([]byte, 0, len(e.raw)+len(edit.Text)+128)
	if !d.whole {
		w.out = append(w.out, eventHead...)
	}
	switch {
	case e.kind == chunk:
		w.chunk(e.json())
	case edit.Text == "" && edit.Finish == "":
		return false
	default:
		w.chunk([]byte("{}")) // the model sent no chunk for it
	}
	if d.whole {
		*e = event{raw: w.out, to: len(w.out), kind: chunk, made: true}
	} else {
		*e = madeEvent(w.out)
	}
	return w.left
}

// writer writes a changed chunk.
type writer struct {
	*wire

	edit  middleware.Edit
	out   []byte
	calls int  // of the chunk that were asked about
	shown bool // the first choice was written
	left  bool // there is something to show
}

// key begins a member of the object that is being written.
func (w *writer) key(name []byte) {
	if w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
	w.out = append(rawjson.AppendQuote(w.out, view(name)), ':')
}

func (w *writer) member(name string, value []byte) {
	w.key([]byte(name))
	w.out = append(w.out, value...)
}

func (w *writer) chunk(json []byte) {
	s := rawjson.Over(json)
	var have [len(envelopeNames)]bool
	usage, choices := false, false
	w.out = append(w.out, '{')
	for s.Open('{'); s.Member(); {
		name := s.Key()
		if i := w.envelope.at(name); i >= 0 {
			s.Skip()
			w.token(i)
			have[i] = true
			continue
		}
		switch string(name) {
		case "usage":
			usage = w.usageMember(s.Raw())
		case "choices":
			choices = true
			w.key(name)
			w.choices(&s)
		case "obfuscation": // hides the length of another text
			s.Skip()
		case "prompt_filter_results", "prompt_annotations":
			w.unless(w.edit.Later, name, s.Raw())
		case "error":
			w.unless(rawjson.IsNull(s.Raw()), name, []byte("null"))
		default:
			raw := s.Raw()
			w.member(string(name), raw)
		}
	}
	for i := range have {
		if !have[i] {
			w.token(i)
		}
	}
	if !choices {
		w.member("choices", nil)
		w.addChoices()
	}
	if !usage {
		w.usageMember(nil)
	}
	w.out = append(w.out, '}')
}

// token writes a member of the envelope, if the first turn has it.
func (w *writer) token(i int) {
	if token := w.envelope.token(i); len(token) > 0 {
		w.member(envelopeNames[i], token)
	}
}

// unless writes a member unless it is to be left out.
func (w *writer) unless(leave bool, name, value []byte) {
	if !leave {
		w.member(string(name), value)
	}
}

// usageMember writes the usage that is to be shown, and reports whether it has
// written the member.
func (w *writer) usageMember(own []byte) bool {
	usage := w.usage.show(w.edit.Usage, own)
	switch {
	case !rawjson.IsNull(usage):
		w.left = true
	case own == nil:
		return false
	default:
		usage = []byte("null")
	}
	w.member("usage", usage)
	return true
}

func (w *writer) choices(s *rawjson.Scanner) {
	if w.edit.Bare || s.Kind() != '[' {
		s.Skip()
		w.addChoices()
		return
	}
	w.out = append(w.out, '[')
	for s.Open('['); s.Element(); {
		if s.Kind() != '{' {
			s.Skip()
			continue
		}
		first := w.isFirst(*s, w.number())
		if !first && w.edit.Rest {
			s.Skip()
			continue
		}
		w.separate()
		if first {
			w.choice(s)
			w.edit.Text, w.edit.Finish, w.shown = "", "", true
		} else {
			w.out, w.left = append(w.out, s.Raw()...), true
		}
	}
	w.addChoice()
	w.out = append(w.out, ']')
}

// number tells choices apart where only their order does.
func (w *writer) number() int {
	if w.shown {
		return 1
	}
	return 0
}

// addChoices writes the choices of a chunk that has none.
func (w *writer) addChoices() {
	w.out = append(w.out, '[')
	if !w.edit.Bare {
		w.addChoice()
	}
	w.out = append(w.out, ']')
}

// addChoice writes a choice for what no choice of the chunk has shown.
func (w *writer) addChoice() {
	if w.shown || w.edit.Text == "" && w.edit.Finish == "" {
		return
	}
	w.separate()
	s := rawjson.Over([]byte(`{"index":0,"` + w.body() + `":{},"finish_reason":null}`))
	w.choice(&s)
}

// separate sets the next element apart from the one before it.
func (w *writer) separate() {
	if w.out[len(w.out)-1] != '[' {
		w.out = append(w.out, ',')
	}
}

func (w *writer) choice(s *rawjson.Scanner) {
	body, finish, own := false, false, w.text(peek(*s, "finish_reason"))
	w.out = append(w.out, '{')
	for s.Open('{'); s.Member(); {
		name := string(s.Key())
		switch {
		case name == w.body():
			body = true
			w.key([]byte(name))
			w.writeBody(s)
		case name == "finish_reason":
			finish = true
			w.finish(s.Raw())
		case name == "logprobs" && w.edit.Rest:
			s.Skip()
			w.member(name, []byte("null"))
		case name == "native_finish_reason":
			w.unless(own != w.edit.Finish, []byte(name), s.Raw()) // it would tell of another end
		default:
			raw := s.Raw()
			w.member(name, raw)
		}
	}
	if !body && (w.edit.Text != "" || w.extra.key() != "") {
		w.key([]byte(w.body()))
		empty := rawjson.Over([]byte("{}"))
		w.writeBody(&empty)
	}
	if !finish && w.edit.Finish != "" {
		w.finish(nil)
	}
	w.out = append(w.out, '}')
}

// finish writes the finish reason that is to be shown.
func (w *writer) finish(own []byte) {
	switch {
	case w.edit.Finish == "":
		own = []byte("null")
	case w.text(own) != w.edit.Finish:
		own = rawjson.Quote(w.edit.Finish)
	}
	w.left = w.left || w.edit.Finish != ""
	w.member("finish_reason", own)
}

// count writes a number.
func (w *writer) count(name string, n int) {
	w.member(name, strconv.AppendInt(nil, int64(n), 10))
}
