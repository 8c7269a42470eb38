package langchaingo

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/separator"
)

// usageTotals sums the GenerationInfo of a call's turns: all keys of the
// provider, with the token counts added up.
type usageTotals = adapter.UsageTotals[map[string]any]

func newUsageTotals() usageTotals { return usageTotals{Add: addInfo, Extend: extendInfo} }

// infoOf returns the GenerationInfo of an answer. Where there are several
// choices, each repeats the counts, and each may have keys that the others
// lack.
func infoOf(a *llms.ContentResponse) (info map[string]any) {
	shared := true
	for _, choice := range choicesOf(a) {
		switch {
		case len(choice.GenerationInfo) == 0:
			continue
		case info == nil:
			info = choice.GenerationInfo
			continue
		case shared:
			info, shared = maps.Clone(info), false
		}
		for key, value := range choice.GenerationInfo {
			if isZero(info[key]) {
				info[key] = value
			}
		}
	}
	return info
}

// textIn returns a text in the info, or "".
func textIn(info map[string]any, key string) string {
	text, _ := info[key].(string)
	return text
}

func isZero(value any) bool {
	return value == nil || reflect.ValueOf(value).IsZero()
}

// addInfo returns the info of two turns together. It adds counts and joins
// texts; for all other keys, it takes the later turn's value. It changes
// neither map.
func addInfo(a, b map[string]any) map[string]any {
	a, b = sameTotals(a, b)
	sum := maps.Clone(a)
	for key, value := range b {
		sum[key] = addValue(key, a[key], value)
	}
	return sum
}

// sameTotals gives both infos a total, if one of them has one: a total that a
// turn does not report is the sum of its parts.
func sameTotals(a, b map[string]any) (x, y map[string]any) {
	for _, key := range totalKeys {
		a, b = withTotal(a, key, b[key]), withTotal(b, key, a[key])
	}
	return a, b
}

// withTotal returns an info with a total of the type of another turn's, unless
// it has one, or the other has none. It changes no map.
func withTotal(info map[string]any, key string, other any) map[string]any {
	if !isZero(info[key]) || isZero(other) {
		return info
	}
	parts := counts(info)
	sum, number := reflect.ValueOf(parts.Prompt+parts.Completion), reflect.TypeOf(other)
	if sum.IsZero() || !sum.CanConvert(number) || number.Kind() == reflect.String {
		return info
	}
	info = maps.Clone(info)
	info[key] = sum.Convert(number).Interface()
	return info
}

func addValue(key string, a, b any) any {
	switch {
	case isCount(key):
		if sum, ok := addCounts(reflect.ValueOf(a), reflect.ValueOf(b)); ok {
			return sum.Interface()
		}
	case key == "ThinkingContent", key == "OutputContent":
		earlier, one := a.(string)
		later, other := b.(string)
		if one && other {
			return joinTexts(earlier, later)
		}
	}
	return b
}

func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator.Text + b
}

// addCounts adds two numbers of one type, or two structs field by field,
// because some clients report usage as a struct.
func addCounts(a, b reflect.Value) (reflect.Value, bool) {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return b, false
	}
	sum := reflect.New(b.Type()).Elem()
	sum.Set(b)
	switch {
	case b.CanInt():
		sum.SetInt(a.Int() + b.Int())
	case b.CanUint():
		sum.SetUint(a.Uint() + b.Uint())
	case b.CanFloat():
		sum.SetFloat(a.Float() + b.Float())
	case b.Kind() == reflect.Struct:
		for i := range b.NumField() {
			if !sum.Field(i).CanSet() {
				continue
			}
			if field, ok := addCounts(a.Field(i), b.Field(i)); ok {
				sum.Field(i).Set(field)
			}
		}
	default:
		return b, false
	}
	return sum, true
}

// extendInfo returns the info of an answer after a turn was added to it. A
// prompt counts once: the turn adds only its output.
func extendInfo(answer, turn map[string]any) map[string]any {
	answer, turn = sameTotals(answer, turn)
	if counts(answer).Prompt > 0 {
		turn = outputOf(turn)
	}
	return addInfo(answer, turn)
}

// outputOf returns the info of a turn without the counts of its prompt.
func outputOf(info map[string]any) map[string]any {
	prompt := counts(info).Prompt
	output := maps.Clone(info)
	for key, value := range info {
		switch {
		case !isCount(key):
		case key == "usage":
			output[key] = outputStruct(reflect.ValueOf(value), prompt).Interface()
		case isTotal(key):
			output[key] = less(reflect.ValueOf(value), prompt).Interface()
		case countsPrompt(key):
			delete(output, key)
		}
	}
	return output
}

// outputStruct is outputOf for a client that reports usage as a struct.
func outputStruct(usage reflect.Value, prompt int) reflect.Value {
	if usage.Kind() != reflect.Struct {
		return usage
	}
	output := reflect.New(usage.Type()).Elem()
	output.Set(usage)
	for i := range usage.NumField() {
		switch name := usage.Type().Field(i).Name; {
		case !output.Field(i).CanSet():
		case isTotal(name):
			output.Field(i).Set(less(usage.Field(i), prompt))
		case countsPrompt(name):
			output.Field(i).SetZero()
		}
	}
	return output
}

// isCount reports whether a key has one or more counts of tokens.
func isCount(key string) bool {
	return strings.HasSuffix(key, "Tokens") || strings.HasSuffix(key, "_tokens") || key == "usage"
}

// totalKeys are the keys of a total, by client.
var totalKeys = [...]string{"TotalTokens", "total_tokens"} //nolint:gochecknoglobals // constant

func isTotal(key string) bool { return slices.Contains(totalKeys[:], key) }

// countsPrompt reports whether a count is about the prompt: its size, or its
// cached part.
func countsPrompt(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "prompt") || strings.Contains(key, "input") || strings.Contains(key, "cache")
}

// less returns a number minus n, but at least 0. It returns other values
// unchanged.
func less(value reflect.Value, n int) reflect.Value {
	result := reflect.New(value.Type()).Elem()
	result.Set(value)
	switch {
	case value.CanInt():
		result.SetInt(max(0, value.Int()-int64(n)))
	case value.CanUint():
		result.SetUint(value.Uint() - min(value.Uint(), uint64(n))) //nolint:gosec // a count of tokens
	case value.CanFloat():
		result.SetFloat(max(0, value.Float()-float64(n)))
	}
	return result
}

// counts converts the info to the engine's usage. It knows all the names that
// clients use.
func counts(info map[string]any) adapter.Usage {
	usage := reflect.ValueOf(info["usage"])
	return adapter.Usage{
		Prompt:     count(info, usage, "PromptTokens", "InputTokens", "input_tokens"),
		Completion: count(info, usage, "CompletionTokens", "OutputTokens", "output_tokens"),
		Total:      count(info, usage, "TotalTokens", "total_tokens"),
		Cached:     count(info, usage, "PromptCachedTokens", "CacheReadInputTokens", "CachedTokens"),
		Reasoning:  count(info, usage, "ReasoningTokens", "CompletionReasoningTokens", "ThinkingTokens"),
	}
}

// count returns the first count that is present. If the client reports usage as
// a struct, the field has the first key's name.
func count(info map[string]any, usage reflect.Value, keys ...string) int {
	for _, key := range keys {
		if value, ok := info[key]; ok {
			return number(reflect.ValueOf(value))
		}
	}
	if usage.Kind() == reflect.Struct {
		return number(usage.FieldByName(keys[0]))
	}
	return 0
}

func number(value reflect.Value) int {
	switch {
	case value.CanInt():
		return int(value.Int())
	case value.CanUint():
		return int(value.Uint()) //nolint:gosec // a count of tokens
	case value.CanFloat():
		return int(value.Float())
	}
	return 0
}
