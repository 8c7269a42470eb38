package carryontest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

// viewDialect is a dialect for views themselves: the SDK's type of these tests.
type viewDialect struct {
	whole           bool
	id              string
	turn, last, sum *middleware.Usage
}

func (d *viewDialect) Read(v *carryontest.View, s *middleware.Sink) {
	if d.id == "" {
		d.id = v.ID
	}
	s.Text(v.Text)
	for _, call := range v.Calls {
		s.Call(call.Index, call.ID, call.Name, call.Arguments)
	}
	s.Finish(v.Finish)
	if v.Role == refusing {
		s.Refusal()
	}
	if v.Usage != nil {
		d.turn = v.Usage
		s.Usage(*v.Usage)
	}
}

// refusing is the role that shows a refusal.
const refusing = "refusing"

func (d *viewDialect) Write(v *carryontest.View, e *middleware.Edit) bool {
	var kept []carryontest.ViewCall
	for i, call := range v.Calls {
		edit := e.Call(i)
		if edit.Rewrite && call.Index != middleware.NoIndex {
			call.Index, call.Type = edit.Index, ""
			if edit.First {
				call.Type = "function"
			}
		}
		if !edit.Drop {
			kept = append(kept, call)
		}
	}
	v.ID, v.Text, v.Finish, v.Calls = d.id, e.Text, e.Finish, kept
	if e.Later && !d.whole || e.Rest {
		v.Role = ""
	}
	if e.Rest {
		v.Calls = nil
	}
	v.Bare = e.Bare
	v.Usage = d.show(e.Usage, v.Usage)
	return v.Text != "" || v.Finish != "" || v.Usage != nil || len(v.Calls) > 0
}

func (d *viewDialect) show(which middleware.UsageEdit, own *middleware.Usage) *middleware.Usage {
	return map[middleware.UsageEdit]*middleware.Usage{
		middleware.ShowOwn: own, middleware.ShowSum: d.sum, middleware.ShowLast: d.last,
	}[which]
}

func (d *viewDialect) Clone(v *carryontest.View) carryontest.View { return *v }

func (d *viewDialect) EndTurn(keep bool) {
	if keep && d.turn != nil {
		sum := *d.turn
		if d.sum != nil {
			sum.Prompt += d.sum.Prompt
			sum.Completion += d.sum.Completion
			sum.Total += d.sum.Total
		}
		d.last, d.sum = d.turn, &sum
	}
	d.turn = nil
}

func viewKit(kind carryontest.DialectKind) carryontest.DialectKit[carryontest.View] {
	same := func(v carryontest.View) carryontest.View { return v }
	return carryontest.DialectKit[carryontest.View]{
		New: func() middleware.Dialect[carryontest.View] {
			return &viewDialect{whole: kind == carryontest.AnswerDialect}
		},
		Make: same, View: same, Kind: kind,
		Stops: map[string]carryontest.View{
			"a refusal": {ID: "first", Role: refusing, Text: "No.", Finish: finishOf(kind)},
		},
	}
}

func finishOf(kind carryontest.DialectKind) string {
	if kind == carryontest.AnswerDialect {
		return "stop"
	}
	return ""
}

func TestTestDialectPassesARightDialect(t *testing.T) {
	t.Parallel()
	kinds := map[string]carryontest.DialectKind{
		"chunks": carryontest.ChunkDialect, "answers": carryontest.AnswerDialect, "callback": carryontest.CallbackDialect,
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			carryontest.TestDialect(t, viewKit(kind))
		})
	}
}

func TestTestDialectAsksOnlyForWhatTheTypeHas(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*carryontest.DialectKit[carryontest.View]){
		"no id": func(k *carryontest.DialectKit[carryontest.View]) {
			k.Lacks, k.View = carryontest.FieldID, func(v carryontest.View) carryontest.View { v.ID = ""; return v }
		},
		"no role": func(k *carryontest.DialectKit[carryontest.View]) {
			k.Lacks, k.View = carryontest.FieldRole, func(v carryontest.View) carryontest.View { v.Role = ""; return v }
		},
		"no usage":  func(k *carryontest.DialectKit[carryontest.View]) { k.Lacks = carryontest.FieldUsage },
		"no calls":  func(k *carryontest.DialectKit[carryontest.View]) { k.Lacks = carryontest.FieldCalls },
		"no index":  func(k *carryontest.DialectKit[carryontest.View]) { k.Lacks = carryontest.FieldIndex },
		"one thing": func(k *carryontest.DialectKit[carryontest.View]) { k.OneThing = true },
		"no finish": func(k *carryontest.DialectKit[carryontest.View]) {
			k.Lacks, k.View = carryontest.FieldFinish, func(v carryontest.View) carryontest.View { v.Finish = ""; return v }
			k.Stops = nil
		},
		"no chunks without choices": func(k *carryontest.DialectKit[carryontest.View]) {
			k.View = func(v carryontest.View) carryontest.View { v.Bare = false; return v }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := viewKit(carryontest.ChunkDialect)
			change(&kit)
			carryontest.TestDialect(t, kit)
		})
	}
}

// brokenDialect is a right dialect with one method that goes wrong.
type brokenDialect struct {
	*viewDialect

	read  func(d *viewDialect, v *carryontest.View, s *middleware.Sink)
	write func(d *viewDialect, v *carryontest.View, e *middleware.Edit) bool
	clone func(v *carryontest.View) carryontest.View
	end   func(d *viewDialect, keep bool)
}

func (d *brokenDialect) Read(v *carryontest.View, s *middleware.Sink) {
	if d.read == nil {
		d.viewDialect.Read(v, s)
		return
	}
	d.read(d.viewDialect, v, s)
}

func (d *brokenDialect) Write(v *carryontest.View, e *middleware.Edit) bool {
	if d.write == nil {
		return d.viewDialect.Write(v, e)
	}
	return d.write(d.viewDialect, v, e)
}

func (d *brokenDialect) Clone(v *carryontest.View) carryontest.View {
	if d.clone == nil {
		return *v
	}
	return d.clone(v)
}

func (d *brokenDialect) EndTurn(keep bool) {
	if d.end == nil {
		d.viewDialect.EndTurn(keep)
		return
	}
	d.end(d.viewDialect, keep)
}

// readWithout is a Read that does not see a part of what it is given.
func readWithout(hide func(*carryontest.View)) brokenDialect {
	return brokenDialect{read: func(d *viewDialect, v *carryontest.View, s *middleware.Sink) {
		part := *v
		part.Calls = slices.Clone(v.Calls)
		hide(&part)
		d.Read(&part, s)
	}}
}

// writeAs is a Write that takes the edit for another one.
func writeAs(change func(*middleware.Edit)) brokenDialect {
	return brokenDialect{write: func(d *viewDialect, v *carryontest.View, e *middleware.Edit) bool {
		other := *e
		change(&other)
		return d.Write(v, &other)
	}}
}

// writeThen is a Write that spoils what it has written.
func writeThen(spoil func(before carryontest.View, v *carryontest.View)) brokenDialect {
	return brokenDialect{write: func(d *viewDialect, v *carryontest.View, e *middleware.Edit) bool {
		before := *v
		shown := d.Write(v, e)
		spoil(before, v)
		return shown
	}}
}

func TestTestDialectFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dialect brokenDialect
		rule    string // among those that are broken
	}{
		"Read misses text": {
			readWithout(func(v *carryontest.View) { v.Text = "" }), "Read reports text, finish and usage",
		},
		"Read misses the finish": {
			readWithout(func(v *carryontest.View) { v.Finish = "" }), "Read reports text, finish and usage",
		},
		"Read misses usage": {
			readWithout(func(v *carryontest.View) { v.Usage = nil }), "Read reports text, finish and usage",
		},
		"Read misses calls": {
			readWithout(func(v *carryontest.View) { v.Calls = nil }), "Read reports text, finish and usage",
		},
		"Read misses the id of calls": {
			readWithout(func(v *carryontest.View) {
				for i := range v.Calls {
					v.Calls[i].ID = ""
				}
			}), "a rejected pause is answered and never seen",
		},
		"Read misses the arguments of calls": {
			readWithout(func(v *carryontest.View) {
				for i := range v.Calls {
					v.Calls[i].Arguments = ""
				}
			}), "a pause is left out and the notice shown",
		},
		"Read misses refusals": {
			readWithout(func(v *carryontest.View) { v.Role = "" }), "not continued: a refusal",
		},
		"Read takes the first id even if empty": {
			brokenDialect{read: func(d *viewDialect, v *carryontest.View, s *middleware.Sink) {
				d.Read(v, s)
				if v.ID == "" {
					d.id = "none"
				}
			}}, "Write puts later turns under the first envelope",
		},
		"Read takes every id": {
			brokenDialect{read: func(d *viewDialect, v *carryontest.View, s *middleware.Sink) {
				d.id = ""
				d.Read(v, s)
			}}, "texts of turns are joined",
		},
		"Read adds up the usage of a turn": {
			brokenDialect{read: func(d *viewDialect, v *carryontest.View, s *middleware.Sink) {
				before := d.turn
				d.Read(v, s)
				if before != nil && v.Usage != nil {
					sum := *before
					sum.Prompt += v.Usage.Prompt
					d.turn = &sum
				}
			}}, "EndTurn sums the usage of turns that are kept",
		},
		"Write keeps the text": {
			writeThen(func(before carryontest.View, v *carryontest.View) { v.Text = before.Text }),
			"Write shows the edit's text",
		},
		"Write keeps the finish": {
			writeThen(func(before carryontest.View, v *carryontest.View) { v.Finish = before.Finish }),
			"Write shows the edit's finish",
		},
		"Write keeps the calls": {
			writeThen(func(before carryontest.View, v *carryontest.View) { v.Calls = before.Calls }),
			"Write drops calls that it is not told to show",
		},
		"Write keeps the index": {
			writeThen(func(before carryontest.View, v *carryontest.View) {
				for i := range v.Calls {
					v.Calls[i].Index = before.Calls[len(before.Calls)-len(v.Calls)+i].Index
				}
			}), "a pause is left out beside another call",
		},
		"Write keeps the id": {
			writeThen(func(before carryontest.View, v *carryontest.View) { v.ID = before.ID }),
			"Write puts later turns under the first envelope",
		},
		"Write keeps the role": {
			writeThen(func(before carryontest.View, v *carryontest.View) { v.Role = before.Role }),
			"Write puts later turns under the first envelope",
		},
		"Write hides no usage": {
			writeThen(func(before carryontest.View, v *carryontest.View) {
				if v.Usage == nil {
					v.Usage = before.Usage
				}
			}), "Write shows the usage that is asked for",
		},
		"Write shows the last usage as the sum": {
			writeAs(func(e *middleware.Edit) {
				if e.Usage == middleware.ShowSum {
					e.Usage = middleware.ShowLast
				}
			}), "texts of turns are joined",
		},
		"Write shows the sum as the last usage": {
			writeAs(func(e *middleware.Edit) {
				if e.Usage == middleware.ShowLast {
					e.Usage = middleware.ShowSum
				}
			}), "usage is shown once, whichever turns report it",
		},
		"Write knows no Bare": {
			writeAs(func(e *middleware.Edit) { e.Bare = false }), "Write shows the usage that is asked for",
		},
		"Write knows no Rest": {
			writeThen(func(before carryontest.View, v *carryontest.View) { v.Role = before.Role }),
			"Write leaves only what is named of the rest",
		},
		"Write shows everything": {
			brokenDialect{write: func(d *viewDialect, v *carryontest.View, e *middleware.Edit) bool {
				d.Write(v, e)
				return true
			}}, "Write reports that nothing is left",
		},
		"Write hides what is only a finish": {
			brokenDialect{write: func(d *viewDialect, v *carryontest.View, e *middleware.Edit) bool {
				return d.Write(v, e) && (v.Text != "" || v.Usage != nil || len(v.Calls) > 0)
			}}, "Write leaves only what is named of the rest",
		},
		"EndTurn keeps everything": {
			brokenDialect{end: func(d *viewDialect, _ bool) { d.EndTurn(true) }},
			"EndTurn sums the usage of turns that are kept",
		},
		"EndTurn keeps nothing": {
			brokenDialect{end: func(d *viewDialect, _ bool) { d.EndTurn(false) }},
			"texts of turns are joined",
		},
		"EndTurn changes the sum that was shown": {
			brokenDialect{end: func(d *viewDialect, keep bool) {
				if d.sum == nil || !keep || d.turn == nil {
					d.EndTurn(keep)
					return
				}
				d.sum.Prompt += d.turn.Prompt
				d.sum.Completion += d.turn.Completion
				d.sum.Total += d.turn.Total
				d.last, d.turn = d.turn, nil
			}}, "EndTurn sums the usage of turns that are kept",
		},
		"Clone loses calls": {
			brokenDialect{clone: func(v *carryontest.View) carryontest.View {
				clone := *v
				clone.Calls = nil
				return clone
			}}, "Clone shares nothing that Write changes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := viewKit(carryontest.ChunkDialect)
			kit.New = func() middleware.Dialect[carryontest.View] {
				dialect := test.dialect
				dialect.viewDialect = new(viewDialect)
				return &dialect
			}
			broken := carryontest.Findings(t, kit)
			assert.Contains(t, slices.Collect(maps.Keys(broken)), test.rule)
		})
	}
}

// boxed is a chunk whose content lies behind a pointer, so that a shallow copy
// shares it.
type boxed struct{ *carryontest.View }

// boxDialect is a right dialect, but for Clone.
type boxDialect struct{ viewDialect }

func (d *boxDialect) Read(b *boxed, s *middleware.Sink) { d.viewDialect.Read(b.View, s) }
func (d *boxDialect) Clone(b *boxed) boxed              { return *b }
func (d *boxDialect) Write(b *boxed, e *middleware.Edit) bool {
	if b.View == nil {
		b.View = new(carryontest.View)
	}
	return d.viewDialect.Write(b.View, e)
}

func TestTestDialectFindsSharedClones(t *testing.T) {
	t.Parallel()
	broken := carryontest.Findings(t, carryontest.DialectKit[boxed]{
		New:  func() middleware.Dialect[boxed] { return new(boxDialect) },
		Make: func(v carryontest.View) boxed { return boxed{&v} },
		View: func(b boxed) carryontest.View { return *b.View },
	})
	assert.Contains(t, broken, "Clone shares nothing that Write changes")
	assert.Contains(t, broken, "a pause is left out and the notice shown", "the source uses its memory again")
}

func TestTestDialectChecksItsKitFirst(t *testing.T) {
	t.Parallel()
	kit := viewKit(carryontest.ChunkDialect)
	kit.View = func(v carryontest.View) carryontest.View { v.Finish = ""; return v }
	problems := carryontest.Findings(t, kit)["Make and View agree"]
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "say so in Lacks")
	assert.Contains(t, problems[0], `finish "stop"`)

	kit.View = nil
	assert.PanicsWithValue(t, "carryontest: a DialectKit needs New, Make and View", func() {
		carryontest.TestDialect(t, kit)
	})
}
