package adapter_test

import (
	"cmp"
	"fmt"

	"github.com/carryon-go/carryon/adapter"
)

// tokens is the usage of a made-up SDK.
type tokens struct{ In, Out int }

// A dialect embeds UsageTotals, sets the usage that it reads, and shows the usage
// that the engine asks for. The usage of a failed turn does not count.
func ExampleUsageTotals() {
	totals := adapter.UsageTotals[tokens]{
		Add:    func(a, b tokens) tokens { return tokens{a.In + b.In, a.Out + b.Out} },
		Extend: func(answer, turn tokens) tokens { return tokens{cmp.Or(answer.In, turn.In), answer.Out + turn.Out} },
	}

	totals.SetTurn(tokens{100, 20})
	totals.EndTurn(true)
	totals.SetTurn(tokens{130, 10})
	totals.EndTurn(true)
	totals.SetTurn(tokens{145, 1})
	totals.EndTurn(false)

	fmt.Println(*totals.Shown(adapter.UsageSum, nil), *totals.Shown(adapter.UsageLast, nil))
	// Output:
	// {230 30} {130 10}
}

// An adapter reads a history backwards, and so meets the result of a call before
// the call.
func ExampleToolResults() {
	var results adapter.ToolResults[string]
	results.Add("call_2", "3 files changed")
	results.Add("call_1", "todo list saved")

	result, ok := results.Take("call_2")
	fmt.Println(result, ok)
	_, ok = results.Take("call_2")
	fmt.Println(ok)
	// Output:
	// 3 files changed true
	// false
}
