// Package adaptertest tests adapters of SDKs: [TestDialect] checks a dialect method by method, and plays whole calls
// through the engine with it.
package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carryon-go/carryon/adapter"
)

// Kit is what [TestDialect] needs of an adapter: its dialect, and functions that write and read values of the SDK's
// type C.
type Kit[C any] struct {
	// New returns the dialect of a new call.
	New func() adapter.Dialect[C]
	// Make returns a new value as the SDK would give it, with the content of the view and nothing else.
	Make func(View) C
	// View returns the content of a value. It reverses Make.
	View func(C) View

	// Kind says what a C is. The zero value means a chunk of a stream.
	Kind Kind
	// Lacks says which fields of a View the SDK's type has no place for.
	Lacks Fields
	// OneThing says that a C holds only one of text, calls, finish and usage, like the events of some SDKs. The id goes
	// with each of them; the role comes on its own.
	OneThing bool
	// Stops are values after which a turn must not be continued, each under a name that describes it: a refusal, a second
	// choice, a call in an old form, an error in place of content. Each comes between a text and the finish, or is the
	// whole answer.
	Stops map[string]C
}

// Kind is what a dialect is for.
type Kind uint8

// The kinds of dialects.
const (
	Chunks    Kind = iota // the chunks of a stream that is pulled: join.NewStream
	Answers               // a whole answer: join.Unary
	Callbacks             // what a callback is given: join.NewFilter
)

// Fields says which fields of a [View] an SDK's type has no place for. [Callbacks] have none for the finish reason and the
// usage anyway.
type Fields struct {
	ID     bool // the answer's id
	Role   bool
	Calls  bool // tool calls
	Index  bool // a call's index
	CallID bool
	Type   bool // a call's type
	Finish bool // the finish reason
	Usage  bool
}

// View is the part of a chunk, or of a whole answer, that concerns the engine.
type View struct {
	ID     string // of the answer
	Role   string
	Text   string
	Calls  []Call
	Finish string         // "" for none
	Usage  *adapter.Usage // nil for none; Total is the sum
	// Bare says that a chunk has no choices, so that it can hold only usage. It is always false if the SDK has no such
	// chunks.
	Bare bool
}

// Call is a tool call in a whole answer, or a fragment of one in a chunk.
type Call struct {
	Index           int // adapter.NoIndex for none, as in whole answers
	ID, Type        string
	Name, Arguments string
}

// describe returns the content of a view.
func describe(v View) string {
	parts := []string{}
	say := func(name, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", name, value))
		}
	}
	say("id", v.ID)
	say("role", v.Role)
	say("text", v.Text)
	for _, call := range v.Calls {
		parts = append(parts, describeCall(call))
	}
	say("finish", v.Finish)
	if v.Usage != nil {
		parts = append(parts, fmt.Sprintf("usage %d+%d=%d", v.Usage.Prompt, v.Usage.Completion, v.Usage.Total))
	}
	if v.Bare {
		parts = append(parts, "no choices")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// describeCall returns the content of a call.
func describeCall(c Call) string {
	index := "none"
	if c.Index != adapter.NoIndex {
		index = strconv.Itoa(c.Index)
	}
	return fmt.Sprintf("call (index %s, id %q, type %q, name %q, arguments %q)",
		index, c.ID, c.Type, c.Name, c.Arguments)
}

// TestDialect tests a dialect, with a subtest for each rule: first it calls the dialect's methods one by one, and then it
// plays whole calls through the engine. A failure says what the dialect should do.
//
//	adaptertest.TestDialect(t, adaptertest.Kit[sdk.Chunk]{
//		New:  func() adapter.Dialect[sdk.Chunk] { return &chunks{} },
//		Make: makeChunk,
//		View: viewChunk,
//	})
//
// It panics if New, Make or View is nil.
func TestDialect[C any](t *testing.T, kit Kit[C]) {
	t.Helper()
	for _, rule := range rulesFor(kit) {
		ok := t.Run(rule.name, func(t *testing.T) {
			for _, problem := range findings(t.Context(), kit, rule) {
				t.Error(problem)
			}
		})
		if !ok && rule.first {
			t.Fatal("the kit has to be right before the dialect can be tested")
		}
	}
}

// rule is one thing that a dialect must get right.
type rule[C any] struct {
	name  string
	check func(*trial[C])
	first bool // nothing else can be judged if it is broken
}

// rulesFor returns the rules that apply to the kit's dialect.
func rulesFor[C any](kit Kit[C]) []rule[C] {
	if kit.New == nil || kit.Make == nil || kit.View == nil {
		panic("carryon/carryontest/adaptertest: a Kit needs New, Make and View")
	}
	rules := []rule[C]{{name: "Make and View agree", check: kitAgrees[C], first: true}}
	rules = append(rules, shownRules(kit)...)
	rules = append(rules, callRules(kit)...)
	return append(rules, stopRules(kit)...)
}

// findings returns how the dialect breaks a rule.
func findings[C any](ctx context.Context, kit Kit[C], r rule[C]) []string {
	if kit.Kind == Callbacks {
		kit.Lacks.Finish, kit.Lacks.Usage = true, true
	}
	trial := &trial[C]{Kit: kit, ctx: ctx}
	r.check(trial)
	return trial.problems
}

// trial is one rule applied to a dialect.
type trial[C any] struct {
	Kit[C]

	ctx      context.Context //nolint:containedctx // that of the test
	problems []string
}

func (t *trial[C]) errorf(format string, args ...any) {
	for i := range args {
		args[i] = printed(args[i])
	}
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// same checks that two values have the same printed form.
func (t *trial[C]) same(want, got any, advice string, args ...any) bool {
	if fmt.Sprint(printed(want)) == fmt.Sprint(printed(got)) {
		return true
	}
	t.errorf(advice+"\n  want %v\n  got  %v", append(slices.Clone(args), want, got)...)
	return false
}

// printed returns a value as failures show it.
func printed(value any) any {
	switch v := value.(type) {
	case View:
		return describe(v)
	case []View:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = describe(v[i])
		}
		return texts
	}
	return value
}

// known returns the view without the fields that the SDK's type lacks.
func (t *trial[C]) known(v View) View {
	if t.Lacks.ID {
		v.ID = ""
	}
	if t.Lacks.Role {
		v.Role = ""
	}
	if t.Lacks.Finish {
		v.Finish = ""
	}
	if t.Lacks.Usage {
		v.Usage = nil
	}
	calls := v.Calls
	v.Calls = nil
	for _, call := range calls {
		if !t.Lacks.Calls {
			v.Calls = append(v.Calls, t.knownCall(call))
		}
	}
	return v
}

func (t *trial[C]) knownCall(c Call) Call {
	if t.Lacks.Index || t.Kind == Answers {
		c.Index = adapter.NoIndex
	}
	if t.Lacks.CallID {
		c.ID = ""
	}
	if t.Lacks.Type {
		c.Type = ""
	}
	return c
}

// make returns the SDK's value for the view, without the fields that the type lacks.
func (t *trial[C]) make(v View) C { return t.Make(t.known(v)) }

// samples are values with as many fields set as the SDK's type holds at a time.
func (t *trial[C]) samples() []View {
	call := Call{ID: "call-1", Type: "function", Name: "edit", Arguments: `{}`}
	all := View{
		ID: "first", Role: "assistant", Text: "Text.", Calls: []Call{call},
		Finish: "stop", Usage: tokensOf(3, 4),
	}
	if !t.OneThing {
		return []View{t.known(all)}
	}
	return t.distinct(
		View{ID: all.ID, Text: all.Text}, View{ID: all.ID, Calls: all.Calls},
		View{ID: all.ID, Finish: all.Finish}, View{ID: all.ID, Usage: all.Usage},
	)
}

// distinct returns the views that say anything besides an id.
func (t *trial[C]) distinct(views ...View) []View {
	var kept []View
	for _, v := range views {
		v = t.known(v)
		if v.Text != "" || v.Calls != nil || v.Finish != "" || v.Usage != nil {
			kept = append(kept, v)
		}
	}
	return kept
}

func tokensOf(prompt, completion int) *adapter.Usage {
	return &adapter.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}
}

// kitAgrees checks the kit itself.
func kitAgrees[C any](t *trial[C]) {
	for _, v := range t.samples() {
		t.same(v, t.View(t.Make(v)),
			"View(Make(v)) must be v; if the SDK's type has no place for a field, say so in Lacks, "+
				"and if it can't hold all of this at a time, set OneThing:")
	}
}
