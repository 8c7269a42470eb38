package quirks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const task = "Write the parser"

func TestJudgeRequest(t *testing.T) {
	t.Parallel()
	const (
		own   = `{"model":"m","messages":[{"role":"user","content":"Hi"}],"n":1.0e0,"tools":[{"function":{"name":"edit_file"}}]}`
		later = `{"model":"m","messages":[{"role":"user","content":"Hi"},` +
			`{"role":"assistant","content":"I will edit the file next."},{"role":"user","content":"Go on: Write the parser"}],` +
			`"n":1.0e0,"tools":[{"function":{"name":"edit_file"}},{"function":{"name":"todo_pause"}}]}`
	)
	q := row(t, "Q72 no DONE, turn 2")
	require.NoError(t, q.JudgeRequest([]string{own, later}, task))
	for name, wrong := range map[string]string{
		"a member lost":         strings.Replace(later, `"n":1.0e0,`, ``, 1),
		"a member more":         strings.Replace(later, `"n":1.0e0,`, `"n":1.0e0,"stream":true,`, 1),
		"a number rewritten":    strings.Replace(later, `1.0e0`, `1`, 1),
		"members out of order":  strings.Replace(strings.Replace(later, `"model":"m",`, ``, 1), `"n":1.0e0,`, `"n":1.0e0,"model":"m",`, 1),
		"an old message":        strings.Replace(later, `"Hi"`, `"Hello"`, 1),
		"no answer so far":      strings.Replace(later, `{"role":"assistant","content":"I will edit the file next."},`, ``, 1),
		"another answer so far": strings.Replace(later, `the file next`, `the file`, 1),
		"another role":          strings.Replace(later, `"assistant"`, `"user"`, 1),
		"another task":          strings.Replace(later, `the parser"`, `the tests"`, 1),
		"more in a message":     strings.Replace(later, `"assistant",`, `"assistant","refusal":null,`, 1),
		"no tool":               strings.Replace(later, `,{"function":{"name":"todo_pause"}}`, ``, 1),
		"another tool":          strings.Replace(later, `todo_pause`, `todo_read`, 1),
		"an old tool":           strings.Replace(later, `edit_file`, `edit`, 1),
		"no JSON":               later[1:],
	} {
		require.NotEqual(t, later, wrong, name)
		require.Error(t, q.JudgeRequest([]string{own, wrong}, task), name)
	}
	require.Error(t, q.JudgeRequest([]string{own}, task), "not continued")
	require.Error(t, q.JudgeRequest([]string{own, later, later}, task), "continued twice")
	failed := row(t, "Q79 cut at once, turn 2")
	require.NoError(t, failed.JudgeRequest([]string{own, later, later, later}, task))
	require.Error(t, failed.JudgeRequest([]string{own, later}, task), "not sent again")
	require.Error(t, failed.JudgeRequest([]string{own, later, later, own}, task), "sent otherwise")
	require.Error(t, row(t, "Q36 finish length, turn 1").JudgeRequest([]string{own, later}, task), "continued at all")
}
