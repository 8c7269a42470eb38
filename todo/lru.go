package todo

// entry is the list of one session and its place in the order of use. The list
// is never changed once it is stored, so it may be read without a lock.
type entry struct {
	session    string
	list       []Todo
	prev, next *entry
}

// table holds the lists by session and knows which was used longest ago. It is
// not safe for concurrent use.
type table struct {
	entries map[string]*entry
	ring    entry // ring.next was used last, ring.prev longest ago
}

func newTable() *table {
	t := &table{entries: map[string]*entry{}}
	t.ring.prev, t.ring.next = &t.ring, &t.ring
	return t
}

// get returns the list of session, nil if there is none, and counts as a use.
func (t *table) get(session string) []Todo {
	e := t.entries[session]
	if e == nil {
		return nil
	}
	e.unlink()
	t.front(e)
	return e.list
}

// put stores list for session, which counts as a use.
func (t *table) put(session string, list []Todo) {
	e := t.entries[session]
	if e == nil {
		e = &entry{session: session}
		t.entries[session] = e
	} else {
		e.unlink()
	}
	e.list = list
	t.front(e)
}

// remove drops the list of session and reports whether there was one.
func (t *table) remove(session string) bool {
	e := t.entries[session]
	if e == nil {
		return false
	}
	e.unlink()
	delete(t.entries, session)
	return true
}

// trim drops the lists used longest ago until at most limit are left.
func (t *table) trim(limit int) {
	for len(t.entries) > limit {
		t.remove(t.ring.prev.session)
	}
}

func (t *table) front(e *entry) {
	e.prev, e.next = &t.ring, t.ring.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}
