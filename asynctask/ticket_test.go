package asynctask_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
)

func TestTicketsTravelAsText(t *testing.T) {
	t.Parallel()
	for want, ticket := range map[string]asynctask.Ticket{
		"job-7@conversation-42":  {Session: "conversation-42", ID: "job-7"},
		"job-7@":                 {ID: "job-7"},
		"a@b@c%40d+%2F%00%FF%C3": {Session: "c@d /\x00\xff\xc3", ID: "a@b"},
	} {
		assert.Equal(t, want, ticket.String())
		got, err := asynctask.ParseTicket(want)
		require.NoError(t, err)
		assert.Equal(t, ticket, got)
	}
}

func TestTextsThatAreNoTickets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "job-7", "@s", "a b@s", "job@%", "job@%zz", strings.Repeat("x", 129) + "@s"} {
		_, err := asynctask.ParseTicket(text)
		require.ErrorIs(t, err, asynctask.ErrInvalid, text)
	}
	_, err := asynctask.ParseTicket(asynctask.Ticket{Session: "s"}.String())
	require.ErrorIs(t, err, asynctask.ErrInvalid)
}

func FuzzTicket(f *testing.F) {
	f.Add("conversation-42", "job-7")
	f.Add("a@b%\x00\xff +", "a@b%+")
	f.Fuzz(func(t *testing.T, session, id string) {
		ticket := asynctask.Ticket{Session: session, ID: id}
		text := ticket.String()
		got, err := asynctask.ParseTicket(text)
		if err != nil {
			require.ErrorIs(t, err, asynctask.ErrInvalid)
			return
		}
		for _, c := range text {
			require.True(t, c > ' ' && c < 0x7f)
		}
		require.Equal(t, ticket, got)
	})
}

// A task stored as JSON is restored whole, its error as text.
func TestTaskComesBackFromJSON(t *testing.T) {
	t.Parallel()
	at, message := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC), "done"
	for name, task := range map[string]asynctask.Task{
		"zero":    {},
		"running": {ID: "a", Name: "run the tests", Session: "s", State: asynctask.Running, Started: at},
		"failed":  {ID: "b", Name: "run", State: asynctask.Failed, Started: at, Ended: at, Err: errors.New("exit status 1")},
		"completed": {
			ID: "c", Name: "run", State: asynctask.Completed, Started: at, Ended: at,
			Output: &asynctask.Output{TerminateReason: "GOAL", EmittedVars: map[string]string{"k": "v"}, FinalMessage: &message},
		},
	} {
		data, err := json.Marshal(task)
		require.NoError(t, err, name)
		var back asynctask.Task
		require.NoError(t, json.Unmarshal(data, &back), name)
		assert.Equal(t, task, back, name)
	}
	var back asynctask.Task
	require.Error(t, json.Unmarshal([]byte(`{"id":1}`), &back))
}
