package page

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// New requests keep the reader's place: the focus, the open entries, and the position on the screen.
func TestLiveUpdatesDisturbNobody(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, look{width: 1080, height: 500}, "view=requests")
	v.run(`document.querySelectorAll(".request > summary")[3].click()`)
	v.await(`document.querySelector(".request[open] [data-session]")`)
	v.run(`
		window.button = document.querySelector(".request[open] [data-session]");
		button.scrollIntoView({ block: "center", behavior: "instant" });
		button.focus({ preventScroll: true });
		getSelection().selectAllChildren(document.querySelector(".request[open] .what"));
		window.top0 = button.getBoundingClientRect().top;`)
	for i := range 3 {
		require.NoError(t, s.ask(t.Context(), &request{session: "new", user: strconv.Itoa(i), todos: []string{"pending"}}, says("Next.", 10, 5, 1), acts(10, 5, 1)))
		v.await(fmt.Sprintf(`document.querySelectorAll("#list .request").length === %d`, 7+i))
	}
	assert.True(t, value[bool](v, `document.activeElement === button && button.isConnected`))
	assert.InDelta(t, value[float64](v, `top0`), value[float64](v, `button.getBoundingClientRect().top`), 1)
	assert.Equal(t, "The model paused after 1 continuation", value[string](v, `getSelection().toString()`))
	assert.Equal(t, 1, value[int](v, `document.querySelectorAll(".request[open]").length`))

	// Without the focus, the first request in view stays where it is.
	v.run(`button.blur(); window.first = anchorIn(document.querySelector("#list")); window.top1 = first.getBoundingClientRect().top`)
	require.NoError(t, s.ask(t.Context(), &request{session: "new", user: "more", todos: []string{"pending"}}, says("Next.", 10, 5, 1), acts(10, 5, 1)))
	v.await(`document.querySelectorAll("#list .request").length === 10`)
	assert.InDelta(t, value[float64](v, `top1`), value[float64](v, `first.getBoundingClientRect().top`), 1)

	// At the top of the page, the newest entry comes into view.
	v.run(`scrollTo({ top: 0, behavior: "instant" })`)
	require.NoError(t, s.ask(t.Context(), &request{session: "new", user: "last", todos: []string{"pending"}}, says("Next.", 10, 5, 1), acts(10, 5, 1)))
	v.await(`document.querySelectorAll("#list .request").length === 11`)
	assert.Zero(t, value[float64](v, `scrollY`))
}

// The page marks a request under way. If a reader has it open, it is not folded away when it passes.
func TestRequestUnderWay(t *testing.T) {
	s := sceneOf(t)
	v := s.look(t, desk(), "view=requests")
	finish := make(chan struct{})
	s.model.Append(carryontest.Call("edit_file", `{}`).GateAfter(1, finish))
	sent := make(chan error, 1)
	go func() {
		sent <- s.ask(context.WithoutCancel(t.Context()), &request{todos: []string{"pending"}, stream: true})
	}()
	v.await(`document.querySelector(".badge.open")`)
	assert.Equal(t, []string{"Waiting for the model"}, v.texts(".request .what"))
	v.click(".request > summary")
	v.await(`document.querySelector(".request[open] dl")`)
	close(finish)
	require.NoError(t, <-sent)
	v.await(`document.querySelector(".badge.passed")`)
	assert.Equal(t, []string{"Passed"}, v.states())
	assert.True(t, value[bool](v, `document.activeElement.matches(".request[open] > summary")`))
	assert.Contains(t, v.texts("dl.facts > div")[0], "tool_calls")

	v.click(".request > summary")
	v.run(`document.activeElement.blur()`)
	require.NoError(t, s.ask(t.Context(), &request{todos: []string{"pending"}}, acts(1, 1, 1)))
	v.await(`document.querySelector(".fold")`)
	assert.Equal(t, []string{"2 requests passed unchanged"}, v.states())
}

func TestUpdatesCanBeStopped(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, desk(), "view=requests")
	v.click("#live")
	assert.Equal(t, "false", value[string](v, `document.querySelector("#live").getAttribute("aria-pressed")`))
	require.NoError(t, s.ask(t.Context(), &request{user: "later", todos: []string{"pending"}}, says("Next.", 10, 5, 1), acts(10, 5, 1)))
	v.run(`(async () => {
		const real = fetch;
		window.asked = 0;
		window.fetch = (...all) => { asked++; return real(...all) };
		await keepAsking();
	})()`)
	assert.Zero(t, value[int](v, `asked`))
	assert.Equal(t, 6, value[int](v, `document.querySelectorAll("#list .request").length`))
	v.click("#live")
	v.await(`document.querySelectorAll("#list .request").length === 7`)
}

// When the proxy stops, the page says so. When another proxy takes its address, the page shows that proxy's requests.
func TestPageOutlivesTheProxy(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, desk(), "view=requests")
	v.mu.Lock()
	v.gone = true
	v.mu.Unlock()
	address := s.proxy.Root()[len("http://"):]
	require.NoError(t, s.close())
	v.await(`document.querySelector("#lost").checkVisibility()`)
	assert.Contains(t, v.text("#lost"), "carryon does not answer. What you see is from 10:14:5")
	assert.Len(t, v.texts("#list .request"), 6, "what was there stays")

	next := sceneOf(t, "-listen", address)
	require.NoError(t, next.ask(t.Context(), &request{todos: []string{"pending"}}, says("Next.", 10, 5, 1), acts(10, 5, 1)))
	v.await(`!document.querySelector("#lost").checkVisibility() && document.querySelectorAll("#list .request").length === 1`)
	assert.Equal(t, []string{"Continued"}, v.states())
}

// The page shows a thousand requests, and one more costs it little.
func TestThousandRequests(t *testing.T) {
	s := sceneOf(t)
	for i := range 1050 {
		r := request{session: fmt.Sprint("session ", i%40), user: strconv.Itoa(i), todos: []string{"completed", "pending"}}
		answers := []answer{acts(100, 10, 1)}
		if i%3 == 0 {
			answers = []answer{says("Next.", 100, 10, 1), acts(100, 10, 1)}
		}
		require.NoError(t, s.ask(t.Context(), &r, answers...))
	}
	v := s.look(t, desk(), "view=requests")
	v.await(`report.counts.requests === 1050 && requests.size === 1000`)
	assert.Equal(t, "Stalls resumed 0 of 350 continuations", v.texts("#summary > div")[0])
	assert.Contains(t, v.text("footer"), "The requests are the latest 1,000 of 1,050; the figures count all.")
	assert.Equal(t, "20 20", value[string](v, rowsOfThePage), "the rest is drawn when the reader comes near")
	assert.Equal(t, "Show 627 more", v.text("#list > .end"))
	v.run(`scrollTo({ top: document.body.scrollHeight, behavior: "instant" })`)
	v.await(`document.querySelectorAll("#list > details").length > 40`)
	v.await(`document.querySelector("#list > .end").getBoundingClientRect().top > innerHeight`)
	assert.Less(t, value[int](v, `document.querySelectorAll("#list > details").length`), 300)

	// Requests that come in at the top take nothing away from a reader further down.
	v.run(`window.lowest = [...document.querySelectorAll("#list > .request")].at(-1); lowest.scrollIntoView({ block: "center", behavior: "instant" });
		window.first = anchorIn(document.querySelector("#list")); window.top0 = first.getBoundingClientRect().top; delete document.querySelector("#list").most`)
	require.NoError(t, s.ask(t.Context(), &request{session: "new", user: "first", todos: []string{"pending"}}, says("Next.", 10, 5, 1), acts(10, 5, 1)))
	v.await(`report.counts.requests === 1051 && newestFirst[0].ended`)
	assert.True(t, value[bool](v, `lowest.isConnected`))
	assert.InDelta(t, value[float64](v, `top0`), value[float64](v, `first.getBoundingClientRect().top`), 1)
	v.run(`document.querySelector("#list > .end button").click()`)
	assert.Equal(t, "334 333", value[string](v, rowsOfThePage))
	assert.Empty(t, v.texts("#list > .end"))

	// One more request changes few nodes, and the page asks only for that request.
	v.run(`window.changes = 0; new MutationObserver((all) => { changes += all.length }).observe(
		document.querySelector("#list"), { subtree: true, childList: true, attributes: true, characterData: true })`)
	require.NoError(t, s.ask(t.Context(), &request{session: "new", todos: []string{"pending"}}, says("Next.", 10, 5, 1), acts(10, 5, 1)))
	v.await(`report.counts.requests === 1052 && newestFirst[0].ended && requests.size === 1000`)
	assert.Less(t, value[int](v, `changes`), 40)
	assert.LessOrEqual(t, value[int](v, `report.requests.length`), 1)
	v.click(".chip.passed")
	assert.Equal(t, "666 requests shown", v.text("#found"))
	v.run(`find("search").focus()`)
	require.NoError(t, chromedp.Do(v.ctx, chromedp.KeyEvent("session 39")))
	v.await(`view.words === "session 39"`)
	assert.Equal(t, "17 requests shown", v.text("#found"), "what is not drawn is found too")
	v.run(`find("search").select()`)
	require.NoError(t, chromedp.Do(v.ctx, chromedp.KeyEvent(kb.Delete)))
	v.click("#views label:first-of-type")
	v.await(`document.querySelector("#list > .end")`)
	assert.Equal(t, "Show 1 more", v.text("#list > .end"))
}

// rowsOfThePage evaluates to how many requests and folds are drawn.
const rowsOfThePage = `[".request", ".fold"].map((one) => document.querySelectorAll("#list " + one).length).join(" ")`
