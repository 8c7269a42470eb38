package langchaingo

import (
	"maps"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
)

// usageTotals keeps the GenerationInfo of a call: whatever the provider puts
// there, with its token counts summed.
type usageTotals = adapter.UsageTotals[map[string]any]

func newUsageTotals() usageTotals { return usageTotals{Add: addInfo} }

// infoOf returns the GenerationInfo of an answer. Of several choices each
// repeats the counts, and any may have what the others lack.
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

func isZero(value any) bool {
	return value == nil || reflect.ValueOf(value).IsZero()
}

// addInfo returns what two turns come to: counts are summed and texts joined;
// of anything else the later turn's counts. It changes neither map.
func addInfo(a, b map[string]any) map[string]any {
	sum := maps.Clone(a)
	for key, value := range b {
		sum[key] = addValue(key, a[key], value)
	}
	return sum
}

func addValue(key string, a, b any) any {
	switch {
	case strings.HasSuffix(key, "Tokens"), strings.HasSuffix(key, "_tokens"), key == "usage":
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
	return a + adapter.Separator + b
}

// addCounts adds two numbers of one type, or two structs of them field by
// field, as some clients report usage in one.
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

// counts returns the usage as the engine sees it, under whichever of the names
// in use it is reported.
func counts(info map[string]any) adapter.Usage {
	return adapter.Usage{
		Prompt:     count(info, "PromptTokens", "InputTokens", "input_tokens"),
		Completion: count(info, "CompletionTokens", "OutputTokens", "output_tokens"),
		Total:      count(info, "TotalTokens", "total_tokens"),
	}
}

// count returns the first of the counts that there is. A client that reports
// usage in a struct names the fields as in the first of the keys.
func count(info map[string]any, keys ...string) int {
	for _, key := range keys {
		if value, ok := info[key]; ok {
			return number(reflect.ValueOf(value))
		}
	}
	if usage := reflect.ValueOf(info["usage"]); usage.Kind() == reflect.Struct {
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
