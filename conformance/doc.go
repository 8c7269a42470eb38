// Package conformance holds the tests of carryon that need clients which carryon itself must not depend on, such as
// OpenAI's own SDK. It is a module of its own, so that nobody who uses carryon has these clients in a go.sum.
//
// A client conforms if it reads of a joined answer what it reads of the turns alone, and refuses no chunk of it. The
// answers are those of the quirk table, what providers really sent, and what a scripted server sends over HTTP.
package conformance
