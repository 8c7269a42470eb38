package proxy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/middleware"
)

// worth is what continuations were worth, and what they cost.
type worth struct {
	middleware.Worth

	Money         *float64 `json:"money,omitempty"`          // in the currency of -price; nil without it
	MoneyEstimate *float64 `json:"money_estimate,omitempty"` // of what was not sent
}

func worthOf(w middleware.Worth, c *Config) worth {
	all := worth{Worth: w}
	if price, err := c.price(); err == nil && c.Price != "" { // Check has looked at it
		money, estimate := price.of(w.Tokens), price.of(w.Estimate)
		all.Money, all.MoneyEstimate = &money, &estimate
	}
	return all
}

// price is what a million tokens cost.
type price struct{ input, cached, output float64 }

// of returns what the tokens cost.
func (p price) of(t middleware.Tokens) float64 {
	return (float64(t.Input)*p.input + float64(t.Cached)*p.cached + float64(t.Output)*p.output) / 1e6
}

// parsePrice reads three prices of a million tokens: new input, cached input, output.
func parsePrice(text string) (price, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return price{}, errors.New("there must be three prices")
	}
	var numbers [3]float64
	for i, part := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(n) || n < 0 || n > 1e9 {
			return price{}, fmt.Errorf("%q is no price", part)
		}
		numbers[i] = n
	}
	return price{numbers[0], numbers[1], numbers[2]}, nil
}

// sentence says what carryon was worth, without the subject.
func (f *figures) sentence(c *Config) string {
	w := worthOf(f.Worth, c)
	parts := make([]string, 0, 3)
	n := &f.Counts
	switch {
	case n.Calls == 0:
		parts = append(parts, "has seen no call of a model yet")
	case w.Resumed+w.Unwanted() > 0:
		parts = append(parts, fmt.Sprintf("resumed %s%s; %s finished after that, for %s",
			plural(w.Resumed, "stall"), conversations(n.Listed, " in %s"), were(w.Finished, "todo"), cost(w.Tokens, w.Money)))
	case w.Questions > 0:
		parts = append(parts, fmt.Sprintf("asked %s whether anything was open, for %s; the model went on after %s",
			plural(w.Questions, "time"), cost(w.Tokens, w.Money), ofThem(w.Reopened)))
	case n.Continuations > 0:
		parts = append(parts, fmt.Sprintf("sent %s, for %s; what came of that is not known",
			plural(n.Continuations, "continuation"), cost(w.Tokens, w.Money)))
	case w.Unsent > 0, n.Off > 0 && n.Lists == 0:
	case n.Lists == 0:
		parts = append(parts, fmt.Sprintf("was of no use: %s had no todo list, so there was nothing to continue", plural(n.Calls, "call")))
	default:
		parts = append(parts, fmt.Sprintf("was not needed: no turn stalled%s; it sent nothing, and cost nothing",
			conversations(n.Listed, " in %s with a todo list")))
	}
	if w.Unwanted() > 0 {
		parts = append(parts, were(w.Unwanted(), "continuation")+" unwanted")
	}
	if w.Unsent > 0 {
		parts = append(parts, w.unsent(c.rules().DryRun))
	}
	if n.Off > 0 {
		parts = append(parts, fmt.Sprintf("left %s alone, because continuing was switched off", plural(n.Off, "call")))
	}
	return strings.Join(parts, "; ")
}

// unsent says what was not sent.
func (w worth) unsent(dryRun bool) string {
	tokens := "about " + cost(w.Estimate, w.MoneyEstimate)
	if dryRun {
		return fmt.Sprintf("would have sent %s, for %s; that is an estimate of first stalls only, because nobody knows what would have followed",
			plural(w.Unsent, "continuation"), tokens)
	}
	return fmt.Sprintf("%s not sent in the control group, for %s", were(w.Unsent, "continuation"), tokens)
}

// conversations returns a text with the number of sessions that had a list, or "" if no
// session had a name.
func conversations(n int, text string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(text, plural(n, "conversation"))
}

// ofThem returns a number of things that were named before.
func ofThem(n int) string {
	if n == 0 {
		return "none of them"
	}
	return strconv.Itoa(n) + " of them"
}

// were returns a number of things with the verb "was" or "were".
func were(n int, one string) string {
	if n == 1 {
		return plural(n, one) + " was"
	}
	return plural(n, one) + " were"
}

// cost returns a number of tokens, and their price if it is known.
func cost(t middleware.Tokens, money *float64) string {
	text := grouped(t.Total()) + " tokens"
	if money != nil {
		text += fmt.Sprintf(" ($%.2f)", *money)
	}
	return text
}

// grouped returns a number that is not negative with a comma before every three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
