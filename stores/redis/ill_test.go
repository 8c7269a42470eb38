package redis_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/replicatest"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
)

func TestProgramWhoseServerIsNotThere(t *testing.T) {
	t.Parallel()
	server, url := startMini(t)
	replicatest.Illness{
		Engine: open(t, url), Says: "connection refused",
		Begin: func(*testing.T) { server.Close() },
		End:   func(t *testing.T) { t.Helper(); require.NoError(t, server.Restart()) },
	}.Test(t)
}

func TestProgramsWhoseServerIsIll(t *testing.T) {
	t.Parallel()
	url := servertest.StartRedis(t, "--requirepass", "right").URL
	right := strings.Replace(url, "unix://", "unix://:right@", 1)
	admin := client(t, right)
	limit := func(bytes string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", bytes).Err())
		}
	}
	for name, illness := range map[string]replicatest.Illness{
		"a wrong password": {Ill: open(t, strings.Replace(url, "unix://", "unix://:secret@", 1)), Says: "WRONGPASS"},
		"no password":      {Ill: open(t, url), Says: "NOAUTH"},
		"it is full":       {Begin: limit("1"), End: limit("0"), Says: "OOM command not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, admin.FlushAll(t.Context()).Err())
			illness.Engine = open(t, right)
			illness.Test(t)
		})
	}
	t.Run("bad records", func(t *testing.T) { replicatest.TestBadRecords(t, open(t, right)) })
}
