package sse

import "github.com/carryon-go/carryon/internal/rawjson"

// assembler joins lines to one event; the next event gets a new assembler. All
// offsets are into the reader's buffer.
type assembler struct {
	end       int        // offset after the last line added
	searched  int        // bytes after end that were searched and have no line end
	multiline *multiline // data that continues in another line
	fields    bool       // the event has a field
}

// found is the kind of an event, and the offsets of its data if that is one
// line.
type found struct {
	kind     Kind
	from, to int
}

// multiline is data in several lines.
type multiline struct {
	joined  []byte
	balance rawjson.Balance
}

func (m *multiline) add(value []byte) {
	m.joined = append(m.joined, value...)
	m.balance.Add(value)
}

// add adds the next line. It reports whether the event is whole; the event then
// ends at a.end.
func (a *assembler) add(b []byte, l Line) (found, bool) {
	field, from, to := l.Field(b)
	if field == Data {
		return a.addData(b, l, from, to)
	}
	inside := a.fields || a.multiline != nil
	a.end = l.End
	switch field {
	case Blank:
		return a.unfinished(), true
	case Name, Other:
		a.fields = true
		return found{}, false
	case Unknown:
		if kind := Text; !inside {
			if b[l.From] == '{' { // an error, in place of an event
				kind = Broken
			}
			return found{kind, l.From, l.To}, true
		}
	}
	return found{}, !inside
}

// addData adds a data line with the value b[from:to].
func (a *assembler) addData(b []byte, l Line, from, to int) (found, bool) {
	value := b[from:to]
	if a.multiline != nil {
		return a.addMore(l, value)
	}
	a.end = l.End
	end := rawjson.ObjectEnd(value)
	switch {
	case end == len(value):
		return found{Object, from, to}, true
	case end >= 0:
		return found{Broken, from, to}, true
	case len(value) > 0 && value[0] == '{':
		a.multiline = new(multiline)
		a.multiline.add(value)
		return found{}, false
	}
	return found{Text, from, to}, true
}

// addMore adds another data line to data of several lines.
func (a *assembler) addMore(l Line, value []byte) (found, bool) {
	m := a.multiline
	m.joined = append(m.joined, '\n')
	m.add(value)
	isClosed := m.balance.Closed()
	if !isClosed && rawjson.ObjectEnd(value) == len(value) {
		// This line is a whole event, and is read again. The lines before it are Broken.
		return found{kind: Broken}, true
	}
	a.end = l.End
	if isClosed && rawjson.ObjectEnd(m.joined) == len(m.joined) {
		return found{kind: Object}, true
	}
	return found{kind: Broken}, isClosed
}

// unfinished returns the kind of the event if it ends now.
func (a *assembler) unfinished() found {
	if a.multiline != nil {
		return found{kind: Broken}
	}
	return found{}
}
