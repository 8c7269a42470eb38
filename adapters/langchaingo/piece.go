package langchaingo

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/adapter"
)

// piece is what one call of a streaming function gets.
type piece struct {
	reasoning []byte
	text      []byte     // or tool calls as JSON
	calls     []fragment // the tool calls in text, if there are any
}

// fragment is a part of a tool call. The openai client streams fragments as
// JSON, in place of text.
type fragment struct {
	ID       string `json:"id,omitempty"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// fragmentsIn returns the tool calls in a piece of text, or nil if it is plain
// text. Nothing marks tool calls: a text counts as such if it is, byte for
// byte, what the client writes.
func fragmentsIn(text []byte) []fragment {
	if !bytes.HasPrefix(text, []byte(`[{"`)) {
		return nil
	}
	var calls []fragment
	if json.Unmarshal(text, &calls) != nil || !bytes.Equal(encode(calls), text) {
		return nil
	}
	return calls
}

func encode(calls []fragment) []byte {
	data, err := json.Marshal(calls)
	if err != nil {
		panic("carryon/adapters/langchaingo: " + err.Error()) // can't happen: strings always encode
	}
	return data
}

// pieces is the dialect of streaming functions.
type pieces struct{}

// Read implements [adapter.Dialect].
func (pieces) Read(p *piece, t adapter.TurnReader) {
	t.Reasoning(string(p.reasoning))
	p.calls = fragmentsIn(p.text)
	if p.calls == nil {
		t.Text(string(p.text))
	}
	for i := range p.calls {
		call := &p.calls[i]
		t.Call(adapter.NoIndex, call.ID, call.Function.Name, call.Function.Arguments)
	}
}

// AppendShown implements [adapter.Dialect]. It passes empty chunks on: the
// openai client sends some.
func (pieces) AppendShown(dst []piece, p *piece, e *adapter.Edit) []piece {
	if e.Part == adapter.Synthetic {
		if e.Text == "" {
			return dst
		}
		return append(dst, piece{text: []byte(e.Text)})
	}
	empty := p.text != nil && len(p.text) == 0
	switch {
	case p.calls != nil:
		p.keep(e)
	case string(p.text) != e.Text:
		p.text = []byte(e.Text)
	}
	if len(p.text) == 0 && len(p.reasoning) == 0 && !empty {
		return dst
	}
	return append(dst, *p)
}

// keep leaves out the calls that are not shown.
func (p *piece) keep(e *adapter.Edit) {
	var kept []fragment
	for i, call := range p.calls {
		if !e.Call(i).Drop {
			kept = append(kept, call)
		}
	}
	switch {
	case len(kept) == 0:
		p.text = nil
	case len(kept) < len(p.calls):
		p.text = encode(kept)
	}
	p.calls = kept
}

// Clone implements [adapter.Dialect].
func (pieces) Clone(p *piece) piece {
	return piece{reasoning: bytes.Clone(p.reasoning), text: bytes.Clone(p.text), calls: slices.Clone(p.calls)}
}

// EndTurn implements [adapter.Dialect].
func (pieces) EndTurn(bool) {}
