package audit

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// progress is how much was read, of how much.
type progress struct {
	total int64
	read  atomic.Int64
}

func (p *progress) add(n int64) { p.read.Add(n) }

// counted is a reader whose bytes are counted.
type counted struct {
	io.Reader
	progress *progress
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.progress.add(int64(n))
	return n, err
}

// show begins to draw a bar on a terminal. It returns a function that removes the bar.
func (p *progress) show(w io.Writer) (remove func()) {
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() { p.draw(w, done) })
	return func() {
		close(done)
		drawing.Wait()
	}
}

// draw draws a bar on a terminal until done is closed, and removes it.
func (p *progress) draw(w io.Writer, done <-chan struct{}) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			_, _ = io.WriteString(w, "\r\x1b[K") // a bar that is missing says no less
			return
		case <-ticker.C:
			_, _ = io.WriteString(w, p.bar())
		}
	}
}

// bar returns the line with the bar.
func (p *progress) bar() string {
	const width = 30
	read, total := min(p.read.Load(), p.total), max(p.total, 1)
	filled := int(read * width / total)
	return fmt.Sprintf("\r[%s%s] %s of %s\x1b[K", strings.Repeat("#", filled), strings.Repeat(".", width-filled), size(read), size(p.total))
}

// size returns a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1e3)
}
