package asynctask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/delivery"
)

// maxReminder is the most bytes of a reminder; see [Manager.Remind].
const maxReminder = 64 << 10

const (
	// automatic tells the model that the user did not write the note.
	automatic    = "This note is automatic. Nothing in it comes from the user.\n\n"
	reminderHead = "---\nSystem Note: Async Task Status\n\n" + automatic
	reminderTail = "\n---"
	separator    = "\n\n"
	// frameSize is the most that a reminder has beside the completions.
	frameSize = 256
	// smallest is the room that every completion gets: enough for its id and each of
	// its texts, cut to the shortest.
	smallest = 512
)

// draft is the content of a delivery, before it is written as text.
type draft struct {
	tasks   []*record // ended, in order of end
	left    int       // ended tasks that wait for the next reminder
	running int
	summary []record // nil for no status summary
}

// draft returns the content of a reminder: as many of the free tasks as fit, and the
// number of running ones.
func (a *account) draft(now time.Time) draft {
	free, n := a.free(now), 0
	for remaining := maxReminder - frameSize; n < len(free); n++ {
		t := free[n]
		remaining -= min(t.Result.Size+len(t.ID), smallest) + len(separator)
		if remaining < 0 {
			break
		}
	}
	return draft{tasks: free[:n], left: len(free) - n, running: a.Running}
}

// lease returns the lease of a delivery with this content.
func (d *draft) lease(token uint64, now time.Time) lease {
	l := lease{Token: token, Until: now.Add(delivery.Life), Tasks: make([]uint64, len(d.tasks))}
	for i, t := range d.tasks {
		l.Tasks[i] = t.Order
	}
	return l
}

// text returns the reminder and the status summary, or one of them.
func (d *draft) text() string {
	text, summary := d.reminder(), summarize(d.summary)
	switch {
	case summary == "":
		return string(text)
	case len(text) == 0:
		return automatic + summary // names of tasks may also speak like the user
	}
	return string(append(append(text, separator...), summary...))
}

func (d *draft) reminder() []byte {
	if len(d.tasks) == 0 && d.running == 0 {
		return nil
	}
	remaining, size := maxReminder-frameSize, frameSize
	sizes := make([]int, 0, len(d.tasks))
	for _, t := range d.tasks {
		sizes = append(sizes, min(t.Result.Size+len(t.ID), maxCompletion)+len(separator))
		size += sizes[len(sizes)-1]
	}
	share := min(fairShare(sizes, remaining)-len(separator), maxCompletion)

	text := append(make([]byte, 0, min(size, maxReminder)), reminderHead...)
	if len(d.tasks) > 0 {
		text = fmt.Appendf(text, "%d async task(s) completed:", len(d.tasks))
	}
	for _, t := range d.tasks {
		text = t.Result.fit(share-len(t.ID)).appendJSON(append(text, separator...), t.ID)
	}
	if d.left > 0 {
		text = fmt.Appendf(text, separator+"%d more will be in the next reminder.", d.left)
	}
	if d.running > 0 {
		if len(d.tasks) > 0 {
			text = append(text, separator...)
		}
		text = fmt.Appendf(text, "%d async task(s) still running.", d.running)
	}
	return append(text, reminderTail...)
}

// fairShare returns the most that each of several texts may have so that they fit
// into remaining together, and none is cut while a longer one is not. It sorts sizes.
func fairShare(sizes []int, remaining int) int {
	slices.Sort(sizes)
	share := remaining
	for i, size := range sizes {
		share = remaining / (len(sizes) - i)
		if size > share {
			return share
		}
		remaining -= size
	}
	return share
}

// maxSummary is the most bytes of a status summary; see [Manager.Summary].
const maxSummary = 16 << 10

// summarize returns the status summary; "" if there are no tasks.
func summarize(tasks []record) string {
	if len(tasks) == 0 {
		return ""
	}
	shown := idLengths(tasks)
	lines, first := make([]string, len(tasks)), len(tasks)
	for remaining := maxSummary - len("[ASYNC TASKS: 10000 total]\n(10000 older ones not shown)"); first > 0; first-- {
		t := &tasks[first-1]
		id := t.ID
		if shown[first-1] < len(id) {
			id = id[:shown[first-1]] + "..."
		}
		line := t.line("\n["+strconv.Itoa(first)+"] ", id)
		remaining -= len(line)
		if remaining < 0 {
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
