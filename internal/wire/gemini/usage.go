package gemini

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// The counts of a usageMetadata. Tokens read from the cache are part of the prompt;
// thoughts are not part of the candidates.
const (
	promptCount     = "promptTokenCount"
	cachedCount     = "cachedContentTokenCount"
	candidatesCount = "candidatesTokenCount"
	thoughtsCount   = "thoughtsTokenCount"
	toolUseCount    = "toolUsePromptTokenCount"
	totalCount      = "totalTokenCount"
)

// isOutput reports whether a member counts what a turn has cost beside the prompt.
func isOutput(name string) bool {
	switch name {
	case candidatesCount, thoughtsCount, toolUseCount, "candidatesTokensDetails", "toolUsePromptTokensDetails":
		return true
	}
	return false
}

// counts are the counts that vary in the usage of relayed chunks.
var counts = [...]string{promptCount, cachedCount, candidatesCount, thoughtsCount, toolUseCount, totalCount} //nolint:gochecknoglobals // constant

// usages sums the usage of a call. Each chunk has the usage of its turn so far.
type usages struct {
	totals *adapter.UsageTotals[[]byte] // nil as long as there is nothing to keep
	turn   []byte                       // of the current turn: the last value of each member
	latest *latestCounts                // of relayed chunks, newer than those in turn; nil if there are none
}

// latestCounts are the counts of the latest relayed chunk, as they stand there.
type latestCounts [len(counts)]struct {
	digits [maxDigits]byte
	n      uint8
}

// maxDigits is how many digits a count may have.
const maxDigits = 15

// observe takes a count of a relayed chunk.
func (u *usages) observe(count int, value []byte) {
	if u.latest == nil {
		u.latest = new(latestCounts)
	}
	if n := len(value); n <= maxDigits {
		l := &u.latest[count]
		l.n = uint8(copy(l.digits[:], value)) //nolint:gosec // at most maxDigits
	}
}

// fold puts the counts of relayed chunks into the usage of the turn.
func (u *usages) fold() {
	if u.latest == nil {
		return
	}
	var with []rawjson.Change
	for i := range u.latest {
		if l := &u.latest[i]; l.n > 0 {
			with = append(with, rawjson.Set(counts[i], l.digits[:l.n]))
		}
	}
	u.turn, u.latest = append(u.turn[:0], rawjson.With(u.turn, with...)...), nil
}

// set takes the usage of a chunk. A chunk may have fewer members than one before it.
func (u *usages) set(raw []byte) {
	u.fold()
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	if len(u.turn) == 0 || differInNumbers(u.turn, raw) {
		u.turn = append(u.turn[:0], raw...)
		return
	}
	u.turn = append(u.turn[:0], merged(u.turn, raw)...)
}

// differInNumbers reports whether two JSON texts differ in their numbers at most.
func differInNumbers(a, b []byte) bool {
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		for i < len(a) && isDigit(a[i]) {
			i++
		}
		for j < len(b) && isDigit(b[j]) {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
	}
}

// merged returns the members of both usages; those of b replace those of a.
func merged(a, b []byte) []byte {
	var with []rawjson.Change
	s := rawjson.Over(b)
	for name := range s.Members() {
		with = append(with, rawjson.Set(name, s.Raw()))
	}
	return rawjson.With(a, with...)
}

// EndTurn ends the turn, as [adapter.Dialect] says.
func (u *usages) EndTurn(keep bool) {
	u.fold()
	if keep && len(u.turn) > 0 {
		if u.totals == nil {
			u.totals = &adapter.UsageTotals[[]byte]{Add: sumUsages, Extend: extendUsage}
		}
		u.totals.SetTurn(slices.Clone(withTotal(u.turn)))
		u.totals.EndTurn(keep)
	}
	u.turn = u.turn[:0]
}

// shown returns the usage of the answer so far, or nil if there is none.
func (u *usages) shown(which adapter.UsageShown) []byte {
	turn := u.turn
	if u.totals == nil {
		if len(turn) == 0 || which == adapter.UsageHidden {
			return nil
		}
		return turn
	}
	own := &turn
	kept := u.totals.Shown(which, own)
	switch {
	case kept == nil || len(turn) == 0 || which == adapter.UsageOwn:
	case which == adapter.UsageOneAnswer:
		return extendUsage(*kept, turn)
	case which == adapter.UsageSum:
		return sumUsages(*kept, turn)
	case which == adapter.UsageLast:
		return turn
	}
	if kept == nil {
		return nil
	}
	return *kept
}

// countsOf returns the counts of a turn in the engine's type.
func countsOf(raw []byte) adapter.Usage {
	var prompt, cached, candidates, thoughts, toolUse, total int
	s := rawjson.Over(raw)
	for name := range s.Members() {
		n, _ := rawjson.Int(s.Raw())
		switch name {
		case promptCount:
			prompt = n
		case cachedCount:
			cached = n
		case candidatesCount:
			candidates = n
		case thoughtsCount:
			thoughts = n
		case toolUseCount:
			toolUse = n
		case totalCount:
			total = n
		}
	}
	return adapter.Usage{
		Prompt: prompt + toolUse, Completion: candidates + thoughts, Total: total, Cached: cached, Reasoning: thoughts,
	}
}

// extendUsage returns the usage of an answer after a turn was added to it. The counts
// of the prompt stay those of the first turn, so that clients see the size of their
// conversation.
func extendUsage(answer, turn []byte) []byte {
	if n, ok := rawjson.Int(rawjson.Member(answer, promptCount)); !ok || n == 0 {
		return sumUsages(answer, turn) // it does not count the prompt: the turn's counts
	}
	answer, turn = sameTotals(answer, turn)
	var with []rawjson.Change
	total := rawjson.Member(answer, totalCount)
	s := rawjson.Over(turn)
	for name := range s.Members() {
		raw := s.Raw()
		switch {
		case isOutput(name):
			with = append(with, rawjson.Set(name, addCounts(rawjson.Member(answer, name), raw)))
			if _, isCount := rawjson.Int(raw); isCount && total != nil {
				total = addCounts(total, raw)
			}
		case rawjson.IsString(raw):
			with = append(with, rawjson.Set(name, raw))
		}
	}
	if total != nil {
		with = append(with, rawjson.Set(totalCount, total))
	}
	return rawjson.With(answer, with...)
}

// sumUsages returns the sum of the usage of two turns.
func sumUsages(a, b []byte) []byte {
	a, b = sameTotals(a, b)
	var with []rawjson.Change
	s := rawjson.Over(b)
	for name := range s.Members() {
		with = append(with, rawjson.Set(name, addCounts(rawjson.Member(a, name), s.Raw())))
	}
	return rawjson.With(a, with...)
}

// sameTotals gives both usages a total, if one of them has one.
func sameTotals(a, b []byte) (x, y []byte) {
	switch hasA, hasB := rawjson.Member(a, totalCount) != nil, rawjson.Member(b, totalCount) != nil; {
	case hasA && !hasB:
		b = rawjson.With(b, rawjson.Set(totalCount, sumOfParts(b)))
	case hasB && !hasA:
		a = rawjson.With(a, rawjson.Set(totalCount, sumOfParts(a)))
	}
	return a, b
}

// sumOfParts returns the total of a usage that does not report one.
func sumOfParts(usage []byte) []byte {
	u := countsOf(usage)
	return strconv.AppendInt(nil, int64(u.Prompt+u.Completion), 10)
}

// withTotal returns the usage of a turn with a total that is no less than its parts: the
// last chunk may leave out what it has counted before.
func withTotal(usage []byte) []byte {
	u := countsOf(usage)
	if rawjson.Member(usage, totalCount) == nil || u.Total >= u.Prompt+u.Completion {
		return usage
	}
	return rawjson.With(usage, rawjson.Set(totalCount, sumOfParts(usage)))
}

// addCounts adds two numbers, or two lists of counts by modality. Of other values the
// second one is the sum.
func addCounts(a, b []byte) []byte {
	x, okX := rawjson.Int(a)
	y, okY := rawjson.Int(b)
	switch {
	case okX && okY && max(len(a), len(b)) <= maxDigits:
		return strconv.AppendInt(nil, int64(x+y), 10)
	case len(a) == 0 || a[0] != '[' || len(b) == 0 || b[0] != '[':
		return wire.AddUsage(a, b)
	}
	sums := rawjson.Elements(a)
	at := map[string]int{}
	for i, element := range sums {
		at[rawjson.TextOf(rawjson.Member(element, "modality"))] = i
	}
	for _, element := range rawjson.Elements(b) {
		if i, ok := at[rawjson.TextOf(rawjson.Member(element, "modality"))]; ok {
			sums[i] = wire.AddUsage(sums[i], element)
		} else {
			sums = append(sums, element)
		}
	}
	return slices.Concat([]byte{'['}, bytes.Join(sums, []byte{','}), []byte{']'})
}
