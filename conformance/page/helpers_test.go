package page

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

// browser is the Chromium for all tests, or the error of starting it.
var browser struct {
	ctx context.Context
	err error
}

func TestMain(m *testing.M) {
	var end context.CancelFunc
	browser.ctx, end, browser.err = openBrowser(context.Background()) //nolint:fatcontext // it is the only one
	code := m.Run()
	if browser.err == nil {
		end()
	}
	os.Exit(code)
}

// view is the page of a scene in a tab.
type view struct {
	*tab
	t     *testing.T
	scene *scene

	mu      sync.Mutex
	wrong   []string // errors in the browser's console
	fetched []string
	gone    bool // the proxy was stopped, so the console reports errors
}

// desk is the look of most tests.
func desk() look { return look{width: 1080, height: 800} }

// sceneOf returns a scene with these flags. It ends with the test.
func sceneOf(t *testing.T, args ...string) *scene {
	t.Helper()
	s, err := newScene(t.Context(), nil, args...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.close() }) // some tests close it themselves
	return s
}

// storyOf returns a scene in which tell has sent its requests.
func storyOf(t *testing.T, args ...string) *scene {
	t.Helper()
	clock := testclock.New(storyBegins)
	s, err := newScene(t.Context(), clock, args...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.close() }) // some tests close it themselves
	require.NoError(t, s.tell(t.Context()))
	return s
}

// look opens the page with the filters of an address. When the test ends, the console must have no errors, and the page
// must have loaded everything from the proxy.
func (s *scene) look(t *testing.T, l look, chosen string) *view {
	t.Helper()
	if browser.err != nil {
		if os.Getenv("CARRYON_REQUIRE_SERVERS") == "1" {
			require.NoError(t, browser.err)
		}
		t.Skip(browser.err)
	}
	tab, err := newTab(browser.ctx, l)
	require.NoError(t, err)
	v := &view{tab: tab, t: t, scene: s}
	require.NoError(t, chromedp.Listen(tab.ctx, v.hear))
	require.NoError(t, chromedp.Do(tab.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{})
		return err
	})))
	t.Cleanup(func() {
		tab.end()
		v.mu.Lock()
		defer v.mu.Unlock()
		assert.Empty(t, v.wrong)
		for _, url := range v.fetched {
			assert.True(t, url == s.proxy.Root()+"/" || strings.HasPrefix(url, s.proxy.Page()) || strings.HasPrefix(url, "data:"), url)
		}
	})
	require.NoError(t, tab.open(s.proxy.Page()+"#"+chosen))
	v.await(`document.querySelector("#list").children.length > 0`)
	return v
}

func (v *view) hear(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		v.wrong = append(v.wrong, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		v.wrong = append(v.wrong, fmt.Sprint("console.", e.Type))
	case *log.EventEntryAdded:
		if !v.gone {
			v.wrong = append(v.wrong, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		v.fetched = append(v.fetched, e.Request.URL)
	}
}

// await waits until a condition holds.
func (v *view) await(condition string) {
	v.t.Helper()
	require.NoError(v.t, v.until(condition))
}

// run runs JavaScript.
func (v *view) run(script string) {
	v.t.Helper()
	require.NoError(v.t, v.do(script))
}

// click clicks with the mouse on the first element that a selector finds.
func (v *view) click(selector string) {
	v.t.Helper()
	at := value[[]float64](v, fmt.Sprintf(`(() => {
		const element = document.querySelector(%q);
		element.scrollIntoViewIfNeeded();
		const { x, y, width, height } = element.getBoundingClientRect(), at = [x + width / 2, y + height / 2];
		return element.contains(document.elementFromPoint(...at)) ? at : [];
	})()`, selector))
	require.Len(v.t, at, 2, "%s is not to be seen", selector)
	require.NoError(v.t, chromedp.Do(v.ctx, chromedp.MouseClickXY(at[0], at[1])))
}

// press presses keys.
func (v *view) press(keys string) {
	v.t.Helper()
	require.NoError(v.t, chromedp.Do(v.ctx, chromedp.KeyEvent(keys)))
}

// value returns the value of a JavaScript expression.
func value[T any](v *view, expression string) T {
	v.t.Helper()
	got, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(v.t, err, expression)
	return got
}

// text returns the text of an element as it is shown.
func (v *view) text(selector string) string {
	v.t.Helper()
	return value[string](v, fmt.Sprintf(`document.querySelector(%q).innerText.replace(/\s+/g, " ").trim()`, selector))
}

// texts returns the texts of all elements that are shown.
func (v *view) texts(selector string) []string {
	v.t.Helper()
	return value[[]string](v, fmt.Sprintf(
		`[...document.querySelectorAll(%q)].filter((e) => e.checkVisibility()).map((e) => e.innerText.replace(/\s+/g, " ").trim())`, selector))
}

// states returns the badges of the requests in the list, and "passed" with a number for each fold.
func (v *view) states() []string {
	v.t.Helper()
	return value[[]string](v, `[...document.querySelectorAll("#list .badge, #list .fold > summary .what")].filter((e) => e.checkVisibility())
		.map((e) => e.textContent)`)
}
