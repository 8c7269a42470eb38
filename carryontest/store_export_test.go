package carryontest

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// StoreFindings returns the rules that a store breaks.
func StoreFindings(tb testing.TB, open func() continuation.Store) []string {
	tb.Helper()
	var broken []string
	for _, rule := range storeRules() {
		verdict := &verdict{TB: tb}
		var wg sync.WaitGroup
		wg.Go(func() { // FailNow ends it
			rule.check(&storeCheck{TB: verdict, store: open(), patience: time.Second / 10})
		})
		wg.Wait()
		if verdict.failed {
			broken = append(broken, rule.name)
		}
	}
	slices.Sort(broken)
	return broken
}

// verdict is a test that only remembers whether it has failed.
type verdict struct {
	testing.TB

	mu     sync.Mutex
	failed bool
}

func (v *verdict) Errorf(string, ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = true
}

func (v *verdict) FailNow() {
	v.Errorf("")
	runtime.Goexit()
}
