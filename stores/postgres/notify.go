package postgres

import (
	"context"
	"encoding/base64"
	"strings"
	"time"
)

const (
	// pauseBeforeReconnect is how long Listen waits when a connection is lost.
	pauseBeforeReconnect = time.Second
	// timeToClose is how long it tries to say goodbye.
	timeToClose = time.Second
)

// channel returns the name that the table's messages have among the database's.
// Topics are told apart within it, because the name of a channel is short.
func (s *Engine) channel() string { return strings.ReplaceAll(s.table, ".", "_") }

// Notify implements [records.Notifier] by NOTIFY.
func (s *Engine) Notify(ctx context.Context, topic, message string) error {
	_, err := s.pool.Exec(ctx, "select pg_notify($1, $2)", s.channel(), payload(topic)+payload(message))
	return wrap(err)
}

// payload encodes bytes of all kinds as text, with an end.
func payload(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) + "." }

// Listen implements [records.Notifier] by LISTEN. It takes a connection of the
// pool for itself.
func (s *Engine) Listen(ctx context.Context, topic string, f func(message string)) error {
	for {
		_ = s.listen(ctx, topic, f) // the next try tells whether it is better
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
	conn := pooled.Hijack() // which listens from now on, so that nobody else can use it
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeToClose)
		defer cancel()
		_ = conn.Close(ctx) // it is lost, or not needed any more
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
