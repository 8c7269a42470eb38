package asynctask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxSummary is how many bytes a status summary has at most. Beyond it the
// tasks started first are left out, and their number is given.
const MaxSummary = 16 << 10

// Summary returns the status summary of the session, "" if it has no tasks: a
// line with their number, and one for each in order of start.
//
//	[ASYNC TASKS: 2 total]
//	[1] run the tests - [RUNNING] (k3vq7mzt...)
//	[2] update the docs - [DONE] (p9dw2xha...)
//
// What stands in brackets is the beginning of the id, eight characters or as
// many as no other task of the session begins with.
func (m *Manager) Summary(session string) string {
	m.mu.Lock()
	var lines []line
	if s := m.look(session); s != nil {
		lines = s.lines()
	}
	m.mu.Unlock()
	return summarize(lines)
}

// line is what the status summary says of one task.
type line struct {
	id, name string
	state    State
}

func (s *session) lines() []line {
	lines := make([]line, 0, len(s.tasks))
	for _, t := range s.tasks {
		lines = append(lines, line{t.id, t.name, t.state})
	}
	return lines
}

func summarize(lines []line) string {
	if len(lines) == 0 {
		return ""
	}
	shown := idLengths(lines)
	room, first := MaxSummary-len("[ASYNC TASKS: 10000 total]\n(10000 older ones not shown)"), len(lines)
	text := make([]string, len(lines))
	for first > 0 {
		i := first - 1
		text[i] = lines[i].text(i+1, shown[i])
		if room -= len(text[i]); room < 0 {
			break
		}
		first = i
	}
	header := fmt.Sprintf("[ASYNC TASKS: %d total]", len(lines))
	if first > 0 {
		header += fmt.Sprintf("\n(%d older ones not shown)", first)
	}
	return header + strings.Join(text[first:], "")
}

// text returns the line as it is shown, with the beginning of the id.
func (l *line) text(number, shown int) string {
	id := l.id
	if shown < len(id) {
		id = id[:shown] + "..."
	}
	return "\n[" + strconv.Itoa(number) + "] " + l.name + " - [" + l.state.label() + "] (" + id + ")"
}

// shortID is how much of an id is shown if that is enough.
const shortID = 8

// idLengths returns how much of each id tells it apart from the others.
func idLengths(lines []line) []int {
	lengths, sorted := make([]int, len(lines)), make([]int, len(lines))
	for i := range lines {
		lengths[i], sorted[i] = shortID, i
	}
	slices.SortFunc(sorted, func(a, b int) int { return strings.Compare(lines[a].id, lines[b].id) })
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		same := common(lines[a].id, lines[b].id) + 1
		lengths[a], lengths[b] = max(lengths[a], same), max(lengths[b], same)
	}
	return lengths
}

// common returns how many bytes a and b begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
