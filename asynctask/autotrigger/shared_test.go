package autotrigger_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/autotrigger"
	"github.com/carryon-go/carryon/records"
)

// Each replica may have an AutoTrigger for the session. One of them reports the end
// of a task in another process, at once if the engine can notify.
func TestOneOfSeveralReplicasTriggers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		engine func(*records.MemoryEngine) records.Records
		within time.Duration
	}{
		"notified": {func(m *records.MemoryEngine) records.Records { return m }, autotrigger.Window},
		"looking": {
			func(m *records.MemoryEngine) records.Records { return struct{ records.Records }{m} },
			5*time.Second + autotrigger.Window,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				engine := c.engine(records.NewMemoryEngine())
				process := func() *asynctask.Manager { return asynctask.NewManager(asynctask.WithRecords(engine)) }
				a := &agent{start: time.Now()}
				one, other, worker := process(), process(), setupOf(t, process())
				autotrigger.New(inA(t), one, a.host())
				autotrigger.New(inA(t), other, a.host())
				worker.begins("a", "1")
				after(time.Hour)
				worker.ends("b", "2")
				require.NoError(t, worker.Finish(t.Context(), worker.tickets["1"], asynctask.Message("done")))
				after(c.within)
				require.Len(t, a.messages(), 1)
				assert.Equal(t, []string{"1"}, ids(a.messages()[0]))
				after(24 * time.Hour)
				assert.Len(t, a.messages(), 1)
				for _, m := range []*asynctask.Manager{one, other, worker.Manager} {
					require.NoError(t, m.Close(t.Context()))
				}
			})
		})
	}
}
