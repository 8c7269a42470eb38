package asynctask_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/guard"
)

func shown(task asynctask.Task) string {
	output := "none"
	if task.Output != nil {
		output = fmt.Sprintf("%+v", *task.Output)
		if task.Output.FinalMessage != nil {
			output = fmt.Sprintln(task.Output.TerminateReason, task.Output.EmittedVars, *task.Output.FinalMessage)
		}
	}
	return fmt.Sprintln(task.ID, task.Name, task.Session, task.State, task.Started, task.Ended, task.Err, output)
}

// tenant returns everything that one session can see.
func tenant(t *testing.T, s *setup, session string) string {
	t.Helper()
	var seen strings.Builder
	n, oldest := s.Pending(session, -1)
	fmt.Fprintln(&seen, n, oldest, s.Summary(session))
	for _, task := range s.Tasks(session) {
		fmt.Fprintln(&seen, shown(task))
	}
	for _, o := range []delivery.Options{{}, {NoSummary: true}} {
		if d := s.Deliver(session, o); d != nil {
			fmt.Fprintln(&seen, d.Text, d.Tasks, repeated(d))
			s.settle(d, delivery.Unread)
		}
	}
	if r := s.Remind(session); r != nil {
		fmt.Fprintln(&seen, r.Text, r.Tasks)
		s.settle(r, delivery.Unread)
	}
	for _, id := range []string{"", "red", "blue", "red-1", "blue-1", "r", "b"} {
		result, _, _ := s.Handle(in(t, session), asynctask.CheckTool().Name, fmt.Sprintf(`{"task_id":%q}`, id))
		fmt.Fprintln(&seen, result)
	}
	return seen.String()
}

// lives runs through the life of a tenant whose every text begins with its color, and
// calls look in between.
func lives(t *testing.T, s *setup, color string, look func()) {
	t.Helper()
	steps := []func() error{
		func() error { err := s.Begin(in(t, color), color+"-1", color+" one"); return err },
		func() error { err := s.Begin(in(t, color), color+"-2", color+" two"); return err },
		func() error {
			return s.Finish(color+"-1", &asynctask.Output{
				TerminateReason: color + " reason", EmittedVars: map[string]string{color + " key": color + " value"},
				FinalMessage: text(color + " message"),
			})
		},
		func() error {
			d := s.Deliver(color, delivery.Options{})
			d.Anchor = at(1)
			s.settle(d, delivery.Repeat)
			return nil
		},
		func() error { return s.Fail(color+"-2", errors.New(color+" error")) },
		func() error { s.acks(color); return nil },
		func() error {
			s.begins(color, color+"-3")
			return s.Fail(color+"-3", &guard.PanicError{Value: color + " panic"})
		},
	}
	for _, step := range steps {
		require.NoError(t, step())
		look()
	}
}

func TestNothingOfOneSessionShowsInAnother(t *testing.T) {
	t.Parallel()
	alone := newSetup(t)
	var want []string
	lives(t, alone, "blue", func() { want = append(want, tenant(t, alone, "blue")) })

	s := newSetup(t, asynctask.WithLimit(25+100))
	lives(t, s, "red", func() {})
	for i := range 30 {
		s.ends("red", fmt.Sprint("red-more-", i))
	}
	var got []string
	lives(t, s, "blue", func() {
		s.acks("red")
		s.ends("red", fmt.Sprint("red-again-", len(got)))
		red, blue := tenant(t, s, "red"), tenant(t, s, "blue")
		// The ids in red's own searches are not blue's data.
		assert.NotContains(t, strings.NewReplacer(`"blue"`, "", `"blue-1"`, "").Replace(red), "blue")
		assert.NotContains(t, strings.NewReplacer(`"red"`, "", `"red-1"`, "").Replace(blue), "red")
		got = append(got, blue)
	})
	for i := range want {
		assert.Equal(t, want[i], got[i], "step %d is the same with and without the other", i)
	}
}
