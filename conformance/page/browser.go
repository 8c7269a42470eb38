package page

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// errNoBrowser is returned if Chromium is not installed.
var errNoBrowser = errors.New("there is no Chromium here: install it, or set CHROMIUM to its path")

// findBrowser returns the path of Chromium.
func findBrowser() (string, error) {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// patience is how long the browser may take for anything. It is long, because machines that run tests are busy.
const patience = 3 * time.Minute

// openBrowser starts a headless Chromium. It returns a ctx for new tabs, and a function that ends the browser.
func openBrowser(ctx context.Context) (context.Context, context.CancelFunc, error) {
	path, err := findBrowser()
	if err != nil {
		return nil, nil, err
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience), chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("lang", "en-US"),
	}
	if os.Geteuid() == 0 { // Chromium's sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, endAllocator := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], options...)...)
	ctx, endBrowser := chromedp.NewContext(ctx)
	end := func() { endBrowser(); endAllocator() }
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return ctx, end, nil
}

// look has the browser's settings for a page.
type look struct {
	width, height int64
	dark          bool
	zone          string // "" is Europe/Berlin
}

// tab is a tab of the browser.
type tab struct {
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in it
	end context.CancelFunc
}

// newTab opens a tab with the settings of a look.
func newTab(browser context.Context, l look) (*tab, error) {
	ctx, end := chromedp.NewContext(browser)
	t := &tab{ctx, end}
	if err := chromedp.Do(ctx, l.set()); err != nil {
		end()
		return nil, err
	}
	return t, nil
}

func (l look) set() chromedp.Action[chromedp.Void] {
	scheme, zone := "light", l.zone
	if l.dark {
		scheme = "dark"
	}
	if zone == "" {
		zone = "Europe/Berlin"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: l.width, Height: l.height, DeviceScaleFactor: 1,
		})
		_, err2 := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		_, err3 := cdp.Call(ctx, t, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
		// Each tab behaves like the one in the foreground.
		_, err4 := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return errors.Join(err, err2, err3, err4)
	})
}

// open goes to an address.
func (t *tab) open(url string) error { return chromedp.Do(t.ctx, chromedp.Navigate(url)) }

// do runs JavaScript, and waits if the result is a promise.
func (t *tab) do(script string) error {
	_, err := chromedp.Run(t.ctx, chromedp.Evaluate[chromedp.Void](script, chromedp.EvalAwaitPromise))
	return err
}

// until waits until a condition in JavaScript holds.
func (t *tab) until(condition string) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((found) => {
		const look = () => { try { if (`+condition+`) return found(true) } catch {} setTimeout(look, 10) };
		look();
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", condition, err)
	}
	return nil
}

// image returns a PNG of the tab, or of the element that a selector finds.
func (t *tab) image(only string) ([]byte, error) {
	if only == "" {
		return chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
	}
	return chromedp.Run(t.ctx, chromedp.Screenshot(only))
}
