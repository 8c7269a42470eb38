package faults

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// Try is what a client read when an answer failed at an offset.
type Try struct {
	At      int
	Got     quirks.Reading // of the client, through carryon
	Without quirks.Reading // without carryon, if turn 1 fails or ThroughClient is true
	Asked   int            // requests
	// ThroughClient is true if carryon sees only what the client returns, not
	// the bytes. An error that the client hides then counts as none, and an
	// answer for which the client returns an error has no finish reason.
	ThroughClient bool
	// Understood is true if the client reads the answer that fails correctly when
	// it is complete.
	Understood bool
}

// Judge returns an error that says what a client read wrongly, or nil.
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

// Patience is how long a silent continuation may take: the longest of carryon's
// timeouts, and a little more.
const Patience = 5*time.Minute + 10*time.Second

// JudgeAll is Judge with the number of requests of the try's upstream. It also
// checks that no body is left open, and that a turn 2 that failed did not take
// longer than Patience.
func (d Drill) JudgeAll(t Try, u *Upstream) error {
	t.Asked = u.Asked()
	if err := d.Judge(t); err != nil {
		return err
	}
	if open := u.Open(); open != 0 {
		return fmt.Errorf("%s, after %d bytes: %d bodies are left open", d.Name, t.At, open)
	}
	if took := time.Since(u.created); d.Turn == 2 && took > Patience {
		return fmt.Errorf("%s, after %d bytes: it took %v", d.Name, t.At, took)
	}
	return nil
}

// JudgeReset is Judge for a connection that was reset, which may lose any part
// of the last bytes. The function without returns Try.Without for an offset; it
// is nil if there is none.
func (d Drill) JudgeReset(t Try, without func(at int) quirks.Reading) error {
	sent := d.Judge(t)
	for err := sent; err != nil; err = d.Judge(t) {
		if t.At == 0 {
			return sent
		}
		t.At--
		if without != nil {
			t.Without = without(t.At)
		}
	}
	return nil
}

// judgeSecond judges a complete turn 1 and a turn 2 that failed.
func (d Drill) judgeSecond(t Try) error {
	first := read(d.payloads[0])
	if !d.triesRight(t, reflect.DeepEqual(first, t.Got)) {
		return fmt.Errorf("%d requests", t.Asked)
	}
	if !t.Understood {
		return checkFirstTurn(first, t.Got)
	}
	return d.follows(t, func(second quirks.Reading) quirks.Reading { return join(first, second) })
}

// tries is how often carryon sends a continuation of which nothing can be shown.
const tries = 3

// triesRight reports whether turn 2 was asked for as often as it should be: once if
// something of it was shown or a time-out ended it.
func (d Drill) triesRight(t Try, nothingShown bool) bool {
	switch {
	case !t.Understood:
		return t.Asked == 2 || t.Asked == 1+tries
	case nothingShown && d.Fault != Stall:
		return t.Asked == 1+tries
	}
	return t.Asked == 2
}

// judgeFirst judges a turn 1 that failed. It may be continued if it failed
// after its finish.
func (d Drill) judgeFirst(t Try) error {
	must, may := d.continues(t)
	switch {
	case t.Asked == 1 && must:
		return errors.New("it is not continued")
	case t.Asked == 1 && !reflect.DeepEqual(t.Without, t.Got):
		return fmt.Errorf("without carryon it is:\n%s", t.Without)
	case t.Asked == 1:
		return nil
	case t.Asked != 2 || !may:
		return fmt.Errorf("%d requests", t.Asked)
	case !t.Understood:
		return nil // the failure is gone, and the client would misread the rest
	}
	second := read(d.payloads[1])
	return d.follows(t, func(first quirks.Reading) quirks.Reading { return join(first, second) })
}

// continues reports whether carryon must continue a turn 1 that failed, and
// whether it may.
func (d Drill) continues(t Try) (must, may bool) {
	if d.Means().Finish != "stop" {
		return false, false
	}
	least, most := d.arrived(t.At)
	finish := max(1, len(d.events)-2) // the events up to the finish reason
	must = t.Understood && least >= finish && d.looksComplete(t.At) && !t.unreadable()
	may = most >= finish && (most == len(d.events) || !d.reportsFailure() || t.errorHidden())
	return must, may
}

// unreadable reports whether the client may have returned only an error.
func (t Try) unreadable() bool { return t.ThroughClient && t.Without.Err != "" }

// errorHidden reports whether the client returned no error for the answer that failed.
func (t Try) errorHidden() bool { return t.ThroughClient && t.Without.Err == "" }

// checkFirstTurn checks that a client that misreads turn 2 has read turn 1.
func checkFirstTurn(first, got quirks.Reading) error {
	if got.Err == "" && (!strings.HasPrefix(got.Text, first.Text) || got.Finish == "") {
		return fmt.Errorf("want at least:\n%s", first)
	}
	return nil
}

// looksComplete reports whether an answer that fails after its finish reason
// looks complete.
func (d Drill) looksComplete(at int) bool {
	switch d.Fault {
	case Stall:
		return !d.Framing.Whole // a client waits for the end of the body
	case Cut:
		for _, e := range d.events {
			if at == e.end {
				return true
			}
		}
	}
	return at == len(d.text)
}

// reportsFailure reports whether a client can tell that the answer failed, if it
// fails before its end.
func (d Drill) reportsFailure() bool { return d.Fault == Reset || d.Fault == Report }

// arrived returns the least and the greatest number of events that have arrived
// at an offset: a line without its end may count or not.
func (d Drill) arrived(at int) (least, most int) {
	for _, e := range d.events {
		if at >= e.certain || at == len(d.text) && d.Framing.Whole {
			least++
		}
		if at >= e.payloadEnd {
			most++
		}
	}
	return least, most
}

// follows checks that the client read what the events that had arrived say.
func (d Drill) follows(t Try, from func(quirks.Reading) quirks.Reading) error {
	var problems []error
	for least, most := d.arrived(t.At); least <= most; least++ {
		in := read(d.failing()[:least])
		err := agree(from(in), t.Got)
		if err != nil && t.unreadable() {
			in.Finish = ""
			err = agree(from(in), t.Got)
		}
		if err == nil {
			return nil
		}
		problems = append(problems, fmt.Errorf("with %d events: %w", least, err))
	}
	return errors.Join(problems...)
}

// agree checks what a client read. A client that returns an error may return
// nothing else. What it returns must be right, and must not look complete.
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
