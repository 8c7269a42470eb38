package messages

import (
	"bytes"
	"math"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// The members of a usage. Tokens written to the cache, or read from it, are not
// part of the input tokens.
const (
	inputTokens  = "input_tokens"
	cacheWritten = "cache_creation_input_tokens"
	cacheRead    = "cache_read_input_tokens"
	outputTokens = "output_tokens"

	outputDetails = "output_tokens_details"
	iterations    = "iterations"
)

// outputCounts are the members of a usage that count the output or the cost of a
// turn, not its input.
var outputCounts = [...]string{outputTokens, "server_tool_use", outputDetails, "cost"} //nolint:gochecknoglobals // constant

// startCounts are the counts that the start of a message may have instead of its
// end.
var startCounts = [...]string{inputTokens, cacheWritten, cacheRead, outputTokens} //nolint:gochecknoglobals // constant

// maxCount is the length of a count that is kept.
const maxCount = 64

// startUsage returns the counts in the usage of a message's start, which is read
// again with every end that the message has.
func startUsage(usage []byte) []byte {
	kept := make([]any, 0, 2*len(startCounts))
	for _, name := range startCounts {
		if count := rawjson.Member(usage, name); !rawjson.IsNull(count) && len(count) <= maxCount {
			kept = append(kept, name, rawValue(count))
		}
	}
	return rawjson.Object(kept...)
}

// usages sums the usage of a call as JSON.
type usages struct {
	totals *adapter.UsageTotals[[]byte] // nil as long as there is nothing to keep

	began, ended []byte // of the current turn: what its beginning and its end say
}

// SetUsage sets the usage of the current turn, which it copies. Members at the
// end of the turn replace those at its beginning.
func (u *usages) SetUsage(began, ended []byte) {
	u.began, u.ended = append(u.began[:0], began...), append(u.ended[:0], ended...)
}

// EndTurn ends the turn, as [adapter.Dialect] says.
func (u *usages) EndTurn(keep bool) {
	if whole := u.turn(); whole != nil && keep {
		if u.totals == nil {
			u.totals = &adapter.UsageTotals[[]byte]{Add: sumUsages, Extend: extendUsage}
		}
		u.totals.SetTurn(whole)
		u.totals.EndTurn(keep)
	}
	u.began, u.ended = u.began[:0], u.ended[:0]
}

// turn returns the usage of the current turn in the form of a stream's end, or
// nil if there is none.
func (u *usages) turn() []byte {
	whole := u.ended
	if rawjson.IsNull(whole) {
		whole = []byte("{}")
	}
	for _, name := range startCounts {
		if count := rawjson.Member(u.began, name); !rawjson.IsNull(count) && rawjson.IsNull(rawjson.Member(whole, name)) {
			whole = rawjson.With(whole, rawjson.Set(name, count))
		}
	}
	if rawjson.IsEmpty(whole) {
		return nil
	}
	return slices.Clone(whole)
}

// shown returns the usage that an edit asks for, or nil for none.
func (u *usages) shown(which adapter.UsageShown) []byte {
	if u.totals == nil || which == adapter.UsageHidden {
		return nil
	}
	own := u.turn()
	if shown := u.totals.Shown(which, &own); shown != nil {
		return *shown
	}
	return nil
}

// countsOf returns the counts of a turn in the engine's type. The counts at the
// end of the turn replace those at its beginning.
func countsOf(began, ended []byte) adapter.Usage {
	var input, written, read, output, reasoning int
	for _, raw := range [][]byte{began, ended} {
		s := rawjson.Over(raw)
		for name := range s.Members() {
			switch name {
			case inputTokens:
				setCount(&input, s.Raw())
			case cacheWritten:
				setCount(&written, s.Raw())
			case cacheRead:
				setCount(&read, s.Raw())
			case outputTokens:
				setCount(&output, s.Raw())
			case outputDetails:
				setCount(&reasoning, rawjson.Member(s.Raw(), "thinking_tokens"))
			}
		}
	}
	return adapter.Usage{Prompt: addCounts(input, written, read), Completion: output, Cached: read, Reasoning: reasoning}
}

func setCount(count *int, raw []byte) {
	if n, ok := wire.Count(raw); ok {
		*count = max(n, 0)
	}
}

// addCounts returns the sum of counts that are not negative, at most the largest int.
func addCounts(counts ...int) (sum int) {
	for _, n := range counts {
		if sum > math.MaxInt-n {
			return math.MaxInt
		}
		sum += n
	}
	return sum
}

// extendUsage returns the usage of an answer after a turn was added to it. The
// input counts stay those of the first turn, so that clients see the size of
// their conversation.
func extendUsage(answer, turn []byte) []byte {
	for _, name := range outputCounts {
		if count := rawjson.Member(turn, name); count != nil {
			answer = rawjson.With(answer, rawjson.Set(name, wire.AddUsage(rawjson.Member(answer, name), count)))
		}
	}
	if passes := rawjson.Member(answer, iterations); !rawjson.IsEmpty(passes) {
		answer = rawjson.With(answer, rawjson.Set(iterations, extendLast(passes, rawjson.Member(turn, outputTokens))))
	}
	return answer
}

// extendLast adds output to the last iteration in the usage, from which some
// clients take their totals.
func extendLast(passes, output []byte) []byte {
	all := rawjson.Elements(passes)
	if len(all) == 0 || rawjson.IsNull(output) {
		return passes
	}
	last := all[len(all)-1]
	extended := wire.AddUsage(last, rawjson.Object(outputTokens, rawValue(output)))
	from := bytes.LastIndex(passes, last)
	return slices.Concat(passes[:from], extended, passes[from+len(last):])
}

// sumUsages returns the sum of the usage of two turns.
func sumUsages(a, b []byte) []byte {
	sum := wire.AddUsage(a, b)
	earlier, later := rawjson.Elements(rawjson.Member(a, iterations)), rawjson.Elements(rawjson.Member(b, iterations))
	if len(earlier)+len(later) == 0 {
		return sum
	}
	passes := slices.Concat([]byte{'['}, bytes.Join(append(earlier, later...), []byte{','}), []byte{']'})
	return rawjson.With(sum, rawjson.Set(iterations, passes))
}
