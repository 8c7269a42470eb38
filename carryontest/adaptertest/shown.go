package adaptertest

import "github.com/carryon-go/carryon/adapter"

// shownRules check AppendShown, Clone and EndTurn on their own.
func shownRules[C any](kit Kit[C]) []rule[C] {
	rules := []rule[C]{
		{name: "AppendShown shows the edit's text", check: showsText[C]},
		{name: "AppendShown drops calls that it is not told to show", check: showsNoCalls[C]},
		{name: "AppendShown puts continuations under the first envelope", check: showsEnvelope[C]},
		{name: "Clone shares nothing that AppendShown changes", check: clones[C]},
	}
	if kit.Kind != Callbacks && !kit.Lacks.Finish {
		rules = append(rules, rule[C]{name: "AppendShown shows the edit's finish", check: showsFinish[C]})
	}
	if kit.Kind != Callbacks && !kit.Lacks.Usage {
		rules = append(rules,
			rule[C]{name: "AppendShown shows the usage that is asked for", check: showsUsage[C]},
			rule[C]{name: "EndTurn sums the usage of turns that are kept", check: endsTurns[C]},
		)
	}
	if kit.Kind == Answers {
		return rules
	}
	return append(rules,
		rule[C]{name: "AppendShown appends", check: appends[C]},
		rule[C]{name: "AppendShown makes something of the zero value", check: showsZero[C]},
		rule[C]{name: "AppendShown leaves only what is named of a synthetic chunk", check: showsSynthetic[C]},
		rule[C]{name: "AppendShown appends nothing if nothing is left", check: showsNothing[C]},
	)
}

// begin returns a dialect that has read the first chunk of a call.
func (t *trial[C]) begin() adapter.Dialect[C] {
	d := t.New()
	t.read(d, View{ID: "first", Role: "assistant"})
	return d
}

func (t *trial[C]) read(d adapter.Dialect[C], v View) {
	c := t.make(v)
	d.Read(&c, noReader{})
}

// noReader takes what a dialect reads and forgets it.
type noReader struct{}

func (noReader) Text(string)                      {}
func (noReader) Reasoning(string)                 {}
func (noReader) Call(int, string, string, string) {}
func (noReader) OtherCall()                       {}
func (noReader) Pause(string)                     {}
func (noReader) Refusal()                         {}
func (noReader) Signed()                          {}
func (noReader) Unknown()                         {}
func (noReader) Content()                         {}
func (noReader) OtherChoice()                     {}
func (noReader) Response(_, _ string)             {}
func (noReader) Finish(string)                    {}
func (noReader) Done()                            {}
func (noReader) Usage(adapter.Usage)              {}
func (noReader) Size(int)                         {}
func (noReader) Fail(error)                       {}

// show returns what AppendShown shows of a value, put together, and whether it
// shows anything.
func (t *trial[C]) show(d adapter.Dialect[C], v View, e adapter.Edit) (View, bool) {
	return t.showValue(d, t.make(v), e)
}

func (t *trial[C]) showValue(d adapter.Dialect[C], c C, e adapter.Edit) (View, bool) {
	shown := d.AppendShown(nil, &c, &e)
	if len(shown) == 1 {
		return t.View(shown[0]), true
	}
	var views []View
	for _, c := range shown {
		views = append(views, t.View(c))
	}
	return t.join(views), len(shown) > 0
}

// part returns the part for an edit that names something that the value does not have: a whole answer is always shown
// whole.
func (t *trial[C]) part(p adapter.Part) adapter.Part {
	if t.Kind == Answers {
		return adapter.Whole
	}
	return p
}

func showsText[C any](t *trial[C]) {
	for _, v := range t.samples() {
		edit := adapter.Edit{Text: "New."}
		if v.Text == "" {
			edit.Part = adapter.Synthetic
		}
		got, shown := t.show(t.begin(), v, edit)
		t.same("New.", got.Text, "AppendShown must replace the text of %v by Edit.Text:", v)
		t.same(true, shown, "AppendShown must show %v, as there is text to show:", v)
		t.same("", got.Finish, "AppendShown must hide the finish of %v, as Edit.Finish is empty:", v)
	}
}

func showsNoCalls[C any](t *trial[C]) {
	for _, v := range t.samples() {
		got, _ := t.show(t.begin(), v, adapter.Edit{Text: v.Text})
		t.same(0, len(got.Calls),
			"AppendShown must leave out each call of %v for which Edit.Call says Drop, number of calls:", v)
	}
}

func showsEnvelope[C any](t *trial[C]) {
	for _, v := range t.samples() {
		v.ID = "second"
		got, _ := t.show(t.begin(), v, adapter.Edit{
			Text: v.Text, Finish: v.Finish, Usage: adapter.UsageOwn, Calls: make([]adapter.CallEdit, len(v.Calls)), Continuation: true,
		})
		t.same(t.known(View{ID: "first"}).ID, got.ID,
			"AppendShown must show %v under the id that Read found first:", v)
		if t.Kind != Answers {
			t.same("", got.Role, "AppendShown must drop the role of %v, as Edit.Continuation is set:", v)
		}
	}
	if t.Lacks.ID || t.Kind != Chunks {
		return
	}
	d := t.New()
	t.read(d, View{Role: "assistant"})
	t.read(d, View{ID: "first", Text: "Text."})
	t.read(d, View{ID: "second", Text: "Text."})
	got, _ := t.show(d, View{ID: "third", Text: "Text."}, adapter.Edit{Text: "Text.", Continuation: true})
	t.same("first", got.ID, "Read must take the envelope from the first chunk that has an id, and then keep it:")
}

func showsFinish[C any](t *trial[C]) {
	for _, v := range t.samples() {
		if v.Finish == "" {
			continue
		}
		got, shown := t.show(t.begin(), v, adapter.Edit{Finish: "shown", Text: v.Text, Part: t.part(adapter.Synthetic)})
		t.same("shown", got.Finish, "AppendShown must replace the finish of %v by Edit.Finish:", v)
		t.same(true, shown, "AppendShown must show %v, as there is a finish to show:", v)
		got, _ = t.show(t.begin(), v, adapter.Edit{PlainStop: true, Part: t.part(adapter.Synthetic)})
		t.same(true, got.Finish != "", "AppendShown must show the protocol's word for a plain stop of %v, as Edit.PlainStop is set:", v)
	}
}

func showsUsage[C any](t *trial[C]) {
	d := t.begin()
	t.read(d, View{ID: "first", Usage: tokensOf(1, 2)})
	d.EndTurn(true)
	t.read(d, View{ID: "second", Usage: tokensOf(10, 20)})
	d.EndTurn(true)
	show := func(which adapter.UsageShown, want *adapter.Usage, what string) {
		own := View{ID: "second", Usage: tokensOf(100, 200), Bare: true}
		edit := adapter.Edit{Usage: which, Part: t.part(adapter.UsageOnly), Continuation: true}
		if t.Kind == Callbacks {
			edit.Part = adapter.Synthetic
		}
		got, shown := t.show(d, t.likeMade(own), edit)
		t.same(View{Usage: want}, View{Usage: got.Usage}, "AppendShown must show %s:", what)
		if t.Kind == Chunks {
			t.same(want != nil, shown, "AppendShown must show a chunk if there is usage to show, asked for %s:", what)
		}
	}
	show(adapter.UsageOneAnswer, tokensOf(1, 22), "the prompt of the first turn and the output of all, asked for UsageOneAnswer")
	show(adapter.UsageSum, tokensOf(11, 22), "the sum of all turns that were kept, asked for UsageSum")
	show(adapter.UsageLast, tokensOf(10, 20), "the usage of the last turn that was kept, asked for UsageLast")
	if t.Kind == Chunks {
		show(adapter.UsageOwn, tokensOf(100, 200), "the chunk's own usage, asked for UsageOwn")
		show(adapter.UsageHidden, nil, "no usage, asked for UsageHidden")
		showsUsageOnly(t, d)
	}
}

// showsUsageOnly checks that a chunk shown for its usage holds nothing else.
func showsUsageOnly[C any](t *trial[C], d adapter.Dialect[C]) {
	edit := adapter.Edit{Usage: adapter.UsageSum, Part: adapter.UsageOnly, Continuation: true}
	for _, v := range t.samples() {
		if v.Usage == nil {
			continue
		}
		got, shown := t.show(d, v, edit)
		want := t.likeMade(View{ID: "first", Usage: tokensOf(11, 22), Bare: true})
		t.same(want, got, "AppendShown must leave nothing but the usage of %v, and no choices, as Edit.Part is UsageOnly:", v)
		t.same(true, shown, "AppendShown must show %v, as there is usage to show:", v)
	}
}

// likeMade returns the view after Make and View, so that Bare is expected only of types that have it.
func (t *trial[C]) likeMade(v View) View { return t.View(t.make(v)) }

func endsTurns[C any](t *trial[C]) {
	d := t.begin()
	edit := adapter.Edit{Usage: adapter.UsageSum, Part: t.part(adapter.Synthetic)}
	shown := func() View {
		got, _ := t.show(d, t.likeMade(View{ID: "x", Bare: true}), edit)
		return View{Usage: got.Usage}
	}
	turn := func(keep bool, usages ...*adapter.Usage) {
		for _, u := range usages {
			t.read(d, View{ID: "x", Usage: u})
		}
		d.EndTurn(keep)
	}
	t.same(View{}, shown(), "with no usage read there is no sum to show:")
	turn(true, tokensOf(1, 1))
	c := t.make(View{ID: "x", Usage: tokensOf(7, 7)})
	first := d.AppendShown(nil, &c, &edit)
	turn(false, tokensOf(10, 10))
	t.same(View{Usage: tokensOf(1, 1)}, shown(), "EndTurn(false) must forget the usage of the turn:")
	turn(true)
	t.same(View{Usage: tokensOf(1, 1)}, shown(), "a turn without usage, after one that was not kept, adds nothing:")
	turn(true, tokensOf(99, 99), tokensOf(100, 100))
	t.same(View{Usage: tokensOf(101, 101)}, shown(), "of several usages in a turn the last must count:")
	for _, c := range first {
		t.same(View{Usage: tokensOf(1, 1)}, View{Usage: t.View(c).Usage},
			"the usage of a value that was shown must not change afterwards:")
	}
}

// appends checks that AppendShown keeps the values in dst at the front.
func appends[C any](t *trial[C]) {
	before := t.make(View{ID: "first", Text: "Before."})
	c := t.make(View{ID: "first", Text: "Text."})
	shown := t.begin().AppendShown([]C{before}, &c, &adapter.Edit{Text: "Text."})
	if len(shown) < 2 {
		t.errorf("AppendShown must append to dst, of which %d of 2 values are left", len(shown))
		return
	}
	t.same(t.View(before), t.View(shown[0]), "AppendShown must leave the values in dst as they are:")
}

func showsZero[C any](t *trial[C]) {
	var c C
	got, shown := t.showValue(t.begin(), c, adapter.Edit{Text: "Notice.", Part: adapter.Synthetic})
	t.same(true, shown, "AppendShown must show the zero value with a text to show:")
	t.same(t.known(View{ID: "first", Text: "Notice."}), got,
		"AppendShown must make a chunk of the zero value, with Edit.Text, under the first envelope:")
	_, shown = t.showValue(t.begin(), c, adapter.Edit{Part: adapter.Synthetic})
	t.same(false, shown, "AppendShown must append nothing for the zero value with nothing to show:")
	got, _ = t.showValue(t.begin(), c, adapter.Edit{Part: adapter.AnswerEnd})
	t.same(View{ID: got.ID}, got, "AppendShown must show no content at the end of the answer:")
}

func showsSynthetic[C any](t *trial[C]) {
	for _, v := range t.samples() {
		edit := adapter.Edit{Finish: v.Finish, Part: adapter.Synthetic, Continuation: true}
		got, shown := t.show(t.begin(), v, edit)
		if shown {
			t.same(View{ID: t.known(v).ID, Finish: v.Finish}, got,
				"AppendShown must leave nothing of %v but the finish, as Edit.Part is Synthetic:", v)
		}
		t.same(v.Finish != "", shown, "AppendShown must show %v only if the edit names anything, as Edit.Part is Synthetic:", v)
		got, _ = t.show(t.begin(), v, adapter.Edit{Text: "Notice.", Part: adapter.Synthetic, Continuation: true})
		t.same(View{ID: t.known(v).ID, Text: "Notice."}, got,
			"AppendShown must leave nothing of %v but Edit.Text, as Edit.Part is Synthetic:", v)
	}
}

func showsNothing[C any](t *trial[C]) {
	for _, v := range t.samples() {
		_, shown := t.show(t.begin(), v, adapter.Edit{Continuation: true})
		t.same(false, shown, "AppendShown must append nothing for %v if the edit shows none of it:", v)
	}
	_, shown := t.show(t.begin(), View{ID: "second", Role: "assistant"}, adapter.Edit{Continuation: true})
	t.same(false, shown, "AppendShown must append nothing for a continuation's chunk with a role and nothing else:")
}

func clones[C any](t *trial[C]) {
	overwrite := adapter.Edit{Text: "Overwritten.", Finish: "overwritten", Continuation: true}
	for _, v := range t.samples() {
		d := t.begin()
		c := t.make(v)
		clone := d.Clone(&c)
		t.same(v, t.View(clone), "Clone must return a copy of %v:", v)
		d.AppendShown(nil, &c, &overwrite)
		t.same(v, t.View(clone), "to show the value must not change its clone; copy what AppendShown changes:")
		c = t.make(v)
		clone = d.Clone(&c)
		d.AppendShown(nil, &clone, &overwrite)
		t.same(v, t.View(c), "to show the clone must not change the value; copy what AppendShown changes:")
	}
}
