package middleware_test

import (
	"testing"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest/adaptertest"
)

// The dialects of the examples pass the tests, so that programs can copy them.

func TestExampleChunks(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[sdkChunk]{
		New: func() adapter.Dialect[sdkChunk] { return &chunks{usageTotals: newUsageTotals()} },
		Make: func(v adaptertest.View) sdkChunk {
			return sdkChunk{ID: v.ID, Text: v.Text, Calls: makeCalls(v.Calls), Stop: v.Finish, Usage: makeUsage(v.Usage)}
		},
		View: func(c sdkChunk) adaptertest.View {
			return adaptertest.View{
				ID: c.ID, Text: c.Text, Calls: viewCalls(c.Calls, true), Finish: c.Stop, Usage: viewUsage(c.Usage),
			}
		},
		Lacks: adaptertest.Fields{Role: true, Type: true},
	})
}

func TestExampleAnswers(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[sdkAnswer]{
		New: func() adapter.Dialect[sdkAnswer] { return &answers{usageTotals: newUsageTotals()} },
		Make: func(v adaptertest.View) sdkAnswer {
			a := sdkAnswer{ID: v.ID, Text: v.Text, Calls: makeCalls(v.Calls), Stop: v.Finish}
			if v.Usage != nil {
				a.Usage = *makeUsage(v.Usage)
			}
			return a
		},
		View: func(a sdkAnswer) adaptertest.View {
			v := adaptertest.View{ID: a.ID, Text: a.Text, Calls: viewCalls(a.Calls, false), Finish: a.Stop}
			if a.Usage != (sdkUsage{}) {
				v.Usage = viewUsage(&a.Usage)
			}
			return v
		},
		Kind:  adaptertest.Answers,
		Lacks: adaptertest.Fields{Role: true, Type: true},
	})
}

func TestExampleTexts(t *testing.T) {
	t.Parallel()
	adaptertest.TestDialect(t, adaptertest.Kit[string]{
		New:   func() adapter.Dialect[string] { return texts{} },
		Make:  func(v adaptertest.View) string { return v.Text },
		View:  func(text string) adaptertest.View { return adaptertest.View{Text: text} },
		Kind:  adaptertest.Callbacks,
		Lacks: adaptertest.Fields{ID: true, Role: true, Calls: true},
	})
}

func makeCalls(views []adaptertest.Call) []sdkCall {
	var calls []sdkCall
	for _, v := range views {
		calls = append(calls, sdkCall{Index: v.Index, ID: v.ID, Name: v.Name, Args: v.Arguments})
	}
	return calls
}

func viewCalls(calls []sdkCall, indexed bool) []adaptertest.Call {
	var views []adaptertest.Call
	for _, call := range calls {
		v := adaptertest.Call{Index: adapter.NoIndex, ID: call.ID, Name: call.Name, Arguments: call.Args}
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
