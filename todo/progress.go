package todo

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Statuses that carryon gives to a todo whose own members leave the status open. Neither
// is known, so the todo is not active.
const (
	notStated     Status = "not stated"    // members of the list may say it, in a way that carryon does not know
	contradictory Status = "contradictory" // one member says done, another says open
)

// progress is what the members of an item say of its status.
type progress struct {
	text      Status // of a member named status, if it is none that carryon knows
	done      bool
	open      bool
	started   bool
	cancelled bool
	waiting   bool // counts if nothing of the above does: a todo that was new or blocked may be done by now
	doubt     bool // counts if nothing of the above does: a todo that is not active may be done, or not begun
	one       bool // a share of exactly 1: all of it, or a hundredth
	percents  bool // a share above 1
	other     bool // a member that may say something, in a way that carryon does not know
}

// status returns the status that the members agree on, or "" if there is none.
func (p *progress) status() Status {
	done := p.done || p.one
	switch {
	case done && p.open:
		return contradictory
	case p.cancelled:
		return Cancelled
	case done:
		return Completed
	case p.started:
		return InProgress
	case p.open || p.waiting:
		return Pending
	case p.doubt && p.text == "":
		return notStated
	}
	return p.text
}

// isKnown reports whether the members say a status that carryon knows.
func (p *progress) isKnown() bool {
	return p.done || p.one || p.open || p.started || p.cancelled || p.waiting
}

// isMentioned reports whether a member is about the status, whatever it says.
func (p *progress) isMentioned() bool { return p.isKnown() || p.doubt || p.text != "" }

// progressOf reads all members of an item.
func progressOf(fields map[string]any) progress {
	var p progress
	for name, value := range fields {
		if isPlain(name) {
			continue
		}
		if m := memberOf(name); m.kind != noMember {
			p.readValue(m, value)
		} else {
			p.other = p.other || value != nil
		}
	}
	return p
}

// isPlain reports whether a member says nothing of the status of an item.
func isPlain(name string) bool { return plainMembers()[name] || plainMembers()[strings.ToLower(name)] }

var plainMembers = sync.OnceValue(func() map[string]bool { //nolint:gochecknoglobals // constant
	plain := map[string]bool{}
	for _, name := range slices.Concat(idNames, contentNames, []string{
		"priority", "owner", "blockedBy", "addBlockedBy", "addBlocks", "activeForm", "active_form", "details", "notes",
	}) {
		plain[name], plain[strings.ToLower(name)] = true, true
	}
	return plain
})

// readValue reads the value of a member whose name is about the status.
func (p *progress) readValue(m member, value any) {
	switch v := value.(type) {
	case nil:
		p.waiting = p.waiting || m.dated && m.status == Completed
	case bool:
		p.readFlag(m, v)
	case json.Number:
		p.readNumber(m, v)
	case string:
		p.readText(m, v)
	default:
		p.other = true
	}
}

func (p *progress) readNumber(m member, number json.Number) {
	n, err := number.Float64()
	switch {
	case err != nil, m.kind == stageMember:
		p.other = true
	case m.dated:
		p.readDate(m, n > 0)
	case m.kind == shareMember || m.status == Completed:
		p.readShare(m, n)
	default:
		p.readFlag(m, n != 0)
	}
}

// readFlag reads a boolean such as isDone or "is_open".
func (p *progress) readFlag(m member, set bool) {
	switch {
	case m.kind == stageMember:
		p.other = true
	case m.kind != flagMember, m.status == Completed:
		p.done, p.open = p.done || set, p.open || !set
	case m.opposite:
		p.done, p.open = p.done || !set, p.open || set
	case !set:
		p.doubt = true
	case m.status == Pending:
		p.waiting = true
	case m.status == InProgress:
		p.started = true
	default:
		p.cancelled = true
	}
}

// readDate reads when something happened, or that it has not.
func (p *progress) readDate(m member, happened bool) {
	if happened || m.status != Completed {
		p.readFlag(m, happened)
		return
	}
	p.waiting = true
}

// readShare reads how much of a todo is done: as a percentage, or as a part of 1.
func (p *progress) readShare(m member, share float64) {
	switch {
	case share < 0:
		p.other = true
	case share == 0:
		p.open = true
	case share >= 100, share == 1 && m.kind == flagMember:
		p.done = true
	case share == 1 && !m.percent:
		p.one = true
	default:
		p.open, p.started = true, true
	}
	p.percents = p.percents || share > 1
}

// asPercentage reads a share of 1 again, as a hundredth.
func (p *progress) asPercentage() {
	if p.one {
		p.one, p.open, p.started = false, true, true
	}
}

// readText reads a text: when something happened, how much is done, yes or no, or a status.
func (p *progress) readText(m member, text string) {
	plain := strings.ToLower(strings.TrimSpace(text))
	switch {
	case m.dated:
		p.readDate(m, !slices.Contains([]string{"", "-", "null", "none", "never", "n/a", "false", "0"}, plain))
	case (m.kind == flagMember || m.kind == shareMember) && p.readAnswer(m, plain):
	case plain != "": // an empty status counts as none
		p.readStatus(m, text)
	}
}

// readAnswer reads a text that stands for a number, a boolean or a date, if it is one.
func (p *progress) readAnswer(m member, plain string) bool {
	if share, ok := shareIn(plain); ok {
		p.readShare(m, share)
		return true
	}
	set, ok := flagIn(plain)
	if !ok {
		_, err := time.Parse(time.DateOnly, plain[:min(len(plain), len(time.DateOnly))])
		set, ok = true, err == nil
	}
	if ok {
		p.readFlag(m, set)
	}
	return ok
}

func (p *progress) readStatus(m member, text string) {
	status, known := ParseStatus(text)
	if !known {
		p.other = p.other || m.kind != statusMember
		if m.kind == statusMember && (p.text == "" || status < p.text) {
			p.text = status // the order of the members does not count
		}
		return
	}
	p.done = p.done || status == Completed
	p.open = p.open || status.Active()
	p.started = p.started || status == InProgress
	p.cancelled = p.cancelled || status == Cancelled
}

// shareIn reads "40%" and "2/5".
func shareIn(text string) (share float64, ok bool) {
	if number, found := strings.CutSuffix(text, "%"); found {
		share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err == nil && share == 1 {
			share = 1.5 // one percent, and not all of it
		}
		return share, err == nil
	}
	part, whole, found := strings.Cut(text, "/")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 32)
	all, failed := strconv.ParseUint(strings.TrimSpace(whole), 10, 32)
	if err != nil || failed != nil || all == 0 {
		return 0, false
	}
	return 100 * float64(n) / float64(all), true
}

// flagIn reads a text that stands for a boolean.
func flagIn(text string) (set, ok bool) {
	switch strings.TrimSpace(strings.Trim(text, "[]")) {
	case "true", "yes", "y", "1", "x", "on", "✓", "✔", "✔️", "✅", "☑", "☑️":
		return true, true
	case "false", "no", "n", "0", "", "off", "☐", "⬜", "✗", "✘", "❌":
		return false, true
	}
	return false, false
}

// memberKind is what the name of a member says.
type memberKind uint8

const (
	noMember     memberKind = iota // nothing of a status
	statusMember                   // the value is a status: "status", "taskState"
	flagMember                     // the value says whether the named status holds: "isDone", "completed_at"
	shareMember                    // the value says how much is done: "progress", "percentComplete"
	stageMember                    // the value is a status or something else: "phase"
)

// member is what the name of a member of an item says.
type member struct {
	kind     memberKind
	status   Status // of a flag
	opposite bool   // if it is false, the todo is done
	dated    bool   // the value is a time
	percent  bool   // the value is a percentage
}

// memberOf reads the name of a member by its words, in any spelling: the words that say
// a status are those that [ParseStatus] knows.
func memberOf(name string) member {
	const longest = 40 // bytes of such a name
	if len(name) > longest {
		return member{}
	}
	if name == "status" {
		return member{kind: statusMember} // nearly always
	}
	var m member
	var rest []string
	isStatus := false
	for _, word := range wordsOf(name) {
		switch word {
		case "is", "has", "was", "been", "be", "are", "as", "already", "fully", "all", "yet", "marked", "flag", "value",
			"todo", "task", "item", "step", "todos", "current":
		case "at", "on", "date", "time", "timestamp", "when":
			m.dated = true
		case "percent", "percentage", "pct", "ratio", "rate", "fraction":
			m.kind = shareMember
			m.percent = m.percent || word[0] == 'p'
		case "status", "state":
			isStatus = true
		default:
			rest = append(rest, word)
		}
	}
	word := strings.Join(rest, "")
	if _, known := flagNamed(word); !known {
		word = m.withoutAffixes(word)
	}
	return m.named(word, isStatus)
}

// withoutAffixes returns the word of a name that is written as one, such as isdone and
// completedat.
func (m *member) withoutAffixes(word string) string {
	for _, prefix := range [...]string{"", "is", "has"} {
		for _, suffix := range [...]string{"", "at", "on", "date"} {
			inner, begins := strings.CutPrefix(word, prefix)
			inner, ends := strings.CutSuffix(inner, suffix)
			if _, known := flagNamed(inner); begins && ends && known {
				m.dated = m.dated || suffix != ""
				return inner
			}
		}
	}
	return word
}

// named adds what the words say that are left of a name.
func (m member) named(word string, isStatus bool) member {
	status, known := flagNamed(word)
	isShare, isProgress := m.kind == shareMember, word == "progress" || word == "completion"
	m.kind = noMember
	switch {
	case !isStatus && !isShare:
		m.alone(word, status)
	case isStatus == isShare || m.dated:
	case isStatus && (word == "" || known || isProgress):
		m.kind = statusMember
	case isShare && (word == "" && m.percent || isProgress || status == Completed):
		m.kind = shareMember
	}
	return m
}

// alone adds what a word says that stands without "status" or "percent".
func (m *member) alone(word string, status Status) {
	switch {
	case word == "completion" && m.dated:
		m.kind, m.status = flagMember, Completed
	case (word == "progress" || word == "completion") && !m.dated:
		m.kind = shareMember
	case word == "stage" || word == "phase":
		m.kind = stageMember
	case status != "":
		m.kind, m.status, m.opposite = flagMember, status, saysOpposite(word)
	}
}

// flagNamed returns the status that a flag of this name is about.
func flagNamed(word string) (status Status, known bool) {
	switch word {
	case "", "todo", "progress":
		return "", false
	case "check", "checkbox", "tick", "ticked", "finish", "accomplished", "achieved", "passes", "passed", "solved":
		return Completed, true
	case "unfinished", "unresolved", "uncompleted", "notcompleted", "notcomplete", "notfinished", "outstanding", "unsolved":
		return Pending, true
	}
	return knownStatus(word)
}

// saysOpposite reports whether a flag that is false says that the todo is done: what is
// not open is, but what is not blocked may be anything.
func saysOpposite(word string) bool {
	switch word {
	case "open", "incomplete", "undone", "notdone", "unchecked", "unfinished", "unresolved", "uncompleted",
		"notcompleted", "notcomplete", "notfinished", "outstanding", "unsolved":
		return true
	}
	return false
}

// wordsOf splits a name such as isDone, is_done, "is-done" or ISDone into lower-case words.
func wordsOf(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	end := func(at int) {
		if at > start {
			words = append(words, strings.ToLower(string(runes[start:at])))
		}
		start = at
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			start = i + 1
		case i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
	}
	end(len(runes))
	return words
}
