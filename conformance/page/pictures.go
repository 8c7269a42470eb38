// Package page tests the command's page in Chromium, and takes its screenshots for docs/. They show the scripted
// requests of a story, with a fixed clock.
package page

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

// picture is a screenshot of the page.
type picture struct {
	name string
	look look
	view string // the filters, as in the address
	open string // a part of the headline of the request that is open, or ""
	only string // a selector of the element to take, or "" for everything in view
	from string // a selector of the element at the top, or ""
}

// A page of documentation is 830 pixels wide: in wider pictures than these, small text could not be read.
var pictures = []picture{ //nolint:gochecknoglobals // a table
	{name: "page", look: look{width: 980, height: 1350}},
	{name: "page-sessions", look: look{width: 980, height: 640, dark: true}, from: "main > section:last-of-type"},
	{name: "page-request", look: look{width: 980, height: 1400}, view: "view=requests&show=continued", open: "Continued twice", only: ".request[open]"},
	{name: "page-narrow", look: look{width: 390, height: 760}, from: "main > section:last-of-type"},
}

// TakeAll takes the pictures into a folder.
func TakeAll(folder string) error {
	ctx, end, err := openBrowser(context.Background())
	if err != nil {
		return err
	}
	defer end()
	s, err := newScene(ctx, testclock.New(storyBegins.Add(-4*time.Hour)), "-content", "-price", "3,0.30,15", "-holdout", "0.5", "-questions", "wait")
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // the pictures have been taken
	if err := s.day(ctx, morning()); err != nil {
		return err
	}
	s.clock.Advance(storyBegins.Sub(s.clock.Now()))
	if err := s.tell(ctx); err != nil {
		return err
	}
	open, sent := make(chan struct{}), make(chan error, 1)
	if err := s.tellOfNow(ctx, open, sent); err != nil {
		return err
	}
	for i := range pictures {
		if err := pictures[i].take(ctx, s, folder); err != nil {
			return fmt.Errorf("%s: %w", pictures[i].name, err)
		}
	}
	close(open)
	return <-sent
}

// take takes the picture into a folder.
func (p *picture) take(browser context.Context, s *scene, folder string) error {
	t, err := newTab(browser, p.look)
	if err != nil {
		return err
	}
	defer t.end()
	if err := t.open(s.proxy.Page() + "#" + p.view); err != nil {
		return err
	}
	if err := p.arrange(t); err != nil {
		return err
	}
	screenshot, err := t.image(p.only)
	if err != nil {
		return err
	}
	if screenshot, err = small(screenshot); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, p.name+".png"), screenshot, 0o644) //nolint:gosec // it is published
}

// arrange brings the picture's content into view. It replaces the model's address, which differs in each run.
func (p *picture) arrange(t *tab) error {
	if err := t.until(`report.sessions.length > 0 && newestFirst.some((request) => request.model && !request.ended)`); err != nil {
		return err
	}
	if p.open != "" {
		script := fmt.Sprintf(`[...document.querySelectorAll(".request > summary")].find((one) => one.innerText.includes(%q)).click()`, p.open)
		if err := t.do(script); err != nil {
			return err
		}
		if err := t.until(`document.querySelector(".request[open] table")`); err != nil {
			return err
		}
	}
	return t.do(fmt.Sprintf(`
		view.live = false;
		document.activeElement.blur();
		document.querySelector("#about code").textContent = "http://models.example/v1";
		if (%[1]q) scrollTo({ top: document.querySelector(%[1]q).getBoundingClientRect().top - 12, behavior: "instant" })`, p.from))
}
