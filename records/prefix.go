package records

import "context"

// WithPrefix returns Records that put prefix before every key and every topic of r.
// With different prefixes, programs can use one engine without sharing records. If r
// is a [Notifier], so is the result. WithPrefix panics if r is nil.
func WithPrefix(r Records, prefix string) Records {
	if r == nil {
		panic("carryon/records: WithPrefix: nil Records")
	}
	p := prefixed{r, prefix}
	if n, ok := r.(Notifier); ok {
		return prefixedNotifier{p, n}
	}
	return p
}

type prefixed struct {
	records Records
	prefix  string
}

// Update implements [Records].
func (p prefixed) Update(ctx context.Context, key string, f UpdateFunc) error {
	return p.records.Update(ctx, p.prefix+key, f)
}

type prefixedNotifier struct {
	prefixed

	notifier Notifier
}

// Notify implements [Notifier].
func (p prefixedNotifier) Notify(ctx context.Context, topic, message string) error {
	return p.notifier.Notify(ctx, p.prefix+topic, message)
}

// Listen implements [Notifier].
func (p prefixedNotifier) Listen(ctx context.Context, topic string, f func(message string)) error {
	return p.notifier.Listen(ctx, p.prefix+topic, f)
}
