package middleware_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
)

func TestCommandChangesASetting(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		answer string
		values continuation.Values
	}{
		"/set todo-continuation false":          {"todo-continuation is now false.", off},
		"/set todo-continuation off":            {"todo-continuation is now false.", off},
		"/set todo-continuation no":             {"todo-continuation is now false.", off},
		"/set todo-continuation true":           {"todo-continuation is now true.", defaults},
		"/set todo-continuation on":             {"todo-continuation is now true.", defaults},
		"/set todo-continuation yes":            {"todo-continuation is now true.", defaults},
		"/set approval-mode yolo":               {"approval-mode is now yolo.", yolo},
		"/set approval-mode default":            {"approval-mode is now default.", defaults},
		"/set approval-mode standard":           {"approval-mode is now default.", defaults},
		"  /SET\tTodo-Continuation \u00a0 OFF ": {"todo-continuation is now false.", off},
		"/Set TODO_CONTINUATION False\r\n":      {"todo-continuation is now false.", off},
		"/set approval_mode Yolo":               {"approval-mode is now yolo.", yolo},
		"/set approval-mode=yolo":               {"approval-mode is now yolo.", yolo},
		"/set approval-mode = yolo":             {"approval-mode is now yolo.", yolo},
		"/set approval-mode =yolo":              {"approval-mode is now yolo.", yolo},
		"/set\napproval-mode\nyolo":             {"approval-mode is now yolo.", yolo},
	} {
		s := settingsOf(defaults)
		answer, err := s.Command(line)
		require.NoError(t, err, line)
		assert.Equal(t, want.answer, answer, line)
		assert.Equal(t, want.values, values(s, ""), line)
	}
}

func TestCommandTurnsContinuationBackOn(t *testing.T) {
	t.Parallel()
	s := settingsOf(off)
	answer, err := s.Command("/set todo-continuation on")
	require.NoError(t, err)
	assert.Equal(t, "todo-continuation is now true.", answer)
	assert.Equal(t, defaults, values(s, ""))
}

func TestCommandShowsSettings(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	require.NoError(t, s.SetTodoContinuation(t.Context(), "a", false))
	require.NoError(t, s.SetApprovalMode(t.Context(), "b", continuation.ApprovalYOLO))
	for _, c := range []struct{ session, line, want string }{
		{"", "/set", "Settings: todo-continuation is true, approval-mode is default. Change one with /set NAME VALUE."},
		{"a", " /set ", "Settings: todo-continuation is false, approval-mode is default. Change one with /set NAME VALUE."},
		{"b", "/SET\n", "Settings: todo-continuation is true, approval-mode is yolo. Change one with /set NAME VALUE."},
		{"", "/set todo-continuation", "todo-continuation is true. It can be true or false."},
		{"a", "/set Todo_Continuation ", "todo-continuation is false. It can be true or false."},
		{"a", "/set todo-continuation =", "todo-continuation is false. It can be true or false."},
		{"a", "/set approval-mode", "approval-mode is default. It can be default or yolo."},
		{"b", "/set approval-mode", "approval-mode is yolo. It can be default or yolo."},
	} {
		answer, err := s.CommandFor(t.Context(), c.session, c.line)
		require.NoError(t, err, c.line)
		assert.Equal(t, c.want, answer, c.line)
	}
	assert.Equal(t, defaults, values(s, ""), "showing a setting changes nothing")
	assert.Equal(t, off, values(s, "a"))
	assert.Equal(t, yolo, values(s, "b"))
}

func TestCommandForASessionChangesNoOther(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	for session, line := range map[string]string{"a": "/set todo-continuation off", "b": "/set approval-mode yolo"} {
		_, err := s.CommandFor(t.Context(), session, line)
		require.NoError(t, err)
	}
	assert.Equal(t, off, values(s, "a"))
	assert.Equal(t, yolo, values(s, "b"))
	assert.Equal(t, defaults, values(s, ""))
	assert.Equal(t, defaults, values(s, "c"))

	_, err := s.Command("/set todo-continuation off")
	require.NoError(t, err)
	_, err = s.CommandFor(t.Context(), "b", "/set todo-continuation on")
	require.NoError(t, err)
	assert.Equal(t, off, values(s, "c"), "the default is for sessions without a value of their own")
	assert.Equal(t, yolo, values(s, "b"), "sessions with a value of their own keep it")
}

func TestCommandRefusesAndChangesNothing(t *testing.T) {
	t.Parallel()
	const (
		names = " The settings are todo-continuation and approval-mode."
		flag  = " It can be true or false."
		modes = " It can be default or yolo."
	)
	for line, want := range map[string]struct {
		answer, text string
	}{
		"/set colour red": {
			`There is no setting "colour".` + names, `middleware: unknown setting: "colour"`,
		},
		"/set todo": {`There is no setting "todo".` + names, `middleware: unknown setting: "todo"`},
		"/set =x":   {`There is no setting "".` + names, `middleware: unknown setting: ""`},
		"/set todo-continuation maybe": {
			`todo-continuation cannot be "maybe".` + flag,
			`middleware: invalid value of a setting: todo-continuation cannot be "maybe" (valid: true, false)`,
		},
		"/set todo-continuation false please": {
			`todo-continuation cannot be "false please".` + flag,
			`middleware: invalid value of a setting: todo-continuation cannot be "false please" (valid: true, false)`,
		},
		"/set approval-mode Reckless": {
			`approval-mode cannot be "Reckless".` + modes,
			`middleware: invalid value of a setting: approval-mode cannot be "Reckless" (valid: default, yolo)`,
		},
		"/set approval-mode==yolo": {
			`approval-mode cannot be "=yolo".` + modes,
			`middleware: invalid value of a setting: approval-mode cannot be "=yolo" (valid: default, yolo)`,
		},
		"/set \x1b[2J\u202e\xff x": {
			`There is no setting "\x1b[2J\u202e\xff".` + names,
			`middleware: unknown setting: "\x1b[2J\u202e\xff"`,
		},
	} {
		s := settingsOf(defaults)
		for _, session := range []string{"", "a"} {
			answer, err := s.CommandFor(t.Context(), session, line)
			require.EqualError(t, err, want.text, line)
			assert.Equal(t, want.answer, answer, line)
			assert.Equal(t, defaults, values(s, session), line)
		}
	}
}

func TestCommandLeavesOtherLinesAlone(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	for _, line := range []string{
		"", " ", "set todo-continuation false", "/settings", "/sets", "//set x", "/ set x", "/set=x", "x /set todo-continuation false",
		"Please /set todo-continuation false",
	} {
		answer, err := s.Command(line)
		require.EqualError(t, err, "middleware: not a /set command", line)
		assert.Empty(t, answer, line)
		assert.Equal(t, defaults, values(s, ""), line)
	}
}

func TestCommandAnswersToALongLineAreShort(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	long := strings.Repeat("\u202e", 1<<20)
	for _, line := range []string{"/set " + long, "/set todo-continuation " + long, "/set approval-mode " + long} {
		answer, err := s.Command(line)
		require.Error(t, err)
		assert.Less(t, len(answer), 1<<10)
		assert.Less(t, len(err.Error()), 1<<10)
	}
}

func FuzzCommand(f *testing.F) {
	for _, line := range []string{
		"/set", "/set todo-continuation false", "/SET approval_mode=YOLO", "/set approval-mode", "/set x y", "/set = =", "/set\x00", "set",
		"/set todo-continuation \xff", "/\u017fet todo-continuation off", "/set \u202e", "/set approval-mode yolo yolo",
	} {
		f.Add("a", line)
	}
	f.Fuzz(func(t *testing.T, session, line string) {
		s := settingsOf(defaults)
		answer, err := s.CommandFor(t.Context(), session, line)
		requireShowable(t, answer)
		switch {
		case err == nil:
			require.NotEmpty(t, answer)
		case answer == "":
			require.EqualError(t, err, "middleware: not a /set command")
		default:
			require.Regexp(t, "^middleware: (unknown setting|invalid value of a setting): ", err.Error())
		}
		got := values(s, session)
		require.Contains(t, []continuation.Values{defaults, off, yolo}, got)
		if err != nil {
			require.Equal(t, defaults, got)
		}
		if session != "" {
			require.Equal(t, defaults, values(s, ""))
		}
		again, _ := s.CommandFor(t.Context(), session, line)
		if got == defaults {
			require.Equal(t, answer, again)
		}
		require.Equal(t, got, values(s, session), "a command that is repeated changes nothing further")
	})
}

// requireShowable checks that a terminal can be given the text.
func requireShowable(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text))
	require.Less(t, len(text), 1<<10)
	for _, r := range text {
		require.True(t, unicode.IsPrint(r), "%q in %q", r, text)
	}
}
