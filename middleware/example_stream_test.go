package middleware_test

import (
	"context"
	"fmt"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
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

// An adapter for streams adds to the one for whole answers: the client's Stream, and
// a second dialect.
func Example_adapterOfAStream() {
	model := &sdkClient{turns: []sdkAnswer{
		{ID: "a1", Text: "Next I will fix the build.", Stop: "stop", Usage: sdkUsage{In: 10, Out: 7}},
		{ID: "a2", Text: "Here it is.", Calls: []sdkCall{{ID: "c1", Name: "edit_file"}}, Stop: "tools"},
	}}
	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})
	agent := &client{model, middleware.New(todos)}

	stream, err := agent.Stream(context.Background(), sdkRequest{
		Messages: []sdkMessage{{Role: "user", Text: "Fix the build."}},
		Tools:    []sdkTool{{Name: "edit_file"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %q, calls: %d, stop: %q\n", chunk.ID, chunk.Text, len(chunk.Calls), chunk.Stop)
	}
	// Output:
	// a1: "Next ", calls: 0, stop: ""
	// a1: "I ", calls: 0, stop: ""
	// a1: "will ", calls: 0, stop: ""
	// a1: "fix ", calls: 0, stop: ""
	// a1: "the ", calls: 0, stop: ""
	// a1: "build.", calls: 0, stop: ""
	// a1: "\n\nHere ", calls: 0, stop: ""
	// a1: "it ", calls: 0, stop: ""
	// a1: "is.", calls: 0, stop: ""
	// a1: "", calls: 1, stop: ""
	// a1: "", calls: 0, stop: "tools"
	// EOF
}
