package jslist_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/agentlists/jslist"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// read returns what Read returns, as JSON.
func read(t *testing.T, source string) string {
	t.Helper()
	value, err := jslist.Read(source)
	require.NoError(t, err, source)
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

const (
	plan  = `{"plan":[{"status":"completed","step":"a"},{"status":"pending","step":"b"}]}`
	none  = "null"
	call  = "await tools.update_plan(" + plan + ")"
	other = `await tools.update_plan({plan: [{step: "other", status: "pending"}]})`
)

// The ways in which models write a plan.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		call, call + ";", "\ufeff" + call + " ",
		`const r = await tools.update_plan({plan:[{step:"a","status":"completed"},{"step":'b',status:` + "`pending`" + `}]}); text(r);`,
		`text(await tools.update_plan({plan: [{step: "a", status: "completed"}, {step: "b", status: "pending"},],},));`,
		`const plan = [ {step:"a",status:"completed"}, {step:"b",status:"pending"}, ]; await tools.update_plan({plan});`,
		"const p = [{step:'a',status:'completed'}, {step:'b',status:'pending'}]\nconst r = await tools.update_plan({plan:p})\ntext(r)",
		"const done = 'completed', todo = 'pending'; let items = [{step: 'a', status: done}, {step: 'b', status: todo}]; await tools.update_plan({plan: items}); text(items.length)",
		"const status = 'completed'; const first = {step: 'a', status: 'completed'}; await tools.update_plan({plan: [{step: 'a', status}, {step: 'b', status: 'pending'}]})",
		other + "; " + call, other + "\n" + call + "\nconst a = await tools.exec_command({cmd: `ls ${1}`}); text(a.output)",
		"const [r, a] = await Promise.all([" + call[len("await "):] + ", tools.exec_command({cmd: x ? 'a' : 'b'})]);",
		"await text(JSON.stringify(await " + call[len("await "):] + "), 1)",
		"// @exec: {\"yield_time_ms\": 10}\n/* tools.update_plan({}) */ await tools /* . */ . update_plan\n(" + plan + ")",
		"if (x) { text('update_plan') } else text(1)\n" + call, "const f = () => {}\n" + call, "let r; r = " + call, "const re = /[/\"'`]/g; " + call, "text(`a${`b${1}`}c`); " + call,
		"const n = a / b; " + call + "; text(n / 2)", call + "; exit()", "try { text(1) } catch (e) { throw e } " + call, "x = y ? .5 : 2; " + call, "text(r.exit_code, r.exit)\n" + call,
		`await tools.update_plan({"pl\u0061n": [{"\x73tep": "\u{61}", status: 'comp\
leted'}, {st` + "\\u0065p" + `: 1, step: "b", "status": "pending"}]})`,
	} {
		if strings.Contains(source, `{st\u0065p`) {
			_, err := jslist.Read(source)
			require.Error(t, err, "an escape in a name")
			continue
		}
		assert.JSONEq(t, plan, read(t, source), source)
	}
	assert.JSONEq(t, `{"a":"x\ny\u0000\"\ud83d\ude80\u000b'`+"`"+`${","b":[1,0.5,true,false,null],"if":{}}`,
		read(t, `await tools.update_plan({a: "x\ny\0\"\ud83d\ude80\v'`+"`"+`${", b: [1, 0.5, true, false, null], if: {}, b: [1, 0.5, true, false, null]})`))
	assert.JSONEq(t, `{"a":"b\nc"}`, read(t, "await tools.update_plan({a: `b\r\nc`})"))
}

func TestScriptsWithoutACall(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"", "text('update_plan')", "await tools.exec_command({cmd: 'rg update_plan'})", "// tools.update_plan({plan: []})", "/tools.update_plan()/.test(x)",
		"text(config.tools.length)", "const r = {a: 1}; for (const x of ALL_TOOLS) text(x.name)",
	} {
		assert.Equal(t, none, read(t, source), source)
	}
}

// What a script does is not guessed.
func TestScriptsThatAreNotRead(t *testing.T) {
	t.Parallel()
	const (
		syntax   = "its script has a syntax that carryon does not read"
		computed = "its script computes the list"
		maybe    = "its script does not call it in every case, or not with await"
		indirect = "its script may call it under another name"
	)
	promise := call[len("await "):]
	for source, want := range map[string]string{
		promise: maybe, "if (x) " + call: maybe, "if (x)\n" + call: maybe, "if (x) {" + call + "}": maybe, "if (x) 1; else\n" + call: maybe, "x && " + call: maybe, "x ? " + call + " : 1": maybe,
		"for (;;) " + call: maybe, "while (0)\n" + call: maybe, "do " + call + "\nwhile (0)": maybe, "l: " + call: maybe, "(() => " + promise + ")": maybe,
		"const f = async () => " + call: maybe, "async function f() { " + call + " }": maybe, "try { " + call + " } catch {}": maybe, "text(x, y && " + call + ")": maybe,
		call + ".catch(() => 1)": maybe, call + "\n(1)": maybe, "x?.y(" + call + ")": maybe, "await Promise.allSettled([" + promise + "])": maybe, "await Promise.all([" + promise + "]).catch(f)": maybe,
		"Promise.all([" + promise + "])": maybe, "await Promise.all([" + promise + "].map(f))": maybe, "const {a = " + call + "} = {}": maybe, "exit(); " + call: maybe, "if (x) exit()\n" + call: maybe,
		"await text(await " + promise + ", exit())": maybe, "stop(); " + call + "; function stop() { exit() }": maybe, "Object.prototype.toJSON = f; " + call: maybe, "for await (x of y)\n" + call: maybe,
		call + "; if (x) " + call: maybe, "text(`${" + call + "}`)": maybe, "[" + call + "]": maybe, "async (x = " + call + ") => 1": maybe, "class A { static x = " + call + "}": maybe, "x ||= " + call: maybe,

		"const {update_plan} = tools; update_plan({})": indirect, "const t = tools; t.update_plan({})": indirect, "await tools['update_' + 'plan']({})": indirect, "await tools?.update_plan({})": indirect,
		"tools.update_plan = f": indirect, "eval('x')": indirect, "globalThis.tools.update_plan({})": indirect, "f.constructor('x')()": indirect, "text('tools.update_plan({plan: []})')": indirect,
		"const tools = {}; " + call: indirect, "f(tools)": indirect, "const x = tools.update_plan; " + call: indirect, "const Promise = f; await Promise.all([" + promise + "])": indirect,

		"await tools.update_plan()": computed, "await tools.update_plan(plan)": computed, "await tools.update_plan('{\"plan\":[]}')": computed, "await tools.update_plan({plan: x})": computed,
		"await tools.update_plan({plan: [].map(f)})": computed, "await tools.update_plan({plan: [...x]})": computed, "await tools.update_plan({...x})": computed, "await tools.update_plan({plan: `${1}`})": computed,
		"await tools.update_plan({plan: 'a' + 'b'})": computed, "await tools.update_plan({['plan']: []})": computed, "await tools.update_plan({plan() {}})": computed, "await tools.update_plan({get plan() {}})": computed,
		"await tools.update_plan({__proto__: {}})": computed, "await tools.update_plan({'__proto__': {}})": computed, "await tools.update_plan({plan: [,]})": computed, "await tools.update_plan({}, 1)": computed,
		"await tools.update_plan({a: 0x1})": computed, "await tools.update_plan({a: 01})": computed, "await tools.update_plan({a: 1e3})": computed, "await tools.update_plan({a: -1})": computed, "await tools.update_plan({1: 1})": computed,
		`await tools.update_plan({a: '\08'})`: computed, `await tools.update_plan({a: '\ud83d'})`: computed, `await tools.update_plan({a: '\ud83d\u0041'})`: computed, `await tools.update_plan({a: '\xg1'})`: computed, `await tools.update_plan({a: '\u{110000}'})`: computed,
		"let p = []; p = [1]; await tools.update_plan({plan: p})": computed, "const p = []; p.push(1); await tools.update_plan({plan: p})": computed, "const p = []; const q = p; await tools.update_plan({plan: p})": computed,
		"const p = []; f(); await tools.update_plan({plan: p}); function f() { p.push(1) }": computed, "const p = [].x; await tools.update_plan({plan: p})": computed, "const p = []\n.x; await tools.update_plan({plan: p})": computed,
		"var p = []; await tools.update_plan({plan: p})": computed, "if (x) { const p = [] } await tools.update_plan({plan: p})": computed, "const a = {}; const p = [a]; await tools.update_plan({plan: p})": computed,
		"await tools.update_plan({plan: p}); const p = []": computed, "const p = [1] as x; await tools.update_plan({plan: p})": computed, "await tools.update_plan({if})": computed,
		"await tools.update_plan({plan: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "})": computed,

		"x = {} / 2; " + call: syntax, "#!x\n" + call: syntax, "to\\u006fls.update_plan({})": syntax, call + " '": syntax, call + "\n--> x": syntax, call + " <!-- x": syntax, call + " /*": syntax, call + ")": syntax,
		"(" + call: syntax, "(" + call + "]": syntax, "`${" + call: syntax, "`" + call: syntax, call + "; /x": syntax, call + "\x00": syntax, call + "\xff": syntax, "for (x of /a/g) " + call: syntax,
		"await (x) /2/ 1; " + call: syntax, strings.Repeat("[", 300) + strings.Repeat("]", 300) + call: syntax,
		call + "//" + strings.Repeat("x", 256<<10): "its script is too long",
	} {
		got, err := jslist.Read(source)
		require.EqualError(t, err, want, source)
		assert.Nil(t, got)
	}
}

func TestMayCall(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"": false, "text(await tools.exec_command({cmd: 'x'}))": false, call: true, "tools [x]": true, "f(tools)": true, `to\u006fls`: true, "eval(x)": true, "x = tools": true,
	} {
		assert.Equal(t, want, jslist.MayCall(source), source)
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]struct {
		state jslist.State
		cell  string
	}{
		"Script completed\nWall time 0.1 seconds\nOutput:\n\n{}":       {jslist.Completed, ""},
		"Script failed\nWall time 0.0 seconds\nOutput:\nScript error:": {jslist.Failed, ""},
		"Script running with cell ID 12\nWall time 10 seconds":         {jslist.Running, "12"},
		"aborted by user after 3.1s":                                   {jslist.Unknown, ""},
		"Script completed the list":                                    {jslist.Unknown, ""},
		"":                                                             {jslist.Unknown, ""},
	} {
		state, cell := jslist.StateOf(result)
		assert.Equal(t, want.state, state, result)
		assert.Equal(t, want.cell, cell, result)
	}
}

// A list is not expanded: a constant that occurs often is there once.
func TestConstantsAreCounted(t *testing.T) {
	t.Parallel()
	source := "const a = '" + strings.Repeat("x", 64<<10) + "'; await tools.update_plan({plan: [" + strings.Repeat("a,", 17) + "]})"
	_, err := jslist.Read(source)
	require.Error(t, err)
}

func BenchmarkReadIsLinear(b *testing.B) {
	for _, unit := range []string{
		"(", "[{", "`${", "const a=[];", "text(a);", "a / b;", "/a/;", "\n", "/* */", "'\\n'", "tools.x();", "tools.update_plan({}) ;", call + ";", "const x = 'a', b = {};", "`a`", "Promise.all([",
		"await tools.update_plan({a: x});const x=[];", "function a(){}", "tools", "x\n",
	} {
		for _, tail := range []string{"", call} {
			of := func(size int) func() {
				source := strings.Repeat(unit, size/len(unit)) + tail
				return func() { _, _ = jslist.Read(source); _ = jslist.MayCall(source) }
			}
			const size = 16 << 10
			measure.Linear(b, strconv.Quote(unit)+" "+tail, of(size), of(measure.Longer*size))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(call)
	f.Add("const plan = [{step: `a`, status: 'pending'}]; text(await tools.update_plan({plan}));")
	f.Add("const [a] = await Promise.all([tools.update_plan({'a': \"\\u{61}\\x41\"}), f(/[/]/)]) // x\n;if (x) exit()")
	f.Fuzz(func(t *testing.T, source string) {
		value, err := jslist.Read(source)
		if err != nil {
			assert.Nil(t, value)
			return
		}
		if value != nil {
			assert.Contains(t, source, "update_plan")
			assert.True(t, jslist.MayCall(source))
			_, err = json.Marshal(value)
			require.NoError(t, err)
		}
		again, err := jslist.Read(source + "\n//")
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(value), fmt.Sprint(again), "a comment changes nothing")
	})
}
