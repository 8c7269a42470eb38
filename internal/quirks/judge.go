package quirks

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Judge returns what is wrong with what a client read of the row, or nil. It is
// to read of the joined answer what the answers mean or, where it misreads one
// of them alone, what follows from that: it must not read worse. And the row
// must know whether it misreads anything.
func (q Quirk) Judge(client string, s Sheet) error {
	j := judge{client: client, row: q, want: q.join(s.First, s.Second), means: q.Means(), got: s.Joined, sheet: s}
	j.misreading()
	switch {
	case q.Effect == Relayed:
		if !reflect.DeepEqual(s.First, s.Joined) {
			j.fault("relayed answer", s.First, s.Joined)
		}
	case j.asWithout() || j.deaf():
	case s.Joined.Err != "":
		j.failure()
	default:
		j.whole()
	}
	if j.problems == nil {
		return nil
	}
	return fmt.Errorf("%s reads of %q:\n%s\n%w", client, q.Name, q.Golden(s), errors.Join(j.problems...))
}

// judge compares what was read with what may be.
type judge struct {
	client string

	row   Quirk
	want  Reading // what follows from what the client reads alone
	means Reading // what it would read if it read everything right
	got   Reading
	sheet Sheet

	problems []error
}

func (j *judge) fault(what string, want, got any) {
	j.problems = append(j.problems, fmt.Errorf("%s: want %v, got %v", what, want, got))
}

// misreading holds the row to what it says about the client.
func (j *judge) misreading() {
	misreads := !j.sheet.First.agrees(j.row.First.Means) ||
		j.row.Effect != Relayed && !j.sheet.Second.agrees(j.row.Second.Means)
	switch note := j.row.Misreads[j.client]; {
	case misreads && note == "":
		j.problems = append(j.problems, errors.New("it misreads an answer alone, and the row does not say so"))
	case !misreads && note != "":
		j.problems = append(j.problems, fmt.Errorf("it does not misread anything alone, yet the row says %q", note))
	}
}

// agrees reports whether two readings are the same but for the reasoning, which
// few clients know, and for how an error is worded.
func (r Reading) agrees(s Reading) bool {
	r.Reasoning, s.Reasoning = "", ""
	if r.Err != "" && s.Err != "" {
		return r.Text == s.Text || r.Text == "" // some give nothing beside an error
	}
	return reflect.DeepEqual(r, s)
}

// asWithout reports whether the client reads just what it would without
// carryon, of a first answer that it misreads.
func (j *judge) asWithout() bool {
	return !j.sheet.First.agrees(j.row.First.Means) && reflect.DeepEqual(j.sheet.First, j.got)
}

// failure judges a client that fails: it must fail on one of the answers alone,
// or have been shown half a call. It is to have read as much as it does alone;
// what would have come later, such as the usage, is lost to it.
func (j *judge) failure() {
	if j.sheet.First.Err == "" && j.sheet.Second.Err == "" && j.row.Effect != Broken {
		j.fault("error", "none that it does not get alone", j.got.Err)
	}
	if empty := (Reading{Err: j.got.Err}); !reflect.DeepEqual(j.got, empty) {
		j.contents()
	}
}

// deaf reports whether the client reads nothing at all of a first answer that
// says something, and now fails, or reads the end of the joined one.
func (j *judge) deaf() bool {
	if !reflect.DeepEqual(j.sheet.First, Reading{}) || j.row.First.Means.Text == "" {
		return false
	}
	return j.got.Err != "" || strings.HasSuffix(j.means.Text, j.got.Text)
}

func (j *judge) whole() {
	j.contents()
	if early := j.row.First.early(); j.got.Usage != j.means.Usage.plus(early) {
		j.field("usage", j.got.Usage, j.want.Usage, j.means.Usage)
	}
	if j.row.Effect == Broken {
		j.fault("error", "one, as it was shown half a call", "none")
	}
}

// early returns the sum of the usages that the turn tells before its finish.
// They are out when the sum of all is told, and a client that adds up what it
// is told counts them again.
func (t Turn) early() Usage {
	var u Usage
	for _, c := range chunksOf(t.Head) {
		u = u.plus(counted(string(c.members["usage"])))
	}
	return u
}

func (j *judge) contents() {
	j.text()
	j.field("reasoning", j.got.Reasoning, j.want.Reasoning, j.want.Reasoning)
	j.field("calls", j.got.Calls, j.want.Calls, j.means.Calls)
	j.field("finish", j.got.Finish, j.want.Finish, j.means.Finish)
}

func (j *judge) text() {
	want := j.want.Text
	if j.means.Text != j.row.First.Means.Text && j.got.Text == j.sheet.First.Text+"\n\n"+j.sheet.Second.Text {
		want = j.got.Text // the seam is there, whoever misreads what it joins
	}
	if odd, ok := j.row.Odd[j.client]; ok {
		want = odd
	}
	j.field("text", j.got.Text, want, j.means.Text)
}

// field takes what follows from the misreading, or what is meant.
func (j *judge) field(name string, got, want, means any) {
	if !reflect.DeepEqual(got, want) && !reflect.DeepEqual(got, means) {
		j.fault(name, means, got)
	}
}
