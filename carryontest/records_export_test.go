package carryontest

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/carryon-go/carryon/records"
)

// RecordFindings returns the rules that an engine breaks, which may never return.
func RecordFindings(tb testing.TB, open func() (a, b records.Records)) []string {
	tb.Helper()
	return RecordFindingsWithin(tb, time.Second, open)
}

// RecordFindingsWithin is RecordFindings with another patience.
func RecordFindingsWithin(tb testing.TB, patience time.Duration, open func() (a, b records.Records)) []string {
	tb.Helper()
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		broken []string
	)
	for _, rule := range recordRules() {
		verdict := &verdict{TB: tb}
		wg.Go(func() {
			var check sync.WaitGroup
			check.Go(func() { // FailNow ends it
				a, b := open()
				rule.check(newRecordCheck(verdict, a, b, patience))
			})
			check.Wait()
			if verdict.failed {
				mu.Lock()
				broken = append(broken, rule.name)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
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
