package carryontest_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
)

type (
	state    = continuation.State
	update   = func(state) state
	updating func(ctx context.Context, key string, f update) error
)

func (u updating) Update(ctx context.Context, key string, f update) error { return u(ctx, key, f) }

// memory returns a correct store, for tests to break.
func memory() continuation.Store { return continuation.NewMemoryStore() }

// broken returns a function that opens stores which pass every update to a correct
// one, each in its own wrong way.
func broken(how func(right continuation.Store, ctx context.Context, key string, f update) error) func() continuation.Store {
	return func() continuation.Store {
		right := memory()
		return updating(func(ctx context.Context, key string, f update) error { return how(right, ctx, key, f) })
	}
}

// changing returns a function that opens stores which store something other than the result of f.
func changing(change update) func() continuation.Store {
	return broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
		return right.Update(ctx, key, func(s state) state { return change(f(s)) })
	})
}

// naming returns a function that opens stores which keep states under other keys.
func naming(name func(string) string) func() continuation.Store {
	return broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
		return right.Update(ctx, name(key), f)
	})
}

const (
	ruleUnknown  = "unknown keys have the zero state"
	ruleKept     = "an update is kept"
	ruleFields   = "every field comes back"
	ruleKinds    = "states of all kinds come back"
	ruleZero     = "a state can become zero again"
	ruleIsolated = "keys are isolated"
	ruleAtomic   = "updates are atomic"
	ruleClaims   = "only one call gets a claim"
	ruleOwnKeys  = "keys do not disturb one another"
	ruleErrors   = "an error means that nothing was stored"
	rulePanics   = "a panic changes nothing"
)

func requireBreaks(t *testing.T, open func() continuation.Store, rules ...string) {
	t.Helper()
	assert.Subset(t, carryontest.StoreFindings(t, open), rules)
}

func TestStoreFindsNothingWrongWithTheMemoryStore(t *testing.T) {
	t.Parallel()
	assert.Empty(t, carryontest.StoreFindingsWithin(t, time.Minute, memory))
}

func TestStoreFindsStoresThatDoNotKeepStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open  func() continuation.Store
		rules []string
	}{
		"forgets all": {
			func() continuation.Store {
				return updating(func(_ context.Context, _ string, f update) error { f(state{}); return nil })
			},
			[]string{ruleKept, ruleFields, ruleKinds, ruleIsolated, ruleAtomic},
		},
		"does not run f": {
			func() continuation.Store { return updating(func(context.Context, string, update) error { return nil }) },
			[]string{ruleUnknown, ruleKept, rulePanics},
		},
		"always fails": {
			func() continuation.Store {
				return updating(func(context.Context, string, update) error { return assert.AnError })
			},
			[]string{ruleUnknown, ruleKept, ruleAtomic},
		},
		"applies f to its own result": {
			broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
				return right.Update(ctx, key, func(s state) state { return f(f(s)) })
			}),
			[]string{ruleKept, ruleAtomic},
		},
		"loses every other update": {
			func() continuation.Store {
				right := memory()
				var updates sync.Map
				return updating(func(ctx context.Context, key string, f update) error {
					if _, odd := updates.LoadAndDelete(key); !odd {
						updates.Store(key, true)
						return right.Update(ctx, key, f)
					}
					return right.Update(ctx, key, func(s state) state { f(s); return s })
				})
			},
			[]string{ruleKept, ruleOwnKeys},
		},
		"runs f once more, for nothing": {
			broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
				return right.Update(ctx, key, func(s state) state {
					next := f(s)
					f(next)
					return next
				})
			}),
			[]string{ruleKept, ruleAtomic},
		},
		"begins with something": {
			broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
				return right.Update(ctx, key, func(s state) state {
					if s == (state{}) {
						s.Attempts = 1
					}
					return f(s)
				})
			}),
			[]string{ruleUnknown, ruleZero},
		},
		"stores no zero state": {
			broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
				return right.Update(ctx, key, func(s state) state {
					if next := f(s); next != (state{}) {
						return next
					}
					return s
				})
			}),
			[]string{ruleZero},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBreaks(t, c.open, c.rules...)
		})
	}
}

func TestStoreFindsEveryFieldThatGetsLost(t *testing.T) {
	t.Parallel()
	var paths [][]int
	leaves(reflect.TypeFor[state](), nil, &paths)
	assert.Greater(t, len(paths), 10)
	for _, path := range paths {
		name := fmt.Sprint(reflect.TypeFor[state]().FieldByIndex(path[:1]).Name, path[1:])
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBreaks(t, changing(func(s state) state {
				reflect.ValueOf(&s).Elem().FieldByIndex(path).SetZero()
				return s
			}), ruleFields)
		})
	}
}

// leaves adds the paths of the fields in t that hold a value of their own.
func leaves(t reflect.Type, path []int, found *[][]int) {
	for i := range t.NumField() {
		at := append(slices.Clip(path), i)
		if field := t.Field(i).Type; field.Kind() == reflect.Struct && field != reflect.TypeFor[time.Time]() {
			leaves(field, at, found)
			continue
		}
		*found = append(*found, at)
	}
}

func TestStoreFindsValuesThatChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change update
		rule   string
	}{
		"times in seconds":       {func(s state) state { s.Paused.Since = s.Paused.Since.Truncate(time.Second); return s }, ruleKinds},
		"keys as floats":         {func(s state) state { s.Message = uint64(float64(s.Message)); return s }, ruleKinds},
		"keys signed":            {func(s state) state { s.Stale &= 1<<63 - 1; return s }, ruleKinds},
		"tokens in 32 bits":      {func(s state) state { s.Tokens = int(int32(s.Tokens)); return s }, ruleKinds}, //nolint:gosec // that is what is wrong
		"no negative result":     {func(s state) state { s.LastResult = max(s.LastResult, 0); return s }, ruleKinds},
		"reasons on one line":    {func(s state) state { s.Paused.Reason, _, _ = strings.Cut(s.Paused.Reason, "\n"); return s }, ruleKinds},
		"empty lists are unseen": {emptyUnseen, ruleKinds},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBreaks(t, changing(c.change), c.rule)
		})
	}
}

func emptyUnseen(s state) state {
	if s.Watermarks.Active == 0 {
		s.Watermarks = continuation.Watermarks{}
	}
	return s
}

func TestStoreFindsKeysThatShareAState(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(string) string{
		"one for all":        func(string) string { return "" },
		"without case":       strings.ToLower,
		"without space":      strings.TrimSpace,
		"cut at NUL":         func(key string) string { return strings.SplitN(key, "\x00", 2)[0] },
		"without NUL":        func(key string) string { return strings.ReplaceAll(key, "\x00", "") },
		"cut at 255 bytes":   func(key string) string { return key[:min(len(key), 255)] },
		"the last 255 bytes": func(key string) string { return key[max(len(key)-255, 0):] },
		"valid UTF-8":        func(key string) string { return strings.ToValidUTF8(key, "\ufffd") },
		"accents composed":   func(key string) string { return strings.ReplaceAll(key, "e\u0301", "\u00e9") },
		"three bytes a rune": func(key string) string { return strings.ReplaceAll(key, "\U0001f6d1", "*") },
		"paths":              func(key string) string { return strings.NewReplacer("/", "_", ":", "_").Replace(key) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBreaks(t, naming(key), ruleIsolated)
		})
	}
}

// racy keeps states in a map, and does not lock it for the whole of an update.
type racy struct {
	mu   sync.Mutex
	kept map[string]state
}

func (r *racy) load() map[string]state {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.kept)
}

// save stores a state if the condition is met.
func (r *racy) save(key string, s state, condition func(before state) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if condition(r.kept[key]) {
		r.kept[key] = s
	}
}

func (r *racy) saveAll(all map[string]state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = all
}

func TestStoreFindsUpdatesThatAreNotAtomic(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		update func(r *racy, own *sync.Mutex, key string, f update)
		rules  []string
	}{
		"reads, then writes": {func(r *racy, _ *sync.Mutex, key string, f update) {
			r.save(key, f(r.load()[key]), func(state) bool { return true })
		}, []string{ruleAtomic, ruleClaims}},
		"gives up in silence": {func(r *racy, _ *sync.Mutex, key string, f update) {
			before := r.load()[key]
			r.save(key, f(before), func(now state) bool { return now == before })
		}, []string{ruleAtomic, ruleClaims}},
		"writes all keys": {func(r *racy, own *sync.Mutex, key string, f update) {
			own.Lock()
			defer own.Unlock()
			all := r.load()
			all[key] = f(all[key])
			r.saveAll(all)
		}, []string{ruleOwnKeys}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBreaks(t, func() continuation.Store {
				r := &racy{kept: make(map[string]state)}
				var locks sync.Map
				return updating(func(_ context.Context, key string, f update) error {
					lock, _ := locks.LoadOrStore(key, new(sync.Mutex))
					own, _ := lock.(*sync.Mutex)
					c.update(r, own, key, f)
					return nil
				})
			}, c.rules...)
		})
	}
}

func TestStoreFindsErrorsThatAreNone(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	for name, open := range map[string]func() continuation.Store{
		"stores, then looks at the ctx": broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
			if err := right.Update(ctx, key, f); err != nil {
				return err
			}
			return ctx.Err()
		}),
		"hides that the ctx has ended": broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
			if ctx.Err() == nil {
				return right.Update(ctx, key, f)
			}
			f(state{})
			return nil
		}),
		"hides that the ctx ended meanwhile": broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return right.Update(ctx, key, func(s state) state {
				if next := f(s); ctx.Err() == nil {
					return next
				}
				return s
			})
		}),
		"waits for ever": broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
			if ctx.Err() != nil {
				<-over
			}
			return right.Update(ctx, key, f)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBreaks(t, open, ruleErrors)
		})
	}
}

func TestStoreFindsWhatAPanicBreaks(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() continuation.Store{
		"stays locked": func() continuation.Store {
			right, lock := memory(), make(chan struct{}, 1)
			return updating(func(ctx context.Context, key string, f update) error {
				select {
				case lock <- struct{}{}:
				case <-ctx.Done():
					return ctx.Err()
				}
				err := right.Update(ctx, key, f)
				<-lock
				return err
			})
		},
		"hides the panic": broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
			defer func() { _ = recover() }()
			return right.Update(ctx, key, f)
		}),
		"forgets the state": broken(func(right continuation.Store, ctx context.Context, key string, f update) (err error) {
			defer func() {
				if recover() != nil {
					_ = right.Update(ctx, key, func(state) state { return state{} })
					err = assert.AnError
				}
			}()
			return right.Update(ctx, key, f)
		}),
		"stores half an update": broken(func(right continuation.Store, ctx context.Context, key string, f update) (err error) {
			defer func() {
				if recover() != nil {
					_ = right.Update(ctx, key, func(s state) state { s.Attempts++; return s })
					err = assert.AnError
				}
			}()
			return right.Update(ctx, key, f)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBreaks(t, open, rulePanics)
		})
	}
}

func TestStoreAcceptsStoresThatTurnPanicsIntoErrors(t *testing.T) {
	t.Parallel()
	carryontest.TestStore(t, broken(func(right continuation.Store, ctx context.Context, key string, f update) (err error) {
		defer func() {
			if panicked := recover(); panicked != nil {
				err = fmt.Errorf("%w: %v", assert.AnError, panicked)
			}
		}()
		return right.Update(ctx, key, f)
	}))
}

func TestStoreAcceptsStoresThatHonourTheContext(t *testing.T) {
	t.Parallel()
	carryontest.TestStore(t, broken(func(right continuation.Store, ctx context.Context, key string, f update) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return right.Update(ctx, key, f)
	}))
}
