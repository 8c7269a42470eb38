// Package conformance tests carryon with clients that the root module must not require: the official SDKs of OpenAI and
// Anthropic, and those clients of langchaingo that need more than langchaingo's core. It is a separate module, so that
// they do not end up in the go.sum of carryon's users. The root module requires go-openai and langchaingo, which its
// adapters wrap, testify, which carryontest uses, and what its own tests need: httpmock, goleak and rapid.
//
// A client must read from a joined answer what it reads from the turns alone, and must refuse no chunk. The answers come
// from the quirk table, from recordings of providers, and from a scripted server over HTTP.
package conformance
