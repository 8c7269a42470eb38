package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

// A reader learns from the top of the page what carryon was worth, and what it cost.
func TestPageTellsWhatItWasWorthAndWhatItCost(t *testing.T) {
	v := storyOf(t, "-content", "-price", "3,0.3,15").look(t, desk(), "")
	assert.Equal(t, "carryon resumed 3 stalls in 2 sessions with a todo list; 3 todos were finished after that, for 39,779 tokens ($0.15); the model paused once and said why; 2 continuations were unwanted.", v.text("#sentence"))
	assert.Equal(t, []string{"3", "2", "3", "39,779", "$0.15", "2"}, v.texts("#sentence b"))
	assert.Regexp(t, `^The figures are of this process, since 10:04:00\. carryon stands in front of http://127\.0\.0\.1:\d+/v1\.$`, v.text("#about"))
	assert.Equal(t, []string{
		"Stalls resumed 3 of 7 continuations; the model paused in 1", "Todos finished 3 after those stalls", "Unwanted 2 2 without progress", "Tokens added 39,779 26% of 154,925 · $0.15",
	}, v.texts("#summary > div"))
	assert.Empty(t, v.texts("#holdout"), "there is no control group")
}

func TestRequestsOfThePage(t *testing.T) {
	v := storyOf(t, "-content").look(t, desk(), "view=requests")
	assert.Equal(t, []string{
		"3 requests passed unchanged", "Continued", "1 request passed unchanged", "Failed", "Continued", "2 requests passed unchanged",
		"Paused", "1 request passed unchanged", "Continued", "5 requests passed unchanged", "Continued", "3 requests passed unchanged",
	}, v.states())
	assert.Equal(t, []string{
		"Continued once, then the model called a tool",
		"A continuation failed (HTTP status 400); the client got the answer without it",
		"Continued once, then the model called a tool",
		"The model paused after 1 continuation",
		"Continued twice, then the model called a tool",
		"Continued once, then the model called a tool",
	}, v.texts(".request .what"))
	assert.Equal(t, []string{"+8,300 tokens", "+7,460 tokens", "+7,235 tokens", "+12,074 tokens", "+4,710 tokens"}, v.texts(".cost"))
}

func TestPageShowsWhatWasSeenOfARequest(t *testing.T) {
	v := storyOf(t, "-content").look(t, desk(), "view=requests&show=continued")
	v.run(`document.querySelectorAll(".request > summary")[4].click()`) // continued twice
	v.await(`document.querySelector(".request[open] table")`)
	assert.Equal(t, []string{
		"Reason The continuation called a tool, so it is the program's turn tool_calls",
		"Todo list 4 todos, 3 active, 1 completed, read from the last call of todo_write",
		"Request POST /v1/chat/completions, streamed", "Model gpt-5.2", "Session tea-shop-website Show only this session",
		"Began Tue, 12 May 2026, 10:07:39 Europe/Berlin", "Answer HTTP 200 in 12.9 s",
	}, v.texts("dl.facts > div"))
	assert.Equal(t, []string{
		"1 client Answered with text, finish reason stop Continued: All continuation conditions satisfied satisfied 5,300 120 5,420 3.1 s",
		"2 carryon Asked to carry on with: Write page 2 Answered with text, finish reason stop Continued: All continuation conditions satisfied satisfied 5,560 64 5,624 2.1 s",
		"3 carryon Asked to carry on with: Write page 2 Called a tool, finish reason tool_calls " +
			"Not continued: Tool calls were made during stream - no continuation needed tool_calls 5,760 690 6,450 7.7 s",
	}, v.texts("tbody tr"))
}

func TestPageSaysWhyNothingWasDone(t *testing.T) {
	s := storyOf(t)
	require.NoError(t, s.ask(t.Context(), &request{tool: "save_tasklist", todos: []string{"pending"}}, says("Next.", 1, 1, 1)))
	v := s.look(t, desk(), "view=requests&show=passed")
	assert.Contains(t, v.text("#notices"), "start carryon with -todo-tools save_tasklist")
	reasons := v.texts(".request .what")
	assert.Len(t, reasons, 16)
	assert.Equal(t, "No todo list found: save_tasklist looks like a todo tool and is not known: name it with -todo-tools", reasons[0])
	assert.Equal(t, "The request offers no tools", reasons[1])
	assert.Equal(t, "No active todos found (pending or in_progress): all 2 are done (from the last call of todo_write)", reasons[2])
	assert.Contains(t, reasons, "Passed on unchanged: the path is of no protocol that carryon speaks")

	v.click(".request > summary")
	v.await(`document.querySelector(".request[open] dl")`)
	facts := v.texts("dl.facts > div")
	assert.Equal(t, []string{"Tools called save_tasklist", "Looks like a todo tool save_tasklist"}, facts[1:3])
	assert.Contains(t, facts[0], "no_list")
}

func TestPageSaysWhichSwitchShowsTexts(t *testing.T) {
	for flag, want := range map[string]string{
		"":         "Texts of todos, pauses and errors are not shown. Start carryon with -content to see them.",
		"-content": "Texts of todos, pauses and errors are shown, because carryon was started with -content.",
	} {
		s := storyOf(t, strings.Fields(flag)...)
		v := s.look(t, desk(), "")
		assert.Contains(t, v.text("footer"), want)
		everything(v)
		assert.Equal(t, flag != "", value[bool](v, `document.body.textContent.includes("Write page 2")`))
		assert.Equal(t, flag != "", value[bool](v, `document.body.textContent.includes("production logs")`))
		assert.Equal(t, flag != "", value[bool](v, `document.body.textContent.includes("conversation is too long")`))
	}
}

func TestFiltersOfThePage(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, desk(), "view=requests")
	assert.Equal(t, []string{"All 21", "Continued 6", "Paused 1", "Failed 1", "Passed 15"}, v.texts(".chip"))
	for filter, want := range map[string][]string{
		"continued": {"Continued", "Failed", "Continued", "Paused", "Continued", "Continued"}, "paused": {"Paused"}, "failed": {"Failed"},
		"passed": strings.Fields(strings.Repeat("Passed ", 15)),
	} {
		v.click(".chip." + filter)
		assert.Equal(t, want, v.states(), filter)
		assert.Equal(t, fmt.Sprint(len(want), " request", map[bool]string{true: "", false: "s"}[len(want) == 1], " shown"), v.text("#found"))
		assert.True(t, strings.HasSuffix(value[string](v, "location.hash"), "view=requests&show="+filter))
	}
	v.click(".chip.failed")
	v.click(".request > summary")
	v.await(`document.querySelector("[data-session]")`)
	v.click("[data-session]") // show only this session
	v.click(".chip.all")
	assert.Equal(t, []string{"All 12", "Continued 5", "Paused 0", "Failed 1", "Passed 7"}, v.texts(".chip"))
	assert.Equal(t, []string{"tea-shop-website"}, v.texts(".only"))
	v.click(".chip.paused")
	assert.Equal(t, "Nothing matches. Show all", v.text("#list"))

	require.NoError(t, chromedp.Do(v.ctx, chromedp.Reload()))
	v.await(`document.querySelector("#list .empty")`)
	assert.Equal(t, "paused", value[string](v, `document.querySelector("[name=filter]:checked").value`), "the address keeps it")
	v.click("[data-reset]")
	assert.Len(t, v.states(), 12)
}

// Each session is a row: its name, its list, what it waits for, what carryon did for it.
func TestSessionsOfThePage(t *testing.T) {
	s := storyOf(t, "-content", "-price", "3,0.3,15")
	photos := request{session: "tea-shop-website", key: "sk-other", todos: []string{"completed", "pending", "cancelled"}}
	require.NoError(t, s.ask(t.Context(), &photos, says("I need the photos.", 10, 5, 1), pauses("The photos of the teas are missing", 10, 5, 1)))
	require.NoError(t, s.ask(t.Context(), &request{session: "no-list", raw: `{"model":"m","messages":[{"role":"user","content":"Hello"}],"tools":[{"type":"function","function":{"name":"edit_file"}}]}`}, says("Hello.", 1, 1, 1)))
	require.NoError(t, s.ask(t.Context(), &request{session: "many", todos: slices.Repeat([]string{"completed", "pending"}, 20)}, says("Next.", 1, 1, 1), acts(1, 1, 1)))
	v := s.look(t, desk(), "")
	rows := v.texts(".session > summary")
	require.Len(t, rows, 6)
	assert.Equal(t, "many some-model · 1 request 20 of 40 todos done At work The program runs the tools that the model called +2 tokens · under $0.01 10:14:53", rows[0])
	assert.Regexp(t, `^no-list m · 1 request no todo list No list No todo list, so there is nothing to continue 10:14:53$`, rows[1])
	assert.Regexp(t, `^tea-shop-website \([0-9a-f]{4}\) some-model · 1 request 2 of 3 todos done, 1 cancelled Paused The model says: The photos of the teas are missing \+15 tokens · under \$0\.01 10:14:53$`, rows[2])
	assert.Equal(t, "fix-login-bug claude-sonnet-4-6 · 7 requests 2 of 2 todos done Finished All todos are done +7,235 tokens · $0.02 10:14:48", rows[3])
	assert.Regexp(t, `^tea-shop-website \([0-9a-f]{4}\) gpt-5.2 · 12 requests 4 of 4 todos done Finished All todos are done 3 stalls resumed \+32,544 tokens · \$0\.13 10:14:40$`, rows[4])
	assert.Equal(t, "Requests without a session 2 requests Nothing tells which of them belong together 10:14:52", rows[5])
	assert.Equal(t, []string{"40 2", "", "3 3", "2 2", "4 4"}, value[[]string](v, `[...document.querySelectorAll(".session > summary > .list")].slice(0, 5).map((one) => {
		const parts = [...one.querySelectorAll("rect")];
		return parts.length ? one.textContent.match(/of (\d+)/)[1] + " " + parts.length : "" })`), "few todos are drawn one by one")
	assert.Equal(t, []string{"All 6", "At work 1", "Waiting 0", "Paused 1", "Finished 2", "No list 1"}, v.texts(".chip"))
	v.click(".chip.paused")
	assert.Len(t, v.texts(".session"), 1)
	assert.Equal(t, "1 session shown", v.text("#found"))
	v.click(".chip.all")
	v.run(`document.querySelectorAll(".session > summary")[3].click()`)
	v.await(`document.querySelector(".session[open] .request")`)
	assert.Equal(t, []string{"3 requests passed unchanged", "The model paused after 1 continuation", "3 requests passed unchanged"}, v.texts(".session[open] > .rows .what"))
}

// A row says why work is left, and what a session whose first call has not ended is known to be.
func TestSessionsWithWorkLeft(t *testing.T) {
	clock := testclock.New(storyBegins)
	s, err := newScene(t.Context(), clock, "-content", "-holdout", "0.5", "-questions", "wait")
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.close() }) // nothing is sent any more
	open, sent := make(chan struct{}), make(chan error, 2)
	require.NoError(t, s.tellOfNow(t.Context(), open, sent))
	v := s.look(t, desk(), "")
	v.await(`newestFirst.some((request) => request.model && !request.ended)`)
	assert.Equal(t, []string{
		"stock-report gpt-5.2 · 2 requests 0 of 4 todos done At work The model is answering +2,510 tokens 10:05:18",
		"customer-newsletter gpt-5.2 · 1 request 2 of 3 todos done Waiting Waits for the user, whom the model asked something 10:05:12",
		"translate-menu gpt-5.2 · 1 request 1 of 3 todos done Waiting Waits for work in the background to report 10:05:00",
		"product-photos gpt-5.2 · 1 request 1 of 3 todos done Paused The model says: The photos of the green teas are missing +4,110 tokens 10:04:46",
		"price-list gpt-5.2 · control group · 1 request 2 of 4 todos done Held out Stopped with work left, and was not continued: it is in the control group 10:04:27",
	}, v.texts(".session > summary"))

	s.model.Append(carryontest.Call("edit_file", "{}").GateAfter(1, open))
	go func() {
		sent <- s.ask(t.Context(), &request{session: "new", model: "gpt-5.2", todos: []string{"pending"}, stream: true})
	}()
	v.await(`newestFirst[0].session === "new" && newestFirst[0].model`)
	assert.Equal(t, "new gpt-5.2 · 1 request list not read yet At work The model is answering 10:05:18", v.texts(".session > summary")[0])
	close(open)
	require.NoError(t, <-sent)
	require.NoError(t, <-sent)
	v.await(`newestFirst.every((request) => request.ended)`)
	assert.Equal(t, "new gpt-5.2 · control group · 1 request list not read yet At work The program runs the tools that the model called 10:05:18", v.texts(".session > summary")[0])

	// Nobody works on what has been quiet for hours.
	clock.Advance(2 * time.Hour)
	later := s.look(t, desk(), "")
	assert.Equal(t, "new gpt-5.2 · control group · 1 request list not read yet Stopped The model called tools, and the program has not come back for an hour 10:05:18", later.texts(".session > summary")[0])
	assert.Contains(t, later.texts(".chip"), "At work 0")
}

// A row says that there is no list only if carryon has looked for one.
func TestSessionsWhoseListWasNotRead(t *testing.T) {
	s := sceneOf(t)
	open := []string{"pending"}
	long := answer{turn: carryontest.Text("First comes").Finish("length").Usage(1, 1)}
	breaks := answer{turn: carryontest.Text("First comes the lexer").CutAfter(1)}
	require.NoError(t, s.ask(t.Context(), &request{session: "long", todos: open}, long))
	_ = s.ask(t.Context(), &request{session: "breaks", todos: open, stream: true}, breaks) // the client notices, too
	require.NoError(t, s.ask(t.Context(), &request{session: "choice", raw: strings.Replace((&request{todos: open}).body(), "{", `{"tool_choice":"none",`, 1)}, says("Next.", 1, 1, 1)))
	require.NoError(t, s.ask(t.Context(), &request{session: "empty", todos: []string{}}, says("Next.", 1, 1, 1)))
	require.NoError(t, s.ask(t.Context(), &request{session: "chat", raw: `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`}, says("Hello.", 1, 1, 1)))
	require.NoError(t, s.ask(t.Context(), &request{session: "embeddings", path: "/v1/embeddings", raw: "{}"}))
	v := s.look(t, desk(), "")
	want := map[string]string{
		"long": "list not read yet Stopped", "breaks": "list not read yet Failed", "choice": "list not read yet Stopped",
		"empty": "no todo list No list", "chat": "no todo list No list No call that could work on a todo list", "embeddings": "no todo list No list No call of a model so far",
	}
	rows := v.texts(".session > summary")
	assert.Len(t, rows, len(want))
	for _, row := range rows {
		name, _, _ := strings.Cut(row, " ")
		assert.Contains(t, row, want[name])
	}
	assert.Equal(t, "disabled stopped list not read yet, broke_off stopped list not read yet, too_long stopped list not read yet",
		value[string](v, `["disabled", "broke_off", "too_long"].map((code) => {
			const session = { code, requests: 1 };
			return code + " " + stageOf(session, 0) + " " + listOf(session).textContent;
		}).join(", ")`))
}

// The closing question and its answer have words of their own.
func TestPageOfAClosingQuestion(t *testing.T) {
	s := sceneOf(t, "-ask")
	const raw = `{"model":"m","messages":[{"role":"user","content":"Write it."},` +
		`{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"edit_file","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}],` +
		`"tools":[{"type":"function","function":{"name":"edit_file"}},{"type":"function","function":{"name":"todo_write"}}]}`
	require.NoError(t, s.ask(t.Context(), &request{session: "a", raw: raw}, says("It is written.", 10, 5, 1), says("Nothing is open.", 10, 5, 1)))
	v := s.look(t, desk(), "view=requests")
	assert.Equal(t, "carryon asked once whether anything was open, for 15 tokens, and the model did not go on.", v.text("#sentence"))
	assert.Equal(t, []string{"Continued once: the model was asked, and says that nothing is open"}, v.texts(".request .what"))
	v.click(".request > summary")
	v.await(`document.querySelector(".request[open] table")`)
	assert.Contains(t, v.texts("tbody tr")[1], "2 carryon Asked whether anything is open Answered that nothing is open, finish reason stop")
	assert.Contains(t, s.look(t, desk(), "").text(".session > summary"), "no todo list No list The model was asked, and says that nothing is open")
}

// A pause that was refused is no pause.
func TestPageOfARefusedPause(t *testing.T) {
	s := sceneOf(t)
	require.NoError(t, s.ask(t.Context(), &request{todos: []string{"pending"}}, says("Next.", 10, 5, 1), pauses("stuck", 10, 5, 1), acts(10, 5, 1)))
	v := s.look(t, desk(), "view=requests")
	assert.Contains(t, v.texts(".chip"), "Paused 0")
	v.click(".request > summary")
	v.await(`document.querySelector(".request[open] table")`)
	assert.Contains(t, v.texts("tbody tr")[1], "2 carryon Wanted to pause, finish reason tool_calls Invalid pause reason: ")
}

// Whatever a row says can be searched for.
func TestSearchOfThePage(t *testing.T) {
	v := storyOf(t).look(t, desk(), "")
	for typed, want := range map[string]int{"LOGIN": 1, "gpt-5.2": 1, "finished": 2, "todos done": 2, "claude paused": 1, "embeddings": 1} {
		v.run(`find("search").value = ""; find("search").focus()`)
		require.NoError(t, chromedp.Do(v.ctx, chromedp.KeyEvent(typed)))
		v.await(fmt.Sprintf("view.words === %q", typed))
		assert.Len(t, v.texts(".session"), want, typed)
	}
	v.run(`find("search").select()`)
	require.NoError(t, chromedp.Do(v.ctx, chromedp.KeyEvent("nothing of this")))
	v.click("[data-reset]")
	assert.Len(t, v.texts(".session"), 3)
	v.click("#views label:last-of-type")
	v.run(`find("search").focus()`)
	require.NoError(t, chromedp.Do(v.ctx, chromedp.KeyEvent("menu 400 tea-shop")))
	assert.Equal(t, "Nothing matches. Show all", v.text("#list"))
	v.run(`find("search").select()`)
	require.NoError(t, chromedp.Do(v.ctx, chromedp.KeyEvent("400 tea-shop")))
	assert.Equal(t, []string{"Failed"}, v.states())
	assert.True(t, strings.HasSuffix(value[string](v, "location.hash"), "view=requests&search=400+tea-shop"))
	require.NoError(t, chromedp.Do(v.ctx, chromedp.Reload()))
	v.await(`document.querySelectorAll("#list .request").length === 1`)
}

func TestPassedRequestsAreFoldedAway(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, desk(), "view=requests")
	assert.Zero(t, value[int](v, `document.querySelectorAll(".fold .request").length`), "a closed fold draws nothing")
	assert.Equal(t, "10:06:04 5 requests passed unchanged 4 × the model called a tool, 1 × another path", v.texts(".fold > summary")[4])
	v.run(`document.querySelectorAll(".fold > summary")[4].click()`)
	v.await(`document.querySelectorAll(".fold[open] .request").length === 5`)

	// A fold does not change when more requests come.
	v.run(`document.querySelectorAll(".fold > summary")[0].click()`)
	v.await(`document.querySelectorAll(".fold[open] .request").length === 8`)
	require.NoError(t, s.ask(t.Context(), &request{raw: `{"model":"m","messages":[]}`}, says("Hello", 1, 1, 1)))
	v.await(`document.querySelector(".fold .what").textContent.startsWith("4 requests")`)
	assert.Equal(t, 9, value[int](v, `document.querySelectorAll(".fold[open] .request").length`))
}

func TestTimesOfThePage(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, desk(), "view=requests")
	assert.Contains(t, v.text("#about"), "since 10:04:00")
	v.click(`.switch label:last-of-type`)
	v.await(`document.querySelector("#about").innerText.includes("since 08:04:00")`)
	assert.Equal(t, "08:14:26", v.texts(".request time")[0])
	assert.Equal(t, "Tue, 12 May 2026, 08:14:26 UTC", value[string](v, `document.querySelector(".request time").title`))
	assert.Contains(t, value[[]string](v, `[...document.querySelectorAll(".tick")].map((tick) => tick.textContent)`), "08:14")
	india := s.look(t, look{width: 1080, height: 800, zone: "Asia/Kolkata"}, "")
	assert.Contains(t, india.text("#about"), "since 13:34:00")
}

// Bars of days are of days in UTC, wherever the reader is.
func TestDaysOfTheChart(t *testing.T) {
	s := storyOf(t)
	s.clock.Advance(3 * 24 * time.Hour)
	for _, zone := range []string{"America/Los_Angeles", "Asia/Kolkata"} {
		v := s.look(t, look{width: 1080, height: 800, zone: zone}, "")
		v.run(`find("plot").focus()`)
		v.press(kb.End + strings.Repeat(kb.ArrowLeft, 3))
		assert.Equal(t, "12 May in UTC: 7 continuations sent in 21 requests; judged: 3 resumed a stall, 1 paused by the model, 2 unwanted, 1 failed or interrupted. Click, or press Enter, to show only these.", v.text("#readout"))
		assert.Contains(t, value[[]string](v, `[...document.querySelectorAll("#plot .tick")].map((tick) => tick.textContent)`), "15 May")
	}
}

func TestPageOfADryRun(t *testing.T) {
	s := sceneOf(t, "-dry-run")
	require.NoError(t, s.ask(t.Context(), &request{todos: []string{"pending"}}, says("Next.", 10, 5, 1)))
	v := s.look(t, desk(), "view=requests")
	assert.Contains(t, v.text("#notices"), "Dry run")
	assert.Equal(t, []string{"Dry run"}, v.states())
	assert.Equal(t, []string{"It would have been continued"}, v.texts(".request .what"))
	assert.Contains(t, v.texts(".chip"), "Dry run 1")
}

func TestPageOfALimitAndOfAnError(t *testing.T) {
	s := sceneOf(t, "-max-attempts", "1")
	require.NoError(t, s.ask(t.Context(), &request{todos: []string{"pending"}}, says("Next.", 10, 5, 1), says("Then.", 10, 5, 1)))
	require.NoError(t, s.ask(t.Context(), &request{todos: []string{"pending"}}, fails(http.StatusUnauthorized, `{"error":{"message":"No"}}`, 1)))
	v := s.look(t, desk(), "view=requests")
	assert.Equal(t, []string{"Failed", "Limit reached"}, v.states())
	assert.Equal(t, []string{
		"The answer was an error: HTTP status 401",
		"Continued once, then stopped: maximum continuation attempts exceeded: the limit is 1",
	}, v.texts(".request .what"))
}

// A continuation whose second try succeeds does not count as a failure.
func TestPageOfASecondTry(t *testing.T) {
	s := sceneOf(t)
	require.NoError(t, s.ask(t.Context(), &request{todos: []string{"pending"}}, says("Next.", 10, 5, 1),
		fails(http.StatusInternalServerError, `{"error":{"message":"Overloaded"}}`, 1), acts(10, 5, 1)))
	v := s.look(t, desk(), "view=requests")
	assert.Equal(t, []string{"Continued"}, v.states())
	assert.Equal(t, []string{"Continued twice, then the model called a tool"}, v.texts(".request .what"))
	assert.Equal(t, []string{"0 resumed a stall", "1 failed or interrupted"}, v.texts("#legend li"))
	v.click(".request > summary")
	v.await(`document.querySelector(".request[open] table")`)
	assert.Contains(t, v.texts("tbody tr")[1], "2 carryon Failed: HTTP status 500 The answer goes on without this turn Continued: All continuation conditions satisfied")
}

func TestPageWithoutRequests(t *testing.T) {
	s := sceneOf(t)
	v := s.look(t, desk(), "")
	assert.Equal(t, "No requests yet. Point a client at "+s.proxy.Root()+"/v1.", v.text("#list"))
	assert.Equal(t, "carryon has seen no call of a model yet.", v.text("#sentence"))
	assert.Empty(t, v.texts("#summary > div"))
}

// Text from others is shown, but has no effect.
func TestHostileTextsAreInert(t *testing.T) {
	s := sceneOf(t, "-content", "-todo-tools", `<b>tool</b>`)
	const attack = `"'><img src=x onerror="window.hit=1"></main><script>window.hit=1</script><style>body{display:none}</style>{{1}}`
	for _, r := range []request{
		{session: attack, model: attack, work: attack, todos: []string{"pending", attack}},
		{session: attack + "2", key: attack, model: "toString", work: "__proto__", todos: []string{"pending"}},
		{session: "__proto__", model: "constructor", work: attack, todos: []string{"pending"}},
	} {
		require.NoError(t, s.ask(t.Context(), &r, says("Next.", 10, 5, 1), pauses("The file is missing: "+attack, 10, 5, 1)))
	}
	require.NoError(t, s.ask(t.Context(), &request{tool: "todo-" + attack, todos: []string{"pending"}}, says("Next.", 1, 1, 1)))
	require.NoError(t, s.ask(t.Context(), &request{path: "/v1/%3Cscript%3Ewindow.hit=1%3C%2Fscript%3E", raw: "{}"}))
	require.NoError(t, s.ask(t.Context(), &request{todos: []string{"pending"}}, answer{turn: carryontest.Text("Next").Finish(attack).Usage(1, 1)}))
	v := s.look(t, desk(), "")
	everything(v)
	v.await(`document.querySelectorAll(".request[open] dl").length === 6`)
	assert.False(t, value[bool](v, `"hit" in window`))
	assert.Equal(t, "1 1 0 0", value[string](v, `["script", "style", "img", "iframe"].map((tag) => document.querySelectorAll(tag).length).join(" ")`))
	shown := value[string](v, `document.body.innerText`)
	assert.GreaterOrEqual(t, strings.Count(shown, `onerror="window.hit=1"`), 4)
	v.click(".request [data-session]")
	assert.Len(t, v.texts(".session"), 1, "any name finds its session")
	v.click("#views label:last-of-type")
	assert.Len(t, v.states(), 1)
	for _, broken := range []string{"show=__proto__", "zone=%00&view=__proto__", "show=toString&range=constructor&time=1-x&search=%00<b>", "time=99999999999999-1"} {
		assert.True(t, value[bool](s.look(t, desk(), broken), `document.querySelector("#sentence").textContent !== ""`))
	}
}

// Texts that hide, that turn around what stands beside them, or that are long disturb no other text.
func TestStrangeCharactersAreVisible(t *testing.T) {
	s := sceneOf(t, "-content")
	const strange = "a\u202eb\u2066c\x1b[31md\u200be\u2028f\u00adg"
	long := strings.Repeat("x", 10_000)
	family := "\U0001f469\u200d\U0001f467"
	require.NoError(t, s.ask(t.Context(), &request{session: long, model: strange, work: strange, todos: []string{"pending"}, user: "1"},
		says("Next.", 10, 5, 1), pauses("The file is missing: "+strange, 10, 5, 1)))
	require.NoError(t, s.ask(t.Context(), &request{session: "b", model: family, todos: []string{"pending"}, user: "2"}, acts(1, 1, 1)))
	v := s.look(t, desk(), "")
	everything(v)
	v.await(`document.querySelectorAll(".request[open] dl").length >= 1`)
	assert.Empty(t, value[string](v, `(document.querySelector("main").textContent.match(/[\p{Cc}\p{Cf}\u2028]/gu) ?? []).filter((c) => !"\t\n\u200d".includes(c)).join()`))
	shown := v.text("main")
	assert.Contains(t, shown, "a\ufffdb\ufffdc\ufffd[31md\ufffde\ufffdf\ufffdg")
	assert.Contains(t, shown, family)
	const england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	for text, want := range map[string]string{
		"Write\r\nit": "Write\nit", "Write\rit\r\r\nnow": "Write\nit\n\nnow",
		england: england, "\u0600١ \u06dd٢ \u070fܐ": "\u0600١ \u06dd٢ \u070fܐ", family: family,
		england[4:]: strings.Repeat("\ufffd", 6), // tags that belong to no flag
		"\U0001f3f4" + strings.Repeat("\U000e0067", 9): "\U0001f3f4" + strings.Repeat("\ufffd", 9),
	} {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		assert.Equal(t, want, value[string](v, "visible("+string(quoted)+")"))
	}
	assert.Equal(t, "true true", value[string](v, `[...document.querySelectorAll(".session .name")].map((name) => {
		const text = document.createRange();
		text.selectNodeContents(name);
		return text.getClientRects()[0].top - name.getBoundingClientRect().top < 5;
	}).join(" ")`), "a long name begins beside its mark")
}

// The proxy's address alone leads there.
func TestPageIsShownAtLocalhost(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, desk(), "")
	root := value[string](v, `location.origin`)
	require.NoError(t, v.open(strings.Replace(root, "127.0.0.1", "localhost", 1)))
	v.await(`location.hostname === "localhost" && document.querySelectorAll("#list .session").length === 3`)
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, url := range v.fetched {
		v.fetched[i] = strings.Replace(url, "localhost", "127.0.0.1", 1)
	}
}
