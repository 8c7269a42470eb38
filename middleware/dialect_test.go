package middleware_test

import (
	"testing"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest"
)

// The dialects of the examples pass the tests, so that programs can copy them.

func TestExampleChunks(t *testing.T) {
	t.Parallel()
	carryontest.TestDialect(t, carryontest.DialectKit[sdkChunk]{
		New: func() adapter.Dialect[sdkChunk] { return &chunks{usageTotals: newUsageTotals()} },
		Make: func(v carryontest.View) sdkChunk {
			return sdkChunk{ID: v.ID, Text: v.Text, Calls: makeCalls(v.Calls), Stop: v.Finish, Usage: makeUsage(v.Usage)}
		},
		View: func(c sdkChunk) carryontest.View {
			return carryontest.View{
				ID: c.ID, Text: c.Text, Calls: viewCalls(c.Calls, true), Finish: c.Stop, Usage: viewUsage(c.Usage),
			}
		},
		Lacks: carryontest.FieldRole | carryontest.FieldType,
	})
}

func TestExampleAnswers(t *testing.T) {
	t.Parallel()
	carryontest.TestDialect(t, carryontest.DialectKit[sdkAnswer]{
		New: func() adapter.Dialect[sdkAnswer] { return &answers{usageTotals: newUsageTotals()} },
		Make: func(v carryontest.View) sdkAnswer {
			a := sdkAnswer{ID: v.ID, Text: v.Text, Calls: makeCalls(v.Calls), Stop: v.Finish}
			if v.Usage != nil {
				a.Usage = *makeUsage(v.Usage)
			}
			return a
		},
		View: func(a sdkAnswer) carryontest.View {
			v := carryontest.View{ID: a.ID, Text: a.Text, Calls: viewCalls(a.Calls, false), Finish: a.Stop}
			if a.Usage != (sdkUsage{}) {
				v.Usage = viewUsage(&a.Usage)
			}
			return v
		},
		Kind:  carryontest.AnswerDialect,
		Lacks: carryontest.FieldRole | carryontest.FieldType,
	})
}

func TestExampleTexts(t *testing.T) {
	t.Parallel()
	carryontest.TestDialect(t, carryontest.DialectKit[string]{
		New:   func() adapter.Dialect[string] { return texts{} },
		Make:  func(v carryontest.View) string { return v.Text },
		View:  func(text string) carryontest.View { return carryontest.View{Text: text} },
		Kind:  carryontest.CallbackDialect,
		Lacks: carryontest.FieldID | carryontest.FieldRole | carryontest.FieldCalls,
	})
}

func makeCalls(views []carryontest.ViewCall) []sdkCall {
	var calls []sdkCall
	for _, v := range views {
		calls = append(calls, sdkCall{Index: v.Index, ID: v.ID, Name: v.Name, Args: v.Arguments})
	}
	return calls
}

func viewCalls(calls []sdkCall, indexed bool) []carryontest.ViewCall {
	var views []carryontest.ViewCall
	for _, call := range calls {
		v := carryontest.ViewCall{Index: adapter.NoIndex, ID: call.ID, Name: call.Name, Arguments: call.Args}
		if indexed {
			v.Index = call.Index
		}
		views = append(views, v)
	}
	return views
}

func makeUsage(u *adapter.Usage) *sdkUsage {
	if u == nil {
		return nil
	}
	return &sdkUsage{In: u.Prompt, Out: u.Completion}
}

func viewUsage(u *sdkUsage) *adapter.Usage {
	if u == nil {
		return nil
	}
	return &adapter.Usage{Prompt: u.In, Completion: u.Out, Total: u.In + u.Out}
}
