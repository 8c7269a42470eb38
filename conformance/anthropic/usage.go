package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/carryon-go/carryon/adapter"
)

// tokens are the counts of a usage. The SDK has two types for it, one for
// messages and one for the end of a stream.
type tokens struct{ input, written, read, output int64 }

func (t tokens) plus(u tokens) tokens {
	return tokens{t.input + u.input, t.written + u.written, t.read + u.read, t.output + u.output}
}

// extend returns the counts of an answer to which a turn was added.
func (t tokens) extend(turn tokens) tokens {
	if t.input+t.written+t.read == 0 {
		return t.plus(turn)
	}
	return t.plus(tokens{output: turn.output})
}

// counts returns the usage as the engine sees it. The input does not include
// what was written to the cache or read from it.
func (t tokens) counts() adapter.Usage {
	return adapter.Usage{Prompt: int(t.input + t.written + t.read), Completion: int(t.output), Cached: int(t.read)}
}

// write puts the counts into the usage of a message, or of a message_delta.
func (t tokens) write(raw string) string {
	raw = set(raw, "usage.input_tokens", t.input)
	if t.written+t.read > 0 {
		raw = set(raw, "usage.cache_creation_input_tokens", t.written)
		raw = set(raw, "usage.cache_read_input_tokens", t.read)
	}
	return set(raw, "usage.output_tokens", t.output)
}

func tokensOf(u *sdk.Usage) tokens {
	return tokens{u.InputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens}
}

// with returns the counts from the start of the turn, updated with those from its end, which need only have what has
// changed.
func (t tokens) with(u *sdk.MessageDeltaUsage) tokens {
	t.output = u.OutputTokens
	if u.JSON.InputTokens.Valid() {
		t.input = u.InputTokens
	}
	if u.JSON.CacheCreationInputTokens.Valid() {
		t.written = u.CacheCreationInputTokens
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		t.read = u.CacheReadInputTokens
	}
	return t
}

// usageTotals keeps the usage of a call.
type usageTotals = adapter.UsageTotals[tokens]

func newUsageTotals() usageTotals { return usageTotals{Add: tokens.plus, Extend: tokens.extend} }
