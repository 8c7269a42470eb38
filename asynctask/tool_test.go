package asynctask_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
)

// check answers a call of the tool in session a.
func (s *setup) check(arguments string) string {
	s.t.Helper()
	result, ok, err := s.Handle(in(s.t, "a"), asynctask.CheckTool().Name, arguments)
	require.NoError(s.t, err)
	require.True(s.t, ok)
	return result
}

func TestCheckToolDefinition(t *testing.T) {
	t.Parallel()
	d := asynctask.CheckTool()
	assert.Equal(t, "check_async_tasks", d.Name)
	assert.NotEmpty(t, d.Description)
	var schema struct {
		Type       string
		Properties map[string]struct{ Type, Description string }
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	require.NoError(t, json.Unmarshal(d.Parameters, &schema))
	assert.Equal(t, "object", schema.Type)
	assert.Equal(t, "string", schema.Properties["task_id"].Type)
	assert.Empty(t, schema.Required)
	assert.False(t, *schema.Additional)

	d.Parameters[0] = 'x'
	assert.Equal(t, byte('{'), asynctask.CheckTool().Parameters[0], "each call returns its own")
}

func TestHandleAnswersToTheNameOnly(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	_, ok, _ := s.Handle(in(t, "a"), "search", "{}")
	assert.False(t, ok)
	_, ok, _ = s.Handle(in(t, "a"), "Check_Async_Tasks", "{}")
	assert.True(t, ok)
}

func TestCheckListsTheTasks(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	assert.Equal(t, "No async tasks.", s.check("{}"))
	s.begins("a", "12345678-a", "abc")
	require.NoError(t, s.Finish("abc", nil))
	for _, arguments := range []string{
		"", " ", "null", "{}", `""`, `{"task_id":null}`, `{"task_id":""}`, `{"other":1}`, `{"__arg1":""}`, `{"__arg1":"{}"}`,
	} {
		assert.Equal(t, s.Summary("a"), s.check(arguments), arguments)
	}
	assert.Equal(t, []string{"abc"}, s.told("a"), "a look is not a delivery")
}

func TestCheckShowsOneTask(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "12345678-a", "7")
	s.clock.Advance(90 * time.Second)
	want := "12345678-a - [RUNNING] (12345678-a)\nStarted 2030-01-01T00:00:00Z, running for 1m30s."
	for _, arguments := range []string{
		`{"task_id":"12345678-a"}`, `{"task_id":"123"}`, `{"agent_id":" 123\n"}`, `{"id":"12345678..."}`,
		`{"task_id":123}`, "1234", `"1234"`, "12345678-a", `{"__arg1":"{\"task_id\":\"123\"}"}`, `{"__arg1":"123"}`,
	} {
		assert.Equal(t, want, s.check(arguments), arguments)
	}

	require.NoError(t, s.Finish("7", asynctask.Message(strings.Repeat("0123456789", 10_000))))
	shown := s.check(`{"task_id":"7"}`)
	head, body, _ := strings.Cut(shown, "{")
	assert.Equal(t, "7 - [DONE] (7)\nStarted 2030-01-01T00:00:00Z, ended after 1m30s.\n", head)
	body = "{" + body
	assert.Contains(t, s.Remind("a").Text, body, "the result is what a reminder shows")
	assert.LessOrEqual(t, len(body), asynctask.MaxCompletion)
}

func TestCheckOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "build-1", "build-2", "test")
	s.begins("b", "tidy")
	require.NoError(t, s.Finish("build-2", nil))
	assert.Equal(t, "Error: no task has the id \"tidy\". Call check_async_tasks without task_id to list them.",
		s.check(`{"task_id":"tidy"}`))
	assert.Equal(t, "Error: 2 tasks begin with \"build\". Use more of the id:\n"+
		"build-1 - [RUNNING] (build-1)\nbuild-2 - [DONE] (build-2)", s.check(`{"task_id":"build"}`))
	for _, arguments := range []string{
		`{"task_id":["build-1"]}`, `{"task_id":true}`, `{"task_id":"two words"}`, "all of them", "{", `{"task_id":`, "[]", `{"__arg1":1e}`,
	} {
		assert.Equal(t, `Error: send {"task_id":"..."} to look at one task, or {} to list all`, s.check(arguments), arguments)
	}
}

func TestCheckKeepsListsOfCandidatesShort(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	for i := range 1000 {
		s.begins("a", fmt.Sprintf("task-%04d", i))
	}
	list := s.check("task")
	assert.Less(t, len(list), asynctask.MaxSummary+200)
	assert.Regexp(t, `\n\(\d+ more not shown\)$`, list)
}

func FuzzHandle(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"task_id":"x"}`, `{"__arg1":"{\"__arg1\":\"x\"}"}`, "[", "\xff", "1e9999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		s := newSetup(t)
		s.ends("a", "task")
		assert.NotEmpty(t, s.check(arguments))
		s.ends("b", "task-of-another-session")
		assert.NotContains(t, s.check(arguments), "result of task-of")
	})
}
