package decision

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"
)

// Packed is a state in few bytes, for a store that keeps a million of them. It is valid
// within one process: the form that processes share is the state's JSON.
type Packed []byte

// Append appends s, packed, to p. It takes some more bytes of p's memory meanwhile.
func (p Packed) Append(s *State) Packed {
	c := coder{data: p}
	s.code(&c)
	return c.data
}

// Unpack returns the state that was packed.
func (p Packed) Unpack() (s State) {
	s.code(&coder{data: p, reads: true})
	return s
}

// code writes the fields of s to c, or reads them from it. Each field has one line. Those
// that most sessions do not have stand in parts, which cost a byte if they are empty.
func (s *State) code(c *coder) {
	c.number(&s.Message)
	c.number(&s.Previous)
	c.time(&s.LastPrompt)
	c.count(&s.UserTurn)
	c.count(&s.Users)
	c.count(&s.TextLength)
	c.count(&s.Attempts)
	c.count(&s.Continuations)
	c.count(&s.Tokens)
	c.bools(&s.Answered, &s.Refused, &s.Touched, &s.Cancelled, &s.PermissionDenied, &s.Asked, &s.Unassessed, &s.Watermarks.Set)
	c.count(&s.Watermarks.Todos)
	c.count(&s.Watermarks.Completed)
	c.count(&s.Watermarks.Active)
	if c.begin() {
		c.number(&s.Claim.Token)
		c.time(&s.Claim.Since)
		c.time(&s.Claim.Until)
		c.result(&s.LastResult)
		c.end()
	}
	if c.begin() {
		c.text(&s.Paused.Reason)
		c.time(&s.Paused.Since)
		c.time(&s.Waiting.Since)
		c.count(&s.Waiting.Turns)
		c.count(&s.Repeats)
		c.number(&s.Stale)
		c.count(&s.Loop.Size)
		c.time(&s.Loop.Seen)
		c.end()
	}
	if c.begin() {
		c.bools(&s.Check.Worked)
		c.number(&s.Check.Message)
		c.count(&s.Check.Failed)
		c.number(&s.Check.Last)
		c.setting(&s.Overrides.TodoContinuation)
		c.setting(&s.Overrides.YOLO)
		for i := range s.Calls {
			c.number(&s.Calls[i])
		}
		c.end()
	}
}

// maxPart is how many bytes an empty part has at most.
const maxPart = 128

// coder writes values to data, or reads them from there. A zero value has only zero bytes.
type coder struct {
	data  []byte
	part  int // where the current part begins
	reads bool
}

// begin begins a part. It reports false if the part was empty.
func (c *coder) begin() bool {
	if c.reads {
		empty := c.data[0] == 0
		c.data = c.data[1:]
		return !empty
	}
	c.data = append(c.data, 1)
	c.part = len(c.data)
	return true
}

// end ends a part, of which an empty one leaves only its mark.
func (c *coder) end() {
	if c.reads {
		return
	}
	var zeros [maxPart]byte
	if part := c.data[c.part:]; len(part) <= maxPart && bytes.Equal(part, zeros[:len(part)]) {
		c.data = c.data[:c.part]
		c.data[c.part-1] = 0
	}
}

// number codes any number, in eight bytes.
func (c *coder) number(n *uint64) {
	if c.reads {
		*n = binary.LittleEndian.Uint64(c.data)
		c.data = c.data[8:]
		return
	}
	c.data = binary.LittleEndian.AppendUint64(c.data, *n)
}

// count codes a number that is not negative, and mostly small.
func (c *coder) count(n *int) {
	if c.reads {
		read, size := binary.Uvarint(c.data)
		*n, c.data = int(read), c.data[size:] //nolint:gosec // it was an int
		return
	}
	c.data = binary.AppendUvarint(c.data, uint64(max(*n, 0))) //nolint:gosec // not negative
}

// result codes a result, which may be negative.
func (c *coder) result(r *PromptResult) {
	if c.reads {
		read, size := binary.Varint(c.data)
		*r, c.data = PromptResult(read), c.data[size:]
		return
	}
	c.data = binary.AppendVarint(c.data, int64(*r))
}

// time codes a time by its nanoseconds since 1970, 0 for none.
func (c *coder) time(t *time.Time) {
	var nanos uint64
	if !c.reads {
		nanos = uint64(nanosOf(*t)) //nolint:gosec // and back again
	}
	c.number(&nanos)
	if c.reads && nanos != 0 {
		*t = time.Unix(0, int64(nanos)) //nolint:gosec // as above
	}
}

func nanosOf(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.After(time.Unix(0, math.MaxInt64)): // such as the end of a claim of 250 years
		return math.MaxInt64
	}
	return t.UnixNano()
}

// text codes a text.
func (c *coder) text(s *string) {
	length := len(*s)
	c.count(&length)
	if c.reads {
		*s, c.data = string(c.data[:length]), c.data[length:]
		return
	}
	c.data = append(c.data, *s...)
}

// setting codes a switch.
func (c *coder) setting(s *Switch) {
	if c.reads {
		*s, c.data = Switch(c.data[0]), c.data[1:]
		return
	}
	c.data = append(c.data, byte(*s))
}

// bools codes up to eight booleans, in one byte.
func (c *coder) bools(values ...*bool) {
	if c.reads {
		for i, value := range values {
			*value = c.data[0]>>i&1 != 0
		}
		c.data = c.data[1:]
		return
	}
	var bits byte
	for i, value := range values {
		if *value {
			bits |= 1 << i
		}
	}
	c.data = append(c.data, bits)
}
