package records

import "context"

// Notifier is an optional interface of an engine. It sends short messages to all
// processes that listen, for example the name of a session that has changed. A
// Notifier is safe for concurrent use.
//
// A message may be lost, for example while a connection is down, and may arrive twice.
// A listener must therefore also check for changes from time to time; messages only
// tell it sooner.
type Notifier interface {
	// Notify sends a message of at most 1 KiB to every listener of the topic, those
	// in this process included. It does not wait until they receive it.
	Notify(ctx context.Context, topic, message string) error
	// Listen calls f with each message to the topic, one at a time, until ctx ends,
	// and then returns ctx.Err(). If the connection is lost, Listen reconnects. It
	// calls f with "" when it begins to listen and after each reconnection, because
	// messages may have been missed before.
	Listen(ctx context.Context, topic string, f func(message string)) error
}
