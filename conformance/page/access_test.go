package page

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// focused evaluates to the name of the element with the focus.
const focused = `(() => { const e = document.activeElement; return e.value && e.type === "radio" ? e.name + " " + e.value : e.id || e.parentElement.className })()`

// The keyboard reaches and uses everything, in the order of the page, and the
// focus is visible.
func TestPageByKeyboard(t *testing.T) {
	v := storyOf(t).look(t, desk(), "")
	for _, want := range []string{"zone local", "live", "range all", "plot", "view sessions", "search", "downloads", "downloads", "filter all", "session"} {
		v.press(kb.Tab)
		assert.Equal(t, want, value[string](v, focused))
		assert.Equal(t, "solid 2px", value[string](v, `(() => {
			const e = document.activeElement, seen = getComputedStyle(e.type === "radio" ? e.nextElementSibling : e);
			return seen.outlineStyle + " " + seen.outlineWidth })()`), want)
	}
	v.press(kb.Enter) // opens the session
	v.await(`document.querySelector(".session[open] .request")`)
	v.press(kb.Tab + kb.Tab)
	assert.True(t, value[bool](v, `document.activeElement.matches(".session[open] .request > summary")`))
	v.press(kb.Enter) // opens a request in it
	v.await(`document.querySelector(".session .request[open] dl")`)
	v.press(kb.Tab)
	assert.True(t, value[bool](v, `document.activeElement.matches(".request[open] [data-session]")`))
	v.press(kb.Enter) // shows only its session
	assert.Equal(t, []string{"fix-login-bug"}, v.texts(".only"))

	v.run(`document.querySelector("[name=filter]:checked").focus()`)
	v.press(kb.ArrowRight)
	assert.Equal(t, "filter open", value[string](v, focused))
	assert.Empty(t, v.texts(".session"))
	v.run(`document.querySelector("[name=zone]:checked").focus()`)
	v.press(kb.ArrowRight)
	assert.Contains(t, v.text("#about"), "since 08:04:00")
	v.press(kb.Tab + " ") // stops the updates
	assert.Equal(t, "false", value[string](v, `document.querySelector("#live").getAttribute("aria-pressed")`))
}

// Every control has a name that a screen reader can say.
func TestControlsHaveNames(t *testing.T) {
	v := storyOf(t).look(t, desk(), "")
	everything(v)
	controls := map[string]int{}
	require.NoError(t, chromedp.Do(v.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		tree, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		for _, node := range tree.Nodes {
			if node.Ignored || node.Role == nil {
				continue
			}
			switch role := fmt.Sprint(node.Role.Value); role {
			case `"button"`, `"radio"`, `"searchbox"`, `"slider"`, `"DisclosureTriangle"`, `"group"`, `"image"`, `"table"`, `"region"`:
				controls[role]++
				if role != `"group"` { // some of these are details, whose summaries name them
					assert.NotEmpty(t, node.Name, role)
					assert.NotEqual(t, `""`, fmt.Sprint(node.Name.Value), role)
				}
			}
		}
		return err
	})))
	assert.Equal(t, 12, controls[`"radio"`])
	assert.Positive(t, controls[`"DisclosureTriangle"`]*controls[`"table"`]*controls[`"searchbox"`]*controls[`"slider"`])
	assert.Equal(t, "h1 h2 h2 h2", value[string](v, `[...document.querySelectorAll("h1, h2, h3")].map((e) => e.localName).join(" ")`))
	assert.Zero(t, value[int](v, `document.getAnimations().length`), "nothing moves")
}

// everything opens all sessions, folds and requests, so that the page shows every kind of text.
func everything(v *view) {
	v.t.Helper()
	for _, kind := range []string{"session", "fold", "request"} {
		v.run(fmt.Sprintf(`for (const summary of document.querySelectorAll(".%[1]s > summary")) summary.click()`, kind))
		v.await(fmt.Sprintf(`[...document.querySelectorAll(".%[1]s[open]")].every((one) => one.lastElementChild.hasChildNodes())`, kind))
	}
}

// full is a scene with every kind of request.
func full(t *testing.T, args ...string) *scene {
	t.Helper()
	s := storyOf(t, args...)
	for _, r := range []request{
		{tool: "save_tasklist_of_a_tool_with_a_very_long_name_that_cannot_be_broken_anywhere", todos: []string{"pending"}},
		{session: "a-session-with-a-very-long-name-that-cannot-be-broken-anywhere-at-all-" + fmt.Sprintf("%064d", 0), todos: []string{"completed", "later"}},
	} {
		require.NoError(t, s.ask(t.Context(), &r, says("Next.", 1, 1, 1)))
	}
	turns := []answer{says("1", 9, 9, 1), says("2", 9, 9, 1), says("3", 9, 9, 1), says("4", 9, 9, 1)}
	require.NoError(t, s.ask(t.Context(), &request{session: "limit", todos: []string{"pending"}}, turns...))
	return s
}

// Every text has a contrast of at least 4.5 to its background, or 3 if it is large; every bar of a chart has at least
// 3.
func TestContrast(t *testing.T) {
	s := full(t, "-content")
	open := make(chan struct{})
	defer close(open)
	s.model.Append(carryontest.Text("Wait").GateAfter(1, open))
	go func() {
		_ = s.ask(context.WithoutCancel(t.Context()), &request{session: "open", todos: []string{"pending"}, stream: true})
	}() // ends with the proxy
	for _, dark := range []bool{false, true} {
		l := desk()
		l.dark = dark
		v := s.look(t, l, "")
		v.await(`document.querySelector(".badge.open")`)
		everything(v)
		assert.Equal(t, dark, value[bool](v, `getComputedStyle(document.body).backgroundColor.match(/\d+/)[0] < 128`))
		assert.Empty(t, value[[]string](v, contrasts), "dark: %v", dark)
		v.click("#views label:last-of-type")
		v.click(".chip.failed")
		assert.Empty(t, value[[]string](v, contrasts), "dark: %v", dark)
	}
}

// contrasts returns the texts and bars whose contrast is too low.
const contrasts = `(() => {
	const parse = (color) => color.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05) };
	const ground = (e) => { for (; e; e = e.parentElement) {
		const [r, g, b, a = 1] = parse(getComputedStyle(e).backgroundColor);
		if (a === 1) return [r, g, b];
	} return [255, 255, 255] };
	const low = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; (node = walker.nextNode());) {
		const e = node.parentElement;
		if (!node.data.trim() || e.closest("script, style, svg, noscript, .hidden") || !e.checkVisibility()) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const wanted = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5;
		const got = ratio(parse(style.color), ground(e));
		if (got < wanted) low.push(node.data.trim().slice(0, 40) + ": " + got.toFixed(2));
	}
	for (const bar of document.querySelectorAll("rect.todo, rect.quiet, rect.at, rect.span, .ground:not(.unsent)")) {
		const got = ratio(parse(getComputedStyle(bar).fill), ground(bar.closest(".card, #list")));
		if (got < 3) low.push(bar.getAttribute("class") + ": " + got.toFixed(2));
	}
	return [...new Set(low)];
})()`

// The page fits a phone, without horizontal scrolling.
func TestNarrowPage(t *testing.T) {
	s := full(t, "-content")
	for i, chosen := range []string{"", "view=requests", "view=requests&show=passed", "", "view=requests"} {
		width := int64(360)
		if i >= 3 {
			width = 390
		}
		v := s.look(t, look{width: width, height: 780}, chosen)
		if chosen == "" {
			everything(v)
		}
		assert.LessOrEqual(t, value[int64](v, `document.documentElement.scrollWidth`), width, chosen)
		assert.Empty(t, value[[]string](v, `[...document.querySelectorAll("main *, header *, footer *")].filter((e) => e.checkVisibility() && !e.closest("svg") && !e.closest(".hidden, thead") &&
			e.getBoundingClientRect().right > innerWidth + .5).map((e) => e.outerHTML.slice(0, 120))`), chosen)
		assert.Empty(t, value[[]string](v, `[...document.querySelectorAll("button, input[type=search], summary, .switch span, .chip > span")].filter((e) => e.checkVisibility() &&
			e.getBoundingClientRect().height < 32).map((e) => e.outerHTML.slice(0, 120))`), "a finger hits it")
		assert.Empty(t, value[[]string](v, `[...document.querySelectorAll("summary")].filter((row) => row.checkVisibility()).flatMap((row) => {
			const box = (e) => e.getBoundingClientRect();
			return [...row.querySelectorAll(".badge")].flatMap((badge) => [...row.querySelectorAll(".cost, .gain, .last")].filter((number) => number.textContent && number.checkVisibility() &&
				box(number).left < box(badge).right + 4 && box(badge).left < box(number).right + 4 && box(number).top < box(badge).bottom && box(badge).top < box(number).bottom));
		}).map((e) => e.outerHTML.slice(0, 120))`), "no badge touches a number")
	}
}
