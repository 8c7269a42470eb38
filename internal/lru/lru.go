// Package lru keeps values under keys and knows which was used longest ago.
package lru

import "strings"

// Table holds values by key, in the order of their use. It is not safe for
// concurrent use. Use New: the zero value is not ready.
type Table[V any] struct {
	entries map[string]*entry[V]
	ring    entry[V] // ring.next was used last, ring.prev longest ago
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

// Len returns how many values there are.
func (t *Table[V]) Len() int { return len(t.entries) }

// Get returns the value under key, to be read or changed in its place, or nil if
// there is none. It counts as a use.
func (t *Table[V]) Get(key string) *V {
	e := t.entries[key]
	if e == nil {
		return nil
	}
	e.unlink()
	t.front(e)
	return &e.value
}

// Put returns the value under key, which is a zero value if it is new. It counts
// as a use.
func (t *Table[V]) Put(key string) *V {
	if value := t.Get(key); value != nil {
		return value
	}
	e := &entry[V]{key: strings.Clone(key)} // it may be a small part of a large request
	t.entries[e.key] = e
	t.front(e)
	return &e.value
}

// Remove drops the value under key and reports whether there was one.
func (t *Table[V]) Remove(key string) bool {
	e := t.entries[key]
	if e == nil {
		return false
	}
	e.unlink()
	delete(t.entries, key)
	return true
}

// Trim drops the values used longest ago until at most limit are left.
func (t *Table[V]) Trim(limit int) {
	for len(t.entries) > limit {
		t.Remove(t.ring.prev.key)
	}
}

func (t *Table[V]) front(e *entry[V]) {
	e.prev, e.next = &t.ring, t.ring.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry[V]) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}
