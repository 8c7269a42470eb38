package redis

import (
	"context"
	_ "embed" // of the script
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/carryon-go/carryon/records"
)

// Engine stores records in Redis or Valkey. It is safe for concurrent use. Create it
// with [Open] or [New]: the zero value is not usable.
type Engine struct {
	records records.Records // of this engine's swaps

	client redis.UniversalClient
	script *redis.Script
	close  func() error
}

var (
	_ records.Records  = (*Engine)(nil)
	_ records.Notifier = (*Engine)(nil)
)

//go:embed swap.lua
var swapScript string

// New returns an engine on a client that the caller owns and closes. It fails if
// client is nil or its options do not set ContextTimeoutEnabled: without that option,
// a call to a hanging server ignores the deadline of its ctx. New does not connect.
func New(client redis.UniversalClient) (*Engine, error) {
	honoursContext := true
	switch c := client.(type) {
	case nil:
		return nil, errors.New("redis: nil client")
	case *redis.Client:
		honoursContext = c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		honoursContext = c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		honoursContext = c.Options().ContextTimeoutEnabled
	}
	if !honoursContext {
		return nil, errors.New("redis: the client ignores the deadline of a ctx: set ContextTimeoutEnabled in its options")
	}
	s := &Engine{client: client, script: redis.NewScript(swapScript), close: func() error { return nil }}
	s.records = records.NewSwapping(swapper{s})
	return s, nil
}

// Ping connects to the server and checks that it answers. Call it when the program
// starts, to report a wrong URL or password at once.
func (s *Engine) Ping(ctx context.Context) error {
	return wrap(s.client.Ping(ctx).Err())
}

// Close closes the client that [Open] has created. It does not close a client passed
// to [New].
func (s *Engine) Close() error { return s.close() }

// revisionSize is the size of a revision: eleven random characters and a space.
const revisionSize = 12

// newRevision returns a revision that no record has had.
func newRevision() string {
	var random [8]byte
	binary.NativeEndian.PutUint64(random[:], rand.Uint64()) //nolint:gosec // it tells changes apart, and guards nothing
	return base64.RawURLEncoding.EncodeToString(random[:]) + " "
}

// Update implements [records.Records].
func (s *Engine) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	return s.records.Update(ctx, key, f)
}

// swapper swaps the records of an engine.
type swapper struct{ *Engine }

// Swap implements [records.Swapper].
func (s swapper) Swap(ctx context.Context, key string, swap records.Swap) (records.Snapshot, bool, error) {
	revision := swap.Revision
	args := []any{revision, "look", milliseconds(swap.Keep), ""}
	switch swap.Action {
	case records.Look:
	case records.Renew:
		args[1] = "renew"
	case records.Remove:
		args[1], revision = "remove", ""
	case records.Replace:
		revision = newRevision()
		args[1], args[3] = "replace", append([]byte(revision), swap.Record...)
	}
	reply, err := s.script.Run(ctx, s.client, []string{key}, args...).Slice()
	if err != nil {
		return records.Snapshot{}, false, wrap(err)
	}
	swapped, now, err := read(reply)
	if swapped {
		now.Revision = revision
	}
	return now, swapped, err
}

// milliseconds returns how long to keep a record, rounded up, in the form that the
// script takes: 0 for no limit.
func milliseconds(keep time.Duration) int64 {
	if keep == records.Off {
		return 0
	}
	return int64((keep + time.Millisecond - 1) / time.Millisecond)
}

// read reads an answer of the script.
func read(reply []any) (swapped bool, now records.Snapshot, err error) {
	if len(reply) < 3 {
		return false, now, fmt.Errorf("redis: the script answered %v", reply)
	}
	flag, _ := reply[0].(int64)
	now.Now, err = clockTime(reply[1], reply[2])
	if err != nil || flag == 1 || len(reply) < 4 {
		return flag == 1, now, err
	}
	value, ok := reply[3].(string)
	switch {
	case !ok: // there is none
		return false, now, nil
	case len(value) <= revisionSize || value[revisionSize-1] != ' ':
		return false, now, fmt.Errorf("redis: %w: the key holds %.20q", records.ErrForeign, value)
	}
	now.Revision, now.Record = value[:revisionSize], []byte(value[revisionSize:])
	return false, now, nil
}

// clockTime returns the server's clock from what TIME says.
func clockTime(seconds, micros any) (time.Time, error) {
	s, err := strconv.ParseInt(fmt.Sprint(seconds), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("redis: the server's time: %w", err)
	}
	fraction, err := strconv.ParseInt(fmt.Sprint(micros), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("redis: the server's time: %w", err)
	}
	return time.Unix(s, fraction*1000), nil
}

// wrap names the package in an error of the client or the server.
func wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return fmt.Errorf("redis: %w: %w", records.ErrForeign, err)
	default:
		return fmt.Errorf("redis: %w", err)
	}
}

// Notify implements [records.Notifier] by PUBLISH.
func (s *Engine) Notify(ctx context.Context, topic, message string) error {
	return wrap(s.client.Publish(ctx, topic, message).Err())
}

// Listen implements [records.Notifier] by SUBSCRIBE. It uses a separate connection.
func (s *Engine) Listen(ctx context.Context, topic string, f func(message string)) error {
	subscription := s.client.Subscribe(ctx, topic)
	defer subscription.Close() //nolint:errcheck // nobody reads from it any more
	messages := subscription.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m, ok := <-messages:
			switch m := m.(type) {
			case *redis.Message:
				f(m.Payload)
			case *redis.Subscription:
				f("")
			}
			if !ok { // the client was closed
				return wrap(redis.ErrClosed)
			}
		}
	}
}
