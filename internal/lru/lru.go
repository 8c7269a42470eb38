// Package lru provides a table that can drop its least recently used values.
package lru

import "strings"

// Table maps keys to values and remembers the order of their use. It is not
// safe for concurrent use. Use New: the zero value is not ready.
type Table[V any] struct {
	entries map[string]*entry[V]
	ring    entry[V] // ring.next is the most recently used entry, ring.prev the least
}

type entry[V any] struct {
	key        string
	value      V
	prev, next *entry[V]
}

// New returns an empty Table.
func New[V any]() *Table[V] {
	t := &Table[V]{entries: make(map[string]*entry[V])}
	t.ring.prev, t.ring.next = &t.ring, &t.ring
	return t
}

// Len returns the number of values.
func (t *Table[V]) Len() int { return len(t.entries) }

// Get returns a pointer to the value of key, which the caller may read and
// change, or nil if key has no value. Get counts as a use.
func (t *Table[V]) Get(key string) *V {
	e := t.entries[key]
	if e == nil {
		return nil
	}
	e.unlink()
	t.pushFront(e)
	return &e.value
}

// Put returns a pointer to the value of key and adds a zero value if key has
// none. Put counts as a use.
func (t *Table[V]) Put(key string) *V {
	if value := t.Get(key); value != nil {
		return value
	}
	e := &entry[V]{key: strings.Clone(key)} // key may be a substring of a large request
	t.entries[e.key] = e
	t.pushFront(e)
	return &e.value
}

// Remove drops the value of key and reports whether there was one.
func (t *Table[V]) Remove(key string) bool {
	e := t.entries[key]
	if e == nil {
		return false
	}
	e.unlink()
	delete(t.entries, key)
	return true
}

// Oldest returns the least recently used key and a pointer to its value, nil if
// there is none. It does not count as a use.
func (t *Table[V]) Oldest() (key string, value *V) {
	if len(t.entries) == 0 {
		return "", nil
	}
	return t.ring.prev.key, &t.ring.prev.value
}

// RemoveOldest drops the least recently used value and returns it. The table must
// not be empty.
func (t *Table[V]) RemoveOldest() V {
	oldest := t.ring.prev
	t.Remove(oldest.key)
	return oldest.value
}

// Trim drops the least recently used values until at most limit are left.
func (t *Table[V]) Trim(limit int) {
	for len(t.entries) > limit {
		t.RemoveOldest()
	}
}

func (t *Table[V]) pushFront(e *entry[V]) {
	e.prev, e.next = &t.ring, t.ring.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry[V]) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}
