package middleware_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// panicText is the text that f panics with, or "".
func panicText(f func()) (text string) {
	defer func() {
		if value := recover(); value != nil {
			text = fmt.Sprint(value)
		}
	}()
	f()
	return ""
}

func TestNewRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	limits := func(l continuation.Limits) func() middleware.Option {
		return func() middleware.Option { return middleware.WithLimits(l) }
	}
	templates := func(base string) func() middleware.Option {
		return func() middleware.Option {
			return middleware.WithTemplates(continuation.Templates{Standard: continuation.StandardTemplates{Base: base}})
		}
	}
	for name, test := range map[string]struct {
		option func() middleware.Option
		says   string
	}{
		"nil records":          {func() middleware.Option { return middleware.WithRecords(nil) }, "nil records"},
		"nil pause policy":     {func() middleware.Option { return middleware.WithPausePolicy(nil) }, "nil pause policy"},
		"nil notice":           {func() middleware.Option { return middleware.WithNotice(nil) }, "nil notice"},
		"nil gate":             {func() middleware.Option { return middleware.WithGate(nil) }, "nil gate"},
		"nil session key":      {func() middleware.Option { return middleware.WithSessionKey(nil) }, "nil session key"},
		"nil logger":           {func() middleware.Option { return middleware.WithLogger(nil) }, "nil logger"},
		"no todo timeout":      {limits(continuation.Limits{TodoTimeout: continuation.Off}), "TodoTimeout"},
		"no store timeout":     {limits(continuation.Limits{StoreTimeout: continuation.Off}), "StoreTimeout"},
		"no limit of sessions": {limits(continuation.Limits{MaxSessions: continuation.Off}), "MaxSessions"},
		"approval mode":        {func() middleware.Option { return middleware.WithApprovalMode("yes") }, `"yes"`},
		"pause tool mode":      {func() middleware.Option { return middleware.WithPauseTool(9) }, "9"},
		"usage mode":           {func() middleware.Option { return middleware.WithUsage(9) }, "9"},
		"negative attempts":    {limits(continuation.Limits{MaxAttempts: -2}), "MaxAttempts"},
		"negative user turn":   {limits(continuation.Limits{MaxWithoutProgress: -2}), "MaxWithoutProgress"},
		"negative interval":    {limits(continuation.Limits{MinInterval: -time.Second}), "MinInterval"},
		"negative silence":     {limits(continuation.Limits{ResponseTimeout: -time.Second}), "ResponseTimeout"},
		"negative first byte":  {limits(continuation.Limits{FirstByteTimeout: -time.Second}), "FirstByteTimeout"},
		"negative tokens":      {limits(continuation.Limits{TokenBudget: -100}), "TokenBudget"},
		"negative task age":    {limits(continuation.Limits{MaxTaskAge: -time.Second}), "MaxTaskAge"},
		"unknown placeholder":  {templates("Do {task}, that is {taskDescription}"), "{task}"},
		"no description":       {templates("Go on."), "taskDescription"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option := test.option() // which does not panic itself
			text := panicText(func() { middleware.New(buildTodos, option) })
			assert.Contains(t, text, test.says)
			assert.Regexp(t, "^carryon/middleware: ", text)
		})
	}
}

func TestApprovalModeIsThatOfSessionsWithoutOne(t *testing.T) {
	t.Parallel()
	modeOf := func(opts ...middleware.Option) continuation.ApprovalMode {
		values, err := middleware.New(buildTodos, opts...).Settings().Load(t.Context(), "s")
		require.NoError(t, err)
		return values.ApprovalMode
	}
	assert.Equal(t, continuation.ApprovalYOLO, modeOf(middleware.WithApprovalMode(continuation.ApprovalYOLO)))
	assert.Equal(t, continuation.ApprovalDefault, modeOf())
}

func TestNilIsNamed(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos)
	assert.Equal(t, "carryon/middleware: nil todo provider", panicText(func() { middleware.New(nil) }))
	assert.Equal(t, "carryon/middleware: nil context", panicText(func() {
		_, _ = join.Begin(nil, mw, adapter.Request{Tools: 1}) //nolint:staticcheck // what the test is about
	}))
	assert.Equal(t, "carryon/middleware: nil context", panicText(func() {
		_ = mw.Resume(nil) //nolint:staticcheck // what the test is about
	}))
}

func TestNilOptionsAreSkipped(t *testing.T) {
	t.Parallel()
	assert.NotPanics(t, func() { middleware.New(buildTodos, nil, middleware.WithToollessCalls(), nil) })
}

func TestOptionsCanBeShared(t *testing.T) {
	t.Parallel()
	shared := make([]middleware.Option, 0, 8)
	shared = append(shared, unhurried, middleware.WithObserver(middleware.Observer{}), middleware.WithToollessCalls())
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			mw := middleware.New(todo.Static(), shared...)
			require.NotNil(t, mw.Settings())
			require.NoError(t, mw.Settings().SetTodoContinuation(t.Context(), "s", i%2 == 0))
			values, err := mw.Settings().Load(t.Context(), "s")
			require.NoError(t, err)
			assert.Equal(t, i%2 == 0, values.TodoContinuation, "settings are not shared")
		})
	}
	wait.Wait()
}
