// Package quirks is a table of answers as providers of OpenAI-style chat
// completions really send them, and of what a client should read when carryon
// joins two of them.
//
// A row, [Quirk], has two answers byte for byte, the meaning of each, and the
// result that carryon makes of them: both joined, the first alone, or the first
// with the part of the second that was shown before it failed. The package
// derives from that what any client should read ([Quirk.Judge]), which bytes
// are allowed ([Quirk.JudgeWire]), and what the continuation must ask
// ([Quirk.JudgeRequest]). Golden files record what clients read and what was
// sent, so that a change is visible.
//
// The package is for tests. It knows no SDK: a test brings the clients.
package quirks
