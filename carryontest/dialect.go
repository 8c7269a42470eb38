package carryontest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/carryon-go/carryon/adapter"
)

// DialectKit is what [TestDialect] needs of an adapter: its dialect, and functions that write and read values of the SDK's
// type C.
type DialectKit[C any] struct {
	// New returns the dialect of a new call.
	New func() adapter.Dialect[C]
	// Make returns a new value as the SDK would give it, with the content of the view and nothing else.
	Make func(View) C
	// View returns the content of a value. It reverses Make.
	View func(C) View

	// Kind says what a C is. The zero value means a chunk of a stream.
	Kind DialectKind
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

// DialectKind is what a dialect is for.
type DialectKind uint8

// The kinds of dialects.
const (
	ChunkDialect    DialectKind = iota // the chunks of a stream that is pulled: middleware.NewStream
	AnswerDialect                      // a whole answer: middleware.Unary
	CallbackDialect                    // what a callback is given: middleware.NewFilter
)

// Fields is a set of the fields of a [View].
type Fields uint8

// The fields that an SDK's type may lack. A [CallbackDialect] lacks FieldFinish and
// FieldUsage anyway.
const (
	FieldID     Fields = 1 << iota // the answer's id
	FieldRole                      // the role
	FieldCalls                     // tool calls
	FieldIndex                     // a call's index
	FieldCallID                    // a call's id
	FieldType                      // a call's type
	FieldFinish                    // the finish reason
	FieldUsage                     // the usage
)

// View is the part of a chunk, or of a whole answer, that concerns the engine.
type View struct {
	ID     string // of the answer
	Role   string
	Text   string
	Calls  []ViewCall
	Finish string         // "" for none
	Usage  *adapter.Usage // nil for none; Total is the sum
	// Bare says that a chunk has no choices, so that it can hold only usage. It is always false if the SDK has no such
	// chunks.
	Bare bool
}

// ViewCall is a tool call in a whole answer, or a fragment of one in a chunk.
type ViewCall struct {
	Index           int // adapter.NoIndex for none, as in whole answers
	ID, Type        string
	Name, Arguments string
}

// String describes the content of the view.
func (v View) String() string {
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
		parts = append(parts, call.String())
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

// String describes the call.
func (c ViewCall) String() string {
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
//	carryontest.TestDialect(t, carryontest.DialectKit[sdk.Chunk]{
//		New:  func() adapter.Dialect[sdk.Chunk] { return &chunks{} },
//		Make: makeChunk,
//		View: viewChunk,
//	})
//
// It panics if New, Make or View is nil.
func TestDialect[C any](t *testing.T, kit DialectKit[C]) {
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
func rulesFor[C any](kit DialectKit[C]) []rule[C] {
	if kit.New == nil || kit.Make == nil || kit.View == nil {
		panic("carryontest: a DialectKit needs New, Make and View")
	}
	rules := []rule[C]{{name: "Make and View agree", check: kitAgrees[C], first: true}}
	rules = append(rules, shownRules(kit)...)
	rules = append(rules, callRules(kit)...)
	return append(rules, stopRules(kit)...)
}

// findings returns how the dialect breaks a rule.
func findings[C any](ctx context.Context, kit DialectKit[C], r rule[C]) []string {
	if kit.Kind == CallbackDialect {
		kit.Lacks |= FieldFinish | FieldUsage
	}
	trial := &trial[C]{DialectKit: kit, ctx: ctx}
	r.check(trial)
	return trial.problems
}

// trial is one rule applied to a dialect.
type trial[C any] struct {
	DialectKit[C]

	ctx      context.Context //nolint:containedctx // that of the test
	problems []string
}

func (t *trial[C]) errorf(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// same checks that two values have the same printed form.
func (t *trial[C]) same(want, got any, advice string, args ...any) bool {
	if fmt.Sprint(want) == fmt.Sprint(got) {
		return true
	}
	t.errorf("%s\n  want %v\n  got  %v", fmt.Sprintf(advice, args...), want, got)
	return false
}

func (t *trial[C]) lacks(f Fields) bool { return t.Lacks&f != 0 }

// known returns the view without the fields that the SDK's type lacks.
func (t *trial[C]) known(v View) View {
	if t.lacks(FieldID) {
		v.ID = ""
	}
	if t.lacks(FieldRole) {
		v.Role = ""
	}
	if t.lacks(FieldFinish) {
		v.Finish = ""
	}
	if t.lacks(FieldUsage) {
		v.Usage = nil
	}
	calls := v.Calls
	v.Calls = nil
	for _, call := range calls {
		if !t.lacks(FieldCalls) {
			v.Calls = append(v.Calls, t.knownCall(call))
		}
	}
	return v
}

func (t *trial[C]) knownCall(c ViewCall) ViewCall {
	if t.lacks(FieldIndex) || t.Kind == AnswerDialect {
		c.Index = adapter.NoIndex
	}
	if t.lacks(FieldCallID) {
		c.ID = ""
	}
	if t.lacks(FieldType) {
		c.Type = ""
	}
	return c
}

// make returns the SDK's value for the view, without the fields that the type lacks.
func (t *trial[C]) make(v View) C { return t.Make(t.known(v)) }

// samples are values with as many fields set as the SDK's type holds at a time.
func (t *trial[C]) samples() []View {
	call := ViewCall{ID: "call-1", Type: "function", Name: "edit", Arguments: `{}`}
	all := View{
		ID: "first", Role: "assistant", Text: "Text.", Calls: []ViewCall{call},
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
