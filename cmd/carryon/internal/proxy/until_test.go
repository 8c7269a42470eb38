package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

func TestSentenceOnChecks(t *testing.T) {
	t.Parallel()
	one := []string{"make test"}
	passed, failing := lastCheck{result: continuation.CheckPassed}, lastCheck{result: continuation.CheckFailed}
	unknown := lastCheck{result: continuation.CheckUnknown, problem: "\"make test\" was ended after 4m0s"}
	for name, test := range map[string]struct {
		lines                  []string
		failed, mended, passed int
		last                   lastCheck
		want                   string
	}{
		"never asked":     {one, 0, 0, 0, lastCheck{}, ""},
		"passed":          {one, 0, 0, 1, passed, "`make test` passed"},
		"passed often":    {one, 0, 0, 3, passed, "`make test` passed 3 times"},
		"mended":          {one, 2, 1, 1, passed, "`make test` failed twice, then passed"},
		"mended often":    {one, 5, 2, 4, passed, "`make test` failed 5 times, passed 4 times, and passed at the end"},
		"failing":         {one, 1, 0, 0, failing, "`make test` failed once, and had not passed at the end"},
		"given up":        {one, 10, 0, 0, lastCheck{result: continuation.CheckFailed, exhausted: true}, "`make test` failed 10 times, and had not passed when no attempt was left"},
		"unknown":         {one, 0, 0, 0, unknown, `nobody knows whether the work is done: "make test" was ended after 4m0s`},
		"unknown at last": {one, 1, 0, 1, unknown, `nobody knows whether the work is done: "make test" was ended after 4m0s`},
		"two":             {[]string{"a", "b"}, 0, 0, 1, passed, "the commands of -until passed"},
	} {
		f := figures{Counts: counts{Passed: test.passed}, Worth: middleware.Worth{ChecksFailed: test.failed, ChecksMended: test.mended}}
		assert.Equal(t, test.want, f.checks(test.lines, &test.last), name)
	}
}

// A check decides whether the work of a session is done; without one, its list does.
func TestFinishedMeansThatTheCheckPassed(t *testing.T) {
	t.Parallel()
	done, open := listCounts{Todos: 2, Completed: 2}, listCounts{Todos: 2, Completed: 1, Active: 1}
	for name, test := range map[string]struct {
		list               listCounts
		check              continuation.CheckResult
		compared, finished bool
	}{
		"nothing":                 {listCounts{}, continuation.NoCheck, false, false},
		"a list":                  {done, continuation.NoCheck, true, true},
		"an open list":            {open, continuation.NoCheck, true, false},
		"a list, and a failure":   {done, continuation.CheckFailed, true, false},
		"a list, and nobody knew": {done, continuation.CheckUnknown, true, false},
		"an open list, passed":    {open, continuation.CheckPassed, true, true},
		"no list, passed":         {listCounts{}, continuation.CheckPassed, true, true},
	} {
		c := sessionFigures{List: test.list, Check: test.check}
		assert.Equal(t, test.compared, c.isCompared(), name)
		assert.Equal(t, test.finished, c.isFinished(), name)
	}
}

// As long as the commands are the same, the check is: else one might run twice at once.
func TestSettingsThatLeaveTheCommandsAloneKeepTheCheck(t *testing.T) {
	t.Parallel()
	var u until
	assert.Nil(t, u.check(&Rules{UntilTimeout: time.Minute}))
	assert.NotNil(t, u.check(&Rules{Until: []string{"true"}, UntilTimeout: time.Minute}))
	u.current = nil
	assert.Nil(t, u.check(&Rules{Until: []string{"true"}, UntilTimeout: time.Minute, MaxAttempts: 3}), "it is kept")
	assert.NotNil(t, u.check(&Rules{Until: []string{"true"}, UntilTimeout: time.Hour}))
	assert.Nil(t, u.check(&Rules{UntilTimeout: time.Hour}))
}
