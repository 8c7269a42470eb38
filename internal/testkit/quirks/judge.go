package quirks

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Judge returns an error that says what a client read wrongly, or nil. The
// client must read the joined answer as what the two answers mean. If it
// misreads one of them alone, it may misread the joined one in the same way,
// but no worse. The row must list the clients that misread it.
func (q Quirk) Judge(client string, s Readings) error {
	j := judge{client: client, row: q, want: q.join(s.First, s.Second), means: q.Means(), got: s.Joined, sheet: s}
	j.misreading()
	switch {
	case q.Effect == Relayed:
		if !reflect.DeepEqual(s.First, s.Joined) {
			j.fault("relayed answer", s.First, s.Joined)
		}
	case j.sameAsWithoutCarryon() || j.readsNothing():
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

// judge compares what a client read with what it may read.
type judge struct {
	client string

	row   Quirk
	want  Reading // what follows from what the client reads alone
	means Reading // what it would read if it read everything right
	got   Reading
	sheet Readings

	problems []error
}

func (j *judge) fault(what string, want, got any) {
	j.problems = append(j.problems, fmt.Errorf("%s: want %v, got %v", what, want, got))
}

// misreading checks what the row says about the client.
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

// agrees reports whether two readings are the same, except for the reasoning,
// which few clients know, and for the wording of an error.
func (r Reading) agrees(s Reading) bool {
	r.Reasoning, s.Reasoning = "", ""
	if r.Err != "" && s.Err != "" {
		return r.Text == s.Text || r.Text == "" // some give nothing beside an error
	}
	return reflect.DeepEqual(r, s)
}

// sameAsWithoutCarryon reports whether the client misreads the first answer,
// and reads the joined one in exactly that way.
func (j *judge) sameAsWithoutCarryon() bool {
	return !j.sheet.First.agrees(j.row.First.Means) && reflect.DeepEqual(j.sheet.First, j.got)
}

// failure judges a client that returned an error. An error is right only if the
// client also fails on one of the answers alone, or was shown half a call.
// Before the error, it must have read as much as it does alone.
func (j *judge) failure() {
	if j.sheet.First.Err == "" && j.sheet.Second.Err == "" && j.row.Effect != Broken {
		j.fault("error", "none that it does not get alone", j.got.Err)
	}
	if empty := (Reading{Err: j.got.Err}); !reflect.DeepEqual(j.got, empty) {
		j.contents()
	}
}

// readsNothing reports whether the client reads nothing of a first answer that
// has text, and reads only the end of the joined one, or fails.
func (j *judge) readsNothing() bool {
	if !reflect.DeepEqual(j.sheet.First, Reading{}) || j.row.First.Means.Text == "" {
		return false
	}
	return j.got.Err != "" || strings.HasSuffix(j.means.Text, j.got.Text)
}

func (j *judge) whole() {
	j.contents()
	if early := j.row.First.usageBeforeFinish(); j.got.Usage != j.means.Usage.plus(early) {
		j.field("usage", j.got.Usage, j.want.Usage, j.means.Usage)
	}
	if j.row.Effect == Broken {
		j.fault("error", "an error, as it was shown half a call", "none")
	}
}

// usageBeforeFinish returns the sum of the usages that the turn reports before
// its finish reason. They are relayed before the total is, so a client that adds
// up all usages counts them twice.
func (t Turn) usageBeforeFinish() Usage {
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
		want = j.got.Text // the separator is right, though the client misreads a text
	}
	if odd, ok := j.row.ReadsAs[j.client]; ok {
		want = odd
	}
	j.field("text", j.got.Text, want, j.means.Text)
}

// field accepts the correct value, or the one that follows from a misreading.
func (j *judge) field(name string, got, want, means any) {
	if !reflect.DeepEqual(got, want) && !reflect.DeepEqual(got, means) {
		j.fault(name, means, got)
	}
}
