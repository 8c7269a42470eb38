package quirks

import (
	"encoding/json"
	"fmt"
)

// envelope is the members that all chunks of turn 2 must share: the raw tokens
// of turn 1, "" for a missing one.
type envelope struct{ id, object, created, model string }

// envelopeOf returns the envelope of the first chunk that has an id, or else of
// the first chunk.
func envelopeOf(chunks []chunk) envelope {
	for _, c := range chunks {
		if present(c.members, "id") && string(c.members["id"]) != `""` {
			return c.envelope()
		}
	}
	if len(chunks) == 0 {
		return envelope{}
	}
	return chunks[0].envelope()
}

func (c chunk) envelope() envelope {
	token := func(name string) string { return string(c.members[name]) }
	return envelope{token("id"), token("object"), token("created"), token("model")}
}

// checkEnvelopes checks that all chunks have the envelope.
func checkEnvelopes(want envelope, chunks []chunk) error {
	for i, c := range chunks {
		if got := c.envelope(); got != want {
			return fmt.Errorf("chunk %d of turn 2: envelope is %+v, want %+v", i, got, want)
		}
	}
	return nil
}

// verbatimMembers returns the members of a later turn's chunk that carryon must
// not change: all except those that a joined answer sets itself, and those that
// make no sense in a joined answer.
func verbatimMembers(members map[string]json.RawMessage, own ...string) map[string]string {
	list := map[string]string{}
	for name, raw := range members {
		list[name] = string(raw)
	}
	for _, name := range append(own,
		"id", "object", "created", "model", "choices", "usage", "error", "obfuscation",
		"prompt_filter_results", "prompt_annotations",
	) {
		delete(list, name)
	}
	return list
}
