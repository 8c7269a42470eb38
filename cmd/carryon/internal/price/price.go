// Package price says what tokens cost.
package price

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/middleware"
)

// Usage is how the commands explain -price.
const Usage = "new input, cached input, output, as in 3,0.30,15"

// Price is what a million tokens cost. A nil Price is not known.
type Price struct{ input, cached, output float64 }

// Parse reads the value of -price: three prices of a million tokens, or "" if they are
// not known.
func Parse(text string) (*Price, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // as documented
	}
	parts := strings.Split(text, ",")
	var prices [3]float64
	for i, part := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if len(parts) != len(prices) || err != nil || math.IsNaN(n) || n < 0 || n > 1e9 {
			return nil, fmt.Errorf("-price must be three prices of a million tokens (new input, cached input, output), such as 3,0.30,15, not %q", text)
		}
		prices[i] = n
	}
	return &Price{prices[0], prices[1], prices[2]}, nil
}

// Of returns what tokens cost, or nil if the price is not known.
func (p *Price) Of(t middleware.Tokens) *float64 {
	if p == nil {
		return nil
	}
	money := (float64(t.Input)*p.input + float64(t.Cached)*p.cached + float64(t.Output)*p.output) / 1e6
	return &money
}

// Dollars writes an amount so that what costs something never looks free.
func Dollars(amount float64) string {
	if amount > 0 && amount < 0.005 {
		return "under $0.01"
	}
	return fmt.Sprintf("$%.2f", amount)
}
