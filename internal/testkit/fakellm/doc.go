// Package fakellm is a scripted model server. Package carryontest exports the part that programs need for their own
// tests. carryon's tests use fakellm directly, because they also need the quirks of providers. Its errors and panics
// name carryontest, the package that programs see.
//
// A [Server] answers each request with the next [Turn] of its script. It decides when the pieces of an answer are sent
// and where they break off, but knows no protocol. A protocol reads requests and renders answers: Chat Completions in
// the files chat*.go, Messages in messages*.go, and so on; their quirks are in quirk.go. To add a protocol, implement
// the interface in protocol.go and add an entry to the list there. messages_rules.go has the rules by which Messages
// refuses a history.
//
// # Counting chunks
//
// CutAfter, EndAfter, HangAfter, ErrorAfter and GateAfter count the pieces that have been sent: the events of a stream,
// its terminator included, or the two halves of the body of an answer in one piece or of an HTTP error. 0 is the place
// after the headers; a negative number counts from the end; a number past the end is the end.
package fakellm
