package postgres_test

import (
	"testing"

	"github.com/carryon-go/carryon/internal/testkit/replicatest"
)

func TestReplicas(t *testing.T) {
	t.Parallel()
	url := server(t).URL
	replicatest.Run(t, url, open(t, url))
}

func TestReplicasKilledAtRandom(t *testing.T) {
	t.Parallel()
	url := server(t).URL
	replicatest.KillAtRandom(t, url, open(t, url))
}

func BenchmarkHotSession(b *testing.B) {
	url := server(b).URL
	open(b, url)
	replicatest.BenchmarkHotSession(b, url)
}
