package handback

import (
	"strings"
	"unicode/utf8"
)

// These bytes stand for what has been taken out of a plain text. None of them occurs in
// a text otherwise.
const (
	omitted = '\x01' // code, a quotation or an address
	item    = '\x02' // the mark of a list's item
	heading = '\x03' // the mark of a heading
)

// A plain text is that of a paragraph in small letters, with 0 for all digits, and without
// emphasis, code, quotations and addresses.
type plain struct {
	buf     *[maxParagraph]byte
	length  int
	letters bool  // there is a letter
	open    uint8 // the quotation marks that nothing closes on this line, a bit each
}

func (p *plain) put(c byte) {
	if p.length < len(p.buf) {
		p.buf[p.length] = c
		p.length++
	}
}

func (p *plain) puts(s string) {
	p.length += copy(p.buf[p.length:], s)
}

// line adds a line and a line break.
func (p *plain) line(line string) {
	p.open = 0
	mark, n := marker(line)
	if mark != 0 {
		p.put(mark)
	}
	for i := n; i < len(line); {
		if small := small[line[i]]; small != 0 {
			i += p.asciiRun(line[i:])
			continue
		}
		if line[i] >= utf8.RuneSelf {
			i += p.wide(line[i:])
		} else {
			i += p.ascii(line, i)
		}
	}
	p.put('\n')
}

// small holds the small letters of the ASCII bytes that need no more than that, and 0
// for the others.
var small = func() (small [256]byte) { //nolint:gochecknoglobals // constant
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		if strings.IndexByte("*_~\\`\":\x7f", c) < 0 {
			small[c] = c
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		small[c] = c + 'a' - 'A'
	}
	for c := byte('1'); c <= '9'; c++ {
		small[c] = '0' // no digit means anything but that there is a number
	}
	return small
}()

// asciiRun adds the bytes at the beginning of rest that need no more than small letters. It
// returns how many these are.
func (p *plain) asciiRun(rest string) int {
	to := p.buf[p.length:]
	n := 0
	or := byte(0)
	for n < len(rest) && n < len(to) {
		c := small[rest[n]]
		if c == 0 {
			break
		}
		to[n] = c
		or |= c
		n++
	}
	p.length += n
	const letterBit = 0x40 // set in every ASCII letter
	p.letters = p.letters || or&letterBit != 0 && hasLetter(to[:n])
	if n == len(to) {
		return len(rest) // the buffer is full
	}
	return n
}

func hasLetter(text []byte) bool {
	for _, c := range text {
		if 'a' <= c && c <= 'z' {
			return true
		}
	}
	return false
}

// ascii adds what begins at i with an ASCII byte that is no letter. It returns the
// number of bytes read.
func (p *plain) ascii(line string, i int) int {
	c := line[i]
	switch c {
	case '*', '_', '~', '\\', '\r':
		return 1
	case '`':
		return p.code(line[i:])
	case '"':
		if i > 0 && isAlnum(line[i-1]) {
			return 1 // a measure in inches, or a closing mark
		}
		return p.quotation(line[i:], 1, `"`, 1<<0)
	case ':':
		if strings.HasPrefix(line[i:], "://") && i > 0 && isAlnum(line[i-1]) {
			return p.address(line[i:])
		}
	case '\t':
		c = ' '
	}
	if c < omitted || c > heading {
		p.put(c)
	}
	return 1
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// code leaves out inline code, or only its opening mark if nothing closes it.
func (p *plain) code(rest string) int {
	n := run(rest, '`')
	end := strings.IndexByte(rest[n:], '`')
	if end < 0 {
		return n
	}
	end += n
	if n > 1 {
		if i := strings.Index(rest[n:], rest[:n]); i >= 0 {
			end = n + i
		}
	}
	p.put(omitted)
	return end + run(rest[end:], '`')
}

// quotation leaves out a quotation whose opening mark has size bytes, or only that mark
// if nothing closes it. bit is that of the closing mark in p.open.
func (p *plain) quotation(rest string, size int, closer string, bit uint8) int {
	if p.open&bit != 0 {
		return size
	}
	end := strings.Index(rest[size:], closer)
	if end < 0 {
		p.open |= bit
		return size
	}
	p.put(omitted)
	return size + end + len(closer)
}

// address leaves out an address whose scheme has been added already, and the
// punctuation of the sentence behind it.
func (p *plain) address(rest string) int {
	for p.length > 0 && isAlnum(p.buf[p.length-1]) {
		p.length--
	}
	p.put(omitted)
	end := strings.IndexAny(rest, " \t\r)>]")
	if end < 0 {
		end = len(rest)
	}
	for end > len("://") && strings.IndexByte(".,;:?!*_", rest[end-1]) >= 0 {
		end--
	}
	return end
}

// wide adds the rune that rest begins with, or leaves out the quotation that it opens.
// It returns the number of bytes read.
func (p *plain) wide(rest string) int {
	if len(rest) < 2 {
		p.put(rest[0])
		return 1
	}
	switch rest[0] {
	case 0xC2:
		return p.latinMark(rest)
	case 0xC3, 0xC4, 0xC5, 0xD0:
		return p.capital(rest)
	case 0xE1:
		return p.vietnamese(rest)
	case 0xE2, 0xE3:
		return p.mark(rest)
	case 0xEF, 0xF0: // full-width punctuation; emoji, and letters of dead scripts
	default:
		p.letters = true
	}
	return p.rune(rest)
}

// latinMark adds a mark of Latin-1, or leaves out the quotation that it opens.
func (p *plain) latinMark(rest string) int {
	switch rest[1] {
	case 0xA0: // a space that does not break
		p.put(' ')
		return 2
	case 0xAB:
		return p.quotation(rest, len("«"), "»", 1<<1)
	}
	return p.rune(rest)
}

// vietnamese adds a letter, one with the marks of Vietnamese as a small one.
func (p *plain) vietnamese(rest string) int {
	p.letters = true
	if len(rest) < 3 || rest[1] != 0xBA && rest[1] != 0xBB {
		return p.rune(rest)
	}
	p.puts(rest[:2])
	p.put(rest[2] | 1) // a capital is followed by its small letter
	return 3
}

// rune adds the rune that rest begins with.
func (p *plain) rune(rest string) int {
	n := 1
	for n < len(rest) && rest[n]&0xC0 == 0x80 {
		n++
	}
	p.puts(rest[:n])
	return n
}

// capital adds a letter of two bytes as a small one.
func (p *plain) capital(rest string) int {
	p.letters = true
	r := smallRune(rune(rest[0]&0x1F)<<6 | rune(rest[1]&0x3F))
	if r < utf8.RuneSelf {
		p.put(byte(r))
		return 2
	}
	p.put(0xC0 | byte(r>>6))   //nolint:gosec // it has two bytes
	p.put(0x80 | byte(r&0x3F)) //nolint:gosec // likewise
	return 2
}

// smallRune returns the small letter of one of Latin-1, Vietnamese, Turkish or Cyrillic.
func smallRune(r rune) rune {
	switch {
	case 'À' <= r && r <= 'Þ' && r != '×', 'А' <= r && r <= 'Я':
		return r + 0x20
	case 'Ѐ' <= r && r <= 'Џ':
		return r + 0x50
	case r == 'Đ', r == 'Ş':
		return r + 1
	case r == 'İ':
		return 'i'
	}
	return r
}

// mark adds a mark of general or East Asian punctuation, or leaves out the quotation
// that it opens.
func (p *plain) mark(rest string) int {
	if len(rest) < 3 {
		return p.rune(rest)
	}
	switch rest[:3] {
	case "’":
		p.put('\'')
	case "\u202f":
		p.put(' ')
	case "“":
		return p.quotation(rest, 3, "”", 1<<2)
	case "„":
		return p.quotation(rest, 3, germanCloser(rest), 1<<3)
	case "「":
		return p.quotation(rest, 3, "」", 1<<4)
	case "『":
		return p.quotation(rest, 3, "』", 1<<5)
	default:
		if rest[0] == 0xE3 && rest[:3] > "〿" || rest[0] == 0xE2 && rest[:3] >= "ⰰ" {
			p.letters = true
		}
		p.puts(rest[:3])
	}
	return 3
}

// germanCloser returns the mark that closes „: “, or ” in other languages, or " of a
// model that mixes them.
func germanCloser(rest string) string {
	const near = 400
	rest = rest[:min(len(rest), near)]
	for _, closer := range [...]string{"“", "”"} {
		if strings.Contains(rest, closer) {
			return closer
		}
	}
	return `"`
}

// marker returns the mark that a line begins with, and the length of the line up to
// what the mark is for. It is 0 if there is none.
func marker(line string) (mark byte, n int) {
	for n < len(line) && isBlank(line[n]) {
		n++
	}
	rest := line[n:]
	if level := run(rest, '#'); 0 < level && level < len(rest) && rest[level] == ' ' {
		return heading, n + level
	}
	if size := itemMark(strings.TrimLeft(rest, "*_(")); size > 0 {
		return item, n
	}
	for _, bullet := range [...]string{"- ", "* ", "+ ", "• ", "– ", "◦ ", "‣ ", "· "} {
		if strings.HasPrefix(rest, bullet) {
			return item, n + len(bullet)
		}
	}
	return 0, n
}

// itemMark returns the length of the number or letter that an item begins with: 1. or
// a) or B: or "Option A".
func itemMark(rest string) int {
	for _, word := range [...]string{"Option ", "Variant ", "Вариант ", "Opción ", "Opção ", "Variante ", "方案", "选项"} {
		if strings.HasPrefix(rest, word) {
			return len(word)
		}
	}
	digits := 0
	for digits < len(rest) && digits < 3 && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 && len(rest) > 0 && isAlnum(rest[0]) {
		digits = 1
	}
	rest = rest[digits:]
	if digits == 0 || rest == "" {
		return 0
	}
	rest = strings.TrimLeft(rest, "*_")
	for _, end := range [...]string{". ", ") ", ": ", ".* ", ".** ", ")* ", ")** ", ":* ", ":** ", " - ", " — ", " – ", "、", "）", "️⃣", "⃣"} {
		if strings.HasPrefix(rest, end) {
			return digits + len(end)
		}
	}
	return 0
}
