package middleware

import "slices"

// Results matches the results of tool calls with their calls, for an adapter
// that reads a history backwards and so meets a result first. R is the SDK's
// own message, so that its text is only read if the call is asked for. The
// zero value is ready for use. There are rarely more than a few at a time, so
// that a map would cost more.
type Results[R any] struct{ open []result[R] }

type result[R any] struct {
	id  string
	own R
}

// Add takes note of a result that answers the call with the id.
func (r *Results[R]) Add(id string, own R) {
	r.open = append(r.open, result[R]{id, own})
}

// Take removes the newest result of a call's id and returns it. Each is taken
// once: some providers give parallel calls one id, or none, and an id may be
// used again further up.
func (r *Results[R]) Take(id string) (own R, ok bool) {
	i := slices.IndexFunc(r.open, func(other result[R]) bool { return other.id == id })
	if i < 0 {
		return own, false
	}
	own = r.open[i].own
	r.open = slices.Delete(r.open, i, i+1)
	return own, true
}
