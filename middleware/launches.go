package middleware

import (
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/lru"
)

// launchTimes remembers since when sessions have awaited what their agents have begun in the
// background. The history of a request has no times, and a report may be lost. What one
// process remembers does: another one waits a little longer.
type launchTimes struct {
	mu   sync.Mutex
	seen *lru.Table[sighting] // nil for none
}

// sighting says when a launch was awaited for the first time, and when last.
type sighting struct{ first, last time.Time }

const (
	maxSightings = 1 << 12
	// staleAfter is how many times the age of the oldest task a launch goes unseen until
	// another one of the same name has taken its place: some agents count in each run.
	staleAfter = 8
)

// since returns when the session has awaited the launch for the first time.
func (l *launchTimes) since(key, launch string, now time.Time, maxAge time.Duration) time.Time {
	var both decision.LoopKey // names may be long
	both.Add(key)
	both.Add(launch)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = lru.New[sighting]()
	}
	s := l.seen.Put(both.String())
	if s.first.IsZero() || now.Before(s.first) || now.Sub(s.last)/staleAfter >= maxAge {
		s.first = now
	}
	s.last = now
	first := s.first
	l.seen.Trim(maxSightings)
	return first
}
