package records

import "context"

// Notifier is an optional feature of an engine beside [Records]: it sends short
// messages to all processes that listen, such as the name of a session that has
// changed. Messages may get lost, for example while a connection is down, and may
// come twice. A listener must therefore also check for itself now and then; messages
// only make it faster. A Notifier is safe for concurrent use.
type Notifier interface {
	// Notify sends a message of at most 1 KiB to everybody who listens to the topic,
	// this process included. It does not wait for them.
	Notify(ctx context.Context, topic, message string) error
	// Listen calls f with each message to the topic, one at a time, until ctx ends,
	// and then returns the error of ctx. If the connection is lost, it tries to
	// restore it. Each time it begins to listen, first and after a lost connection,
	// it calls f with "", because earlier messages may have been missed.
	Listen(ctx context.Context, topic string, f func(message string)) error
}
