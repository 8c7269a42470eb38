package carryontest

import "encoding/json"

const (
	defaultPromptTokens     = 10
	defaultCompletionTokens = 5
)

// usage is the tokens that an answer reports.
type usage struct {
	set, none          bool
	prompt, completion int
	literal            string // sent instead of the numbers
}

// tokens is the object on the wire.
type tokens struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// object is what is reported when all has been said.
func (u usage) object() json.RawMessage { return u.soFar(1, 1) }

// soFar is what is reported with the given one of all chunks.
func (u usage) soFar(chunk, chunks int) json.RawMessage {
	switch {
	case u.none:
		return nil
	case u.literal != "":
		return json.RawMessage(u.literal)
	case !u.set:
		u.prompt, u.completion = defaultPromptTokens, defaultCompletionTokens
	}
	spent := u.completion * chunk / chunks
	return json.RawMessage(marshal(tokens{Prompt: u.prompt, Completion: spent, Total: u.prompt + spent}))
}
