// Package quirks is a table of what providers of OpenAI-style chat completions
// really send, and of what is to be read when carryon joins two such answers.
//
// A row, [Quirk], has two answers byte for byte, says what each of them means,
// and what becomes of them: joined, the first alone, or the first with what the
// second showed before it failed. From that follows what any client is to read
// ([Quirk.Judge]), what the bytes may look like ([Quirk.JudgeWire]), and what
// the continuation asked ([Quirk.JudgeRequest]). What was read and sent is kept
// in goldens besides, so that a change shows.
//
// The package is for tests. It knows no SDK: a test brings the clients.
package quirks
