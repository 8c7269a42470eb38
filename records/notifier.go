package records

import "context"

// Notifier is what an engine may offer beside [Records]: short messages to all
// processes that listen, such as the name of a session that has news. Messages
// get lost, while a connection is down for example, and may come twice. So a
// listener looks for itself now and then, and is only faster for the messages.
// A Notifier is safe for concurrent use.
type Notifier interface {
	// Notify sends a message of at most 1 KiB to everybody who listens to the
	// topic, this process included. It does not wait for them.
	Notify(ctx context.Context, topic, message string) error
	// Listen calls f with each message to the topic, one at a time, until ctx
	// ends, and returns the error of ctx then. While the connection is down it
	// tries to restore it, and it calls f with "" once it is listening, at first
	// and again each time: whatever happened before may have been missed.
	Listen(ctx context.Context, topic string, f func(message string)) error
}
