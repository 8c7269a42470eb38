package middleware_test

import (
	"context"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
)

// Stream is like the SDK's Stream, with the continuations joined to the answer.
func (c *client) Stream(ctx context.Context, r sdkRequest) (adapter.Source[sdkChunk], error) {
	call, _ := join.Begin(ctx, c.mw, describe(r))
	if call == nil {
		return c.sdkClient.Stream(ctx, r)
	}
	first, err := c.sdkClient.Stream(call.Context(), extend(call, r, nil))
	if err != nil {
		call.Abort(err)
		return nil, err
	}
	return join.NewStream(call, &chunks{usageTotals: newUsageTotals()}, first,
		func(ctx context.Context, k *adapter.Continuation) (adapter.Source[sdkChunk], error) {
			return c.sdkClient.Stream(ctx, extend(call, r, k))
		}), nil
}

// chunks is the dialect of streams.
type chunks struct {
	id string // of the first turn
	usageTotals
}

func (d *chunks) Read(c *sdkChunk, s adapter.TurnReader) {
	if d.id == "" {
		d.id = c.ID
	}
	s.Text(c.Text)
	for _, call := range c.Calls {
		s.Call(call.Index, call.ID, call.Name, call.Args)
	}
	s.Finish(c.Stop)
	if c.Usage != nil {
		d.SetTurn(*c.Usage)
		s.Usage(counts(*c.Usage))
	}
}

func (d *chunks) AppendShown(dst []sdkChunk, c *sdkChunk, e *adapter.Edit) []sdkChunk {
	c.ID, c.Text, c.Stop = d.id, e.Text, e.FinishOr("stop")
	c.Usage = d.Shown(e.Usage, c.Usage)
	c.Calls = keptCalls(c.Calls, e)
	if c.Text == "" && c.Stop == "" && len(c.Calls) == 0 && c.Usage == nil {
		return dst
	}
	return append(dst, *c)
}

func keptCalls(calls []sdkCall, e *adapter.Edit) []sdkCall {
	var kept []sdkCall
	for i, call := range calls {
		edit := e.Call(i)
		if edit.Rewrite {
			call.Index = edit.Index
		}
		if !edit.Drop {
			kept = append(kept, call)
		}
	}
	return kept
}

func (d *chunks) Clone(c *sdkChunk) sdkChunk { return *c } // AppendShown changes no slice in place
