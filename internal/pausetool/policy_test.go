package pausetool_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausetool"
)

const (
	inputRequired  = "Input is required"
	reasonRequired = "Reason is required"
	notString      = "Reason must be a string"
	empty          = "Reason cannot be empty"
	tooLong        = "Reason too long (max 500 characters)"
	tooBrief       = "Reason too brief (min 10 characters for clarity)"
	vague          = "Please provide a more specific explanation of the blocking issue"
	completed      = "The task is not blocked: update its status in the todo list instead"
)

// problem returns the problem in err, or "" for no error.
func problem(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var invalid *pausetool.InvalidReasonError
	require.ErrorAs(t, err, &invalid)
	require.ErrorIs(t, err, pausetool.ErrInvalidReason)
	require.EqualError(t, err, "Invalid pause reason: "+invalid.Problem)
	return invalid.Problem
}

func TestStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, want string }{
		// Accepted.
		{"Cannot find config file 'app.config.js' mentioned in the task", ""},
		{"Permission denied when trying to write to /etc/nginx/. Need sudo access", ""},
		{"Package 'react-router-dom' is not installed but required for routing implementation", ""},
		{"Waiting for the user to choose a database", ""},
		{"API key missing", ""},
		{strings.Repeat("x", 500), ""},
		{"  " + strings.Repeat("x", 500) + "\n", ""},
		{strings.Repeat("\u00e9", 500), ""},
		{strings.Repeat("\U0001F6D1", 500), ""},

		// Length.
		{"", empty},
		{" \t\n\u3000", empty},
		{strings.Repeat("x", 501), tooLong},
		{strings.Repeat("\u00e9", 501), tooLong},
		{"stuck", tooBrief},
		{"123456789", tooBrief},
		{"  12345678  ", tooBrief},
		{"1234567890", ""},
		{"\u7f3a\u5c11\u5bc6\u94a5", ""},    // four characters, twelve bytes
		{"\u7f3a\u5c11\u5bc6", tooBrief},    // nine bytes
		{"\u7f3a\u5c11API", tooBrief},       // nine bytes
		{"\u7f3a\u5c11 API key", ""},        // fourteen
		{"\u0444\u0430\u0439\u043b?!", ""},  // ten
		{"all done!", tooBrief},             // before the words are looked at
		{"\u7f3a\u5c11\u5bc6\u94a5\n", ""},  // trimmed
		{"\u2003not sure\u2003", tooBrief},  // trimmed, eight
		{"not sure\u2003\u2003", tooBrief},  // trimmed, eight
		{"not sure about this one", vague},  // long enough to be read
		{"don't know. Not sure. ", vague},   // several
		{"can't continue with task", vague}, // straight
	} {
		assert.Equal(t, c.want, problem(t, pausetool.Strict(c.reason)), "%q", c.reason)
	}
}

func TestStrictVague(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, want string }{
		{"not sure about the best approach", vague},
		{"Not  sure\tabout the best approach", vague},
		{"I AM STUCK HERE", vague},
		{"I'm stuck.", vague},
		{"I can't continue", vague},
		{"I can\u2019t continue", vague},
		{"I can\u02bct continue", vague},
		{"I DON'T KNOW what to do", vague},
		{"I don\u2019t know what to do", vague},
		{"I don\u02bct know what to do", vague},
		{"I am confused by the task", vague},
		{"need help with this", vague},
		{"Deploy is stuck: registry 503", vague},

		// 49 and 50 characters; 50 of them in more bytes.
		{"stuck " + strings.Repeat("x", 43), vague},
		{"stuck " + strings.Repeat("x", 44), ""},
		{"stuck " + strings.Repeat("\u00e9", 43), vague},
		{"stuck " + strings.Repeat("\u00e9", 44), ""},
		{"Deploy is stuck: registry returns 503 for every pull", ""},

		// Not the words.
		{"Unstuck the queue first", ""},
		{"Cannot continue: disk full", ""},
		{"confusedly named file missing", ""},
		{"No assurance of backups", ""},
		{"Knot surely missing", ""},
	} {
		assert.Equal(t, c.want, problem(t, pausetool.Strict(c.reason)), "%q", c.reason)
	}
}

func TestStrictCompletion(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"task is finished", "task is complete", "task is completed", "task is done",
		"Task completed", "Task complete.", "TASK FINISHED!", "The task is done.",
		"the task is now complete", "The task has been completed successfully.",
		"This task was already done", "I've completed the task", "I\u2019ve completed the task",
		"All tasks are complete", "Everything is done",
		"All done \u2705 \u2705", "Task 3 is completed", "Finished all the work",
		"Done with the task", "Task done and verified; all tests pass", "The todo list is complete",
		"It's done now", "**Task completed**", "task_completed", "'task is finished'",
	} {
		assert.Equal(t, completed, problem(t, pausetool.Strict(reason)), "%q", reason)
	}
	for _, reason := range []string{
		"Cannot complete the task: no disk",
		"Can't complete the task without sudo",
		"Unable to complete task, no API key",
		"Task is not done: API key missing",
		"Task isn't done: API key missing",
		"Task incomplete: config.yml missing",
		"Task unfinished, build host is down",
		"Task half done, then the disk filled up",
		"Task is done but the push was denied",
		"Task completed except deploy: 403",
		"Blocked until the login task is done",
		"Waiting for task 2 to be completed",
		"Task 2 must be completed by the user",
		"Need admin to complete the task",
		"Background task finished with exit code 1",
		"Build finished with 12 errors",
		"All requests finished with HTTP 403",
		"Task done, 403",
		"This work has to be done by an admin",
		"All of the tasks",
		"Complete\u0301 todo",                // another word in another language
		"Task is complete, please review it", // a word of its own: given the benefit of the doubt
		strings.Repeat("the task is finished. ", 3),
	} {
		assert.Empty(t, problem(t, pausetool.Strict(reason)), "%q", reason)
	}
}

func TestLenient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, want string }{
		{"x", ""},
		{"stuck", ""},
		{"not sure about the best approach", ""},
		{"task is finished", ""},
		{strings.Repeat("\u00e9", 500), ""},
		{" " + strings.Repeat("x", 500) + " ", ""},
		{strings.Repeat("x", 501), tooLong},
		{"", empty},
		{"  ", empty},
	} {
		assert.Equal(t, c.want, problem(t, pausetool.Lenient(c.reason)), "%q", c.reason)
	}
}

func TestPoliciesAreValues(t *testing.T) {
	t.Parallel()
	for _, policy := range []pausetool.Policy{pausetool.Strict, pausetool.Lenient} {
		assert.NoError(t, policy("the config file app.yml is missing"))
	}
}
