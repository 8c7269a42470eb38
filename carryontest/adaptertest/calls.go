package adaptertest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// callRules play whole calls through the engine.
func callRules[C any](kit Kit[C]) []rule[C] {
	rules := []rule[C]{
		{name: "an answer with nothing to do is passed on as it came", check: passesOn[C]},
		{name: "Read reports text, finish and usage", check: readsTurn[C]},
		{name: "texts of turns are joined", check: joinsTexts[C]},
		{name: "a failing continuation costs nothing that came before", check: survivesFailure[C]},
		{name: "a printed pause is left out", check: stripsPrintedPause[C]},
	}
	if !kit.Lacks.Calls {
		rules = append(rules,
			rule[C]{name: "a continuation ends in a call", check: joinsCall[C]},
			rule[C]{name: "a pause is left out and the notice shown", check: stripsPause[C]},
			rule[C]{name: "a pause is left out beside another call", check: stripsPauseBeside[C]},
			rule[C]{name: "a rejected pause is answered and never seen", check: rejectsPause[C]},
		)
	}
	if kit.Kind == Chunks && !kit.Lacks.Usage {
		rules = append(rules,
			rule[C]{name: "usage is shown once, whichever turns report it", check: showsUsageOnce[C]})
	}
	if !kit.OneThing && !kit.Lacks.Calls {
		rules = append(rules, rule[C]{name: "text that was held back is shown before a call", check: showsHeldText[C]})
	}
	if kit.Kind == Chunks && !kit.OneThing && !kit.Lacks.Finish {
		rules = append(rules, rule[C]{name: "turns in a single chunk are joined", check: joinsSingleChunks[C]})
	}
	if kit.Kind != Answers && !kit.Lacks.Calls && !kit.Lacks.Index {
		rules = append(rules, rule[C]{name: "fragments that come by turns stay apart", check: joinsWovenCalls[C]})
	}
	return rules
}

// stopRules play a turn with each of the kit's stops.
func stopRules[C any](kit Kit[C]) []rule[C] {
	if kit.Kind == Callbacks {
		return nil // the values of a callback decide nothing
	}
	var rules []rule[C]
	for _, name := range slices.Sorted(maps.Keys(kit.Stops)) {
		rules = append(rules, rule[C]{name: "not continued: " + name, check: func(t *trial[C]) {
			turn := says("Text.")
			turn.stop = name
			p := t.play(nil, turn)
			t.same(0, len(p.sent), "Read must tell the TurnReader of %s, so that the turn is not continued; continuations:", name)
		}})
	}
	return rules
}

// Tool calls of the plays. The reasons are a good one and a vague one.
func editCall(id string) Call {
	return Call{ID: id, Name: "edit_file", Arguments: `{"path":"parser.go"}`}
}

const goodReason = "The grammar file grammar.ebnf is missing"

func pauseCall(id, reason string) Call {
	return Call{ID: id, Name: pause.ToolName, Arguments: fmt.Sprintf(`{"reason":%q}`, reason)}
}

func passesOn[C any](t *trial[C]) {
	turn := calls(editCall("call-1"))
	if t.Lacks.Calls {
		turn = says("One. ", "Two.")
		turn.finish = "length"
	}
	p := t.play(nil, turn)
	t.same(p.given, p.shown, "what the model answered must reach the caller unchanged:")
}

func readsTurn[C any](t *trial[C]) {
	p := t.play(nil, says("One ", "two."), says("Three."))
	if len(p.sent) == 0 {
		t.errorf("Read must report the text and the finish: a turn that stopped was not continued, because: %v",
			p.outcome.Reason)
		return
	}
	t.same("One two.", p.sent[0].Text, "Read must report all text to TurnReader.Text, once and in order:")
	if t.Kind == Callbacks {
		return
	}
	want := t.known(View{Finish: "stop", Usage: tokensOf(10, 5)})
	first := carryontest.Recorded[middleware.TurnEnded](p.events)[0]
	t.same(want.Finish, first.Finish, "Read must report the finish reason to TurnReader.Finish:")
	if want.Usage != nil {
		got := first.Usage
		got.Total = got.Tokens() // it may be left out
		t.same(*want.Usage, got, "Read must report the usage to TurnReader.Usage:")
	}
	if t.Lacks.Calls {
		return
	}
	p = t.play(nil, calls(editCall("call-1"), editCall("call-2")))
	if t.Kind == Answers {
		t.same(2, carryontest.Recorded[middleware.TurnEnded](p.events)[0].ToolCalls, "Read must report each tool call to TurnReader.Call:")
	}
	t.same(reasons.ToolCalls, p.outcome.Reason, "Read must report tool calls to TurnReader.Call:")
}

func joinsTexts[C any](t *trial[C]) {
	first := says("One", ".")
	first.noID = true
	t.joined(t.play(nil, first, says("Two."), says("Three", ".")),
		View{Text: "One.\n\nTwo.\n\nThree.", Finish: "stop", Usage: tokensOf(10, 15)})
}

func joinsCall[C any](t *trial[C]) {
	first := modelTurn{text: []string{"One."}, finish: "stop", usage: tokensOf(10, 5)}
	p := t.play(nil, first, calls(editCall("call-1"), editCall("call-2")))
	t.joined(p, View{
		Text: "One.", Calls: calls(editCall("call-1"), editCall("call-2")).calls,
		Finish: "tool_calls", Usage: tokensOf(10, 13),
	})
}

func stripsPause[C any](t *trial[C]) {
	p := t.play(nil, says("One."), calls(pauseCall("call-1", goodReason)))
	t.joined(p, View{
		Text: "One.\n\nTask paused: " + goodReason, Finish: "stop", Usage: tokensOf(10, 13),
	})
	t.same(reasons.Paused, p.outcome.Reason, "Read must report the whole call of todo_pause to TurnReader.Call:")
}

func stripsPauseBeside[C any](t *trial[C]) {
	p := t.play(nil, says("One."), calls(pauseCall("call-1", goodReason), editCall("call-2")))
	t.joined(p, View{
		Text: "One.\n\nTask paused: " + goodReason, Calls: calls(editCall("call-2")).calls,
		Finish: "tool_calls", Usage: tokensOf(10, 13),
	})
}

func rejectsPause[C any](t *trial[C]) {
	p := t.play(nil, says("One."), calls(pauseCall("call-1", "stuck")), says("Two."))
	t.joined(p, View{Text: "One.\n\nTwo.", Finish: "stop", Usage: tokensOf(10, 18)})
	if len(p.sent) < 2 || p.sent[1].Pause == nil {
		t.errorf("Read must report the whole call of todo_pause to TurnReader.Call: its reason was not seen")
		return
	}
	if t.Kind == Callbacks || !t.Lacks.CallID {
		t.same("call-1", p.sent[1].Pause.ID, "Read must report the id of a call to TurnReader.Call:")
	}
}

func survivesFailure[C any](t *trial[C]) {
	p := t.play(nil, says("One."), modelTurn{fails: true})
	t.joined(p, View{Text: "One.", Finish: "stop", Usage: tokensOf(10, 5)})
	broken := says("Tw")
	broken.fails = true
	p = t.play(nil, says("One."), broken)
	want := View{Text: "One.\n\nTw", Finish: "stop", Usage: tokensOf(10, 5)}
	if t.Kind == Answers {
		want.Text = "One."
	}
	if !t.Lacks.Finish || t.Kind == Answers || t.Kind == Callbacks {
		t.joined(p, want)
	}
}

func stripsPrintedPause[C any](t *trial[C]) {
	p := t.play(nil, says("One."), says("I am ", "blocked. todo", "_pause('"+goodReason+"')"))
	t.joined(p, View{
		Text: "One.\n\nI am blocked. \n\nTask paused: " + goodReason, Finish: "stop", Usage: tokensOf(10, 10),
	})
}

func showsHeldText[C any](t *trial[C]) {
	turn := calls(editCall("call-1"))
	turn.text = []string{"I ", "todo"} // which may become a printed pause
	t.joined(t.play(nil, says("One."), turn), View{
		Text: "One.\n\nI todo", Calls: calls(editCall("call-1")).calls, Finish: "tool_calls", Usage: tokensOf(10, 13),
	})
}

func showsUsageOnce[C any](t *trial[C]) {
	silent := says("Two.")
	silent.usage = nil
	t.joined(t.play(nil, says("One."), silent),
		View{Text: "One.\n\nTwo.", Finish: "stop", Usage: tokensOf(10, 5)})
	silent.text = []string{"One."}
	t.joined(t.play(nil, silent, says("Two.")),
		View{Text: "One.\n\nTwo.", Finish: "stop", Usage: tokensOf(10, 5)})
	last := says("Two.")
	last.usage = tokensOf(20, 8)
	t.joined(t.play([]middleware.Option{middleware.WithUsage(middleware.UsageLastTurn)}, says("One."), last),
		View{Text: "One.\n\nTwo.", Finish: "stop", Usage: tokensOf(20, 8)})
}

func joinsSingleChunks[C any](t *trial[C]) {
	single := func(m modelTurn) modelTurn {
		m.one = true
		return m
	}
	t.joined(t.play(nil, single(says("One.")), single(says("Two."))),
		View{Text: "One.\n\nTwo.", Finish: "stop", Usage: tokensOf(10, 10)})
	if !t.Lacks.Calls {
		t.joined(t.play(nil, single(says("One.")), single(calls(pauseCall("call-1", goodReason), editCall("call-2")))),
			View{
				Text: "One.\n\nTask paused: " + goodReason, Calls: calls(editCall("call-2")).calls,
				Finish: "tool_calls", Usage: tokensOf(10, 13),
			})
	}
}

func joinsWovenCalls[C any](t *trial[C]) {
	turn := calls(editCall("call-1"), pauseCall("call-2", goodReason), editCall("call-3"))
	turn.weave = true
	t.joined(t.play(nil, says("One."), turn), View{
		Text:  "One.\n\nTask paused: " + goodReason,
		Calls: calls(editCall("call-1"), editCall("call-3")).calls, Finish: "tool_calls", Usage: tokensOf(10, 13),
	})
}

// joined checks that the caller saw the wanted answer, and that it is well formed.
func (t *trial[C]) joined(p *performance[C], want View) {
	if p.err != nil {
		t.errorf("the call failed: %v", p.err)
		return
	}
	got := t.join(p.shown)
	want = t.known(want)
	want.ID, want.Role = got.ID, got.Role
	t.same(want, got, "the joined answer must say this:")
	t.same(t.known(View{ID: "first"}).ID, got.ID, "the joined answer must have the id of the first turn:")
	if t.Kind != Answers {
		t.wellFormed(p.shown)
	}
}

// join puts what the caller saw together, as a client would.
func (t *trial[C]) join(shown []View) View {
	var joined View
	for _, v := range shown {
		joined.Text += v.Text
		joined.Role += v.Role
		if joined.ID == "" {
			joined.ID = v.ID
		}
		if v.Finish != "" {
			joined.Finish = v.Finish
		}
		if v.Usage != nil {
			joined.Usage = v.Usage
		}
		for _, call := range v.Calls {
			joined.add(call)
		}
	}
	return joined
}

// add adds a fragment to its call.
func (v *View) add(fragment Call) {
	for i := len(v.Calls) - 1; i >= 0; i-- {
		call := &v.Calls[i]
		same := fragment.Index == call.Index
		if fragment.Index == adapter.NoIndex {
			same = fragment.ID == "" || fragment.ID == call.ID
		}
		if same {
			call.Type += fragment.Type
			call.Name += fragment.Name
			call.Arguments += fragment.Arguments
			return
		}
	}
	v.Calls = append(v.Calls, fragment)
}

// wellFormed checks the rules that every stream must keep for its clients.
func (t *trial[C]) wellFormed(shown []View) {
	id := t.join(shown).ID
	var sum tally
	for i, v := range shown {
		if v.ID != id && (v.ID != "" || i > 0) {
			t.errorf("every chunk must have the id of the first turn; chunk %d is %v", i, v)
		}
		if sum.finishes > 0 && (v.Text != "" || len(v.Calls) > 0 || v.Finish != "") {
			t.errorf("nothing but usage may follow the finish; chunk %d is %v", i, v)
		}
		sum.roles += one(v.Role != "")
		sum.finishes += one(v.Finish != "")
		sum.usages += one(v.Usage != nil)
		if sum.usages > 0 && sum.finishes == 0 && !t.Lacks.Finish {
			t.errorf("usage must not come before the finish; chunk %d is %v", i, v)
		}
	}
	t.counted(sum)
}

// tally counts the chunks of a stream that have a role, a finish or usage.
type tally struct{ roles, finishes, usages int }

func (t *trial[C]) counted(sum tally) {
	if sum.roles > 1 {
		t.errorf("the role must not be shown again by later turns; it is in %d chunks", sum.roles)
	}
	if sum.finishes != 1 && !t.Lacks.Finish {
		t.errorf("the finish must be shown once; it is in %d chunks", sum.finishes)
	}
	if sum.usages > 1 {
		t.errorf("usage must be shown once; it is in %d chunks", sum.usages)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
