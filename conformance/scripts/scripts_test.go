package scripts_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/agentlists"
	"github.com/carryon-go/carryon/todo"
)

// ending is how a script went in an engine.
type ending struct {
	State string `json:"state"`
	Plan  string `json:"plan"` // the arguments of the last call of update_plan, as JSON; "" if there was none
}

//go:embed engine.js
var engine string

// inGoja runs a script in goja, as the body of an async function: it knows no modules.
func inGoja(t *testing.T, source string) ending {
	t.Helper()
	vm := goja.New()
	vm.SetFieldNameMapper(goja.TagFieldNameMapper("json", true))
	watchdog := time.AfterFunc(time.Second, func() { vm.Interrupt("a script without end") })
	defer watchdog.Stop()
	value, err := vm.RunString(engine)
	require.NoError(t, err)
	e := value.ToObject(vm)
	globals := e.Get("globals").ToObject(vm)
	for _, name := range globals.Keys() {
		require.NoError(t, vm.Set(name, globals.Get(name)))
	}
	method := func(name string, arguments ...goja.Value) goja.Value {
		f, ok := goja.AssertFunction(e.Get(name))
		require.True(t, ok)
		result, err := f(e, arguments...)
		if err != nil {
			return goja.Undefined()
		}
		return result
	}
	run, err := vm.RunString("(async () => { 'use strict'; " + source + "\n})")
	if err != nil {
		return ending{State: "failed"}
	}
	method("start", run)
	for more := true; more; {
		more = method("step").ToBoolean()
	}
	var end ending
	require.NoError(t, vm.ExportTo(method("state"), &end))
	return end
}

// older is the list of the conversation before the script.
var older = todo.Call{Name: "update_plan", Arguments: `{"plan":[{"step":"older","status":"pending"}]}`, Answered: true}

func locate(t *testing.T, calls ...todo.Call) ([]todo.Todo, todo.Origin, error) {
	t.Helper()
	ctx := todo.WithConversation(t.Context(), slices.Values(calls))
	source, ok := todo.FromConversation(agentlists.Readers()...).(todo.Locator)
	require.True(t, ok)
	return source.Locate(ctx)
}

// verdict is what carryon made of a script.
type verdict string

const (
	unreadable verdict = "the list could not be read"
	keptOlder  verdict = "the older list was kept"
	read       verdict = "the list was read"
	notRun     verdict = "the script failed or did not end"
)

// judge fails the test if carryon reads another list than the engine has.
func judge(t *testing.T, source string, end ending) verdict {
	t.Helper()
	result := map[string]string{"completed": "Script completed", "failed": "Script failed", "running": "Script running with cell ID 1"}[end.State]
	script := todo.Call{Name: "exec", Arguments: source, Result: result + "\nWall time 0.1 seconds\nOutput:\n\n{}", Answered: true}
	got, origin, err := locate(t, script, older)
	if errors.Is(err, todo.ErrUnreadable) {
		return unreadable
	}
	require.NoError(t, err, source)
	want := older
	if end.State == "completed" && end.Plan != "" {
		want.Arguments = end.Plan
	}
	wanted, _, err := locate(t, want)
	require.NoError(t, err, "carryon reads a plan that it should refuse: %s\n%s", end.Plan, source)
	require.Equal(t, wanted, got, "the script ended as %+v:\n%s", end, source)
	switch {
	case end.State != "completed":
		return notRun
	case end.Plan == "":
		assert.Empty(t, origin.Unconfirmed)
		return keptOlder
	}
	return read
}

// scripts is how many scripts the tests run in goja.
const scripts = 3000

// scriptsFor returns random scripts.
func scriptsFor(seed uint64, n int) []string {
	g := generator{Rand: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // reproducible
	sources := make([]string, n)
	for i := range sources {
		sources[i] = g.script()
	}
	return sources
}

// logVerdicts logs how many scripts were read, and requires that some were.
func logVerdicts(t *testing.T, verdicts map[verdict]int) {
	t.Helper()
	for v, n := range verdicts {
		t.Logf("%6d scripts: %s", n, v)
	}
	for _, v := range []verdict{unreadable, keptOlder, read, notRun} {
		assert.Positive(t, verdicts[v], v)
	}
}

func TestScriptsInGoja(t *testing.T) {
	t.Parallel()
	verdicts := map[verdict]int{}
	for _, source := range scriptsFor(1, scripts) {
		verdicts[judge(t, source, inGoja(t, source))]++
	}
	logVerdicts(t, verdicts)
}

// What the test in node runs, as in: go test ./scripts -run Node -scripts 20000 -seed 7.
var (
	count = flag.Int("scripts", 1000, "how many `scripts` run in node")
	seed  = flag.Uint64("seed", 2, "the `seed` of these scripts")
)

// The engine of Codex is V8, as that of node.
func TestScriptsInNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	sources := scriptsFor(*seed, *count)
	input, err := json.Marshal(sources)
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), node, "--no-warnings", "--experimental-vm-modules", "node.mjs")
	c.Stdin = bytes.NewReader(input)
	output, err := c.Output()
	require.NoError(t, err)
	var ends []ending
	require.NoError(t, json.Unmarshal(output, &ends))
	require.Len(t, ends, *count)
	require.NoError(t, json.Unmarshal(input, &sources)) // as node has read them
	verdicts := map[verdict]int{}
	for i, end := range ends {
		verdicts[judge(t, sources[i], end)]++
	}
	logVerdicts(t, verdicts)
}
