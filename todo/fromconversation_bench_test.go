package todo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/carryon-go/carryon/todo"
)

// longHistory is the tool calls of a conversation of 500 messages, newest
// first, with a list of ten todos written at one of them, or none at -1.
func longHistory(at int) []todo.Call {
	var items []string
	for i := range 10 {
		items = append(items, fmt.Sprintf(`{"id":"%d","content":"step number %d of the plan","status":"pending"}`, i, i))
	}
	calls := make([]todo.Call, 250)
	for i := range calls {
		calls[i] = todo.Call{
			ID: fmt.Sprint("call_", i), Name: "edit_file", Arguments: `{"path":"parser.go"}`,
			Result: strings.Repeat("saved ", 50), Answered: true,
		}
		if i == at {
			calls[i].Name, calls[i].Arguments = "todo_write", `{"todos":[`+strings.Join(items, ",")+`]}`
		}
	}
	return calls
}

func BenchmarkFromConversation(b *testing.B) {
	for name, at := range map[string]int{"newest": 0, "middle": 125, "oldest": 249, "none": -1} {
		b.Run(name, func(b *testing.B) {
			ctx := todo.WithConversation(b.Context(), slices.Values(longHistory(at)))
			provider := todo.FromConversation()
			b.ReportAllocs()
			for b.Loop() {
				if list, err := provider.Todos(ctx); (err == nil) != (at >= 0) || (len(list) == 10) != (at >= 0) {
					b.Fatal(list, err)
				}
			}
		})
	}
}

// BenchmarkFromConversationAtItsWorst examines as many calls, and reads as many
// bytes, as the limits allow, without finding a list.
func BenchmarkFromConversationAtItsWorst(b *testing.B) {
	const head, item, tail = `{"merge":true,"todos":[`, `{"id":"1"},`, `{"id":"2"}]}`
	arguments := head + strings.Repeat(item, (8<<10-len(head)-len(tail))/len(item)) + tail
	calls := slices.Repeat([]todo.Call{{Name: "todo_write", Arguments: arguments}}, 1000)
	ctx := todo.WithConversation(b.Context(), slices.Values(calls))
	provider := todo.FromConversation()
	b.ReportAllocs()
	for b.Loop() {
		if list, err := provider.Todos(ctx); err == nil || len(list) > 0 {
			b.Fatal(list, err)
		}
	}
}

// BenchmarkListOfTen is the baseline: parsing the list alone.
func BenchmarkListOfTen(b *testing.B) {
	arguments := longHistory(0)[0].Arguments
	b.ReportAllocs()
	for b.Loop() {
		if _, err := todo.ParseList(arguments); err != nil {
			b.Fatal(err)
		}
	}
}
