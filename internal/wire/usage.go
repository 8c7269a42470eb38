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

// Usage keeps the usage of a call as JSON, with whatever a provider puts into
// it, for a dialect to embed. The zero value has none.
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
		u.kept.Add, u.kept.Extend = addUsages, extendUsage
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

// ShownUsage returns the usage that an edit asks for, or nil for none. Own is
// the chunk's own.
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

// Bounds of a sum: how deep objects are added, how long integers may be to be
// added exactly, and how many digits are kept behind the point.
const (
	maxDepth    = 8
	maxDigits   = 128
	maxDecimals = 12
)

func addUsages(a, b []byte) []byte { return add(a, b, maxDepth) }

// extendUsage returns the usage of an answer to which a turn was added.
func extendUsage(answer, turn []byte) []byte {
	if promptOf(answer) != nil {
		turn = outputOf(turn, answer)
	}
	return addUsages(answer, turn)
}

// promptOf returns the size of the prompt in a usage, or nil if it counts none.
func promptOf(usage []byte) []byte {
	if rawjson.IsNull(usage) || usage[0] != '{' {
		return nil
	}
	for _, name := range []string{"prompt_tokens", "input_tokens"} {
		if n := rawjson.Member(usage, name); len(n) > 0 && '1' <= n[0] && n[0] <= '9' {
			return n
		}
	}
	return nil
}

// outputOf returns the usage of a turn without what it counts of the prompt. A
// count that the answer has too is 0, so that the sum is written like any other.
func outputOf(raw, answer []byte) []byte {
	if rawjson.IsNull(raw) || raw[0] != '{' {
		return raw
	}
	kept := []byte{'{'}
	members := rawjson.Over(raw)
	for name := range members.Members() {
		value := members.Raw()
		switch counted := rawjson.Member(answer, name); {
		case countsPrompt(name) && len(counted) > 0 && isNumber(counted):
			value = []byte("0")
		case countsPrompt(name):
			continue
		case name == "total_tokens":
			if prompt := promptOf(raw); prompt != nil && isNumber(value) {
				value = addNumbers(string(value), "-"+string(prompt))
			}
		}
		kept = append(append(append(append(kept, rawjson.Quote(name)...), ':'), value...), ',')
	}
	return append(bytes.TrimSuffix(kept, []byte{','}), '}')
}

// countsPrompt reports whether a member of a usage is about the prompt: its size,
// or how much of it was cached.
func countsPrompt(name string) bool {
	for _, prefix := range []string{"prompt_", "input_", "cache_", "cached_"} {
		if strings.HasPrefix(name, prefix) && (strings.Contains(name, "tokens") || name == "cache_creation") {
			return true
		}
	}
	return false
}

// add returns the sum of two values: of numbers, or member by member of
// objects. Of anything else b counts, unless it is null.
func add(a, b []byte, depth int) []byte {
	switch {
	case len(b) == 0, rawjson.IsNull(b) && len(a) > 0:
		return a
	case rawjson.IsNull(a):
		return b
	case a[0] == '{' && b[0] == '{' && depth > 0:
		return addObjects(a, b, depth-1)
	case isNumber(a) && isNumber(b):
		return addNumbers(string(a), string(b))
	}
	return b
}

// addObjects keeps the members in the order of a, and then of b.
func addObjects(a, b []byte, depth int) []byte {
	more := make(map[string][]byte)
	inB := rawjson.Over(b)
	for name := range inB.Members() {
		more[name] = inB.Raw()
	}
	sum := []byte{'{'}
	put := func(name string, value []byte) {
		sum = append(append(append(append(sum, rawjson.Quote(name)...), ':'), value...), ',')
		delete(more, name)
	}
	inA := rawjson.Over(a)
	for name := range inA.Members() {
		put(name, add(inA.Raw(), more[name], depth))
	}
	inB = rawjson.Over(b)
	for name := range inB.Members() {
		if value, ok := more[name]; ok {
			put(name, value)
		}
	}
	return append(bytes.TrimSuffix(sum, []byte{','}), '}')
}

func isNumber(raw []byte) bool { return raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9' }

// addNumbers keeps integers integers, and other numbers as exact as they are
// given. It never writes an exponent, which some clients refuse.
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

// decimals returns how many digits to write behind the point, for a sum as exact
// as the number.
func decimals(number string) int {
	if strings.ContainsAny(number, "eE") {
		return maxDecimals
	}
	_, digits, _ := strings.Cut(number, ".")
	return min(len(digits), maxDecimals)
}

// AddUsage returns the sum of two usages: of numbers, member by member. Of what
// is no number b counts.
func AddUsage(a, b []byte) []byte { return addUsages(a, b) }
