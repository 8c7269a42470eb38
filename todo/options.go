package todo

import "fmt"

// The limits of a Memory unless options say otherwise. They are far above what
// an agent needs and keep a model that runs wild from filling the memory.
const (
	// DefaultMaxItems is how many todos a list may have.
	DefaultMaxItems = 1000
	// DefaultMaxContent is how many bytes the content of a todo may have.
	DefaultMaxContent = 64 << 10
	// DefaultMaxSessions is how many sessions may have a list at a time.
	DefaultMaxSessions = 100_000
)

// maxLabel is how many bytes an id, a status or a priority may have. They are
// words, so nobody needs an option for it.
const maxLabel = 1 << 10

// MemoryOption changes a setting of NewMemory.
type MemoryOption interface{ apply(s *memorySettings) }

type memorySettings struct {
	maxItems    int
	maxContent  int
	maxSessions int
	onPanic     func(session string, recovered any)
}

type memoryOption func(s *memorySettings)

func (o memoryOption) apply(s *memorySettings) { o(s) }

// WithMaxItems sets how many todos a list may have; 0 is no limit. A longer one
// is refused. It panics if n is negative.
func WithMaxItems(n int) MemoryOption {
	mustBeLimit("WithMaxItems", n)
	return memoryOption(func(s *memorySettings) { s.maxItems = n })
}

// WithMaxContent sets how many bytes the content of a todo may have; 0 is no
// limit. A list with a longer one is refused. It panics if bytes is negative.
func WithMaxContent(bytes int) MemoryOption {
	mustBeLimit("WithMaxContent", bytes)
	return memoryOption(func(s *memorySettings) { s.maxContent = bytes })
}

// WithMaxSessions sets how many sessions may have a list at a time; 0 is no
// limit. One more, and the list that was read or written longest ago is
// dropped. It panics if n is negative.
func WithMaxSessions(n int) MemoryOption {
	mustBeLimit("WithMaxSessions", n)
	return memoryOption(func(s *memorySettings) { s.maxSessions = n })
}

// OnPanic sets what is told of a panic in a subscriber: its session and the
// recovered value. It is called where the subscriber was. Without it, or with
// nil, such panics are dropped.
func OnPanic(f func(session string, recovered any)) MemoryOption {
	return memoryOption(func(s *memorySettings) { s.onPanic = f })
}

func mustBeLimit(option string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("todo: %s: negative limit %d", option, n))
	}
}

func settingsOf(opts []MemoryOption) memorySettings {
	s := memorySettings{
		maxItems:    DefaultMaxItems,
		maxContent:  DefaultMaxContent,
		maxSessions: DefaultMaxSessions,
	}
	for _, opt := range opts {
		if opt == nil {
			panic("todo: nil MemoryOption")
		}
		opt.apply(&s)
	}
	return s
}
