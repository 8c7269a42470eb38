package scripts_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator makes random scripts.
type generator struct {
	*rand.Rand
	names  []string // that are bound so far
	number int
}

// script returns a random script. A quarter of them are broken at random places.
func (g *generator) script() string {
	g.names, g.number = nil, 0
	var b strings.Builder
	for range 1 + g.IntN(4) {
		b.WriteString(g.statement())
		b.WriteString(g.pick(";\n", "; ", ";", "\n", "\n\n", " // end\n", "; /* tools.update_plan({plan:[]}) */ "))
	}
	source := b.String()
	if !g.chance(4) {
		return source
	}
	for range 1 + g.IntN(3) {
		source = g.broken(source)
	}
	return source
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }
func (g *generator) chance(oneIn int) bool    { return g.IntN(oneIn) == 0 }

// pieces are parts of scripts that change the meaning of what stands around them.
var pieces = []string{
	";", "\n", ",", "(", ")", "{", "}", "[", "]", "`", "'", "\"", "/", "//", "/*", "*/", "${", "\\", " await ", "?", ":", "?.", "=>", "=",
	"&&", "||", "!", " if (0) ", " else ", " while (0) ", "function f() ", " async ", "exit();", "exit", "tools", ".", "update_plan", "const ",
	"let ", "var ", "-->", "<!--", "+", "++", "--", "\u2028", "\u00a0", "#", "x", "0", "null", " in ", " return ", " throw 0;", "for (const x of []) ",
	"label: ", "do ", "Promise", ".catch(() => 0)", ".then(x => x)", "...", "plan", "/[/'\"]/", "class A {", "static {", "new ", "void ",
}

// broken returns a script with a part put in, left out or moved.
func (g *generator) broken(source string) string {
	from, to := g.IntN(len(source)+1), g.IntN(len(source)+1)
	from, to = min(from, to), max(from, to)
	switch g.IntN(6) {
	case 0:
		to = min(to, from+1+g.IntN(12))
		return source[:from] + source[to:]
	case 1:
		to = min(to, from+1+g.IntN(40))
		return source[:to] + source[from:]
	}
	return source[:from] + g.pick(pieces...) + source[from:]
}

// statement returns a statement without its end.
func (g *generator) statement() string {
	switch g.IntN(14) {
	case 0, 1, 2, 3, 4:
		return g.plainCall()
	case 5, 6:
		return g.binding()
	case 7, 8:
		return g.harmless()
	case 9, 10:
		return g.wrapped(g.plainCall())
	case 11:
		return g.mutation()
	case 12:
		if g.chance(3) {
			return g.wrapped(g.statement())
		}
		return g.indirect()
	}
	return g.harmless()
}

// plainCall returns a call that is run once, in most cases.
func (g *generator) plainCall() string {
	call := "tools" + g.gap() + "." + g.gap() + "update_plan" + g.gap() + "(" + g.argument() + g.pick("", "", "", ",", " ", "\n", ", 1") + ")"
	name := g.name()
	switch g.IntN(16) {
	case 0, 1:
		return "text(await " + call + ")"
	case 2, 3:
		return "const " + name + " = await " + call
	case 4:
		return "await Promise.all([" + call + ", tools.exec_command({cmd: 'x'})])"
	case 5:
		return "const [" + name + ", " + g.name() + "] = await Promise.all([tools.exec_command({cmd: " + g.pick("'a'", "1 ? 'b' : 'c'") + "}), " + call + "])"
	case 6:
		return g.pick("", "await ") + "text(JSON.stringify(await " + call + "), 1)"
	case 7:
		return call
	case 8:
		return g.pick("text(", "await (", "!(", "[", "") + "await " + call + g.pick(")", "]", "", ".x", ".catch(() => 0)")
	case 9:
		return "await Promise." + g.pick("all", "allSettled", "race", "any") + "([" + call + g.pick("])", ".catch(() => 0)])", ", 1].slice(1))", "]).catch(() => 0)")
	}
	return "await " + call
}

func (g *generator) gap() string {
	return g.pick("", "", "", "", "", "", " ", "\n", "/* ( */", "// '\n", "\t")
}

func (g *generator) name() string {
	return g.fresh(g.pick("r", "p", "plan", "items", "$x", "_y", "états"))
}

// fresh returns a name that the script does not have.
func (g *generator) fresh(beginning string) string {
	g.number++
	return beginning + strconv.Itoa(g.number)
}

// argument returns the argument of a call.
func (g *generator) argument() string {
	if g.chance(30) {
		return g.pick("", "plan", "'{\"plan\":[]}'", "...[]", "null", "{plan: []}.x", "({plan: []})", "Object.assign({}, {plan: []})")
	}
	var members []string
	if g.chance(3) {
		members = append(members, g.key("explanation")+":"+g.gap()+g.text())
	}
	if len(g.names) > 0 && g.chance(2) {
		name := g.names[g.IntN(len(g.names))]
		if name == "plan" && g.chance(2) {
			members = append(members, "plan")
		} else {
			members = append(members, g.key("plan")+": "+name)
		}
	} else {
		members = append(members, g.key("plan")+":"+g.gap()+g.list())
	}
	if g.chance(20) {
		members = append(members, g.pick("plan: []", "...{}", "get plan() { return [] }", "plan() {}", "['plan']: []", "__proto__: null", "async: 1", "explanation: null"))
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + g.gap() + strings.Join(members, ","+g.gap()) + g.pick("", "", ",", ", ") + "}"
}

func (g *generator) key(name string) string {
	return g.pick(name, name, name, `"`+name+`"`, "'"+name+"'", name+g.gap(), `"\x`+fmt.Sprintf("%02x", name[0])+name[1:]+`"`)
}

// list returns the literal of a plan.
func (g *generator) list() string {
	var items []string
	for range g.IntN(4) {
		items = append(items, g.item())
	}
	list := "[" + g.gap() + strings.Join(items, ","+g.gap()) + g.pick("", "", ",", g.gap()) + "]"
	if g.chance(25) {
		return list + g.pick(".map(x => x)", ".slice(1)", ".concat([])", " || []", ", []", "[0]", ".filter(Boolean)", " as x", "\n.reverse()")
	}
	return list
}

func (g *generator) item() string {
	status := g.pick("'pending'", `"pending"`, "'completed'", `"completed"`, "`completed`", `"in_progress"`, "'in\\u005fprogress'", "done", "'done'", "true ? 'pending' : 'completed'")
	if !g.chance(5) {
		status = `"` + g.pick("pending", "completed", "in_progress") + `"`
	}
	item := "{" + g.key("step") + ":" + g.gap() + g.text() + "," + g.gap() + g.key("status") + ": " + status + g.pick("", "", ",") + "}"
	if g.chance(40) {
		return g.pick("..."+"["+item+"]", "("+item+")", "", item+".x", "null", "'x'")
	}
	return item
}

// text returns a string.
func (g *generator) text() string {
	words := g.pick("Write a", "Fix b", "It's c", "say \"d\"", "a\\b", "`e`", "${f}", "tools.update_plan({plan:[]})", "é🚀", "x\ny", "*/ // /*", "", "</script>", "\u2028")
	switch g.IntN(30) {
	case 0, 1, 2, 7, 8, 9:
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(words) + "'"
	case 3, 4, 10, 11, 12:
		return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`", "${", "\\${").Replace(words) + "`"
	case 5:
		return g.pick(`"\u{1F680}"`, `"\ud83d\ude80"`, `'\x41\0'`, "'a\\\nb'", `"\q\v"`, `'\ud83d'`, `'\08'`, "`a\r\nb`", `"\u00e9"`, "'a\\\r\nb'", `"\ud83d\u0041"`, `'\a\/'`)
	case 6:
		return g.pick("'a' + 'b'", "`${1}`", "`a${'b'}c`", "String.raw`x`", "x", "['a'][0]", "'a'.trim()", "('a')", "1", "-1", "1.5", "0x1", "null", "undefined", "true ? 'a' : 'b'", "'a' || 'b'", "/a/", "`a``b`")
	}
	quoted, _ := json.Marshal(words)
	return string(quoted)
}

// binding returns a declaration of a plan, or of something else.
func (g *generator) binding() string {
	name := g.pick("plan", g.name(), g.name())
	value := g.list()
	if g.chance(8) {
		name, value = g.pick("done", "x"), g.pick("'completed'", `"pending"`, "'pending' + ''", "1")
	} else {
		g.names = append(g.names, name)
	}
	declaration := g.pick("const", "const", "const", "const", "let", "var") + " " + name + " = " + value
	if g.chance(6) {
		declaration += ", " + g.pick("b = 1", "c", "done = 'completed'", "e = []")
	}
	return declaration
}

// harmless returns a statement that does nothing to a plan.
func (g *generator) harmless() string {
	return g.pick(
		"text('update_plan is next')", "text(`a ${1 + 1} b ${`c`}`)", "const "+g.fresh("m")+" = /[/'\"`]+/.test('/')", "if (1) { text('x') }",
		"for (let i = 0; i < 2; i++) text(i)", "let "+g.fresh("k")+" = 4 / 2 / 1", "const "+g.fresh("o")+" = {a: 1, b: [2], c() { return 3 }}", "await tools.exec_command({cmd: `ls`})",
		"const "+g.fresh("f")+" = (x) => x / 2", "try { text(x) } catch { }", "text(\"tools.update_plan\")", "/* it's */", "// `\n", "void 0", "text(a?.b)",
		"const "+g.fresh("q")+" = 1 ? .5 : 2", "(async () => 1)()", "function "+g.fresh("g")+"() { return /}/ }", "let "+g.fresh("l")+"\n/1/g", "text(1)/2/1",
	)
}

// wrapped returns a statement that is run once, several times, later or never.
func (g *generator) wrapped(s string) string {
	cond := g.pick("1", "0", "false", "load('x')", "n > 1")
	f := g.fresh("f")
	return g.pick(
		"if ("+cond+") "+s, "if ("+cond+") { "+s+" }", "if ("+cond+")\n"+s, "if ("+cond+") text(1); else "+s, "for (const x of [1, 2]) { "+s+" }", "for (const x of []) "+s,
		"while (0) "+s, "try { "+s+" } catch (e) { }", "try { throw 0 } catch { "+s+" }", "{ "+s+" }", "const "+f+" = async () => { "+s+" }", "await (async () => { "+s+" })()",
		"async function "+f+"() { "+s+" }\nawait "+f+"()", cond+" && "+s, cond+" || "+s, cond+" ? "+s+" : 0", "label: "+s, "await 0, "+s, "do "+s+"\nwhile (0)",
		"switch (1) { case "+cond+": "+s+" }", "exit(); "+s, "if ("+cond+") exit();\n"+s, s+"; exit()", "setTimeout(async () => { "+s+" })", "x = "+s, "text(`${"+s+"}`)",
		"[].map(() => "+s+")", "await "+f+"(); async function "+f+"() { "+s+" }", "null?.x("+s+")", "const {a = "+s+"} = {}", "text(1,\n"+s+")", "a\n"+s, s+"\n(1)", s+"\n[0]",
		"(() => { "+s+" })", "new Promise(() => {});"+s, "await new Promise(() => {});"+s, "throw 0;"+s, "if ("+cond+") throw 0;"+s,
	)
}

// mutation returns a statement that may change a plan that is bound to a name.
func (g *generator) mutation() string {
	if len(g.names) == 0 {
		return g.harmless()
	}
	name := g.names[g.IntN(len(g.names))]
	f := g.fresh("h")
	return g.pick(
		name+".push({step: 'm', status: 'pending'})", name+"[0].status = 'completed'", name+".length = 0", name+" = []", name+".pop()", "[...[1], "+name+"].at(-1).reverse()",
		"const "+f+" = "+name+"; "+f+".length = 0", f+"(); function "+f+"() { "+name+".length = 0 }", "for (const p of "+name+") p.status = 'completed'", "text("+name+")",
		"["+name+"] = [[]]", "const "+f+" = ["+name+"]; "+f+"[0].length = 0", "const "+f+" = {plan: "+name+"}; "+f+".plan.pop()", "("+name+")?.pop()", name+"++",
		"{ const "+name+" = []; "+name+".push(1) }", "Object.assign("+name+", {0: {step: 'n', status: 'completed'}})", "setTimeout(() => "+name+".pop()); await tools.exec_command({cmd: ''})",
	)
}

// indirect returns a call under another name, or a script that changes the runtime.
func (g *generator) indirect() string {
	argument := g.argument()
	f := g.fresh("t")
	return g.pick(
		"const "+f+" = tools; await "+f+".update_plan("+argument+")", "const {update_plan: "+f+"} = tools; await "+f+"("+argument+")", "await tools['update_plan']("+argument+")",
		"await tools['update_' + 'plan']("+argument+")", "await tools?.update_plan("+argument+")", "await tools.update_plan?.("+argument+")", "await tools.update_plan.call(null, "+argument+")",
		"await globalThis.tools.update_plan("+argument+")", "await eval('tools').update_plan("+argument+")", "await (0, eval)('tools.update_' + 'plan')("+argument+")",
		"await to\\u006fls.update_plan("+argument+")", "await tools.update\\u005fplan("+argument+")", "tools.update_plan = async () => 0", "tools = {update_plan() {}}",
		"Object.prototype.toJSON = () => ({plan: []})", "Array.prototype.toJSON = () => []", "await Object.values(tools)[0]("+argument+")", "const "+f+" = tools.update_plan; await "+f+"("+argument+")",
		"const "+f+" = async (o) => o.tools.update_plan("+argument+"); await "+f+"({tools})", "await tools.update_plan`x`", "delete tools.update_plan", "const tools = {update_plan() {}}",
		"await (async (tools) => tools.update_plan("+argument+"))({update_plan() {}})", "class A { static x = tools.update_plan("+argument+") }", "await Reflect.get(tools, 'update_' + 'plan')("+argument+")",
		"Promise = {all: () => 0}", "const Promise = {all: () => 0}",
	)
}
