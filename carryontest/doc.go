// Package carryontest is a test kit for programs that use carryon: a scripted model server, a recorder of events, and
// tests for a store of your own ([TestRecords]). Package adaptertest beside it tests adapters. It needs no network, no key and
// no sleeping.
//
// A [Server] speaks OpenAI's Chat Completions and Responses, Anthropic's Messages and Google's generateContent; the path of
// a request says which. It answers each request with the next [Turn] of its script, streamed or in one piece, as the
// request asks:
//
//	server := carryontest.NewServer(t,
//		carryontest.Call("todo_write", `{"todos":[{"content":"Fix the build","status":"pending"}]}`),
//		carryontest.Text("I'll fix the build next."),
//		carryontest.Call("edit_file", `{"path":"build.go"}`),
//	)
//	config := openai.DefaultConfig("no key")
//	config.BaseURL = server.URL()
//
// Afterwards [Server.Requests] returns the requests. A turn is a value: each of its methods returns a changed copy, so
// turns can be kept, shared and refined. The methods say what the model answers (AndText, AndCall, Finish, Usage), when the
// pieces of the answer come (GateAfter, Delay), and how it fails (CutAfter, EndAfter, HangAfter, ErrorAfter). [Chunks]
// replays a recorded stream of a provider.
//
// Over HTTP the server listens on a free port of the loopback interface. [Server.Transport] serves the same script in
// memory, without sockets, and so also inside a bubble of testing/synctest, where delays take no real time.
//
// # Counting chunks
//
// CutAfter, EndAfter, HangAfter, ErrorAfter and GateAfter count the chunks sent. In a stream each data event is one chunk.
// In Chat Completions these are, in order: the role, the reasoning, the text word by word, each call as a header and
// fragments of its arguments, the finish reason, the usage if there is any, and a final [DONE]. An answer in one piece,
// even an HTTP error, counts as two: the halves of its body. 0 is after the headers and before everything else. A negative
// number counts from the end, so that CutAfter(-1) sends all but the [DONE]; a number past the end is the end.
//
// # Messages
//
// The server checks a request for Anthropic's Messages as the API does, and refuses it with status 400 if it has calls
// without results, two calls with one id, empty texts, two tools of one name, or thinking in the wrong place. It signs
// reasoning together with the system prompt, the tools and the messages before it, and also refuses a request that sends
// the reasoning back after any of these has changed.
//
// # Gemini
//
// Requests for generateContent are checked too. A model whose name contains "gemini-3" gives its calls ids, signs its
// answers, and refuses calls of the current turn that come back without their signature. Other models do neither.
package carryontest
