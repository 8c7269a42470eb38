package adapter

import "slices"

// ToolResults matches the results of tool calls with their calls, for an adapter
// that reads a history backwards and so meets a result first. R is the SDK's
// own message, so that its text is only read if the call is asked for. The
// zero value is ready for use.
type ToolResults[R any] struct{ open []toolResult[R] } // rarely more than a few, so that a map would cost more

type toolResult[R any] struct {
	id     string
	result R
}

// Add adds a result of the call with the id.
func (r *ToolResults[R]) Add(id string, result R) {
	r.open = append(r.open, toolResult[R]{id, result})
}

// Take removes the newest result of a call's id and returns it. Each is taken
// once: some providers give parallel calls one id, or none, and an id may be
// used again further up.
func (r *ToolResults[R]) Take(id string) (result R, ok bool) {
	i := slices.IndexFunc(r.open, func(other toolResult[R]) bool { return other.id == id })
	if i < 0 {
		return result, false
	}
	result = r.open[i].result
	r.open = slices.Delete(r.open, i, i+1)
	return result, true
}
