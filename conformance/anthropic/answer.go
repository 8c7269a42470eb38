package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/carryon-go/carryon/middleware"
)

// answers is the dialect of whole messages.
type answers struct {
	ledger

	id    string // of the first turn
	model sdk.Model
}

func newAnswers() *answers { return &answers{ledger: newLedger()} }

// Read implements [middleware.Dialect].
func (d *answers) Read(m **sdk.Message, s *middleware.Sink) {
	message := *m
	if d.id == "" {
		d.id, d.model = message.ID, message.Model
	}
	for i := range message.Content {
		switch block := &message.Content[i]; block.Type {
		case typeText:
			s.Text(block.Text)
		case typeThinking:
			s.Reasoning(block.Thinking)
		case typeCall:
			s.Call(i, block.ID, block.Name, string(block.Input))
		}
	}
	s.Finish(string(message.StopReason))
	if message.JSON.Usage.Valid() {
		usage := tokensOf(&message.Usage)
		d.Note(usage)
		s.Usage(usage.counts())
	}
}

// Write implements [middleware.Dialect].
func (d *answers) Write(m **sdk.Message, e *middleware.Edit) bool {
	raw := set((*m).RawJSON(), "id", d.id)
	raw = set(raw, "model", d.model)
	raw = set(raw, "content", content(*m, e))
	raw = set(raw, "stop_reason", stopReason(e.Finish))
	own := tokensOf(&(*m).Usage)
	if usage := d.Show(e.Usage, &own); usage != nil {
		raw = usage.write(raw)
	}
	*m = parse[sdk.Message](raw)
	return true
}

// content returns the blocks of a message with the edit's text in the place of
// its own. What else there is, such as thoughts, stays.
func content(m *sdk.Message, e *middleware.Edit) []any {
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
			if call++; drop {
				continue
			}
			say()
		}
		shown = append(shown, json.RawMessage(block.RawJSON()))
	}
	say()
	return shown
}

// Clone implements [middleware.Dialect]. Write makes a message of its own.
func (d *answers) Clone(m **sdk.Message) *sdk.Message { return *m }
