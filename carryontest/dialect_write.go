package carryontest

import "github.com/carryon-go/carryon/middleware"

// writeRules are about Write, Clone and EndTurn, each asked for one thing.
func writeRules[C any](kit DialectKit[C]) []rule[C] {
	rules := []rule[C]{
		{name: "Write shows the edit's text", check: writesText[C]},
		{name: "Write drops calls that it is not told to show", check: writesNoCalls[C]},
		{name: "Write puts later turns under the first envelope", check: writesEnvelope[C]},
		{name: "Clone shares nothing that Write changes", check: clones[C]},
	}
	if kit.Kind != CallbackDialect && kit.Lacks&FieldFinish == 0 {
		rules = append(rules, rule[C]{name: "Write shows the edit's finish", check: writesFinish[C]})
	}
	if kit.Kind != CallbackDialect && kit.Lacks&FieldUsage == 0 {
		rules = append(rules,
			rule[C]{name: "Write shows the usage that is asked for", check: writesUsage[C]},
			rule[C]{name: "EndTurn sums the usage of turns that are kept", check: endsTurns[C]},
		)
	}
	if kit.Kind == AnswerDialect {
		return rules
	}
	return append(rules,
		rule[C]{name: "Write makes something of the zero value", check: writesZero[C]},
		rule[C]{name: "Write leaves only what is named of the rest", check: writesRest[C]},
		rule[C]{name: "Write reports that nothing is left", check: writesNothing[C]},
	)
}

// begin returns a dialect that has read the first chunk of a call.
func (t *trial[C]) begin() middleware.Dialect[C] {
	d := t.New()
	t.read(d, View{ID: "first", Role: "assistant"})
	return d
}

func (t *trial[C]) read(d middleware.Dialect[C], v View) {
	c := t.make(v)
	d.Read(&c, new(middleware.Sink))
}

// write returns what Write makes of a value, and whether it is to be shown.
func (t *trial[C]) write(d middleware.Dialect[C], v View, e middleware.Edit) (View, bool) {
	c := t.make(v)
	shown := d.Write(&c, &e)
	return t.View(c), shown
}

func writesText[C any](t *trial[C]) {
	for _, v := range t.samples() {
		got, shown := t.write(t.begin(), v, middleware.Edit{Text: "New.", Rest: v.Text == ""})
		t.same("New.", got.Text, "Write must replace the text of %v by Edit.Text:", v)
		t.same(true, shown, "Write must report true for %v, as there is text to show:", v)
		t.same("", got.Finish, "Write must hide the finish of %v, as Edit.Finish is empty:", v)
	}
}

func writesNoCalls[C any](t *trial[C]) {
	for _, v := range t.samples() {
		got, _ := t.write(t.begin(), v, middleware.Edit{Text: v.Text})
		t.same(0, len(got.Calls),
			"Write must leave out each call of %v for which Edit.Call says Drop, number of calls:", v)
	}
}

func writesEnvelope[C any](t *trial[C]) {
	for _, v := range t.samples() {
		v.ID = "second"
		got, _ := t.write(t.begin(), v, middleware.Edit{Text: v.Text, Finish: v.Finish, Later: true})
		t.same(t.known(View{ID: "first"}).ID, got.ID,
			"Write must show %v under the id that Read found first:", v)
		if t.Kind != AnswerDialect {
			t.same("", got.Role, "Write must drop the role of %v, as Edit.Later is set:", v)
		}
	}
	if t.lacks(FieldID) || t.Kind != ChunkDialect {
		return
	}
	d := t.New()
	t.read(d, View{Role: "assistant"})
	t.read(d, View{ID: "first", Text: "Text."})
	t.read(d, View{ID: "second", Text: "Text."})
	got, _ := t.write(d, View{ID: "third", Text: "Text."}, middleware.Edit{Text: "Text.", Later: true})
	t.same("first", got.ID, "Read must take the envelope from the first chunk that has an id, and then keep it:")
}

func writesFinish[C any](t *trial[C]) {
	for _, v := range t.samples() {
		if v.Finish == "" {
			continue
		}
		got, shown := t.write(t.begin(), v, middleware.Edit{Finish: "shown", Text: v.Text, Rest: t.Kind != AnswerDialect})
		t.same("shown", got.Finish, "Write must replace the finish of %v by Edit.Finish:", v)
		t.same(true, shown, "Write must report true for %v, as there is a finish to show:", v)
	}
}

func writesUsage[C any](t *trial[C]) {
	d := t.begin()
	t.read(d, View{ID: "first", Usage: tokensOf(1, 2)})
	d.EndTurn(true)
	t.read(d, View{ID: "second", Usage: tokensOf(10, 20)})
	d.EndTurn(true)
	show := func(which middleware.UsageEdit, want *middleware.Usage, what string) {
		own := View{ID: "second", Usage: tokensOf(100, 200), Bare: true}
		edit := middleware.Edit{Usage: which, Rest: true, Bare: t.Kind == ChunkDialect, Later: true}
		got, shown := t.write(d, t.likeMade(own), edit)
		t.same(View{Usage: want}, View{Usage: got.Usage}, "Write must show %s:", what)
		if t.Kind == ChunkDialect {
			t.same(want != nil, shown, "Write must report whether there is usage to show, asked for %s:", what)
		}
	}
	show(middleware.ShowSum, tokensOf(11, 22), "the sum of all turns that were kept, asked for ShowSum")
	show(middleware.ShowLast, tokensOf(10, 20), "the usage of the last turn that was kept, asked for ShowLast")
	if t.Kind == ChunkDialect {
		show(middleware.ShowOwn, tokensOf(100, 200), "the chunk's own usage, asked for ShowOwn")
		show(middleware.HideUsage, nil, "no usage, asked for HideUsage")
		writesBare(t, d)
	}
}

// writesBare checks that a chunk that is shown for its usage holds nothing else.
func writesBare[C any](t *trial[C], d middleware.Dialect[C]) {
	edit := middleware.Edit{Usage: middleware.ShowSum, Rest: true, Bare: true, Later: true}
	for _, v := range t.samples() {
		if v.Usage == nil {
			continue
		}
		got, shown := t.write(d, v, edit)
		want := t.likeMade(View{ID: "first", Usage: tokensOf(11, 22), Bare: true})
		t.same(want, got, "Write must leave nothing but the usage of %v, and no choices, as Edit.Bare is set:", v)
		t.same(true, shown, "Write must report true for %v, as there is usage to show:", v)
	}
}

// likeMade returns the view as it looks once it is made, so that Bare is only
// asked of types that know it.
func (t *trial[C]) likeMade(v View) View { return t.View(t.make(v)) }

func endsTurns[C any](t *trial[C]) {
	d := t.begin()
	shown := func() View {
		got, _ := t.write(d, t.likeMade(View{ID: "x", Bare: true}), middleware.Edit{Usage: middleware.ShowSum, Rest: true})
		return View{Usage: got.Usage}
	}
	turn := func(keep bool, usages ...*middleware.Usage) {
		for _, u := range usages {
			t.read(d, View{ID: "x", Usage: u})
		}
		d.EndTurn(keep)
	}
	t.same(View{}, shown(), "with no usage read there is no sum to show:")
	turn(true, tokensOf(1, 1))
	first := t.make(View{ID: "x", Usage: tokensOf(7, 7)})
	d.Write(&first, &middleware.Edit{Usage: middleware.ShowSum, Rest: true})
	turn(false, tokensOf(10, 10))
	t.same(View{Usage: tokensOf(1, 1)}, shown(), "EndTurn(false) must forget the usage of the turn:")
	turn(true)
	t.same(View{Usage: tokensOf(1, 1)}, shown(), "a turn without usage, after one that was not kept, adds nothing:")
	turn(true, tokensOf(99, 99), tokensOf(100, 100))
	t.same(View{Usage: tokensOf(101, 101)}, shown(), "of several usages in a turn the last must count:")
	t.same(View{Usage: tokensOf(1, 1)}, View{Usage: t.View(first).Usage},
		"the usage of a value that was shown must not change afterwards:")
}

func writesZero[C any](t *trial[C]) {
	d := t.begin()
	var c C
	t.same(true, d.Write(&c, &middleware.Edit{Text: "Notice.", Rest: true}),
		"Write must report true for the zero value with a text to show:")
	t.same(t.known(View{ID: "first", Text: "Notice."}), t.View(c),
		"Write must make a chunk of the zero value, with Edit.Text, under the first envelope:")
	var none C
	t.same(false, d.Write(&none, &middleware.Edit{Rest: true}),
		"Write must report false for the zero value with nothing to show:")
}

func writesRest[C any](t *trial[C]) {
	for _, v := range t.samples() {
		edit := middleware.Edit{Finish: v.Finish, Rest: true, Later: true}
		got, shown := t.write(t.begin(), v, edit)
		t.same(View{ID: t.known(v).ID, Finish: v.Finish}, got,
			"Write must leave nothing of %v but the finish, as Edit.Rest is set:", v)
		t.same(v.Finish != "", shown, "Write must report whether the edit names anything, for %v with Edit.Rest:", v)

		got, _ = t.write(t.begin(), v, middleware.Edit{Text: "Notice.", Rest: true, Later: true})
		t.same(View{ID: t.known(v).ID, Text: "Notice."}, got,
			"Write must leave nothing of %v but Edit.Text, as Edit.Rest is set:", v)
	}
}

func writesNothing[C any](t *trial[C]) {
	for _, v := range t.samples() {
		_, shown := t.write(t.begin(), v, middleware.Edit{Later: true})
		t.same(false, shown, "Write must report false for %v if the edit shows none of it:", v)
	}
	_, shown := t.write(t.begin(), View{ID: "second", Role: "assistant"}, middleware.Edit{Later: true})
	t.same(false, shown, "Write must report false for a later turn's chunk with a role and nothing else:")
}

func clones[C any](t *trial[C]) {
	overwrite := middleware.Edit{Text: "Overwritten.", Finish: "overwritten", Later: true}
	for _, v := range t.samples() {
		d := t.begin()
		c := t.make(v)
		clone := d.Clone(&c)
		t.same(v, t.View(clone), "Clone must return a copy of %v:", v)
		d.Write(&c, &overwrite)
		t.same(v, t.View(clone), "a Write of the value must not show in its clone; copy what Write changes:")

		c = t.make(v)
		clone = d.Clone(&c)
		d.Write(&clone, &overwrite)
		t.same(v, t.View(c), "a Write of the clone must not show in the value; copy what Write changes:")
	}
}
