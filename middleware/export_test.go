package middleware

import (
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/session"
)

// WithClock replaces the system's clock.
func WithClock(c clock.Clock) Option { return clock.Option[Option](c) }

// WithSessionStore replaces the store of session state, for tests that look into it.
// Settings stay in memory.
func WithSessionStore(store session.Store) Option { return func(o *options) { o.store = store } }

// WithBackground is WithTasks for tests with tasks that fail.
func WithBackground(tasks delivery.Tasks) Option { return func(o *options) { o.tasks = tasks } }
