package fakellm

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"time"
)

// beforeHeaders is the position before the first byte of an answer.
const beforeHeaders = math.MinInt

// pacing is when the pieces of an answer are sent, and whether all of them are.
type pacing struct {
	delay time.Duration
	gates []gate
	fault fault
}

// gate is a position where an answer waits.
type gate struct {
	after int
	open  <-chan struct{}
}

// fault is how an answer breaks off, if it does.
type fault struct {
	kind    faultKind
	after   int
	message string
	event   string // that reports the message, as it is sent
}

type faultKind int

const (
	faultNone faultKind = iota
	faultCut
	faultEnd
	faultHang
	faultError
)

var (
	errCut   = errors.New("carryontest: answer cut")
	errEnded = errors.New("carryontest: answer ended early") // not a failure
)

// Cut breaks the connection before the first byte of the answer. If several faults are set, the last one counts.
func (t Turn) Cut() Turn { return t.CutAfter(beforeHeaders) }

// CutAfter breaks the connection after n chunks, so that reading on is an error. The package comment says how chunks
// are counted.
func (t Turn) CutAfter(n int) Turn {
	t.pacing.fault = fault{kind: faultCut, after: n}
	return t
}

// EndAfter ends the answer after n chunks, as if all were well.
func (t Turn) EndAfter(n int) Turn {
	t.pacing.fault = fault{kind: faultEnd, after: n}
	return t
}

// Hang sends nothing, not even headers, until the client leaves or the server is closed.
func (t Turn) Hang() Turn { return t.HangAfter(beforeHeaders) }

// HangAfter sends nothing more after n chunks, until the client leaves or the server is closed.
func (t Turn) HangAfter(n int) Turn {
	t.pacing.fault = fault{kind: faultHang, after: n}
	return t
}

// ErrorAfter ends a stream after n chunks with an error event. A request for an answer in one piece gets the same error
// as HTTP status 500, whatever n is.
func (t Turn) ErrorAfter(n int, message string) Turn {
	t.pacing.fault = fault{kind: faultError, after: n, message: message}
	return t
}

// Gate waits until open is closed, or gives a value, before it sends anything. A turn may have several gates.
func (t Turn) Gate(open <-chan struct{}) Turn { return t.GateAfter(beforeHeaders, open) }

// GateAfter waits until open is closed, or gives a value, before it sends what follows the first n chunks. The package
// comment says how chunks are counted.
func (t Turn) GateAfter(n int, open <-chan struct{}) Turn {
	t.pacing.gates = append(slices.Clone(t.pacing.gates), gate{after: n, open: open})
	return t
}

// Delay waits before each chunk, the first and the terminator included. The headers are not delayed.
func (t Turn) Delay(d time.Duration) Turn {
	if d < 0 {
		panic("carryon/carryontest: Delay of a negative duration")
	}
	t.pacing.delay = d
	return t
}

// position makes a count of chunks absolute.
func position(after, total int) int {
	switch {
	case after == beforeHeaders:
		return beforeHeaders
	case after < 0:
		return max(total+after, 0)
	}
	return min(after, total)
}

// reach waits or fails as the turn's pacing says for a position. After an error, nothing more is sent.
func (p pacing) reach(ctx context.Context, at, total int, w io.Writer) error {
	for _, g := range p.gates {
		if position(g.after, total) != at {
			continue
		}
		select {
		case <-g.open:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if p.fault.kind == faultNone || position(p.fault.after, total) != at {
		return nil
	}
	return p.fault.strike(ctx, w)
}

func (f fault) strike(ctx context.Context, w io.Writer) error {
	switch f.kind {
	case faultCut:
		return errCut
	case faultHang:
		<-ctx.Done()
		return context.Cause(ctx)
	case faultError:
		if _, err := io.WriteString(w, f.event); err != nil {
			return err
		}
	}
	return errEnded
}

// wait lets the time between two chunks pass.
func (p pacing) wait(ctx context.Context) error {
	if p.delay == 0 {
		return nil
	}
	timer := time.NewTimer(p.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
