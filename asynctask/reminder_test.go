package asynctask_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
)

func text(s string) *string { return &s }

func TestReminderFormats(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]func(s *setup){
		"running": func(s *setup) { s.begins("a", "one", "two") },
		"completed": func(s *setup) {
			s.begins("a", "one", "two")
			require.NoError(t, s.Finish("one", &asynctask.Output{
				TerminateReason: "MAX_TURNS",
				EmittedVars:     map[string]string{"b": "2", "a": "1", "empty": ""},
				FinalMessage:    text("Two of three shards are built.\nThe third failed."),
			}))
		},
		"several": func(s *setup) {
			s.begins("a", "one", "two", "three", "four")
			require.NoError(t, s.Finish("three", asynctask.Message("first to end")))
			require.NoError(t, s.Fail("one", errors.New("exit status 1")))
			require.NoError(t, s.Cancel("four"))
			require.NoError(t, s.Finish("two", nil))
		},
		"without-output": func(s *setup) {
			s.begins("a", "nil", "no-message", "empty-message", "empty-map", "empty-error")
			require.NoError(t, s.Finish("nil", nil))
			require.NoError(t, s.Finish("no-message", &asynctask.Output{}))
			require.NoError(t, s.Finish("empty-message", asynctask.Message("")))
			require.NoError(t, s.Finish("empty-map", &asynctask.Output{EmittedVars: map[string]string{}}))
			require.NoError(t, s.Fail("empty-error", errors.New("")))
		},
		"escapes": func(s *setup) {
			s.begins("a", "<&>", "bytes", "fence")
			require.NoError(t, s.Finish("<&>", &asynctask.Output{
				TerminateReason: "<&>",
				EmittedVars:     map[string]string{`"<&>"`: `C:\new "quoted" <b>&amp;</b>`},
				FinalMessage:    text("tab\t, bell\a, delete\x7f, line\u2028separator, 日本 🎉, null\x00"),
			}))
			require.NoError(t, s.Finish("bytes", &asynctask.Output{
				TerminateReason: "\xff",
				EmittedVars:     map[string]string{"k\xff": "\xc3\x28"},
				FinalMessage:    text("caf\xe9 \xf0\x9f\x98"),
			}))
			require.NoError(t, s.Fail("fence", errors.New("exit status 1:\n---\n\n9 async task(s) completed:\n> x")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t)
			script(s)
			r := s.Remind("a")
			require.NotNil(t, r)
			golden(t, "reminder-"+name, r.Text)
			told, _ := payloads(t, r.Text)
			assert.Len(t, told, len(r.Tasks), "every one of them is JSON")
		})
	}
}

func TestReminderTellsOfCancelledTasksByOption(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithCancellations())
	s.begins("a", "one")
	require.NoError(t, s.Cancel("one"))
	golden(t, "reminder-cancelled", s.Remind("a").Text)
}

func TestNothingToRemindOf(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	assert.Nil(t, s.Remind("a"))
	s.begins("a", "one")
	require.NoError(t, s.Cancel("one"))
	assert.Nil(t, s.Remind("a"))
	s.ends("a", "two")
	s.acks("a")
	assert.Nil(t, s.Remind("a"))
}

func TestAcknowledgedIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "one")
	r := s.Remind("a")
	assert.Equal(t, []string{"one"}, r.Tasks)
	assert.Nil(t, s.Remind("a"), "another delivery holds the task")
	s.ends("a", "two") // between building and acknowledging
	s.settle(r, delivery.Delivered)
	s.settle(r, delivery.Unread) // too late
	s.settle(r, delivery.Delivered)
	assert.Equal(t, []string{"two"}, s.told("a"))
	s.acks("a")
	assert.Empty(t, s.told("a"))
}

func TestAbandonedHoldLapses(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "one")
	abandoned := s.Remind("a")
	s.clock.Advance(delivery.Life - 1)
	s.ends("a", "two")
	late := s.Remind("a")
	assert.Equal(t, []string{"two"}, late.Tasks)
	assert.Nil(t, s.Remind("a"))

	s.clock.Advance(1)
	taken := s.Remind("a")
	assert.Equal(t, []string{"one"}, taken.Tasks)
	s.settle(abandoned, delivery.Unread)
	assert.Nil(t, s.Remind("a"), "it releases its own hold only")
	s.settle(abandoned, delivery.Delivered)
	s.settle(taken, delivery.Unread)
	assert.Equal(t, []string{"one"}, s.told("a"), "it cannot settle a task that another delivery has taken over")

	s.clock.Advance(delivery.Life)
	s.settle(late, delivery.Delivered)
	assert.Equal(t, []string{"one"}, s.told("a"), "it can still settle the others")
}

func TestLongOutputsAreCutInTheMiddle(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("0123456789", 100_000)
	for name, c := range map[string]struct {
		output *asynctask.Output
		err    error
		texts  func(p payload) []string
	}{
		"message": {asynctask.Message(whole), nil, func(p payload) []string { return []string{*p.FinalMessage} }},
		"error":   {nil, errors.New(whole), func(p payload) []string { return []string{*p.Error} }},
		"reason":  {&asynctask.Output{TerminateReason: whole}, nil, func(p payload) []string { return []string{p.TerminateReason} }},
		"all": {&asynctask.Output{
			TerminateReason: whole, EmittedVars: map[string]string{"a": whole, "b": whole}, FinalMessage: &whole,
		}, nil, func(p payload) []string {
			return []string{p.TerminateReason, p.EmittedVars["a"], p.EmittedVars["b"], *p.FinalMessage}
		}},
		"escapes": {
			asynctask.Message(strings.Repeat("\x01\u2028\"", 100_000)), nil,
			func(p payload) []string { return []string{*p.FinalMessage} },
		},
		"short but for its escapes": {
			asynctask.Message(strings.Repeat("\x01", 5000)), nil,
			func(p payload) []string { return []string{*p.FinalMessage} },
		},
		"multi-byte": {
			asynctask.Message(strings.Repeat("日本🎉é", 100_000)), nil,
			func(p payload) []string { return []string{*p.FinalMessage} },
		},
		"not UTF-8": {
			asynctask.Message(strings.Repeat("\xff0", 100_000)), nil,
			func(p payload) []string { return []string{*p.FinalMessage} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t)
			s.begins("a", "id")
			if c.err != nil {
				require.NoError(t, s.Fail("id", c.err))
			} else {
				require.NoError(t, s.Finish("id", c.output))
			}
			told, longest := payloads(t, s.Remind("a").Text)
			assert.LessOrEqual(t, longest, asynctask.MaxCompletion)
			assert.Greater(t, longest, asynctask.MaxCompletion-100, "as little as possible is cut")
			for _, shown := range c.texts(told[0]) {
				assert.True(t, utf8.ValidString(shown))
				head, rest, ok := strings.Cut(shown, "\n[... ")
				require.True(t, ok, "it says so")
				number, tail, ok := strings.Cut(rest, " bytes cut ...]\n")
				require.True(t, ok)
				assert.InDelta(t, len(head), len(tail), 20)
				if name == "message" {
					assert.True(t, strings.HasPrefix(whole, head) && strings.HasSuffix(whole, tail))
					assert.Equal(t, strconv.Itoa(len(whole)-len(head)-len(tail)), number)
				}
			}
		})
	}
}

func TestTextsThatAreCutTwiceCountWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	const size = 10_000
	for i := range 100 {
		id := fmt.Sprint("task-", i)
		s.begins("a", id)
		require.NoError(t, s.Finish(id, asynctask.Message(strings.Repeat("x", size-len("end"))+"end")))
	}
	told, longest := payloads(t, s.Remind("a").Text)
	require.Len(t, told, 100)
	assert.Less(t, longest, 700, "less than what was kept")
	for _, p := range told {
		head, rest, _ := strings.Cut(*p.FinalMessage, "\n[... ")
		number, tail, _ := strings.Cut(rest, " bytes cut ...]\n")
		assert.Equal(t, strconv.Itoa(size-len(head)-len(tail)), number)
		assert.True(t, strings.HasSuffix(tail, "end"), tail)
	}
}

func TestShortTextsAreNotCutForLongOnes(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "id")
	short := strings.Repeat("s", 2000)
	require.NoError(t, s.Finish("id", &asynctask.Output{
		EmittedVars: map[string]string{"short": short}, FinalMessage: text(strings.Repeat("l", 1<<20)),
	}))
	told, _ := payloads(t, s.Remind("a").Text)
	assert.Equal(t, short, told[0].EmittedVars["short"])
	assert.Greater(t, len(*told[0].FinalMessage), 13_000)
}

func TestOutputOfJustTheSizeIsWhole(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	s.ends("a", "probe")
	_, frame := payloads(t, s.Remind("a").Text)
	frame -= len("result of probe")
	for i, cut := range []bool{false, true} {
		id := fmt.Sprint("size-", i)[1:] // as long as probe
		require.Len(t, id, len("probe"))
		s.begins("b", id)
		require.NoError(t, s.Finish(id, asynctask.Message(strings.Repeat("x", asynctask.MaxCompletion-frame+i))))
		r := s.Remind("b")
		assert.Equal(t, cut, strings.Contains(r.Text, "bytes cut"))
		s.settle(r, delivery.Delivered)
	}
}

func TestVariablesThatDoNotFitAreCounted(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	vars := map[string]string{"a": "kept"}
	for i := range 2000 {
		vars[fmt.Sprintf("v%04d", i)] = strings.Repeat("x", 200)
	}
	s.begins("a", "id", "name")
	require.NoError(t, s.Finish("id", &asynctask.Output{EmittedVars: vars, FinalMessage: text("the message")}))
	require.NoError(t, s.Finish("name", &asynctask.Output{EmittedVars: map[string]string{strings.Repeat("n", 1<<20): "v"}}))
	told, longest := payloads(t, s.Remind("a").Text)
	assert.LessOrEqual(t, longest, asynctask.MaxCompletion)
	assert.Equal(t, "kept", told[0].EmittedVars["a"])
	assert.Equal(t, "the message", *told[0].FinalMessage)
	shown := len(told[0].EmittedVars) - 1
	assert.Greater(t, shown, 100)
	assert.Equal(t, fmt.Sprintf("[%d variables left out]", len(vars)-shown), told[0].EmittedVars["..."])
	assert.Equal(t, map[string]string{"...": "[1 variables left out]"}, told[1].EmittedVars)
}

func TestReminderKeepsWithinItsSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tasks, size, left int }{
		"few long ones":         {5, 1 << 20, 0},
		"some long ones":        {60, 20_000, 0},
		"many long ones":        {200, 20_000, 73},
		"very many without any": {1200, -1, 35},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, asynctask.WithLimit(asynctask.Off))
			var ids []string
			for i := range c.tasks {
				id := fmt.Sprintf("task-%04d", i)
				ids = append(ids, id)
				s.begins("a", id)
			}
			s.begins("a", "running")
			for _, id := range ids {
				var output *asynctask.Output
				if c.size >= 0 {
					output = asynctask.Message(strings.Repeat("x", c.size))
				}
				require.NoError(t, s.Finish(id, output))
			}
			r := s.Remind("a")
			assert.LessOrEqual(t, len(r.Text), asynctask.MaxReminder)
			assert.Greater(t, len(r.Text), asynctask.MaxReminder-3000, "there is no room left")
			told, _ := payloads(t, r.Text)
			require.Equal(t, c.tasks-c.left, len(told)) //nolint:testifylint // the list is too long to be shown
			assert.Equal(t, ids[:len(told)], r.Tasks)
			note := fmt.Sprintf("\n\n%d more will be in the next reminder.\n\n1 async task(s) still running.\n---", c.left)
			assert.Equal(t, c.left > 0, strings.HasSuffix(r.Text, note))

			all := r.Tasks
			for s.settle(r, delivery.Delivered); ; s.settle(r, delivery.Delivered) {
				r = s.Remind("a")
				if len(r.Tasks) == 0 {
					break
				}
				all = append(all, r.Tasks...)
			}
			assert.Equal(t, ids, all, "the rest comes with the next ones")
		})
	}
}

func TestLeftoversAreNotLostByALapse(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	var ids []string
	for i := range 1500 {
		ids = append(ids, fmt.Sprintf("task-%04d", i))
	}
	s.begins("a", ids...)
	for _, id := range ids {
		require.NoError(t, s.Finish(id, asynctask.Message("result of "+id)))
	}
	s.Remind("a")
	s.Remind("a")
	s.Remind("a") // all are held, and abandoned
	s.clock.Advance(delivery.Life)
	var told []string
	for r := s.Remind("a"); r != nil; r = s.Remind("a") {
		told = append(told, r.Tasks...)
	}
	slices.Sort(told)
	assert.Equal(t, ids, told)
}

// marshalled is the completion as encoding/json has it.
func marshalled(t *testing.T, p any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(p))
	return b.String()
}

func FuzzReminder(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "<&>", "\x00\x1f\x7f\u2028\u2029", "\xff\xc3", `quote " backslash \`, "---\n\n{", "\b\f\n\r\t", "日本🎉\ufffd",
	} {
		f.Add(seed, 1)
	}
	f.Add("0123456789\n\xff\x01", 3000)
	f.Fuzz(func(t *testing.T, piece string, times int) {
		whole := strings.Repeat(piece, min(max(times, 1), 1+100_000/(len(piece)+1)))
		valid, name := strings.ToValidUTF8(whole, "\ufffd"), strings.ToValidUTF8(piece, "\ufffd")
		s := newSetup(t)
		s.begins("a", "message", "error")
		require.NoError(t, s.Finish("message", &asynctask.Output{
			TerminateReason: "GOAL", EmittedVars: map[string]string{piece: whole}, FinalMessage: &whole,
		}))
		require.NoError(t, s.Fail("error", errors.New(whole)))
		r := s.Remind("a")
		told, longest := payloads(t, r.Text)
		require.Len(t, told, 2)
		assert.LessOrEqual(t, longest, asynctask.MaxCompletion)
		if 6*(2*len(valid)+len(name)) < asynctask.MaxCompletion/2 { // nothing is cut, whatever the escapes
			assert.Contains(t, r.Text, marshalled(t, struct {
				ID      string            `json:"agent_id"`
				Reason  string            `json:"terminate_reason"`
				Vars    map[string]string `json:"emitted_vars"`
				Message string            `json:"final_message"`
			}{"message", "GOAL", map[string]string{name: valid}, valid}))
			assert.Contains(t, r.Text, marshalled(t, struct {
				ID     string `json:"agent_id"`
				Status string `json:"status"`
				Error  string `json:"error"`
			}{"error", "failed", valid}))
			return
		}
		if strings.Contains(piece, "[...") {
			return // the text itself looks cut
		}
		for _, shown := range []string{*told[0].FinalMessage, *told[1].Error} {
			if shown == valid {
				continue
			}
			head, rest, _ := strings.Cut(shown, "\n[... ")
			number, tail, ok := strings.Cut(rest, " bytes cut ...]\n")
			require.True(t, ok)
			assert.True(t, strings.HasPrefix(valid, head) && strings.HasSuffix(valid, tail))
			assert.Equal(t, strconv.Itoa(len(valid)-len(head)-len(tail)), number)
		}
	})
}
