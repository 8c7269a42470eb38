// Package faults is a model server that fails at any byte of an answer, in any
// way, and says what a client is to read of it then.
//
// A [Drill] is two answers of which one fails: in some way, in some framing. A
// test plays it once for every place ([Drill.Places]): it has a client read the
// [Upstream] of that place through carryon, and hands what was read to
// [Drill.Judge]. What is right follows from which events of the answer were in
// when it failed, and from nothing that carryon does:
//
//   - What turn 1 gave is delivered, whatever becomes of turn 2: its text, its
//     finish and its usage.
//   - Of turn 2, all text that was in is shown. The rest counts if its finish
//     was in.
//   - A part of a tool call ends in an error, and is never taken for a whole one.
//   - What fails in turn 1 is read as it is without carryon, to the letter.
//
// The package is for tests. It knows no SDK: a test brings the clients.
package faults
