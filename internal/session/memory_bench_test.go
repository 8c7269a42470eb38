package session_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
)

func BenchmarkMemoryStoreUpdate(b *testing.B) {
	claimed := func(s decision.State) decision.State {
		return s.Acquire(1, noon, continuation.DefaultLimits().ClaimLife)
	}
	for _, c := range []struct {
		name string
		f    func(decision.State) decision.State
	}{{"state=idle", count}, {"state=claimed", claimed}} {
		b.Run(c.name, func(b *testing.B) {
			ctx := b.Context()
			m := newMemory()
			b.ReportAllocs()
			for b.Loop() {
				_ = m.Update(ctx, "conversation-42", c.f)
			}
		})
	}
	for _, full := range []bool{false, true} {
		b.Run(fmt.Sprintf("state=many/full=%t", full), func(b *testing.B) { benchmarkMany(b, full) })
	}
}

// benchmarkMany updates a hundred thousand sessions in turn. If the store is full,
// each is new and another has to be dropped.
func benchmarkMany(b *testing.B, full bool) {
	sessions := continuation.DefaultLimits().MaxSessions
	ctx := b.Context()
	m := newMemory()
	fillStore(b, m, sessions)
	keys := make([]string, 4*sessions)
	for i := range keys {
		keys[i] = fmt.Sprintf("conversation-%08d", i)
	}
	if !full {
		keys = keys[:sessions]
	}
	b.ReportAllocs()
	i := sessions
	for b.Loop() {
		_ = m.Update(ctx, keys[i%len(keys)], count)
		i++
	}
}

func BenchmarkMemoryStoreUpdateParallel(b *testing.B) {
	for _, shared := range []bool{false, true} {
		b.Run(fmt.Sprintf("session=shared:%t", shared), func(b *testing.B) {
			ctx := b.Context()
			m := newMemory()
			var workers atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				key := "shared"
				if !shared {
					key = strconv.FormatInt(workers.Add(1), 10)
				}
				for pb.Next() {
					_ = m.Update(ctx, key, count)
				}
			})
		})
	}
}

func BenchmarkMemoryStoreMillion(b *testing.B) {
	var bytes int64
	for b.Loop() {
		bytes = memoryOf(b, 1_000_000)
	}
	b.ReportMetric(float64(bytes)/(1<<20), "MiB")
}
