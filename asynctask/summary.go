package asynctask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxSummary is how many bytes a status summary has at most. Beyond it the oldest
// tasks are left out, and the summary says how many.
//
// A status summary has a line with the number of tasks, and one for each in
// order of start:
//
//	[ASYNC TASKS: 2 total]
//	[1] run the tests - [RUNNING] (k3vq7mzt...)
//	[2] update the docs - [DONE] (p9dw2xha...)
//
// In parentheses is the beginning of the id: eight characters, or as many as make it
// unique in the session.
const MaxSummary = 16 << 10

// summarize returns the status summary; "" if there are no tasks.
func summarize(tasks []record) string {
	if len(tasks) == 0 {
		return ""
	}
	shown := idLengths(tasks)
	lines, first := make([]string, len(tasks)), len(tasks)
	for room := MaxSummary - len("[ASYNC TASKS: 10000 total]\n(10000 older ones not shown)"); first > 0; first-- {
		t := &tasks[first-1]
		id := t.ID
		if shown[first-1] < len(id) {
			id = id[:shown[first-1]] + "..."
		}
		line := t.line("\n["+strconv.Itoa(first)+"] ", id)
		if room -= len(line); room < 0 {
			break
		}
		lines[first-1] = line
	}
	header := fmt.Sprintf("[ASYNC TASKS: %d total]", len(tasks))
	if first > 0 {
		header += fmt.Sprintf("\n(%d older ones not shown)", first)
	}
	return header + strings.Join(lines[first:], "")
}

// line returns one line about the task, after begin and with this form of the id.
func (t *record) line(begin, id string) string {
	return begin + t.Name + " - [" + t.state().label() + "] (" + id + ")"
}

// shortID is how many characters of an id are shown if that is enough.
const shortID = 8

// idLengths returns how many characters make each id unique.
func idLengths(tasks []record) []int {
	lengths, sorted := make([]int, len(tasks)), make([]int, len(tasks))
	for i := range tasks {
		lengths[i], sorted[i] = shortID, i
	}
	slices.SortFunc(sorted, func(a, b int) int { return strings.Compare(tasks[a].ID, tasks[b].ID) })
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		n, id := shortID, tasks[a].ID
		for n <= len(id) && strings.HasPrefix(tasks[b].ID, id[:n]) {
			n++
		}
		lengths[a], lengths[b] = max(lengths[a], n), max(lengths[b], n)
	}
	return lengths
}
