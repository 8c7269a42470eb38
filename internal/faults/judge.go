package faults

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/quirks"
)

// Try is what came of a place.
type Try struct {
	At    int
	Got   quirks.Reading // of the client, through carryon
	Bare  quirks.Reading // of the client without carryon, if turn 1 fails or Veiled is true
	Asked int            // requests
	// Veiled is true if carryon is told of an answer what the client makes of it,
	// and no more: an error that the client keeps to itself did not happen then,
	// and of an answer that the client fails on, the finish was not in.
	Veiled bool
	// Understood is true if the client reads the answer that fails as it is
	// meant when it does not fail.
	Understood bool
}

// Judge returns what is wrong with what came of a place, or nil.
func (d Drill) Judge(t Try) error {
	t.Got.Reasoning = ""
	judge := d.judgeSecond
	if d.Turn == 1 {
		judge = d.judgeFirst
	}
	if err := judge(t); err != nil {
		return fmt.Errorf("%s, after %d of %d bytes (%q): %w\ngot:\n%s",
			d.Name, t.At, len(d.text), d.text[max(0, t.At-20):t.At], err, t.Got)
	}
	return nil
}

// Patience is how long a continuation may cost that is silent: the longest of
// carryon's timeouts, and a little more.
const Patience = 5*time.Minute + 10*time.Second

// JudgeAll judges like Judge what came of a place with the upstream that was
// made for it, of which it takes the requests. When all is over, no body may be
// open, and a turn 2 that failed must not have cost more than Patience.
func (d Drill) JudgeAll(t Try, u *Upstream) error {
	t.Asked = u.Asked()
	if err := d.Judge(t); err != nil {
		return err
	}
	if open := u.Open(); open != 0 {
		return fmt.Errorf("%s, after %d bytes: %d bodies are left open", d.Name, t.At, open)
	}
	if took := time.Since(u.made); d.Turn == 2 && took > Patience {
		return fmt.Errorf("%s, after %d bytes: it took %v", d.Name, t.At, took)
	}
	return nil
}

// JudgeReset judges like Judge what came over a connection that was reset. Of
// what was on its way then, any part may be lost. Bare returns the Bare of the
// try for a place; nil if there is none.
func (d Drill) JudgeReset(t Try, bare func(at int) quirks.Reading) error {
	sent := d.Judge(t)
	for err := sent; err != nil; err = d.Judge(t) {
		if t.At == 0 {
			return sent
		}
		if t.At--; bare != nil {
			t.Bare = bare(t.At)
		}
	}
	return nil
}

// judgeSecond judges what was read of a turn 1 that was whole, and a turn 2
// that failed.
func (d Drill) judgeSecond(t Try) error {
	if t.Asked != 2 {
		return fmt.Errorf("%d requests", t.Asked)
	}
	first := read(d.payloads[0])
	if !t.Understood {
		return shows(first, t.Got)
	}
	return d.follows(t, func(second quirks.Reading) quirks.Reading { return join(first, second) })
}

// judgeFirst judges what was read of a turn 1 that failed. It may be continued
// if it failed after its finish.
func (d Drill) judgeFirst(t Try) error {
	must, may := d.goesOn(t)
	switch {
	case t.Asked == 1 && must:
		return errors.New("it is not continued")
	case t.Asked == 1 && !reflect.DeepEqual(t.Bare, t.Got):
		return fmt.Errorf("without carryon it is:\n%s", t.Bare)
	case t.Asked == 1:
		return nil
	case t.Asked != 2 || !may:
		return fmt.Errorf("%d requests", t.Asked)
	case !t.Understood:
		return nil // of the failure nothing is left, and the client would misread what is
	}
	second := read(d.payloads[1])
	return d.follows(t, func(first quirks.Reading) quirks.Reading { return join(first, second) })
}

// goesOn reports whether a turn 1 that failed must be continued, and whether it
// may be.
func (d Drill) goesOn(t Try) (must, may bool) {
	if d.Means().Finish != "stop" {
		return false, false
	}
	least, most := d.in(t.At)
	finish := max(1, len(d.events)-2) // that many events are in when it is
	must = t.Understood && least >= finish && d.endsWell(t.At) && !t.lost()
	may = most >= finish && (most == len(d.events) || !d.breaksOff() || t.kept())
	return must, may
}

// lost reports whether the client may have failed on all of the answer.
func (t Try) lost() bool { return t.Veiled && t.Bare.Err != "" }

// kept reports whether the client kept to itself how the answer failed.
func (t Try) kept() bool { return t.Veiled && t.Bare.Err == "" }

// shows checks that a client that misreads turn 2 read turn 1.
func shows(first, got quirks.Reading) error {
	if got.Err == "" && (!strings.HasPrefix(got.Text, first.Text) || got.Finish == "") {
		return fmt.Errorf("want at least:\n%s", first)
	}
	return nil
}

// endsWell reports whether an answer that fails after its finish looks as if it
// had come to its end.
func (d Drill) endsWell(at int) bool {
	switch d.Fault {
	case Stall:
		return !d.Framing.Whole // all of it is in only when there is an end
	case Cut:
		for _, e := range d.events {
			if at == e.end {
				return true
			}
		}
	}
	return at == len(d.text)
}

// breaksOff reports whether the answer says that it failed, if it does so before
// its end.
func (d Drill) breaksOff() bool { return d.Fault == Reset || d.Fault == Report }

// in returns how many events are in at a place, at least and at most: a line of
// which the end is missing may count or not.
func (d Drill) in(at int) (least, most int) {
	for _, e := range d.events {
		if at >= e.sure || at == len(d.text) && d.Framing.Whole {
			least++
		}
		if at >= e.said {
			most++
		}
	}
	return least, most
}

// follows checks that what was read follows from the events that were in.
func (d Drill) follows(t Try, from func(quirks.Reading) quirks.Reading) error {
	var problems []error
	for least, most := d.in(t.At); least <= most; least++ {
		in := read(d.failing()[:least])
		err := agree(from(in), t.Got)
		if err != nil && t.lost() {
			in.Finish = ""
			err = agree(from(in), t.Got)
		}
		if err == nil {
			return nil
		}
		problems = append(problems, fmt.Errorf("with %d events in: %w", least, err))
	}
	return errors.Join(problems...)
}

// agree checks what a client read. One that fails may give nothing beside the
// error; what it gives is to be right, and must not look whole.
func agree(want, got quirks.Reading) error {
	switch {
	case want.Err == "" && !reflect.DeepEqual(want, got):
		return fmt.Errorf("want:\n%s", want)
	case want.Err == "":
		return nil
	case got.Err == "":
		return errors.New("half a call is no error")
	case got.Finish != "":
		return errors.New("half a call has a finish")
	case got.Text != "" && got.Text != want.Text:
		return fmt.Errorf("want the text %q", want.Text)
	}
	return nil
}
