package redis_test

import (
	"testing"

	"github.com/carryon-go/carryon/internal/testkit/replicatest"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
)

func TestReplicasOnMiniredis(t *testing.T) {
	t.Parallel()
	_, url := startMini(t)
	replicatest.Run(t, url, open(t, url))
}

func TestReplicasOnRedis(t *testing.T) {
	t.Parallel()
	url := servertest.StartRedis(t).URL
	replicatest.Run(t, url, open(t, url))
}

func TestReplicasKilledAtRandom(t *testing.T) {
	t.Parallel()
	url := servertest.StartRedis(t).URL
	replicatest.KillAtRandom(t, url, open(t, url))
}

func BenchmarkHotSession(b *testing.B) {
	replicatest.BenchmarkHotSession(b, servertest.StartRedis(b).URL)
}
