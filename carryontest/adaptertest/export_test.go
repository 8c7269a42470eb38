package adaptertest

import "testing"

// Findings returns the rules that a dialect breaks, each with its findings.
func Findings[C any](tb testing.TB, kit Kit[C]) map[string][]string {
	tb.Helper()
	broken := make(map[string][]string)
	for _, rule := range rulesFor(kit) {
		if problems := findings(tb.Context(), kit, rule); len(problems) > 0 {
			broken[rule.name] = problems
		}
	}
	return broken
}
