package todolist

import "github.com/carryon-go/carryon/todo"

// Digest returns a number that identifies the list, the same in every process
// and never 0. It changes with ids, contents, statuses and order.
func Digest(todos []todo.Todo) uint64 {
	sum := uint64(len(todos))
	for i := range todos {
		t := &todos[i]
		sum = fold(fold(fold(sum, t.ID), t.Content), string(t.Status))
	}
	return sum | 1
}

// fold adds a text to a hash, eight bytes at a time.
func fold(sum uint64, text string) uint64 {
	const prime = 0x9e3779b97f4a7c15 // an odd number without a pattern
	sum = (sum ^ uint64(len(text))) * prime
	for len(text) >= 8 {
		word := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		sum = (sum ^ word) * prime
		sum ^= sum >> 32
		text = text[8:]
	}
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum ^ sum>>29
}
