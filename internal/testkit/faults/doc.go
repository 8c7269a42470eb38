// Package faults is a model server that fails at any byte of an answer, in any
// way, and says what a client should read of it then.
//
// A [Drill] is two answers, one of which fails in some way, in some framing. A
// test plays it once for every offset ([Drill.Offsets]): a client reads the
// [Upstream] of that offset through carryon, and [Drill.Judge] checks what the
// client read. The expected result follows from the events that had arrived
// when the answer failed, not from what carryon does:
//
//   - The text, the finish reason and the usage of turn 1 are delivered, whatever
//     happens to turn 2.
//   - All text of turn 2 that had arrived is shown. The rest of it counts if its
//     finish reason had arrived.
//   - A part of a tool call ends in an error, and never counts as a whole call.
//   - A failure in turn 1 is read exactly as it is without carryon.
//
// The package is for tests. It knows no SDK: a test brings the clients.
package faults
