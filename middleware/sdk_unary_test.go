package middleware_test

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// client is the adapter's client for programs: the SDK's, with continuations.
type client struct {
	*sdkClient

	mw *middleware.Middleware
}

// Complete is like the SDK's Complete, with the continuations joined to the answer.
func (c *client) Complete(ctx context.Context, r sdkRequest) (sdkAnswer, error) {
	call, _ := join.Begin(ctx, c.mw, describe(r))
	if call == nil {
		return c.sdkClient.Complete(ctx, r)
	}
	var filters []join.TurnFilter
	if r.OnText != nil {
		filter := join.NewFilter(texts{}, r.OnText)
		r.OnText, filters = filter.Chunk, append(filters, filter)
	}
	return join.Unary(call, &answers{usageTotals: newUsageTotals()}, func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
		return c.sdkClient.Complete(ctx, extend(call, r, k))
	}, filters...)
}

// describe describes a request to the engine.
func describe(r sdkRequest) adapter.Request {
	d := adapter.Request{Tools: len(r.Tools), ToolNames: offering(r.Tools), History: history(r.Messages)}
	for _, tool := range r.Tools {
		d.OwnPause = d.OwnPause || pause.Is(tool.Name)
	}
	for i, m := range r.Messages {
		switch {
		case m.Role == "user":
			d.Users++
			d.User, d.Unanswered, d.Loop = m.Text, true, nil
			d.Previous = ""
			if i > 0 {
				d.Previous = r.Messages[i-1].Text
			}
		case len(m.Calls) > 0 && d.Loop == nil:
			d.Unanswered, d.Loop = false, func(add func(string)) { addLoop(r.Messages[:i], m.Calls[0], add) }
		default:
			d.Unanswered = false
		}
	}
	return d
}

// addLoop adds the texts that identify a tool loop: the messages before its first
// call, and that call.
func addLoop(before []sdkMessage, first sdkCall, add func(string)) {
	for _, m := range before {
		add(m.Role)
		add(m.Text)
		for _, call := range m.Calls {
			add(call.ID + call.Name + call.Args)
		}
	}
	add(first.ID + first.Name + first.Args)
}

// offering is the list of tools of a request.
type offering []sdkTool

// ToolNames yields their names.
func (o offering) ToolNames(yield func(string) bool) {
	for _, tool := range o {
		if !yield(tool.Name) {
			return
		}
	}
}

// history yields the tool calls of the messages, newest first, and what the program
// itself has written between them.
func history(messages []sdkMessage) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		walk, results := adapter.HistoryWalk{Yield: yield}, map[string]string{}
		for _, m := range slices.Backward(messages) {
			switch {
			case m.Role == "tool":
				results[m.CallID] = m.Text
			case m.Role == "user" && !walk.User(m.Text, nil), m.Role == "system" && !walk.Text(m.Text):
				return
			}
			for _, call := range slices.Backward(m.Calls) {
				result, answered := results[call.ID]
				c := todo.Call{ID: call.ID, Name: call.Name, Arguments: call.Args, Result: result, Answered: answered}
				if !walk.Call(c) {
					return
				}
			}
		}
	}
}

// extend returns the request to send: the caller's own if k is nil, and
// otherwise that of a continuation. The caller's slices are not changed.
func extend(call *join.Call, r sdkRequest, k *adapter.Continuation) sdkRequest {
	if k == nil {
		return withAdditions(r, call.Additions())
	}
	answer := sdkMessage{Role: "assistant", Text: k.Text}
	prompt := sdkMessage{Role: "user", Text: k.Prompt}
	if p := k.Pause; p != nil {
		answer.Calls = []sdkCall{{ID: p.ID, Name: p.Name, Args: p.Arguments}}
		prompt = sdkMessage{Role: "tool", Text: p.Result, CallID: p.ID}
	}
	r = withAdditions(r, &k.Additions)
	r.Messages = slices.Concat(r.Messages, []sdkMessage{answer, prompt})
	return r
}

// withAdditions returns the request with carryon's additions. There are no
// attachments, because describe sets no Attachable.
func withAdditions(r sdkRequest, a *adapter.Additions) sdkRequest {
	if tool := a.PauseTool; tool != nil {
		r.Tools = slices.Concat(r.Tools, []sdkTool{{Name: tool.Name, About: tool.Description, Schema: tool.Schema}})
	}
	return r
}

// answers is the dialect of whole answers.
type answers struct {
	id string // of the first turn
	usageTotals
}

func (d *answers) Read(a *sdkAnswer, s adapter.TurnReader) {
	if d.id == "" {
		d.id = a.ID
	}
	s.Text(a.Text)
	for i, call := range a.Calls { // each of them is a whole call
		s.Call(i, call.ID, call.Name, call.Args)
	}
	s.Finish(a.Stop)
	d.SetTurn(a.Usage)
	s.Usage(counts(a.Usage))
}

func (d *answers) AppendShown(dst []sdkAnswer, a *sdkAnswer, e *adapter.Edit) []sdkAnswer {
	a.ID, a.Text, a.Stop = d.id, e.Text, e.FinishOr("stop")
	var kept []sdkCall
	for i, call := range a.Calls {
		if !e.Call(i).Drop {
			kept = append(kept, call)
		}
	}
	a.Calls = kept
	if usage := d.Shown(e.Usage, &a.Usage); usage != nil {
		a.Usage = *usage
	}
	return append(dst, *a)
}

func (d *answers) Clone(a *sdkAnswer) sdkAnswer { return *a } // AppendShown changes no slice in place

// usageTotals keeps the usage of a call in the SDK's own type.
type usageTotals = adapter.UsageTotals[sdkUsage]

func newUsageTotals() usageTotals {
	return usageTotals{
		Add: func(a, b sdkUsage) sdkUsage { return sdkUsage{In: a.In + b.In, Out: a.Out + b.Out} },
		Extend: func(answer, turn sdkUsage) sdkUsage {
			return sdkUsage{In: cmp.Or(answer.In, turn.In), Out: answer.Out + turn.Out}
		},
	}
}

func counts(u sdkUsage) adapter.Usage {
	return adapter.Usage{Prompt: u.In, Completion: u.Out}
}

// texts is the dialect of the values of the SDK's callback: plain text.
type texts struct{}

func (texts) Read(text *string, s adapter.TurnReader) { s.Text(*text) }

func (texts) AppendShown(dst []string, text *string, e *adapter.Edit) []string {
	if e.Text == "" {
		return dst
	}
	return append(dst, e.Text)
}

func (texts) Clone(text *string) string { return *text }

func (texts) EndTurn(bool) {}
