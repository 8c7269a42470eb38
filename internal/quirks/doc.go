// Package quirks is a table of what providers of OpenAI-style chat completions
// really send, and of what a client should read when carryon joins two such
// answers.
//
// A row, [Quirk], holds two answers byte for byte, says what each of them means,
// and what carryon makes of them: both joined, the first alone, or the first
// with the part of the second that was shown before it failed. From that follow
// what any client should read ([Quirk.Judge]), what the bytes may look like
// ([Quirk.JudgeWire]), and what the continuation must ask
// ([Quirk.JudgeRequest]). Golden files keep what was read and sent, so that a
// change shows.
//
// The package is for tests. It knows no SDK: a test brings the clients.
package quirks
