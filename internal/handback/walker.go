package handback

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A span is a range of bytes.
type span struct{ start, end int }

// maxFences is how many code fences, counted from the end, are known. Above the first
// of them nothing is read.
const maxFences = 16

// A walker reads the paragraphs of a text, the last one first. Code fences, quoted
// lines and rules do not belong to a paragraph.
type walker struct {
	text   string
	at     int // the end of what is unread
	fences [maxFences]span
	known  int // how many of fences are set: the last ones, in the order of the text
	unread int // how many of them are unread
	floor  int // the end of the last fence that was forgotten

	fenced bool // code follows the paragraph that was read last
}

func newWalker(text string) walker {
	w := walker{text: text, at: len(text)}
	first, open := w.findFences(0)
	if open && endsInProse(text) {
		// There is a mark too many: the text begins within code, or with a mark of nothing.
		w = walker{text: text, at: len(text), fences: [maxFences]span{{0, first}}, known: 1}
		if _, open = w.findFences(first); open {
			w.known--
		}
	}
	w.unread = w.known
	return w
}

// findFences finds the code fences from at on. It returns where the first mark ends, and
// whether nothing closes the last fence.
func (w *walker) findFences(at int) (first int, open bool) {
	f := fenceFinder{text: w.text, at: at, tick: -1, tilde: -1}
	for fence, ok := f.next(); ok; fence, ok = f.next() {
		if first == 0 {
			line, _, _ := strings.Cut(w.text[fence.start:], "\n")
			first = fence.start + len(line)
		}
		if w.known == maxFences {
			w.floor = w.fences[0].end
			copy(w.fences[:], w.fences[1:])
			w.known--
		}
		w.fences[w.known] = fence
		w.known++
	}
	return first, f.open
}

// endsInProse reports whether the last line of a text ends as a sentence does.
func endsInProse(text string) bool {
	text = strings.TrimRight(text, " \n\r\t*_")
	var buf [128]byte // is enough of the line
	from := max(strings.LastIndexByte(text, '\n')+1, len(text)-len(buf))
	line := trimEnd(buf[:copy(buf[:], text[from:])])
	r, n := utf8.DecodeLastRune(line)
	const words = 4
	return (n > 1 || bytes.Count(line, []byte(" ")) >= words) && (r == '.' || r == '!' || isStop(r) || isQuestionMark(r))
}

// tellsShell reports whether the last fence has commands for a shell: who is there may be
// meant to run them.
func (w *walker) tellsShell() bool {
	if w.known == 0 {
		return false
	}
	line, _, _ := strings.Cut(w.text[w.fences[w.known-1].start:w.fences[w.known-1].end], "\n")
	switch strings.ToLower(strings.Trim(line, "`~ \t\r")) {
	case "sh", "bash", "shell", "console", "zsh", "powershell", "ps1", "cmd", "bat", "terminal", "fish":
		return true
	}
	return false
}

// A fenceFinder finds the code fences of a text. It remembers what it has searched, so
// that it searches nothing twice.
type fenceFinder struct {
	text        string
	at          int
	tick, tilde int  // the next run of three backticks or tildes, if it is not before at
	open        bool // nothing closes the last fence
}

// next returns the next code fence. An open one reaches to the end of the text.
func (f *fenceFinder) next() (span, bool) {
	for {
		f.tick = f.search(f.tick, "```")
		f.tilde = f.search(f.tilde, "~~~")
		mark := min(f.tick, f.tilde)
		if mark == len(f.text) {
			return span{}, false
		}
		c := f.text[mark]
		length := run(f.text[mark:], c)
		f.at = mark + length
		start, ok := lineStart(f.text, mark)
		if !ok {
			continue
		}
		line, _, closed := strings.Cut(f.text[f.at:], "\n")
		if c == '`' && strings.IndexByte(line, '`') >= 0 {
			continue
		}
		f.at += len(line)
		f.open = true
		if closed {
			f.at, f.open = closing(f.text, f.at+1, c, length)
		}
		return span{start, f.at}, true
	}
}

// search returns where mark stands next, or the length of the text. known is what the
// last search returned.
func (f *fenceFinder) search(known int, mark string) int {
	if known >= f.at {
		return known
	}
	i := strings.Index(f.text[f.at:], mark)
	if i < 0 {
		return len(f.text)
	}
	return f.at + i
}

// closing returns the end of the line that closes a fence whose body begins at at, or the
// end of the text if it stays open.
func closing(text string, at int, mark byte, length int) (end int, open bool) {
	want := "```"
	if mark == '~' {
		want = "~~~"
	}
	for {
		i := strings.Index(text[at:], want)
		if i < 0 {
			return len(text), true
		}
		start := at + i
		n := run(text[start:], mark)
		at = start + n
		if _, ok := lineStart(text, start); !ok || n < length {
			continue
		}
		for at < len(text) && isBlank(text[at]) {
			at++
		}
		if at == len(text) || text[at] == '\n' {
			return at, false
		}
	}
}

// lineStart returns where the line of at begins. ok is false if more than blanks and
// the number or dash of a list stands between.
func lineStart(text string, at int) (start int, ok bool) {
	const deepest = 64 // a longer indentation is no fence
	for start = at; start > 0 && text[start-1] != '\n'; start-- {
		c := text[start-1]
		if at-start > deepest || !isBlank(c) && strings.IndexByte("-+*.)0123456789", c) < 0 {
			return 0, false
		}
	}
	return start, true
}

// run returns how often text begins with c.
func run(text string, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// line returns the last unread line and moves past it. A fence counts as one line.
func (w *walker) line() (line span, fence, ok bool) {
	if w.at <= w.floor {
		return span{}, false, false
	}
	line = span{strings.LastIndexByte(w.text[:w.at], '\n') + 1, w.at}
	if w.unread > 0 && line.start < w.fences[w.unread-1].end {
		w.unread--
		line, fence = w.fences[w.unread], true
	}
	w.at = line.start - 1
	return line, fence, true
}

// nextParagraph reads the last unread paragraph that has a letter. ok is false if there is
// none.
func (w *walker) nextParagraph(buf *[maxParagraph]byte) (paragraph, bool) {
	for code := false; ; {
		lines, ok := w.lines()
		if !ok {
			return paragraph{}, false
		}
		lines.start = w.shorten(lines)
		p := plain{buf: buf}
		for at := lines.start; at < lines.end; {
			at = w.addLine(&p, at, lines.end)
		}
		w.fenced = w.fenced || code
		if p.letters {
			return read(buf[:p.length]), true
		}
		code = w.fenced || p.length > 0 && buf[0] == omitted
	}
}

// lines returns the range of the last unread paragraph, shortened to what is read of it.
func (w *walker) lines() (span, bool) {
	found := span{start: -1}
	room := maxParagraph
	w.fenced = false
	for {
		line, fence, ok := w.line()
		if !ok {
			return found, found.start >= 0
		}
		if fence {
			w.fenced = w.fenced || found.start < 0
			continue
		}
		kind := kindOf(w.text[line.start:line.end])
		switch {
		case kind == blankLine && found.start < 0, kind == quotedLine:
			continue
		case kind == blankLine:
			return found, true
		}
		if found.start < 0 {
			found.end = line.end
		}
		found.start = line.start
		room -= line.end - line.start + 1
		if room <= 0 {
			found.start = runeStart(w.text, line.start-room)
			w.skipParagraph()
			return found, true
		}
	}
}

// shorten returns where the reading of a paragraph begins: near its end, unless it may
// ask before that.
func (w *walker) shorten(lines span) int {
	near := lines.end - maxPhrases
	if near <= lines.start || hasQuestionMark(w.text[lines.start:near]) {
		return lines.start
	}
	const search = 256 // bytes that may be left out to begin with a line or a sentence
	rest := w.text[near : near+search]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return near + i + 1
	}
	if i := strings.Index(rest, ". "); i >= 0 {
		return near + i + 1
	}
	return runeStart(w.text, near)
}

// hasQuestionMark reports whether text may have a question mark. Rare ones
// are not searched for.
func hasQuestionMark(text string) bool {
	for _, mark := range [...]string{"?", "？", "؟", "՞", ";\n"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// skipParagraph skips the rest of a paragraph that is too long to be read.
func (w *walker) skipParagraph() {
	for {
		line, fence, ok := w.line()
		if !ok || !fence && kindOf(w.text[line.start:line.end]) == blankLine {
			return
		}
	}
}

func runeStart(text string, at int) int {
	for at < len(text) && text[at]&0xC0 == 0x80 {
		at++
	}
	return at
}

// addLine adds the line at at to p, unless it is left out, and returns where the next
// one begins.
func (w *walker) addLine(p *plain, at, end int) int {
	for _, fence := range w.fences[w.unread:w.known] {
		if fence.start <= at && at < fence.end {
			return fence.end + 1
		}
	}
	stop := strings.IndexByte(w.text[at:end], '\n')
	if stop < 0 {
		stop = end
	} else {
		stop += at
	}
	line := w.text[at:stop]
	if kindOf(line) == textLine {
		p.line(line)
	}
	return stop + 1
}

// A lineKind says what a line is to the paragraph that it stands in.
type lineKind uint8

const (
	textLine   lineKind = iota
	blankLine           // also a rule: it separates paragraphs
	quotedLine          // also the ruling line of a table, or a lone tag: it is left out
)

// kindOf returns the kind of a line.
func kindOf(line string) lineKind {
	text := strings.Trim(line, " \t\r")
	if text == "" {
		return blankLine
	}
	switch text[0] {
	case '>':
		return quotedLine
	case '<':
		if isTag(text) {
			return quotedLine
		}
	case '-', '*', '_', '=', ':', '+', '|':
		return ruling(text)
	}
	return textLine
}

// ruling returns the kind of a line that may be a rule, or the ruling line of a table.
func ruling(text string) lineKind {
	kind := blankLine
	for i := range len(text) {
		switch text[i] {
		case ' ', '-', '*', '_', '=', ':', '+':
		case '|':
			kind = quotedLine
		default:
			return textLine
		}
	}
	if len(text) < len("---") {
		return textLine
	}
	return kind
}

// isTag reports whether text is a tag of its own, such as <tool_call>.
func isTag(text string) bool {
	const longest = 64
	return len(text) < longest && text[len(text)-1] == '>' && strings.IndexByte(text, ' ') < 0
}
