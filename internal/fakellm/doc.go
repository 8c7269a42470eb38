// Package fakellm is a scripted model server. Package carryontest shows programs the part of it that their own tests need;
// carryon's tests use it directly, as they also need the quirks of providers. Its errors and panics name carryontest, which
// is the package that programs see.
//
// A [Server] answers each request with the next [Turn] of its script. It knows when the pieces of an answer are sent and
// where they break off, but no protocol. A protocol reads requests and renders answers: Chat Completions in the files
// chat*.go, Messages in messages*.go, and so on; their quirks are in quirk.go. Another protocol is one more implementation
// of the interface in protocol.go, and an entry in the list beside it. What histories Messages refuses is in
// messages_rules.go.
//
// # Counting chunks
//
// CutAfter, EndAfter, HangAfter, ErrorAfter and GateAfter count the pieces that have been sent: the events of a stream,
// its terminator included, or the two halves of the body of an answer in one piece or of an HTTP error. 0 is the place
// after the headers; a negative number counts from the end; a number past the end is the end.
package fakellm
