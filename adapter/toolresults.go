package adapter

// ToolResults matches tool results with their calls, for an adapter that reads a
// history backwards and so meets a result before its call. R is the SDK's own
// message, so that its text is read only if needed. The zero value is ready for use.
type ToolResults[R any] struct{ open map[string]*toolResult[R] } // by id: the newest result not taken yet

type toolResult[R any] struct {
	result R
	older  *toolResult[R] // of the same id
	oldest *toolResult[R] // of the same id; set in the newest only
}

// Add adds a result of the call with the id, older than all that were added before.
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

// Take removes the newest result for a call's id and returns it. Each result is taken
// once: some providers give parallel calls the same id or none, and an id may be used
// again further up.
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
