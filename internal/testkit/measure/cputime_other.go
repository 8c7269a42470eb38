//go:build !unix

package measure

import "time"

var start = time.Now() //nolint:gochecknoglobals // what the monotonic clock is read against

// cpuTime returns the time on the clock: the nearest thing here.
func cpuTime() time.Duration { return time.Since(start) }
