package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// BenchmarkThousandRequests measures how soon the page shows a thousand requests, of few sessions and of many. It
// reports the median of the loads, and what a load consists of.
func BenchmarkThousandRequests(b *testing.B) {
	if browser.err != nil {
		b.Skip(browser.err)
	}
	for _, sessions := range []int{40, 1000} {
		s, err := newScene(b.Context(), nil, "-content", "-price", "3,0.3,15")
		require.NoError(b, err)
		b.Cleanup(func() { _ = s.close() }) // nothing is measured any more
		require.NoError(b, s.thousand(b.Context(), sessions))
		for _, chosen := range []string{"", "view=requests", "view=requests&show=passed"} {
			b.Run(fmt.Sprintf("sessions=%d/%s", sessions, chosen), func(b *testing.B) { benchmarkLoads(b, s.proxy.Page()+"#"+chosen) })
		}
	}
}

// benchmarkLoads loads an address of the page again and again.
func benchmarkLoads(b *testing.B, url string) {
	b.Helper()
	tab, err := newTab(browser.ctx, desk())
	require.NoError(b, err)
	defer tab.end()
	require.NoError(b, tab.watch())
	var loads []load
	for b.Loop() {
		one, err := tab.load(url)
		require.NoError(b, err)
		loads = append(loads, one)
	}
	report(b, loads)
}

// thousand sends a thousand requests, of so many sessions. A third of them are continued.
func (s *scene) thousand(ctx context.Context, sessions int) error {
	for i := range 1000 {
		r := request{session: fmt.Sprint("session ", i%sessions), user: strconv.Itoa(i), todos: []string{"completed", "pending", "pending", "pending"}, work: "Write page"}
		turns := []answer{acts(1000, 100, 1)}
		if i%3 == 0 {
			turns = []answer{says("Next.", 1000, 50, 1), acts(1100, 100, 1)}
		}
		if err := s.ask(ctx, &r, turns...); err != nil {
			return err
		}
	}
	return nil
}

// load is how long a load of the page took, in milliseconds.
type load struct {
	Drawn    float64 `json:"drawn"`    // from the navigation to the first frame with a list: the sum of the next four
	Page     float64 `json:"page"`     // until the page asks for its data
	Server   float64 `json:"server"`   // until the first byte of the data
	Transfer float64 `json:"transfer"` // until the last one
	Show     float64 `json:"show"`     // until the frame

	layout float64 // of the whole load: styles and layout. Scripts and painting are the rest.
}

// watch has each document of the tab note when the list is drawn.
func (t *tab) watch() error {
	return chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, performance.Enable, performance.EnableParams{})
		_, err2 := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			window.drawn = new Promise((found) => {
				const watch = new MutationObserver(() => {
					if (!document.querySelector("#list > *")) return;
					watch.disconnect();
					requestAnimationFrame(() => setTimeout(() => found(performance.now())));
				});
				watch.observe(document, { subtree: true, childList: true });
			})`})
		return errors.Join(err, err2)
	}))
}

// load loads an address of the page.
func (t *tab) load(url string) (one load, err error) {
	if err := t.open("about:blank"); err != nil { // or else an address with another fragment would not be loaded
		return load{}, err
	}
	before, err := t.layout()
	if err != nil {
		return load{}, err
	}
	if err := t.open(url); err != nil {
		return load{}, err
	}
	one, err = chromedp.Run(t.ctx, chromedp.Evaluate[load](`drawn.then((drawn) => {
		const [data] = performance.getEntriesByType("resource").filter(({ name }) => name.includes("format=json"));
		const { requestStart, responseStart, responseEnd } = data;
		return { drawn, page: requestStart, server: responseStart - requestStart, transfer: responseEnd - responseStart, show: drawn - responseEnd };
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		return load{}, err
	}
	after, err := t.layout()
	one.layout = after - before
	return one, err
}

// layout returns how many milliseconds the tab has computed styles and layout.
func (t *tab) layout() (ms float64, err error) {
	err = chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		got, err := cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
		for _, m := range got.Metrics {
			if m.Name == "LayoutDuration" || m.Name == "RecalcStyleDuration" {
				ms += 1000 * m.Value
			}
		}
		return err
	}))
	return ms, err
}

// report reports the medians.
func report(b *testing.B, loads []load) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for unit, of := range map[string]func(load) float64{
		"ms/drawn": func(l load) float64 { return l.Drawn }, "ms/page": func(l load) float64 { return l.Page },
		"ms/server": func(l load) float64 { return l.Server }, "ms/transfer": func(l load) float64 { return l.Transfer },
		"ms/show": func(l load) float64 { return l.Show }, "ms/layout": func(l load) float64 { return l.layout },
	} {
		all := make([]float64, 0, len(loads))
		for _, one := range loads {
			all = append(all, of(one))
		}
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
	}
}
