package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/carryon-go/carryon/adapter"
)

// answers is the dialect of whole messages.
type answers struct {
	usageTotals

	envelope adapter.Envelope[envelope]
}

// envelope has the members that the joined message takes from the first turn.
type envelope struct {
	id    string
	model sdk.Model
}

func newAnswers() *answers { return &answers{usageTotals: newUsageTotals()} }

// Read implements [adapter.Dialect].
func (d *answers) Read(m **sdk.Message, t adapter.TurnReader) {
	message := *m
	d.envelope.Take(envelope{message.ID, message.Model}, true)
	for i := range message.Content {
		switch block := &message.Content[i]; block.Type {
		case typeText:
			t.Text(block.Text)
		case typeThinking:
			t.Reasoning(block.Thinking)
		case typeCall:
			t.Call(i, block.ID, block.Name, string(block.Input))
		}
	}
	t.Finish(string(message.StopReason))
	if message.JSON.Usage.Valid() {
		usage := tokensOf(&message.Usage)
		d.SetTurn(usage)
		t.Usage(usage.counts())
	}
}

// AppendShown implements [adapter.Dialect].
func (d *answers) AppendShown(dst []*sdk.Message, m **sdk.Message, e *adapter.Edit) []*sdk.Message {
	raw := set((*m).RawJSON(), "id", d.envelope.First.id)
	raw = set(raw, "model", d.envelope.First.model)
	raw = set(raw, "content", content(*m, e))
	raw = set(raw, "stop_reason", stopReason(e.FinishOr(string(sdk.StopReasonEndTurn))))
	own := tokensOf(&(*m).Usage)
	if usage := d.Shown(e.Usage, &own); usage != nil {
		raw = usage.write(raw)
	}
	return append(dst, parse[sdk.Message](raw))
}

// content returns the blocks of a message with the edit's text in place of its own. Other blocks, such as thinking,
// stay.
func content(m *sdk.Message, e *adapter.Edit) []any {
	shown, text, call := []any{}, e.Text, 0
	say := func() {
		if text != "" {
			shown = append(shown, map[string]string{"type": typeText, "text": text})
		}
		text = ""
	}
	for _, block := range m.Content {
		switch block.Type {
		case typeText:
			say()
			continue
		case typeCall:
			drop := e.Call(call).Drop
			call++
			if drop {
				continue
			}
			say()
		}
		shown = append(shown, json.RawMessage(block.RawJSON()))
	}
	say()
	return shown
}

// Clone implements [adapter.Dialect]. AppendShown makes a new message.
func (d *answers) Clone(m **sdk.Message) *sdk.Message { return *m }
