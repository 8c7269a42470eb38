// Package carryontest is a test kit for programs that use carryon: a scripted model server, a recorder of events, a clock
// that moves only when told to, and tests for stores and dialects of your own ([TestStore], [TestDialect]). It needs no
// network, no key and no sleeping.
//
// A [Server] speaks OpenAI's Chat Completions and Responses and Anthropic's Messages: which, the path of a request tells. It
// answers each request with the next [Turn] of its script, streamed or in one piece, as the request asks:
//
//	server := carryontest.NewServer(t,
//		carryontest.Call("todo_write", `{"todos":[{"content":"Fix the build","status":"pending"}]}`),
//		carryontest.Text("I'll fix the build next."),
//		carryontest.Call("edit_file", `{"path":"build.go"}`),
//	)
//	config := openai.DefaultConfig("no key")
//	config.BaseURL = server.URL()
//
// Afterwards [Server.Requests] returns what was asked. A turn is a value: each of its methods returns a changed copy, so
// that turns can be kept, shared and refined. The methods say what the model answers (AndText, AndCall, Finish, Usage), when
// the pieces of the answer come (GateAfter, Delay), and how it fails (CutAfter, EndAfter, HangAfter, ErrorAfter). [Chunks]
// replays a stream of some provider as it was recorded.
//
// Over HTTP the server listens on a free port of the loopback interface. [Server.Transport] serves the same script
// in memory, without sockets, and so inside a bubble of testing/synctest, where delays cost no time.
//
// # Counting chunks
//
// CutAfter, EndAfter, HangAfter, ErrorAfter and GateAfter count what has been sent. In a stream each data event is one. In
// Chat Completions these are first the role, then the reasoning, the text word by word, each call as a header and fragments
// of its arguments, the finish reason, the usage if there is any, and a final [DONE]. An answer in one piece, an HTTP error too, counts as
// two: the halves of its body. 0 is after the headers and before everything else; a negative number counts from the end, so
// that CutAfter(-1) sends all but the [DONE]; a number past the end is the end.
//
// # Messages
//
// A request for Anthropic's Messages is checked as the API checks it, and refused with status 400: calls without results, or
// with an id that another one has, texts that are empty, tools of one name, and thinking in the wrong place. Reasoning is
// signed, and bound to the system prompt, the tools and the messages before it: where any of these has changed when it comes
// back, the request is refused too. [Turn.Unsigned] leaves the signature out, as servers do that run the models of others.
package carryontest
