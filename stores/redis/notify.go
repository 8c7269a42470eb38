package redis

import (
	"context"

	"github.com/redis/go-redis/v9"
)

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
