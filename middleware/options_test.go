package middleware_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
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
		"nil settings":          {func() middleware.Option { return middleware.WithSettings(nil) }, "nil settings"},
		"nil store":             {func() middleware.Option { return middleware.WithStore(nil) }, "nil store"},
		"nil pause policy":      {func() middleware.Option { return middleware.WithPausePolicy(nil) }, "nil pause policy"},
		"nil notice":            {func() middleware.Option { return middleware.WithNotice(nil) }, "nil notice"},
		"nil gate":              {func() middleware.Option { return middleware.WithGate(nil) }, "nil gate"},
		"nil session key":       {func() middleware.Option { return middleware.WithSessionKey(nil) }, "nil session key"},
		"nil logger":            {func() middleware.Option { return middleware.WithLogger(nil) }, "nil logger"},
		"nil clock":             {func() middleware.Option { return middleware.WithClock(nil) }, "nil clock"},
		"no todo timeout":       {func() middleware.Option { return middleware.WithTodoTimeout(0) }, "todo timeout 0s"},
		"negative todo timeout": {func() middleware.Option { return middleware.WithTodoTimeout(-time.Second) }, "-1s"},
		"approval mode":         {func() middleware.Option { return middleware.WithApprovalMode("yes") }, `"yes"`},
		"pause tool mode":       {func() middleware.Option { return middleware.WithPauseTool(9) }, "9"},
		"usage mode":            {func() middleware.Option { return middleware.WithUsage(9) }, "9"},
		"negative attempts":     {limits(continuation.Limits{MaxAttempts: -2}), "MaxAttempts"},
		"negative user turn":    {limits(continuation.Limits{MaxWithoutProgress: -2}), "MaxWithoutProgress"},
		"negative interval":     {limits(continuation.Limits{MinInterval: -time.Second}), "MinInterval"},
		"negative silence":      {limits(continuation.Limits{ResponseTimeout: -time.Second}), "ResponseTimeout"},
		"negative first byte":   {limits(continuation.Limits{FirstByteTimeout: -time.Second}), "FirstByteTimeout"},
		"negative tokens":       {limits(continuation.Limits{TokenBudget: -100}), "TokenBudget"},
		"negative task age":     {limits(continuation.Limits{MaxTaskAge: -time.Second}), "MaxTaskAge"},
		"unknown placeholder":   {templates("Do {task}, that is {taskDescription}"), "{task}"},
		"no description":        {templates("Go on."), "taskDescription"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option := test.option() // which does not panic itself
			mw, err := middleware.TryNew(buildTodos, option)
			assert.Nil(t, mw)
			require.ErrorContains(t, err, test.says)
			assert.Regexp(t, "^middleware: ", err.Error())
			assert.Equal(t, "carryon/"+err.Error(), panicText(func() { middleware.New(buildTodos, option) }))
		})
	}
}

// Shared settings have an approval mode of their own, so the one of WithApprovalMode
// would be lost.
func TestApprovalModeIsSaidInOnePlace(t *testing.T) {
	t.Parallel()
	settings := middleware.WithSettings(continuation.NewSettings(continuation.DefaultValues()))
	mode := middleware.WithApprovalMode(continuation.ApprovalYOLO)
	assert.Contains(t, panicText(func() { middleware.New(buildTodos, settings, mode) }), "carryon/middleware: with WithSettings")
	assert.Contains(t, panicText(func() { middleware.New(buildTodos, mode, settings) }), "carryon/middleware: with WithSettings")
	assert.Equal(t, continuation.ApprovalYOLO, middleware.New(buildTodos, mode).Settings().Local("s").ApprovalMode)
	assert.Equal(t, continuation.ApprovalDefault, middleware.New(buildTodos).Settings().Local("s").ApprovalMode)
}

func TestNilIsNamed(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos)
	assert.Equal(t, "carryon/middleware: nil todo provider", panicText(func() { middleware.New(nil) }))
	assert.Equal(t, "carryon/middleware: nil context", panicText(func() {
		_, _ = mw.Begin(nil, adapter.Request{Tools: 1}) //nolint:staticcheck // what the test is about
	}))
	assert.Equal(t, "carryon/middleware: nil context", panicText(func() {
		_ = mw.Resume(nil) //nolint:staticcheck // what the test is about
	}))
}

func TestNilOptionsAreSkipped(t *testing.T) {
	t.Parallel()
	assert.NotPanics(t, func() { middleware.New(buildTodos, nil, middleware.WithContent(), nil) })
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
			assert.Equal(t, i%2 == 0, mw.Settings().Local("s").TodoContinuation, "settings are not shared")
		})
	}
	wait.Wait()
}

func TestSettingsCanBeSharedOnPurpose(t *testing.T) {
	t.Parallel()
	settings := continuation.NewSettings(continuation.DefaultValues())
	a := middleware.New(buildTodos, middleware.WithSettings(settings))
	b := middleware.New(buildTodos, middleware.WithSettings(settings))
	require.NoError(t, a.Settings().SetTodoContinuation(t.Context(), "s", false))
	assert.False(t, b.Settings().Local("s").TodoContinuation)
	assert.True(t, b.Settings().Local("other").TodoContinuation)
}
