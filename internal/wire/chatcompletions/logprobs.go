package chatcompletions

import (
	"bytes"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/logprobs"
	"github.com/carryon-go/carryon/internal/rawjson"
)

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
	case w.document != nil:
		return withTokens(own, w.keptTokens())
	case w.synthetic():
		own = nil
	}
	if w.later == nil {
		return own
	}
	held := &w.later.held
	if !w.synthetic() {
		if held.IsEmpty() && w.text == w.contentOf(choice) {
			return own
		}
		held.add(w.dialect, choice)
	}
	return withTokens(own, held.Take(w.text))
}

// keptTokens returns the tokens of the text of all turns.
func (w *writer) keptTokens() (all [][]byte) {
	from := 0
	for i := range min(len(w.document.tokens.kept), len(w.edit.TurnEnds)) {
		to := w.edit.TurnEnds[i]
		all = append(all, w.document.tokens.kept[i].Take(w.edit.Text[from:to])...)
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
		if raw := s.Raw(); name == "content" {
			e = e[:0] // the last member of a name counts
			e.Replace(s.At()-len(raw), s.At(), slices.Concat([]byte{'['}, bytes.Join(tokens, []byte{','}), []byte{']'}))
		}
	}
	return e.Apply(own)
}
