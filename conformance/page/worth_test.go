package page

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

// dayOf returns a scene after a day on which that many agents worked. If the model stalls, half of the users come back.
func dayOf(t *testing.T, agents int, stalls bool, args ...string) *scene {
	t.Helper()
	s, err := newScene(t.Context(), testclock.New(storyBegins), args...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.close() }) // some tests close it themselves
	all := make([]agent, agents)
	for i := range all {
		all[i] = agent{name: fmt.Sprint("agent-", i), size: 1, stalls: stalls, back: i%2 != 0, stream: i%3 == 0}
	}
	require.NoError(t, s.day(t.Context(), all))
	return s
}

// A stranger can tell from the page alone whether carryon is worth it, and for how much.
func TestPageComparesBothArms(t *testing.T) {
	v := dayOf(t, 40, true, "-holdout", "0.5", "-price", "3,0.3,15").look(t, desk(), "")
	assert.Regexp(t, `^carryon resumed 16 stalls in 40 sessions with a todo list; 32 todos were finished after that, for 20,800 tokens \(\$0\.08\); `+
		`24 continuations were not sent in the control group; they would have used about [\d,]+ tokens \(\$0\.\d\d\)\.$`, v.text("#sentence"))
	assert.Regexp(t, `^Worth it if one more finished list is worth [\d,]+ tokens \(\$0\.0\d\) to you: lists were finished in 16 of 16 sessions with carryon and in 13 of 24 without: 46 points more \(95% range: \+19 to \+65\);`, v.text(".verdict"))
	rows := v.texts(".arms tbody tr")
	require.Len(t, rows, 6)
	assert.Equal(t, "Sessions with a todo list 16 24 –", rows[0])
	assert.Equal(t, "Lists finished 100% 16 of 16 81% to 100% 54% 13 of 24 35% to 72% +46 points +19 to +65", rows[1])
	assert.Equal(t, "Users had to say “go on” 0% 0 of 16 0% to 19% 54% 13 of 24 35% to 72% −54 points −72 to −27", rows[2])
	assert.Regexp(t, `^Tokens in a session 5,010 [\d,]+ \+[\d,]+ \+[\d,]+ to \+[\d,]+$`, rows[3])
	assert.Regexp(t, `^Time of a session 4\.2 s `, rows[4])
	assert.Regexp(t, `^Cost of a session \$0\.02 \$0\.01 \+\$0\.00\d\d$`, rows[5])
	assert.Equal(t, []string{"95% range: 81% to 100%"}, value[[]string](v, `[document.querySelector(".range").getAttribute("aria-label")]`))
	assert.Contains(t, v.texts(".chip"), "Held out 11")
}

func TestPageSaysThatCarryonIsNotNeeded(t *testing.T) {
	v := dayOf(t, 30, false, "-holdout", "0.5").look(t, desk(), "")
	assert.Equal(t, "carryon was not worth it: no turn stalled in 30 sessions with a todo list; it sent nothing, and cost nothing.", v.text("#sentence"))
	assert.Contains(t, v.text(".verdict"), "no difference is certain")
	assert.Equal(t, []string{"0 resumed a stall"}, v.texts("#legend li"))
	few := dayOf(t, 3, false, "-holdout", "0.5").look(t, desk(), "")
	assert.Contains(t, few.text(".verdict"), "Not enough sessions yet to compare")
	assert.Equal(t, "–", few.texts(".arms tbody tr:nth-child(2) td:last-child")[0])
}

func TestPageEstimatesInADryRun(t *testing.T) {
	v := dayOf(t, 4, true, "-dry-run", "-holdout", "0.5", "-price", "3,0.3,15").look(t, desk(), "")
	assert.Regexp(t, `^carryon would have sent 4 continuations, for about [\d,]+ tokens \(\$0\.\d\d\); that is an estimate of first stalls only, because nobody knows what would have followed\.$`, v.text("#sentence"))
	assert.Equal(t, []string{"0 resumed a stall", "4 not sent"}, v.texts("#legend li"))
	assert.Regexp(t, `^All: 0 continuations sent in \d+ requests; 4 not sent\.$`, v.text("#readout"))
	assert.Empty(t, v.texts("#holdout"))
}

// The chart has one scale, patterns besides its colors, and can be read and used with mouse, finger and keyboard.
func TestChartOfThePage(t *testing.T) {
	s := storyOf(t)
	v := s.look(t, desk(), "view=requests")
	ticks := `[...document.querySelectorAll("#plot .tick")].map((tick) => tick.textContent).join(" ")`
	assert.Regexp(t, `^0 1 2 3 \d\d:\d\d .*10:14$`, value[string](v, ticks))
	assert.Equal(t, "3 1 2 1 0", value[string](v, `["resumed", "paused", "unwanted", "failed", "unsent"].map((name) => document.querySelectorAll("#plot .part." + name).length).join(" ")`))
	assert.Equal(t, "5", value[string](v, `String(new Set([...document.querySelectorAll("pattern")].map((one) => [...one.children].map((part) => part.localName + part.getAttribute("d")).join())).size)`))
	assert.Equal(t, []string{"3 resumed a stall", "1 paused by the model", "2 unwanted", "1 failed or interrupted"}, v.texts("#legend li"))
	const all = "All: 7 continuations sent in 21 requests; judged: 3 resumed a stall, 1 paused by the model, 2 unwanted, 1 failed or interrupted."
	assert.Equal(t, all, v.text("#readout"))

	v.run(`find("plot").focus()`)
	v.press(kb.End)
	last := v.text("#readout")
	assert.Equal(t, "12 May, 10:14 to 10:15: 1 continuation sent in 4 requests; judged: 1 resumed a stall. Click, or press Enter, to show only these.", last)
	assert.Equal(t, strings.TrimSuffix(last, " Click, or press Enter, to show only these."), value[string](v, `find("plot").getAttribute("aria-valuetext")`))
	v.press(kb.ArrowLeft + kb.ArrowLeft)
	assert.Contains(t, v.text("#readout"), "12 May, 10:12 to 10:13: 2 continuations sent in 2 requests; judged: 1 resumed a stall, 1 unwanted, 1 failed or interrupted.")
	v.press(kb.Enter)
	assert.Equal(t, []string{"12 May, 10:12 to 10:13"}, v.texts(".only"))
	assert.Equal(t, []string{"Failed", "Continued"}, v.states(), "the requests that ended then")
	assert.Contains(t, value[string](v, "location.hash"), "time=1778573520000-1778573580000")
	v.press(kb.Escape)
	assert.Empty(t, v.texts(".only"))
	v.run(`find("plot").blur()`)
	assert.Equal(t, all, v.text("#readout"))

	v.click("#plot g:last-of-type .hit") // the mouse, and then a finger
	assert.Equal(t, []string{"12 May, 10:14 to 10:15"}, v.texts(".only"))
	v.click(".only")
	v.run(`document.querySelector("#plot g:last-of-type .hit").dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, pointerType: "touch" }))`)
	assert.Equal(t, last, v.text("#readout"))

	for label, want := range map[string]string{"1": "The last hour: ", "2": "The last day: "} {
		v.click(".card .switch label:nth-of-type(" + label + ")")
		assert.Contains(t, v.text("#readout"), want+"7 continuations sent in 21 requests")
	}
}

// What is shown can be downloaded, and nothing in a table is a formula.
func TestDownloadsOfThePage(t *testing.T) {
	s := storyOf(t)
	require.NoError(t, s.ask(t.Context(), &request{session: `=cmd|"x",1`, todos: []string{"pending"}}, acts(1, 1, 1)))
	v := s.look(t, desk(), "")
	folder := t.TempDir()
	done := make(chan struct{}, 9)
	require.NoError(t, chromedp.Listen(v.ctx, func(event any) {
		if e, ok := event.(*cdpbrowser.EventDownloadProgress); ok && e.State == cdpbrowser.DownloadProgressStateCompleted {
			done <- struct{}{}
		}
	}))
	require.NoError(t, chromedp.Do(v.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, EventsEnabled: new(true),
		})
		return err
	})))
	load := func(kind, name string) string {
		v.click("[data-download=" + kind + "]")
		<-done
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		return string(content)
	}
	table, err := csv.NewReader(strings.NewReader(load("csv", "carryon-sessions.csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, table, 4)
	assert.Equal(t, []string{"session", "id", "began"}, table[0][:3])
	assert.Equal(t, `'=cmd|"x",1`, table[1][0])
	assert.Equal(t, "fix-login-bug", table[2][0])
	v.click(".chip.done")
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(load("json", "carryon-sessions.json")), &rows))
	require.Len(t, rows, 2)
	assert.Equal(t, "tea-shop-website", rows[1]["session"])
	assert.InDelta(t, 3, rows[1]["stalls_resumed"], 0)
	v.click("#views label:last-of-type")
	v.click(".chip.failed")
	require.NoError(t, json.Unmarshal([]byte(load("json", "carryon-requests.json")), &rows))
	require.Len(t, rows, 1)
	assert.Equal(t, "Failed", rows[0]["state"])
}

// The page of another process shows the figures that are kept.
func TestFiguresOfThePageSurviveARestart(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "stats")
	s := storyOf(t, "-stats", kept)
	require.NoError(t, s.close())
	v := sceneOf(t, "-stats", kept).look(t, desk(), "")
	assert.Contains(t, v.text("#sentence"), "carryon resumed 3 stalls in 2 sessions with a todo list; ")
	assert.Equal(t, "The figures are kept in a file, and cover all runs that use it, since 12 May, 10:04:00.", strings.Split(v.text("#about"), " carryon stands")[0])
	assert.Len(t, v.texts(".session"), 2)
	v.click(".session > summary")
	v.await(`document.querySelector(".session[open] .empty")`)
	assert.Equal(t, "Its requests are not kept any more.", v.text(".session[open] .empty"))
	assert.Contains(t, v.text("#readout"), "All: 7 continuations sent in 21 requests")
	v.click("#views label:last-of-type")
	assert.Equal(t, "No requests since carryon was started. Show all", v.text("#list"))
}

// Hundreds of requests at once neither break the page nor stop it.
func TestBurst(t *testing.T) {
	s := sceneOf(t)
	v := s.look(t, desk(), "")
	v.run(`window.longest = 0; new PerformanceObserver((all) => { for (const task of all.getEntries()) longest = Math.max(longest, task.duration) }).observe({ type: "longtask" })`)
	for range 400 {
		s.model.Append(carryontest.Text("Next.").Usage(10, 5), carryontest.Call("edit_file", "{}").Usage(10, 5))
	}
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := range 25 {
				r := request{session: fmt.Sprint("agent ", worker), user: strconv.Itoa(i), todos: []string{"completed", "pending"}, stream: i%2 == 0}
				assert.NoError(t, s.ask(t.Context(), &r))
			}
		})
	}
	all.Wait()
	v.await(`report.counts.requests === 400 && [...sessions.values()].every((session) => session.open === 0)`)
	assert.Len(t, v.texts(".session"), 16)
	assert.Equal(t, "16 25", value[string](v, `[sessions.size, ...new Set([...sessions.values()].map((session) => session.own.length))].join(" ")`))
	t.Logf("the longest task took %.0f ms", value[float64](v, "longest"))
}

// Nothing is cut off or runs out of the page, at any width, in either scheme.
func TestWidths(t *testing.T) {
	full := dayOf(t, 24, true, "-holdout", "0.5", "-price", "3,0.3,15")
	for name, s := range map[string]*scene{"full": full, "empty": sceneOf(t)} {
		for _, width := range []int64{360, 1280, 1920} {
			for _, dark := range []bool{false, true} {
				v := s.look(t, look{width: width, height: 900, dark: dark}, "")
				at := fmt.Sprint(name, " ", width, " ", dark)
				assert.LessOrEqual(t, value[int64](v, `document.documentElement.scrollWidth`), width, at)
				assert.Empty(t, value[[]string](v, `[...document.querySelectorAll("main *, header *, footer *")].filter((e) => e.checkVisibility() && !e.closest("svg, .hidden, thead")).filter((e) =>
					e.getBoundingClientRect().right > innerWidth + 0.5 || (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline")).map((e) => e.outerHTML.slice(0, 120))`), at)
				if width == 1280 {
					assert.Empty(t, value[[]string](v, contrasts), at)
				}
			}
		}
	}
}

// The page says that continuing was switched off, and does not take that for an agent that never stalls.
func TestPageSaysThatContinuingIsOff(t *testing.T) {
	s := sceneOf(t)
	off, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.proxy.Page()+"/continuing?on=false", http.NoBody)
	require.NoError(t, err)
	off.SetBasicAuth("", switchSecret)
	answered, err := s.client.Do(off)
	require.NoError(t, err)
	require.NoError(t, answered.Body.Close())
	require.NoError(t, s.ask(t.Context(), &request{session: "a", todos: []string{"pending"}}, says("Next.", 10, 5, 1)))
	v := s.look(t, desk(), "")
	assert.Regexp(t, `^Continuing is switched off since \d\d:\d\d:\d\d: carryon continues nothing\.$`, v.text("#notices"))
	assert.Equal(t, "carryon left 1 call alone, because continuing was switched off.", v.text("#sentence"))
}
