package quirks

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// Client is a client under test.
type Client struct {
	Name string
	// Read makes a request that offers the tool edit_file, and returns what the
	// client reads of the answer.
	Read func(ctx context.Context, rt http.RoundTripper, unary bool) Reading
}

// Readings are one client's readings of a row: of each answer alone, and of
// both joined. Second is empty if Effect is Relayed.
type Readings struct{ First, Second, Joined Reading }

// Read returns what the client reads of the row. Wrap puts the transport under
// test around an upstream.
func (q Quirk) Read(ctx context.Context, c Client, wrap func(http.RoundTripper) http.RoundTripper) Readings {
	var s Readings
	s.First = c.Read(ctx, &Upstream{Turns: []Turn{q.First}, Unary: q.Unary}, q.Unary)
	if q.Effect != Relayed {
		s.Second = c.Read(ctx, &Upstream{Turns: []Turn{q.Second}, Unary: q.Unary}, q.Unary)
	}
	s.Joined = c.Read(ctx, wrap(q.Upstream()), q.Unary)
	return s
}

// Upstream returns an upstream of the row's answers. It gives the second as often as
// carryon should ask for it.
func (q Quirk) Upstream() *Upstream {
	return &Upstream{Turns: append([]Turn{q.First}, slices.Repeat([]Turn{q.Second}, max(1, q.tries()))...), Unary: q.Unary}
}

// Golden returns readings of the row as golden files have them.
func (q Quirk) Golden(s Readings) string {
	parts := []string{q.Name + "\n" + q.Why + "\n", "first\n" + s.First.String()}
	if q.Effect == Relayed {
		parts = append(parts, "relayed\n"+s.Joined.String())
	} else {
		parts = append(parts, "second\n"+s.Second.String(), "joined\n"+s.Joined.String())
	}
	return strings.Join(parts, "\n")
}
