package wire

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// Usage sums the usage of a call as JSON, with all members of the provider.
// Dialects embed it. The zero value has no usage.
type Usage struct{ kept *keptUsage } // most answers have none before they end

type keptUsage struct {
	adapter.UsageTotals[[]byte]

	turn []byte // of the current turn
}

// SetUsage sets the usage of the current turn, which it copies. The last one set
// counts.
func (u *Usage) SetUsage(raw []byte) {
	if u.kept == nil {
		u.kept = new(keptUsage)
		u.kept.Add, u.kept.Extend = sumUsage, extendUsage
	}
	u.kept.turn = append(u.kept.turn[:0], raw...)
}

// EndTurn ends the turn, as [adapter.Dialect] says.
func (u *Usage) EndTurn(keep bool) {
	if k := u.kept; k != nil {
		if len(k.turn) > 0 {
			k.SetTurn(slices.Clone(k.turn))
		}
		k.turn = k.turn[:0]
		k.EndTurn(keep)
	}
}

// ShownUsage returns the usage that an edit asks for, or nil for none. own is
// the chunk's own usage.
func (u *Usage) ShownUsage(which adapter.UsageShown, own []byte) []byte {
	var kept keptUsage
	if u.kept != nil {
		kept = *u.kept
	}
	if shown := kept.Shown(which, &own); shown != nil {
		return *shown
	}
	return nil
}

// Limits of a sum: the depth of objects, the length of integers that are added
// exactly, and the digits after the decimal point.
const (
	maxDepth    = 8
	maxDigits   = 128
	maxDecimals = 12
)

// sumUsage returns the sum of the usage of two turns.
func sumUsage(a, b []byte) []byte {
	a, b = sameTotals(a, b)
	return AddUsage(a, b)
}

// sameTotals gives both usages a total, if one of them has one: a total that a turn does
// not report is the sum of its parts.
func sameTotals(a, b []byte) (x, y []byte) {
	const total = "total_tokens"
	hasA, hasB := rawjson.Member(a, total) != nil, rawjson.Member(b, total) != nil
	switch {
	case hasA && !hasB:
		b = withMember(b, total, sumOfParts(b))
	case hasB && !hasA:
		a = withMember(a, total, sumOfParts(a))
	}
	return a, b
}

// sumOfParts returns the tokens of a usage without a total, or nil if it counts none.
func sumOfParts(usage []byte) []byte {
	var sum []byte
	for _, name := range [...]string{"prompt_tokens", "input_tokens", "completion_tokens", "output_tokens"} {
		if n := rawjson.Member(usage, name); len(n) > 0 && isNumber(n) {
			sum = AddUsage(sum, n)
		}
	}
	return sum
}

// withMember returns an object with another member, unless value is nil.
func withMember(object []byte, name string, value []byte) []byte {
	if value == nil {
		return object
	}
	return AddUsage(object, slices.Concat([]byte(`{"`+name+`":`), value, []byte{'}'}))
}

// extendUsage returns the usage of an answer after a turn was added to it.
func extendUsage(answer, turn []byte) []byte {
	answer, turn = sameTotals(answer, turn)
	if promptOf(answer) != nil {
		turn = outputOf(turn, answer)
	}
	return AddUsage(answer, turn)
}

// promptOf returns the size of the prompt in a usage, or nil if it counts none.
func promptOf(usage []byte) []byte {
	for _, name := range []string{"prompt_tokens", "input_tokens"} {
		if n := rawjson.Member(usage, name); len(n) > 0 && '1' <= n[0] && n[0] <= '9' {
			return n
		}
	}
	return nil
}

// outputOf returns the usage of a turn without the counts of its prompt. A
// prompt count that the answer also has becomes 0, so that the sum keeps the
// answer's.
func outputOf(raw, answer []byte) []byte {
	if rawjson.IsNull(raw) || raw[0] != '{' {
		return raw
	}
	kept, counted, prompt := []byte{'{'}, membersOf(answer), promptOf(raw)
	members := rawjson.Over(raw)
	for name := range members.Members() {
		value := members.Raw()
		switch {
		case countsPrompt(name) && len(counted[name]) > 0 && isNumber(counted[name]):
			value = []byte("0")
		case countsPrompt(name):
			continue
		case name == "total_tokens" && prompt != nil && isNumber(value):
			value = addNumbers(string(value), "-"+string(prompt))
		}
		kept = append(append(append(append(kept, rawjson.Quote(name)...), ':'), value...), ',')
	}
	return append(bytes.TrimSuffix(kept, []byte{','}), '}')
}

// countsPrompt reports whether a member of a usage is about the prompt: its
// size, or its cached part.
func countsPrompt(name string) bool {
	for _, prefix := range []string{"prompt_", "input_", "cache_", "cached_"} {
		if strings.HasPrefix(name, prefix) && (strings.Contains(name, "tokens") || name == "cache_creation") {
			return true
		}
	}
	return false
}

// AddUsage returns the sum of two usages, or of two values in them. It adds numbers, and
// objects member by member. For other values it returns b, unless that is null.
func AddUsage(a, b []byte) []byte { return addTo(maxDepth, a, b) }

func addTo(depth int, a, b []byte) []byte {
	switch {
	case len(b) == 0, rawjson.IsNull(b) && len(a) > 0:
		return a
	case rawjson.IsNull(a):
		return b
	case a[0] == '{' && b[0] == '{' && depth > 0:
		return addObjects(depth-1, a, b)
	case isNumber(a) && isNumber(b):
		return addNumbers(string(a), string(b))
	}
	return b
}

// membersOf returns the members of an object.
func membersOf(object []byte) map[string][]byte {
	members := make(map[string][]byte)
	s := rawjson.Over(object)
	for name := range s.Members() {
		members[name] = s.Raw()
	}
	return members
}

// addObjects keeps the members in the order of a, and then of b.
func addObjects(depth int, a, b []byte) []byte {
	more := membersOf(b)
	sum := []byte{'{'}
	put := func(name string, value []byte) {
		sum = append(append(append(append(sum, rawjson.Quote(name)...), ':'), value...), ',')
		delete(more, name)
	}
	inA := rawjson.Over(a)
	for name := range inA.Members() {
		put(name, addTo(depth, inA.Raw(), more[name]))
	}
	inB := rawjson.Over(b)
	for name := range inB.Members() {
		if value, ok := more[name]; ok {
			put(name, value)
		}
	}
	return append(bytes.TrimSuffix(sum, []byte{','}), '}')
}

func isNumber(raw []byte) bool { return raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9' }

// addNumbers adds integers of up to maxDigits exactly, and other numbers as
// floats, to the decimals that they have. It never writes an exponent, because
// some clients refuse one.
func addNumbers(a, b string) []byte {
	if len(a)+len(b) <= maxDigits && !strings.ContainsAny(a+b, ".eE") {
		x, okX := new(big.Int).SetString(a, 10)
		y, okY := new(big.Int).SetString(b, 10)
		if okX && okY {
			return []byte(x.Add(x, y).String())
		}
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil || math.IsInf(x+y, 0) {
		return []byte(b)
	}
	sum := strconv.AppendFloat(nil, x+y, 'f', max(decimals(a), decimals(b)), 64)
	if bytes.IndexByte(sum, '.') >= 0 { // more clients read an integer
		sum = bytes.TrimSuffix(bytes.TrimRight(sum, "0"), []byte("."))
	}
	return sum
}

// decimals returns how many digits after the decimal point a sum needs to be as
// exact as the number.
func decimals(number string) int {
	if strings.ContainsAny(number, "eE") {
		return maxDecimals
	}
	_, digits, _ := strings.Cut(number, ".")
	return min(len(digits), maxDecimals)
}

// Count returns a number of tokens, and false for anything but a number. A number
// that is too large for an int becomes the largest one: a budget must hold whatever
// a provider reports.
func Count(raw []byte) (n int, ok bool) {
	if len(raw) == 0 || !isNumber(raw) {
		return 0, false
	}
	n, ok = rawjson.Int(raw)
	if ok {
		return n, true
	}
	f, _ := strconv.ParseFloat(rawjson.View(raw), 64) // infinite if it is out of range
	switch {
	case f >= math.MaxInt:
		return math.MaxInt, true
	case f <= math.MinInt:
		return math.MinInt, true
	}
	return int(f), true
}
