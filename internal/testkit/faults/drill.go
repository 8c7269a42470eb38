package faults

import (
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// Drill is two answers, one of which fails.
type Drill struct {
	Name    string
	Fault   Fault
	Framing Framing // of the answer that fails
	Turn    int     // that fails: 1 or 2

	payloads [2][]string
	text     string // the answer that fails, complete
	events   []event
}

// Drills returns the drills of a framing: each script fails in each way as the
// second answer, and two of them as the first.
func Drills(f Framing) []Drill {
	pairs := [][2]script{{draft(), calls()}, {calls(), draft()}}
	all := make([]Drill, 0, len(allFaults())*(len(scripts())+len(pairs)))
	for _, fault := range allFaults() {
		for _, pair := range pairs {
			all = append(all, newDrill(f, fault, 1, pair))
		}
		for _, s := range scripts() {
			all = append(all, newDrill(f, fault, 2, [2]script{draft(), s}))
		}
	}
	return all
}

// Resets returns the drills that are worth a real connection, framing by
// framing: those in which the second answer is reset.
func Resets() [][]Drill {
	framings := []Framing{Streams()[0], Wholes()[0], Wholes()[1]}
	all := make([][]Drill, 0, len(framings))
	for _, f := range framings {
		all = append(all, slices.DeleteFunc(Drills(f), func(d Drill) bool { return d.Fault != Reset || d.Turn == 1 }))
	}
	return all
}

func newDrill(f Framing, fault Fault, turn int, scripts [2]script) Drill {
	d := Drill{Fault: fault, Framing: f, Turn: turn}
	d.Name = fmt.Sprintf("%s in turn %d, %s, %s", fault, turn, scripts[turn-1].name, f.Name)
	d.payloads = [2][]string{scripts[0].payloads(f, 1), scripts[1].payloads(f, 2)}
	d.text, d.events = f.body(d.failing())
	return d
}

// failing returns the payloads of the answer that fails.
func (d Drill) failing() []string { return d.payloads[d.Turn-1] }

// Offsets returns the offsets in bytes at which the answer fails. If every is
// 1, it returns all of them, and otherwise one in every of those near the ends
// of lines. Different drills get different samples.
func (d Drill) Offsets(every int) []int {
	last := len(d.text)
	if d.Fault == Report || d.Fault == Garbage {
		last-- // at the end nothing is left to replace
	}
	first := int(crc32.ChecksumIEEE([]byte(d.Name))) % every
	var offsets []int
	for i, at := range d.candidates(every == 1) {
		if at <= last && i%every == first {
			offsets = append(offsets, at)
		}
	}
	return offsets
}

func (d Drill) candidates(all bool) []int {
	var offsets []int
	if all {
		for at := range len(d.text) + 1 {
			offsets = append(offsets, at)
		}
		return offsets
	}
	for _, e := range d.events {
		offsets = append(offsets, e.start, e.start+1, (e.start+e.payloadEnd)/2, e.payloadEnd-1, e.payloadEnd, e.payloadEnd+1, e.end-1)
	}
	return append(offsets, len(d.text))
}

// Upstream returns a server of both answers, one of which fails at an offset. If
// that is the second, it fails as often as it is asked for. The size of reads varies
// with the offset.
func (d Drill) Upstream(at int) *Upstream {
	u := &Upstream{created: time.Now(), repeats: d.Turn == 2}
	for _, payloads := range d.payloads {
		u.turns = append(u.turns, complete(d.Framing.plain(), payloads))
	}
	u.turns[d.Turn-1] = d.broken(at)
	return u
}

// Alone returns a server with one answer: the one that fails, at an offset.
func (d Drill) Alone(at int) *Upstream { return &Upstream{turns: []turn{d.broken(at)}} }

// broken returns the answer that fails at an offset.
func (d Drill) broken(at int) turn {
	broken := turn{
		body: d.text[:at] + d.Fault.rest(), whole: d.Framing.Whole, length: -1, fault: d.Fault, readSize: []int{0, 1, 7, 100}[at%4],
	}
	if d.Framing.Length {
		broken.length = len(d.text)
		broken.body = broken.body[:min(len(broken.body), len(d.text))]
	}
	return broken
}

// Untouched returns a server with one answer: the one that fails, complete.
func (d Drill) Untouched() *Upstream { return alone(d.Framing, d.failing()) }

// Relayed returns the answer of Untouched as carryon's transport sends it: turn
// 2 has the framing that every client reads.
func (d Drill) Relayed() *Upstream {
	if d.Turn == 1 {
		return d.Untouched()
	}
	return alone(d.Framing.plain(), d.failing())
}

func alone(f Framing, payloads []string) *Upstream {
	return &Upstream{turns: []turn{complete(f, payloads)}}
}

func complete(f Framing, payloads []string) turn {
	text, _ := f.body(payloads)
	return turn{body: text, whole: f.Whole, length: -1, fault: Cut}
}

// First returns a server with one answer: the first, complete.
func (d Drill) First() *Upstream { return alone(d.Framing.plain(), d.payloads[0]) }

// Means returns what a client should read of the failing answer if it were
// complete.
func (d Drill) Means() quirks.Reading { return read(d.failing()) }
