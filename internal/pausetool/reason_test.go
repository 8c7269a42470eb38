package pausetool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausetool"
)

const good = "Cannot find config file 'app.config.js' mentioned in the task"

// arguments encodes a call's arguments with the reason.
func arguments(t *testing.T, reason any) string {
	t.Helper()
	encoded, err := json.Marshal(map[string]any{"reason": reason})
	require.NoError(t, err)
	return string(encoded)
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	encoded, err := json.Marshal(text)
	require.NoError(t, err)
	return string(encoded)
}

// padded returns arguments of that size, with a good reason.
func padded(size int) string {
	const start, end = `{"reason":"` + good + `","more":"`, `"}`
	return start + strings.Repeat("x", size-len(start)-len(end)) + end
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arguments, reason, want string }{
		// Read.
		{arguments(t, good), good, ""},
		{arguments(t, "  "+good+"\n"), good, ""},
		{" \r\n" + arguments(t, good) + "\n", good, ""},
		{`{"reason":"` + good + `","category":"error","n":1e999}`, good, ""},
		{`{"Reason":"` + good + `"}`, good, ""},
		{`{"REASON":"x","Reason":"y","other":1}`, "x", tooBrief},
		{`{"Reason":"` + good + `","reason":"other reason"}`, "other reason", ""},
		{`{"reason":"first reason","reason":"second reason"}`, "second reason", ""},
		{`{"reason":"first reason","reason":null}`, "", reasonRequired},
		{`{"\u0072eason":"API key missing"}`, "API key missing", ""},
		{`{"reason":"the key\u0000 is \ud83d missing"}`, "the key\x00 is \ufffd missing", ""},
		{"{\"reason\":\"the \xff\xfe key is missing\"}", "the \ufffd\ufffd key is missing", ""},
		{arguments(t, good) + "}", good, ""},
		{arguments(t, good) + `{"reason":"other"}`, good, ""},
		{arguments(t, good) + "<|call|>", good, ""},
		{quoted(t, arguments(t, good)), good, ""},
		{quoted(t, " "+arguments(t, good)+"\n"), good, ""},

		// Under another key, in a fence, without an object.
		{`{"reas":"` + good + `"}`, good, ""},
		{`{"rea\u017fon":"` + good + `"}`, good, ""},
		{`{"why":"` + good + `"}`, good, ""},
		{`{"message":"` + good + `","blocking":true,"code":404,"hint":""}`, good, ""},
		{`{"why":"stuck"}`, "stuck", tooBrief},
		{"```json\n" + arguments(t, good) + "\n```", good, ""},
		{"```\n" + arguments(t, good) + "```\n", good, ""},
		{"```" + arguments(t, good) + "```", good, ""},
		{quoted(t, "```json\n"+arguments(t, good)+"\n```"), good, ""},
		{"```\n" + good + "\n```", good, ""},
		{`"` + good + `"`, good, ""},
		{" " + good + "\n", good, ""},
		{"not sure about the best approach", "not sure about the best approach", vague},

		// No object.
		{"", "", inputRequired},
		{" \n", "", inputRequired},
		{"null", "", inputRequired},
		{"true", "", inputRequired},
		{"0", "", inputRequired},
		{"[]", "", inputRequired},
		{`["` + good + `"]`, "", inputRequired},
		{`""`, "", inputRequired},
		{`"null"`, "", inputRequired},
		{"{", "", inputRequired},
		{"}", "", inputRequired},
		{`{"reason":"` + good, "", inputRequired},
		{`{"reason":"` + good + `"`, "", inputRequired},
		{`{reason:"` + good + `"}`, "", inputRequired},
		{"{'reason':'x'}", "", inputRequired},
		{"\x00", "", inputRequired},
		{"\xff\xfe", "", inputRequired},
		{quoted(t, quoted(t, arguments(t, good))), "", inputRequired},
		{strings.Repeat("[", 60000), "", inputRequired},
		{`{"reason":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", "", inputRequired},
		{strings.Repeat(`{"reason":`, 6000), "", inputRequired},

		// No reason.
		{"{}", "", reasonRequired},
		{`"{}"`, "", reasonRequired},
		{`{"reason":null}`, "", reasonRequired},
		{`{"reason":""}`, "", reasonRequired},
		{`{"Reason":""}`, "", reasonRequired},
		{`{"reason":null,"Reason":"` + good + `"}`, "", reasonRequired},
		{`{"why":"` + good + `","cause":"` + good + `"}`, "", reasonRequired},
		{`{"why":"","n":1}`, "", reasonRequired},
		{`{"why":["` + good + `"]}`, "", reasonRequired},

		// No string.
		{arguments(t, 5), "", notString},
		{arguments(t, 0.5), "", notString},
		{arguments(t, false), "", notString},
		{arguments(t, []string{good}), "", notString},
		{arguments(t, map[string]string{"reason": good}), "", notString},

		// Nothing in it.
		{arguments(t, " "), "", empty},
		{arguments(t, "\n\t\u3000\u2028"), "", empty},
		{arguments(t, "\u200b\ufeff\x00\x1b[31m"), "", empty},

		// The policy's.
		{arguments(t, "stuck"), "stuck", tooBrief},
		{arguments(t, " stuck "), "stuck", tooBrief},
		{arguments(t, "not sure about the best approach"), "not sure about the best approach", vague},
		{arguments(t, "task is finished"), "task is finished", completed},
		{arguments(t, strings.Repeat("x", 500)), strings.Repeat("x", 500), ""},
		{arguments(t, strings.Repeat("x", 501)), strings.Repeat("x", 501), tooLong},
		{arguments(t, strings.Repeat("x", 60000)), strings.Repeat("x", 60000), tooLong},

		// Too much to decode.
		{padded(64 << 10), good, ""},
		{padded(64<<10 + 1), "", tooLong},
		{arguments(t, strings.Repeat("x", 64<<10)), "", tooLong},
		{arguments(t, strings.Repeat("x", 8<<20)), "", tooLong},
		{strings.Repeat("[", 8<<20), "", tooLong},
	} {
		reason, err := pausetool.Parse(c.arguments, nil)
		shown := c.arguments[:min(len(c.arguments), 100)]
		assert.Equal(t, c.want, problem(t, err), "%q", shown)
		assert.Equal(t, c.reason, reason, "%q", shown)
	}
}

func TestParseUnderOtherPolicies(t *testing.T) {
	t.Parallel()
	never := func(reason string) error { return fmt.Errorf("not %q again", reason) }
	always := func(string) error { return nil }
	for _, c := range []struct {
		policy pausetool.Policy
		reason any
		want   string
	}{
		{pausetool.Lenient, "stuck", ""},
		{pausetool.Lenient, "x", ""},
		{pausetool.Lenient, strings.Repeat("x", 501), tooLong},
		{never, good, fmt.Sprintf("not %q again", good)},
		{never, "  twice ", `not "twice" again`},
		{always, strings.Repeat("x", 501), ""},
		{always, "x", ""},

		// Reasons that no policy is asked about.
		{pausetool.Lenient, "", reasonRequired},
		{always, "", reasonRequired},
		{always, nil, reasonRequired},
		{always, 5, notString},
		{always, " \n ", empty},
		{always, "\u200b", empty},
	} {
		_, err := pausetool.Parse(arguments(t, c.reason), c.policy)
		assert.Equal(t, c.want, problem(t, err), "%v", c.reason)
		if reason, ok := c.reason.(string); ok {
			_, err = pausetool.Judge(reason, c.policy)
			assert.Equal(t, c.want, problem(t, err), "%v", c.reason)
		}
	}
	_, err := pausetool.Parse("", always)
	assert.Equal(t, inputRequired, problem(t, err))
}

func TestPolicyErrorsStayReachable(t *testing.T) {
	t.Parallel()
	busy := errors.New("ask again later")
	_, err := pausetool.Parse(arguments(t, good), func(string) error { return busy })
	require.ErrorIs(t, err, busy)
	require.EqualError(t, err, "Invalid pause reason: ask again later")

	// A policy that builds on Strict does not repeat the prefix.
	_, err = pausetool.Parse(arguments(t, "stuck"), func(reason string) error { return pausetool.Strict(reason) })
	assert.Equal(t, tooBrief, problem(t, err))
}

type worse struct{}

func (worse) Error() string  { panic("in Error") }
func (worse) String() string { panic("in String") }

func TestPolicyThatPanics(t *testing.T) {
	t.Parallel()
	var none *pausetool.InvalidReasonError
	for name, policy := range map[string]pausetool.Policy{
		"text":          func(string) error { panic("boom") },
		"error":         func(string) error { panic(errors.New("boom")) },
		"runtime":       func(reason string) error { return errors.New(reason[len(reason):][1:]) },
		"hostile value": func(string) error { panic(worse{}) },
		"hostile error": func(string) error { return worse{} },
		"nil pointer":   func(string) error { return none },
	} {
		reason, err := pausetool.Parse(arguments(t, good), policy)
		require.ErrorIs(t, err, pausetool.ErrPolicyPanicked, name)
		require.NotErrorIs(t, err, pausetool.ErrInvalidReason, name)
		assert.Equal(t, good, reason, name)

		_, err = pausetool.Judge(good, policy)
		require.ErrorIs(t, err, pausetool.ErrPolicyPanicked, name)
	}
	_, err := pausetool.Parse(arguments(t, good), func(string) error { panic("boom") })
	assert.EqualError(t, err, "pause: policy panicked: boom", "the log says with what")
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ printed, reason, want string }{
		{good, good, ""},
		{" " + good + "\n", good, ""},
		{"", "", reasonRequired},
		{"  ", "", empty},
		{"reason", "reason", tooBrief},
		{"not sure about the best approach", "not sure about the best approach", vague},
		{"task is finished", "task is finished", completed},
	} {
		reason, err := pausetool.Judge(c.printed, nil)
		assert.Equal(t, c.want, problem(t, err), "%q", c.printed)
		assert.Equal(t, c.reason, reason, "%q", c.printed)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", `{"reason":"stuck"}`, `{"Reason":"` + good + `"}`, `{"reason":["x"]}`, `"{\"reason\":\"x\"}"`,
		`{"reason":"\ud800 \u0000"}`, "{\"reason\":\"\xff\"}", `{"reason":"a"}{`, `{"reason":"I can` + "\u2019" + `t continue"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		reason, err := pausetool.Parse(arguments, nil)
		if problem(t, err) == "" {
			require.NoError(t, pausetool.Strict(reason))
			_, err = pausetool.Parse(arguments, pausetool.Lenient)
			require.NoError(t, err)
		}
		again, errAgain := pausetool.Parse(arguments, nil)
		require.Equal(t, reason, again)
		require.Equal(t, problem(t, err), problem(t, errAgain))
		shown := pausetool.Shown(reason)
		require.NotEmpty(t, shown)
		require.Equal(t, shown, pausetool.Shown(shown))
	})
}
