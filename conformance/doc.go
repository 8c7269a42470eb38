// Package conformance tests carryon with clients that carryon itself must not depend on, such as OpenAI's official SDK.
// It is a separate module, so that these clients do not end up in the go.sum of carryon's users.
//
// A client must read from a joined answer what it reads from the turns alone, and must refuse no chunk. The answers come
// from the quirk table, from recordings of providers, and from a scripted server over HTTP.
package conformance
