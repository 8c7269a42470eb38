package quirks

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// checkUsage checks that a usage is that of two turns read as one answer. Either
// usage may be "".
func checkUsage(first, second, got string) error {
	want := sum(number(first), withoutPrompt(number(second), number(first)))
	if want == nil {
		return nil
	}
	return same("usage", want, number(got))
}

// withoutPrompt returns a usage without the counts of its prompt, if an earlier
// usage has counted a prompt.
func withoutPrompt(usage, earlier any) any {
	members, ok := usage.(map[string]any)
	before, has := earlier.(map[string]any)
	if !ok || !has || before["prompt_tokens"] == nil {
		return usage
	}
	rest := maps.Clone(members)
	total, counted := members["total_tokens"].(json.Number)
	if prompt, known := members["prompt_tokens"].(json.Number); known && counted {
		rest["total_tokens"] = add(total, "-"+prompt)
	}
	maps.DeleteFunc(rest, func(name string, _ any) bool {
		return strings.HasPrefix(name, "prompt_") && strings.Contains(name, "_tokens") || strings.HasPrefix(name, "prompt_cache_")
	})
	return rest
}

// number decodes a JSON text and keeps the digits of its numbers; "" is nil.
func number(raw string) any {
	if raw == "" {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return value
}

// sum adds each number of a to the same number of b, at any depth. For other
// values it takes b's, unless that is null.
func sum(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			both := maps.Clone(a)
			for name, value := range b {
				both[name] = sum(a[name], value)
			}
			return both
		}
	case json.Number:
		if b, ok := b.(json.Number); ok {
			return add(a, b)
		}
	}
	if b == nil {
		return a
	}
	return b
}

func add(a, b json.Number) json.Number {
	x, isWhole := new(big.Int).SetString(a.String(), 10)
	y, areWhole := new(big.Int).SetString(b.String(), 10)
	if isWhole && areWhole {
		return json.Number(x.Add(x, y).String())
	}
	total := strconv.FormatFloat(float(a)+float(b), 'f', -1, 64)
	if !strings.Contains(total, ".") {
		total += ".0" // it need not be written as a whole number
	}
	return json.Number(total)
}

func float(n json.Number) float64 {
	f, err := n.Float64()
	if err != nil {
		return math.NaN()
	}
	return f
}

// same compares two decoded values. Whole numbers must have the same digits,
// others nearly the same value, and none may have an exponent.
func same(path string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok || len(members) != len(want) {
			return fmt.Errorf("%s: want %v, got %v", path, want, got)
		}
		for name, value := range want {
			if err := same(path+"."+name, value, members[name]); err != nil {
				return err
			}
		}
		return nil
	case json.Number:
		n, ok := got.(json.Number)
		_, whole := new(big.Int).SetString(want.String(), 10)
		near := math.Abs(float(n)-float(want)) <= 1e-9*math.Abs(float(want))
		if !ok || strings.ContainsAny(n.String(), "eE") || whole && n != want || !near {
			return fmt.Errorf("%s: want %v, got %v", path, want, got)
		}
		return nil
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		return fmt.Errorf("%s: want %v, got %v", path, want, got)
	}
	return nil
}
