package postgres

import (
	"context"
	"encoding/base64"
	"strings"
	"time"
)

const (
	// pauseBeforeReconnect is how long Listen waits after it has lost a connection.
	pauseBeforeReconnect = time.Second
	// timeToClose is how long Listen tries to close a connection properly.
	timeToClose = time.Second
)

// channel returns the NOTIFY channel of the table. All topics share it, because the
// name of a channel must be short.
func (s *Engine) channel() string { return strings.ReplaceAll(s.table, ".", "_") }

// Notify implements [records.Notifier] by NOTIFY.
func (s *Engine) Notify(ctx context.Context, topic, message string) error {
	_, err := s.pool.Exec(ctx, "select pg_notify($1, $2)", s.channel(), payload(topic)+payload(message))
	return wrap(err)
}

// payload encodes arbitrary bytes as text that ends with ".".
func payload(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) + "." }

// Listen implements [records.Notifier] by LISTEN. It takes one connection out of the
// pool until ctx ends, and reconnects if that connection is lost.
func (s *Engine) Listen(ctx context.Context, topic string, f func(message string)) error {
	for {
		_ = s.listen(ctx, topic, f) // the next try reconnects
		timer := time.NewTimer(pauseBeforeReconnect)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// listen listens until the connection is lost.
func (s *Engine) listen(ctx context.Context, topic string, f func(message string)) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // it listens from now on, so no one else may use it
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeToClose)
		defer cancel()
		_ = conn.Close(ctx) // it is lost or no longer needed
	}()
	if _, err := conn.Exec(ctx, "listen "+s.channel()); err != nil {
		return err
	}
	f("")
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		rest, ours := strings.CutPrefix(n.Payload, payload(topic))
		if message, err := base64.RawStdEncoding.DecodeString(strings.TrimSuffix(rest, ".")); ours && err == nil {
			f(string(message))
		}
	}
}
