package join_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// piece is an answer of a made-up SDK, or a chunk of one.
type piece struct {
	ID, Text, Tool, Stop string
	Tokens               int // of the answer
}

// pieces is the dialect of pieces.
type pieces struct {
	adapter.Envelope[string] // the first turn's id
	adapter.UsageTotals[int]
}

func newPieces() *pieces {
	add := func(a, b int) int { return a + b }
	return &pieces{UsageTotals: adapter.UsageTotals[int]{Add: add, Extend: add}}
}

// Read implements [adapter.Dialect].
func (d *pieces) Read(p *piece, t adapter.TurnReader) {
	d.Take(p.ID, p.ID != "")
	t.Text(p.Text)
	if p.Tool != "" {
		t.Call(0, "call_"+p.Tool, p.Tool, "{}")
	}
	t.Finish(p.Stop)
	if p.Tokens > 0 {
		d.SetTurn(p.Tokens)
		t.Usage(adapter.Usage{Completion: p.Tokens})
	}
}

// AppendShown implements [adapter.Dialect].
func (d *pieces) AppendShown(dst []piece, p *piece, e *adapter.Edit) []piece {
	shown := piece{ID: d.First, Text: e.Text, Stop: e.FinishOr("stop")}
	if p.Tool != "" && !e.Call(0).Drop {
		shown.Tool = p.Tool
	}
	if tokens := d.Shown(e.Usage, &p.Tokens); tokens != nil {
		shown.Tokens = *tokens
	}
	if shown == (piece{ID: d.First}) {
		return dst
	}
	return append(dst, shown)
}

// Clone implements [adapter.Dialect].
func (d *pieces) Clone(p *piece) piece { return *p }

// EndTurn implements [adapter.Dialect].
func (d *pieces) EndTurn(keep bool) {
	d.Fix()
	d.UsageTotals.EndTurn(keep)
}

// answer is a source of pieces.
type answer []piece

// Recv implements [adapter.Source].
func (a *answer) Recv() (piece, error) {
	if len(*a) == 0 {
		return piece{}, io.EOF
	}
	p := (*a)[0]
	*a = (*a)[1:]
	return p, nil
}

// Close implements [adapter.Source].
func (a *answer) Close() error { return nil }

// openTodo is a list on which something is open.
var openTodo = todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.Pending})

func ExampleNewStream() {
	mw := middleware.New(openTodo)
	call, _ := join.Begin(context.Background(), mw, adapter.Request{Tools: 1})
	// Send the request here, with the ctx of call.Context and the additions of call.Additions.
	first := &answer{{ID: "a1", Text: "Next I"}, {Text: " fix the build."}, {Stop: "stop"}}
	stream := join.NewStream(call, newPieces(), first,
		func(_ context.Context, k *adapter.Continuation) (adapter.Source[piece], error) {
			// Send the request once more, with k.Text, k.Prompt and the additions in k.
			return &answer{{ID: "a2", Tool: "edit_file"}, {Stop: "tools"}}, nil
		})
	defer stream.Close()
	for {
		p, err := stream.Recv()
		if err != nil {
			break
		}
		fmt.Printf("%q %q %q %q\n", p.ID, p.Text, p.Tool, p.Stop)
	}
	fmt.Println(stream.Outcome())
	// Output:
	// "a1" "Next I" "" ""
	// "" " fix the build." "" ""
	// "a1" "" "edit_file" ""
	// "a1" "" "" "tools"
	// 2 turns, 1 continuation: The continuation called a tool, so it is the program's turn
}

func ExampleUnary() {
	mw := middleware.New(openTodo)
	call, _ := join.Begin(context.Background(), mw, adapter.Request{Tools: 1})
	whole, err := join.Unary(call, newPieces(), func(_ context.Context, k *adapter.Continuation) (piece, error) {
		if k == nil { // the caller's own request
			return piece{ID: "a1", Text: "Next I fix the build.", Stop: "stop"}, nil
		}
		return piece{ID: "a2", Tool: "edit_file", Stop: "tools"}, nil
	})
	fmt.Printf("%s %q %s %s %v\n", whole.ID, whole.Text, whole.Tool, whole.Stop, err)
	// Output:
	// a1 "Next I fix the build." edit_file tools <nil>
}

// The SDK streams to a callback while it makes the answer.
func ExampleNewFilter() {
	mw := middleware.New(openTodo)
	call, _ := join.Begin(context.Background(), mw, adapter.Request{Tools: 1})
	filter := join.NewFilter(newPieces(), func(p piece) error {
		fmt.Printf("%q %q\n", p.Text, p.Tool)
		return nil
	})
	_, err := join.Unary(call, newPieces(), func(_ context.Context, k *adapter.Continuation) (piece, error) {
		p := piece{Text: "Next I fix the build.", Stop: "stop"}
		if k != nil {
			p = piece{Text: "Here it is.", Tool: "edit_file", Stop: "tools"}
		}
		return p, filter.Chunk(p)
	}, filter)
	fmt.Println(err)
	// Output:
	// "Next I fix the build." ""
	// "\n\nHere it is." "edit_file"
	// <nil>
}

func ExampleBegin() {
	mw := middleware.New(openTodo)
	call, outcome := join.Begin(context.Background(), mw, adapter.Request{}) // it offers no tools
	fmt.Println(call == nil, outcome)
	// Output:
	// true 1 turn, 0 continuations: The request offers no tools
}

func ExampleCall_Abort() {
	mw := middleware.New(openTodo)
	call, _ := join.Begin(context.Background(), mw, adapter.Request{Tools: 1})
	call.Abort(errors.New("no route to the model"))
	fmt.Println(call.Outcome())
	// Output:
	// 1 turn, 0 continuations: The call broke off (no route to the model)
}

func ExamplePass() {
	ctx, outcomes := middleware.Capture(context.Background())
	join.Pass(ctx, middleware.New(openTodo), reasons.Unreadable)
	fmt.Println(outcomes.Last().Reason.Code())
	// Output:
	// unreadable
}

// An adapter that can tell a chunk of text at a glance passes it on itself.
func ExampleStream_Relay() {
	mw := middleware.New(openTodo)
	call, _ := join.Begin(context.Background(), mw, adapter.Request{Tools: 1})
	first := &answer{{Text: "Next I fix"}, {Text: " the build."}, {Stop: "stop"}}
	stream := join.NewStream(call, newPieces(), first,
		func(_ context.Context, k *adapter.Continuation) (adapter.Source[piece], error) {
			fmt.Printf("(so far: %q)\n", k.Text)
			return &answer{{Tool: "edit_file"}, {Stop: "tools"}}, nil
		})
	defer stream.Close()
	for relay := stream.Relay(); relay != nil; relay = stream.Relay() {
		p, err := first.Recv()
		if err == nil && p.Stop == "" && p.Tool == "" {
			relay.Text(p.Text)
		} else {
			p, _ = relay.Handle(p, err)
		}
		fmt.Printf("%q %q\n", p.Text, p.Tool)
	}
	p, err := stream.Recv()
	fmt.Println(p.Stop, err)
	// Output:
	// "Next I fix" ""
	// " the build." ""
	// (so far: "Next I fix the build.")
	// "" "edit_file"
	// tools <nil>
}
