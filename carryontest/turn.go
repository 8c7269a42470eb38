package carryontest

import (
	"time"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// Turn is one scripted answer. Its methods return changed copies and leave the turn itself as it was, so a Turn may be
// shared between servers and goroutines. The zero value is an answer without text.
//
// The methods that say what the model answers are for turns made by Text, Call and Pause; on others they panic. The methods
// for headers, timing and failures are for all turns except those of Func, where they have no effect: the turn that the
// function returns decides.
type Turn struct {
	turn fakellm.Turn
}

// Text answers with text, which a stream sends word by word. The finish reason is the protocol's plain stop: "stop",
// "end_turn" or "STOP".
func Text(text string) Turn { return Turn{fakellm.Text(text)} }

// Call answers with a tool call, whose arguments a stream sends in fragments. They are sent unchanged, JSON or not; in
// generateContent, where arguments are part of the answer's JSON, invalid ones become {}. The finish reason is the protocol's
// own: "tool_calls", "tool_use" or "STOP". Call ids are unique per server: "call_2_1" is the first call of the second answer.
func Call(name, arguments string) Turn { return Turn{fakellm.Call(name, arguments)} }

// Pause answers with a call of todo_pause with this reason.
func Pause(reason string) Turn { return Turn{fakellm.Pause(reason)} }

// Status answers with an HTTP status and a JSON body, streamed or not. With status 200 it is the answer of a server that
// replies to a request for a stream in one piece. It panics if status is below 200 or above 999.
func Status(status int, body string) Turn { return Turn{fakellm.Status(status, body)} }

// Chunks answers with an event stream of these data payloads, unchanged, followed by the protocol's end of a stream, such
// as [DONE], whether or not the request asks for a stream. A payload of several lines becomes an event of several data
// lines. In protocols whose events have names, the name is the type of the payload.
func Chunks(payloads ...string) Turn { return Turn{fakellm.Chunks(payloads...)} }

// Func answers with the turn that respond returns for the request. The request belongs to respond, which may be called for
// several requests at a time. Func panics if respond is nil.
func Func(respond func(Request) Turn) Turn {
	if respond == nil {
		return Turn{fakellm.Func(nil)} // panics
	}
	return Turn{fakellm.Func(func(r fakellm.Request) fakellm.Turn { return respond(requestOf(r)).turn })}
}

// AndText adds text, which comes before all calls.
func (t Turn) AndText(text string) Turn { return Turn{t.turn.AndText(text)} }

// AndCall adds a tool call.
func (t Turn) AndCall(name, arguments string) Turn { return Turn{t.turn.AndCall(name, arguments)} }

// WholeCalls sends each call of a stream in one fragment, as many providers do.
func (t Turn) WholeCalls() Turn { return Turn{t.turn.With(fakellm.WholeCalls)} }

// Reasoning adds reasoning, which comes first: reasoning_content, or a signed block of thinking.
func (t Turn) Reasoning(text string) Turn { return Turn{t.turn.Reasoning(text)} }

// Finish sets the finish reason.
func (t Turn) Finish(reason string) Turn { return Turn{t.turn.Finish(reason)} }

// Usage sets the numbers of tokens, which are 10 and 5 by default. An answer in one piece always reports them; a stream
// does if the request asks for them with include_usage.
func (t Turn) Usage(prompt, completion int) Turn { return Turn{t.turn.Usage(prompt, completion)} }

// Header adds an HTTP header to the answer. The first value of a name replaces the server's own, if it has one.
func (t Turn) Header(name, value string) Turn { return Turn{t.turn.Header(name, value)} }

// Delay waits before each chunk, including the first and the [DONE]. The headers are not delayed. It panics if d is
// negative.
func (t Turn) Delay(d time.Duration) Turn { return Turn{t.turn.Delay(d)} }

// GateAfter waits, after the first n chunks, until open is closed or gives a value. A turn may have several gates. The
// package comment says how chunks are counted.
func (t Turn) GateAfter(n int, open <-chan struct{}) Turn { return Turn{t.turn.GateAfter(n, open)} }

// Cut breaks the connection before the first byte of the answer. If several ways to fail are set, the last one counts.
func (t Turn) Cut() Turn { return Turn{t.turn.Cut()} }

// CutAfter breaks the connection after n chunks, so that reading on fails. The package comment says how chunks are counted.
func (t Turn) CutAfter(n int) Turn { return Turn{t.turn.CutAfter(n)} }

// EndAfter ends the answer after n chunks, without an error.
func (t Turn) EndAfter(n int) Turn { return Turn{t.turn.EndAfter(n)} }

// Hang sends nothing, not even headers, until the client leaves or the server is closed.
func (t Turn) Hang() Turn { return Turn{t.turn.Hang()} }

// HangAfter sends nothing more after n chunks, until the client leaves or the server is closed.
func (t Turn) HangAfter(n int) Turn { return Turn{t.turn.HangAfter(n)} }

// ErrorAfter ends a stream after n chunks with an error event. A request for an answer in one piece gets the same error
// as HTTP status 500, whatever n is.
func (t Turn) ErrorAfter(n int, message string) Turn { return Turn{t.turn.ErrorAfter(n, message)} }

// scripts converts turns for the server.
func scripts(turns []Turn) []fakellm.Turn {
	list := make([]fakellm.Turn, len(turns))
	for i, t := range turns {
		list[i] = t.turn
	}
	return list
}
