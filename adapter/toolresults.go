package adapter

// ToolResults matches the results of tool calls with their calls, for an adapter
// that reads a history backwards and so meets a result first. R is the SDK's
// own message, so that its text is only read if the call is asked for. The
// zero value is ready for use.
type ToolResults[R any] struct{ open map[string]*toolResult[R] } // by the id: the newest that was not taken

type toolResult[R any] struct {
	result R
	older  *toolResult[R] // of the same id
	oldest *toolResult[R] // of the same id; kept by the newest alone
}

// Add adds a result of the call with the id. It is older than those added before.
func (r *ToolResults[R]) Add(id string, result R) {
	added := &toolResult[R]{result: result}
	newest := r.open[id]
	switch {
	case newest != nil:
		newest.oldest.older, newest.oldest = added, added
		return
	case r.open == nil:
		r.open = make(map[string]*toolResult[R])
	}
	added.oldest = added
	r.open[id] = added
}

// Take removes the newest result of a call's id and returns it. Each is taken
// once: some providers give parallel calls one id, or none, and an id may be
// used again further up.
func (r *ToolResults[R]) Take(id string) (result R, ok bool) {
	newest := r.open[id]
	if newest == nil {
		return result, false
	}
	if next := newest.older; next != nil {
		next.oldest = newest.oldest
		r.open[id] = next
	} else {
		delete(r.open, id)
	}
	return newest.result, true
}
