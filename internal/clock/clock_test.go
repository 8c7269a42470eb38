package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/clock"
)

func TestSystemRunsTheFunctionWhenItsTimeHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.System()
		start := c.Now()
		fired := make(chan time.Time, 1)
		timer := c.AfterFunc(time.Minute, func() { fired <- c.Now() })

		assert.Equal(t, time.Minute, (<-fired).Sub(start))
		assert.False(t, timer.Stop())
	})
}

func TestSystemTimerCanBeStoppedAndReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.System()
		start := c.Now()
		fired := make(chan time.Time, 1)
		timer := c.AfterFunc(time.Minute, func() { fired <- c.Now() })

		assert.True(t, timer.Stop())
		assert.False(t, timer.Reset(time.Hour))
		assert.Equal(t, time.Hour, (<-fired).Sub(start))
	})
}

type setting func(*settings)

type settings struct{ clock clock.Clock }

func TestOptionsSetAClock(t *testing.T) {
	clock.Settable(func(c clock.Clock) setting { return func(s *settings) { s.clock = c } })
	var s settings
	clock.Option[setting](clock.System())(&s)
	assert.Equal(t, clock.System(), s.clock)
	assert.PanicsWithValue(t, "carryon/internal/clock: no option of type int sets a clock", func() { clock.Option[int](clock.System()) })
}
