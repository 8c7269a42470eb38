// Package transport continues model calls on the wire. It works under any SDK that
// accepts an HTTP client and speaks OpenAI's Chat Completions or Responses, Anthropic's
// Messages or Google's generateContent:
//
//	client := &http.Client{Transport: transport.New(http.DefaultTransport, mw)}
//
// [New] is all that a program needs. Sessions, middleware.Capture and other settings of
// a call come from the ctx of the request.
//
// carryon reads POST requests to a path that ends in /chat/completions, /responses,
// /messages, :generateContent or :streamGenerateContent (with alt=sse), streamed or
// not. Everything else passes through unchanged: other requests; requests that offer no
// tools or do not let the model choose; requests with an AWS signature; compressed
// bodies; and answers other than a 200 with JSON or an event stream. If carryon has
// nothing to do, requests and answers pass through byte for byte. [Protocols] has the
// details.
//
// A continuation ends before the deadline of the request's ctx. For proxies, carryon
// also obeys the timeouts that clients send: X-Stainless-Timeout and
// X-Stainless-Read-Timeout from the SDKs of OpenAI, Anthropic and others
// (X-Stainless-Lang tells their unit), and X-Server-Timeout from Google's. For other
// clients, use continuation.WithDeadline. No deadline ever cuts off the caller's own
// turn.
//
// Experimental: generateContent, because Google's API still changes.
//
// [Protocols]: https://github.com/carryon-go/carryon/blob/main/docs/protocols.md
package transport
