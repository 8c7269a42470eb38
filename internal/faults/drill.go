package faults

import (
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/carryon-go/carryon/internal/quirks"
)

// Drill is two answers, of which one fails.
type Drill struct {
	Name    string
	Fault   Fault
	Framing Framing // of the answer that fails
	Turn    int     // 1 or 2: which one that is

	payloads [2][]string
	text     string // the answer that fails, as it would be if it did not
	events   []event
}

// Drills returns the drills of a framing: every script fails in every way as
// the second answer, and two as the first.
func Drills(f Framing) []Drill {
	pairs := [][2]script{{draft(), calls()}, {calls(), draft()}}
	all := make([]Drill, 0, len(ways())*(len(scripts())+len(pairs)))
	for _, fault := range ways() {
		for _, said := range pairs {
			all = append(all, newDrill(f, fault, 1, said))
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

func newDrill(f Framing, fault Fault, turn int, said [2]script) Drill {
	d := Drill{Fault: fault, Framing: f, Turn: turn}
	d.Name = fmt.Sprintf("%s in turn %d, %s, %s", fault, turn, said[turn-1].name, f.Name)
	d.payloads = [2][]string{said[0].payloads(f, 1), said[1].payloads(f, 2)}
	d.text, d.events = f.body(d.failing())
	return d
}

// failing returns the payloads of the answer that fails.
func (d Drill) failing() []string { return d.payloads[d.Turn-1] }

// Places returns where the answer may fail: how many bytes of it come before
// that. With every 1 these are all, and otherwise one in so many of those around
// the ends of lines, other ones for other drills.
func (d Drill) Places(every int) []int {
	last := len(d.text)
	if d.Fault == Report || d.Fault == Garbage {
		last-- // nothing is missing behind the end
	}
	first := int(crc32.ChecksumIEEE([]byte(d.Name))) % every
	var places []int
	for i, at := range d.candidates(every == 1) {
		if at <= last && i%every == first {
			places = append(places, at)
		}
	}
	return places
}

func (d Drill) candidates(all bool) []int {
	var places []int
	if all {
		for at := range len(d.text) + 1 {
			places = append(places, at)
		}
		return places
	}
	for _, e := range d.events {
		places = append(places, e.from, e.from+1, (e.from+e.said)/2, e.said-1, e.said, e.said+1, e.end-1)
	}
	return append(places, len(d.text))
}

// Upstream returns a server of both answers, of which one fails at a place. How
// many bytes at a time it comes in differs from place to place.
func (d Drill) Upstream(at int) *Upstream {
	u := &Upstream{made: time.Now()}
	for _, payloads := range d.payloads {
		u.turns = append(u.turns, untouched(d.Framing.plain(), payloads))
	}
	u.turns[d.Turn-1] = d.broken(at)
	return u
}

// Alone returns a server of the answer that fails, at a place, and of no other.
func (d Drill) Alone(at int) *Upstream { return &Upstream{turns: []turn{d.broken(at)}} }

// broken returns the answer that fails, at a place.
func (d Drill) broken(at int) turn {
	broken := turn{
		body: d.text[:at] + d.Fault.rest(), whole: d.Framing.Whole, length: -1, fault: d.Fault, bite: []int{0, 1, 7, 100}[at%4],
	}
	if d.Framing.Length {
		broken.length = len(d.text)
		broken.body = broken.body[:min(len(broken.body), len(d.text))]
	}
	return broken
}

// Untouched returns a server of the answer that fails, which does not fail
// there, and of no other.
func (d Drill) Untouched() *Upstream { return alone(d.Framing, d.failing()) }

// Relayed is Untouched as it comes over the transport, which gives turn 2 the
// framing of its own: one that every client reads.
func (d Drill) Relayed() *Upstream {
	if d.Turn == 1 {
		return d.Untouched()
	}
	return alone(d.Framing.plain(), d.failing())
}

func alone(f Framing, payloads []string) *Upstream {
	return &Upstream{turns: []turn{untouched(f, payloads)}}
}

func untouched(f Framing, payloads []string) turn {
	text, _ := f.body(payloads)
	return turn{body: text, whole: f.Whole, length: -1, fault: Cut}
}

// First returns a server of answer 1, which does not fail there, and of no other.
func (d Drill) First() *Upstream { return alone(d.Framing.plain(), d.payloads[0]) }

// Means returns what is to be read of the answer that fails when it does not.
func (d Drill) Means() quirks.Reading { return read(d.failing()) }
