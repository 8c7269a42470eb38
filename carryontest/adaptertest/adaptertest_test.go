package adaptertest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest/adaptertest"
)

// viewDialect is a dialect for views, which stand for the SDK's type in these tests.
type viewDialect struct {
	whole                bool
	id                   string
	turn, last, sum, one *adapter.Usage
}

func (d *viewDialect) Read(v *adaptertest.View, s adapter.TurnReader) {
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

func (d *viewDialect) AppendShown(dst []adaptertest.View, v *adaptertest.View, e *adapter.Edit) []adaptertest.View {
	if !d.edit(v, e) {
		return dst
	}
	return append(dst, *v)
}

// edit applies the edit to the view, and reports whether anything is left.
func (d *viewDialect) edit(v *adaptertest.View, e *adapter.Edit) bool {
	if e.Part == adapter.AnswerEnd {
		return false
	}
	var kept []adaptertest.Call
	for i, call := range v.Calls {
		edit := e.Call(i)
		if edit.Rewrite && call.Index != adapter.NoIndex {
			call.Index, call.Type = edit.Index, ""
			if edit.First {
				call.Type = "function"
			}
		}
		if !edit.Drop {
			kept = append(kept, call)
		}
	}
	v.ID, v.Text, v.Finish, v.Calls = d.id, e.Text, e.FinishOr("stop"), kept
	if e.Continuation && !d.whole || e.Part != adapter.Whole {
		v.Role = ""
	}
	v.Bare = e.Part == adapter.UsageOnly
	v.Usage = d.show(e.Usage, v.Usage)
	return v.Text != "" || v.Finish != "" || v.Usage != nil || len(v.Calls) > 0
}

func (d *viewDialect) show(which adapter.UsageShown, own *adapter.Usage) *adapter.Usage {
	return map[adapter.UsageShown]*adapter.Usage{
		adapter.UsageOwn: own, adapter.UsageOneAnswer: d.one, adapter.UsageSum: d.sum, adapter.UsageLast: d.last,
	}[which]
}

func (d *viewDialect) Clone(v *adaptertest.View) adaptertest.View { return *v }

func (d *viewDialect) EndTurn(keep bool) {
	if keep && d.turn != nil {
		sum, one := *d.turn, *d.turn
		if d.sum != nil {
			sum.Prompt += d.sum.Prompt
			sum.Completion += d.sum.Completion
			sum.Total += d.sum.Total
			one.Prompt = d.one.Prompt
			one.Completion += d.one.Completion
			one.Total += d.one.Total - d.turn.Prompt
		}
		d.last, d.sum, d.one = d.turn, &sum, &one
	}
	d.turn = nil
}

func viewKit(kind adaptertest.Kind) adaptertest.Kit[adaptertest.View] {
	same := func(v adaptertest.View) adaptertest.View { return v }
	return adaptertest.Kit[adaptertest.View]{
		New: func() adapter.Dialect[adaptertest.View] {
			return &viewDialect{whole: kind == adaptertest.Answers}
		},
		Make: same, View: same, Kind: kind,
		Stops: map[string]adaptertest.View{
			"a refusal": {ID: "first", Role: refusing, Text: "No.", Finish: finishOf(kind)},
		},
	}
}

func finishOf(kind adaptertest.Kind) string {
	if kind == adaptertest.Answers {
		return "stop"
	}
	return ""
}

func TestTestDialectPassesARightDialect(t *testing.T) {
	t.Parallel()
	kinds := map[string]adaptertest.Kind{
		"chunks": adaptertest.Chunks, "answers": adaptertest.Answers, "callback": adaptertest.Callbacks,
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adaptertest.TestDialect(t, viewKit(kind))
		})
	}
}

func TestTestDialectAsksOnlyForWhatTheTypeHas(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*adaptertest.Kit[adaptertest.View]){
		"no id": func(k *adaptertest.Kit[adaptertest.View]) {
			k.Lacks, k.View = adaptertest.Fields{ID: true}, func(v adaptertest.View) adaptertest.View { v.ID = ""; return v }
		},
		"no role": func(k *adaptertest.Kit[adaptertest.View]) {
			k.Lacks, k.View = adaptertest.Fields{Role: true}, func(v adaptertest.View) adaptertest.View { v.Role = ""; return v }
		},
		"no usage":  func(k *adaptertest.Kit[adaptertest.View]) { k.Lacks = adaptertest.Fields{Usage: true} },
		"no calls":  func(k *adaptertest.Kit[adaptertest.View]) { k.Lacks = adaptertest.Fields{Calls: true} },
		"no index":  func(k *adaptertest.Kit[adaptertest.View]) { k.Lacks = adaptertest.Fields{Index: true} },
		"one thing": func(k *adaptertest.Kit[adaptertest.View]) { k.OneThing = true },
		"no finish": func(k *adaptertest.Kit[adaptertest.View]) {
			k.Lacks, k.View = adaptertest.Fields{Finish: true}, func(v adaptertest.View) adaptertest.View { v.Finish = ""; return v }
			k.Stops = nil
		},
		"no chunks without choices": func(k *adaptertest.Kit[adaptertest.View]) {
			k.View = func(v adaptertest.View) adaptertest.View { v.Bare = false; return v }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := viewKit(adaptertest.Chunks)
			change(&kit)
			adaptertest.TestDialect(t, kit)
		})
	}
}

// brokenDialect is a right dialect with one method that goes wrong.
type brokenDialect struct {
	*viewDialect

	read  func(d *viewDialect, v *adaptertest.View, s adapter.TurnReader)
	edit  func(d *viewDialect, v *adaptertest.View, e *adapter.Edit) bool
	clone func(v *adaptertest.View) adaptertest.View
	end   func(d *viewDialect, keep bool)
}

func (d *brokenDialect) Read(v *adaptertest.View, s adapter.TurnReader) {
	if d.read == nil {
		d.viewDialect.Read(v, s)
		return
	}
	d.read(d.viewDialect, v, s)
}

func (d *brokenDialect) AppendShown(dst []adaptertest.View, v *adaptertest.View, e *adapter.Edit) []adaptertest.View {
	if d.edit == nil {
		return d.viewDialect.AppendShown(dst, v, e)
	}
	if !d.edit(d.viewDialect, v, e) {
		return dst
	}
	return append(dst, *v)
}

func (d *brokenDialect) Clone(v *adaptertest.View) adaptertest.View {
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

// readWithout is a Read that misses a part of its value.
func readWithout(hide func(*adaptertest.View)) brokenDialect {
	return brokenDialect{read: func(d *viewDialect, v *adaptertest.View, s adapter.TurnReader) {
		part := *v
		part.Calls = slices.Clone(v.Calls)
		hide(&part)
		d.Read(&part, s)
	}}
}

// showAs is an AppendShown that applies another edit.
func showAs(change func(*adapter.Edit)) brokenDialect {
	return brokenDialect{edit: func(d *viewDialect, v *adaptertest.View, e *adapter.Edit) bool {
		other := *e
		change(&other)
		return d.edit(v, &other)
	}}
}

// showUsageAs is an AppendShown that takes one way to show usage for another.
func showUsageAs(asked, shown adapter.UsageShown) brokenDialect {
	return showAs(func(e *adapter.Edit) {
		if e.Usage == asked {
			e.Usage = shown
		}
	})
}

// showThen is an AppendShown that spoils its result.
func showThen(spoil func(before adaptertest.View, v *adaptertest.View)) brokenDialect {
	return brokenDialect{edit: func(d *viewDialect, v *adaptertest.View, e *adapter.Edit) bool {
		before := *v
		shown := d.edit(v, e)
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
			readWithout(func(v *adaptertest.View) { v.Text = "" }), "Read reports text, finish and usage",
		},
		"Read misses the finish": {
			readWithout(func(v *adaptertest.View) { v.Finish = "" }), "Read reports text, finish and usage",
		},
		"Read misses usage": {
			readWithout(func(v *adaptertest.View) { v.Usage = nil }), "Read reports text, finish and usage",
		},
		"Read misses calls": {
			readWithout(func(v *adaptertest.View) { v.Calls = nil }), "Read reports text, finish and usage",
		},
		"Read misses the id of calls": {
			readWithout(func(v *adaptertest.View) {
				for i := range v.Calls {
					v.Calls[i].ID = ""
				}
			}), "a rejected pause is answered and never seen",
		},
		"Read misses the arguments of calls": {
			readWithout(func(v *adaptertest.View) {
				for i := range v.Calls {
					v.Calls[i].Arguments = ""
				}
			}), "a pause is left out and the notice shown",
		},
		"Read misses refusals": {
			readWithout(func(v *adaptertest.View) { v.Role = "" }), "not continued: a refusal",
		},
		"Read takes the first id even if empty": {
			brokenDialect{read: func(d *viewDialect, v *adaptertest.View, s adapter.TurnReader) {
				d.Read(v, s)
				if v.ID == "" {
					d.id = "none"
				}
			}}, "AppendShown puts continuations under the first envelope",
		},
		"Read takes every id": {
			brokenDialect{read: func(d *viewDialect, v *adaptertest.View, s adapter.TurnReader) {
				d.id = ""
				d.Read(v, s)
			}}, "texts of turns are joined",
		},
		"Read adds up the usage of a turn": {
			brokenDialect{read: func(d *viewDialect, v *adaptertest.View, s adapter.TurnReader) {
				before := d.turn
				d.Read(v, s)
				if before != nil && v.Usage != nil {
					sum := *before
					sum.Prompt += v.Usage.Prompt
					d.turn = &sum
				}
			}}, "EndTurn sums the usage of turns that are kept",
		},
		"AppendShown keeps the text": {
			showThen(func(before adaptertest.View, v *adaptertest.View) { v.Text = before.Text }),
			"AppendShown shows the edit's text",
		},
		"AppendShown keeps the finish": {
			showThen(func(before adaptertest.View, v *adaptertest.View) { v.Finish = before.Finish }),
			"AppendShown shows the edit's finish",
		},
		"AppendShown keeps the calls": {
			showThen(func(before adaptertest.View, v *adaptertest.View) { v.Calls = before.Calls }),
			"AppendShown drops calls that it is not told to show",
		},
		"AppendShown keeps the index": {
			showThen(func(before adaptertest.View, v *adaptertest.View) {
				for i := range v.Calls {
					v.Calls[i].Index = before.Calls[len(before.Calls)-len(v.Calls)+i].Index
				}
			}), "a pause is left out beside another call",
		},
		"AppendShown keeps the id": {
			showThen(func(before adaptertest.View, v *adaptertest.View) { v.ID = before.ID }),
			"AppendShown puts continuations under the first envelope",
		},
		"AppendShown keeps the role": {
			showThen(func(before adaptertest.View, v *adaptertest.View) { v.Role = before.Role }),
			"AppendShown puts continuations under the first envelope",
		},
		"AppendShown hides no usage": {
			showThen(func(before adaptertest.View, v *adaptertest.View) {
				if v.Usage == nil {
					v.Usage = before.Usage
				}
			}), "AppendShown leaves only what is named of a synthetic chunk",
		},
		"AppendShown shows the last usage as the sum": {
			showUsageAs(adapter.UsageSum, adapter.UsageLast), "AppendShown shows the usage that is asked for",
		},
		"AppendShown shows the sum as the usage of one answer": {
			showUsageAs(adapter.UsageOneAnswer, adapter.UsageSum), "texts of turns are joined",
		},
		"AppendShown shows the sum as the last usage": {
			showUsageAs(adapter.UsageLast, adapter.UsageSum), "usage is shown once, whichever turns report it",
		},
		"AppendShown knows no UsageOnly": {
			showAs(func(e *adapter.Edit) {
				if e.Part == adapter.UsageOnly {
					e.Part = adapter.Synthetic
				}
			}), "AppendShown shows the usage that is asked for",
		},
		"AppendShown knows no Synthetic": {
			showThen(func(before adaptertest.View, v *adaptertest.View) { v.Role = before.Role }),
			"AppendShown leaves only what is named of a synthetic chunk",
		},
		"AppendShown shows everything": {
			brokenDialect{edit: func(d *viewDialect, v *adaptertest.View, e *adapter.Edit) bool {
				d.edit(v, e)
				return true
			}}, "AppendShown appends nothing if nothing is left",
		},
		"AppendShown hides what is only a finish": {
			brokenDialect{edit: func(d *viewDialect, v *adaptertest.View, e *adapter.Edit) bool {
				return d.edit(v, e) && (v.Text != "" || v.Usage != nil || len(v.Calls) > 0)
			}}, "AppendShown leaves only what is named of a synthetic chunk",
		},
		"AppendShown knows no PlainStop": {
			showAs(func(e *adapter.Edit) { e.PlainStop = false }), "AppendShown shows the edit's finish",
		},
		"AppendShown knows no AnswerEnd": {
			brokenDialect{edit: func(d *viewDialect, v *adaptertest.View, e *adapter.Edit) bool {
				if e.Part == adapter.AnswerEnd {
					v.Text = "The end."
					return true
				}
				return d.edit(v, e)
			}}, "AppendShown makes something of the zero value",
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
			brokenDialect{clone: func(v *adaptertest.View) adaptertest.View {
				clone := *v
				clone.Calls = nil
				return clone
			}}, "Clone shares nothing that AppendShown changes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := viewKit(adaptertest.Chunks)
			kit.New = func() adapter.Dialect[adaptertest.View] {
				dialect := test.dialect
				dialect.viewDialect = new(viewDialect)
				return &dialect
			}
			broken := adaptertest.Findings(t, kit)
			assert.Contains(t, slices.Collect(maps.Keys(broken)), test.rule)
		})
	}
}

// boxed is a chunk whose content lies behind a pointer, so that a shallow copy
// shares it.
type boxed struct{ *adaptertest.View }

// boxDialect is a right dialect, but for Clone.
type boxDialect struct{ viewDialect }

func (d *boxDialect) Read(b *boxed, s adapter.TurnReader) { d.viewDialect.Read(b.View, s) }
func (d *boxDialect) Clone(b *boxed) boxed                { return *b }
func (d *boxDialect) AppendShown(dst []boxed, b *boxed, e *adapter.Edit) []boxed {
	if b.View == nil {
		b.View = new(adaptertest.View)
	}
	if !d.edit(b.View, e) {
		return dst
	}
	return append(dst, *b)
}

func TestTestDialectFindsSharedClones(t *testing.T) {
	t.Parallel()
	broken := adaptertest.Findings(t, adaptertest.Kit[boxed]{
		New:  func() adapter.Dialect[boxed] { return new(boxDialect) },
		Make: func(v adaptertest.View) boxed { return boxed{&v} },
		View: func(b boxed) adaptertest.View { return *b.View },
	})
	assert.Contains(t, broken, "Clone shares nothing that AppendShown changes")
	assert.Contains(t, broken, "a pause is left out and the notice shown", "the source uses its memory again")
}

func TestTestDialectChecksItsKitFirst(t *testing.T) {
	t.Parallel()
	kit := viewKit(adaptertest.Chunks)
	kit.View = func(v adaptertest.View) adaptertest.View { v.Finish = ""; return v }
	problems := adaptertest.Findings(t, kit)["Make and View agree"]
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "say so in Lacks")
	assert.Contains(t, problems[0], `finish "stop"`)

	kit.View = nil
	assert.PanicsWithValue(t, "carryon/carryontest/adaptertest: a Kit needs New, Make and View", func() {
		adaptertest.TestDialect(t, kit)
	})
}
