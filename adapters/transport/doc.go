// Package transport continues model calls on the wire. It works under any SDK that speaks OpenAI's Chat Completions or
// Responses, Anthropic's Messages or Google's generateContent, and accepts an HTTP client:
//
//	client := &http.Client{Transport: transport.New(http.DefaultTransport, mw)}
//
// It acts on POST requests to a path that ends in /chat/completions, /responses, /messages, :generateContent or
// :streamGenerateContent (with alt=sse), streamed or not. It passes everything else untouched: other requests; requests
// that offer no tools or do not let the model choose; requests with an AWS signature; compressed bodies; and answers
// other than a 200 with JSON or an event stream. If carryon has nothing to do, requests and answers are the same bytes
// as without it.
//
// Sessions, [middleware.Capture] and other settings of a call come from the ctx of the request.
//
// A continuation ends before the deadline of that ctx. Behind a proxy, the SDKs of OpenAI, Anthropic and others send
// their time-outs in the headers X-Stainless-Timeout and X-Stainless-Read-Timeout, and Google's in X-Server-Timeout.
// carryon treats these as the deadline; X-Stainless-Lang says what they mean. For other clients, use
// [continuation.WithDeadline]. No deadline ever cuts the caller's own turn.
package transport
