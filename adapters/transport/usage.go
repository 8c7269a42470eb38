package transport

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// usage keeps the usage of a call as JSON, with whatever a provider puts into
// it. A nil one has none.
type usage struct {
	turn, last, sum []byte // of the turn at hand, of the last one kept, of all kept
	noted           bool   // turn is set
}

// note takes note of a usage of the turn at hand. The last one counts.
func (u *usage) note(raw []byte) {
	u.turn, u.noted = append(u.turn[:0], raw...), true
}

// endTurn ends the turn; with keep, its usage goes into the sum.
func (u *usage) endTurn(keep bool) {
	if u == nil {
		return
	}
	if keep && u.noted {
		u.last = slices.Clone(u.turn)
		u.sum = add(u.sum, u.last, maxDepth)
	}
	u.noted = false
}

// show returns the usage that an edit asks for, nil for none. Own is that of
// the chunk at hand.
func (u *usage) show(which middleware.UsageEdit, own []byte) []byte {
	if u == nil {
		u = new(usage)
	}
	switch which {
	case middleware.ShowOwn:
		return own
	case middleware.ShowSum:
		return u.sum
	case middleware.ShowLast:
		return u.last
	case middleware.HideUsage:
	}
	return nil
}

// Bounds of a sum: how deep objects are added up, how long integers may be to
// be added exactly, and how many digits are kept after the point.
const (
	maxDepth    = 8
	maxDigits   = 128
	maxDecimals = 12
)

// add returns the sum of two values: of numbers, or member by member of
// objects. Of anything else, b counts if it is something.
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
	s := rawjson.Over(b)
	for s.Open('{'); s.Member(); {
		more[string(s.Key())] = s.Raw()
	}
	sum := []byte{'{'}
	put := func(key string, value []byte) {
		if len(sum) > 1 {
			sum = append(sum, ',')
		}
		sum = append(append(append(sum, rawjson.Quote(key)...), ':'), value...)
	}
	seen := make(map[string]bool)
	s = rawjson.Over(a)
	for s.Open('{'); s.Member(); {
		key := string(s.Key())
		seen[key] = true
		put(key, add(s.Raw(), more[key], depth))
	}
	s = rawjson.Over(b)
	for s.Open('{'); s.Member(); {
		if key, value := string(s.Key()), s.Raw(); !seen[key] {
			put(key, value)
		}
	}
	return append(sum, '}')
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
	if errX != nil || errY != nil {
		return []byte(b)
	}
	if math.IsInf(x+y, 0) {
		return []byte(b)
	}
	sum := strconv.AppendFloat(nil, x+y, 'f', max(decimals(a), decimals(b)), 64)
	if bytes.IndexByte(sum, '.') >= 0 { // more clients read a whole number as such
		sum = bytes.TrimSuffix(bytes.TrimRight(sum, "0"), []byte("."))
	}
	return sum
}

// decimals returns how many digits to write after the point, for a sum as exact
// as the number.
func decimals(number string) int {
	if strings.ContainsAny(number, "eE") {
		return maxDecimals
	}
	_, digits, _ := strings.Cut(number, ".")
	return min(len(digits), maxDecimals)
}
