// Package transport continues calls of models on the wire, under any SDK that
// speaks OpenAI's Chat Completions or Responses or Anthropic's Messages and lets
// its HTTP client be chosen:
//
//	client := &http.Client{Transport: transport.New(http.DefaultTransport, mw)}
//
// It acts on POST requests to a path that ends in /chat/completions, /responses or
// /messages, streamed or not. Whatever else passes untouched: other requests; requests that offer
// no tools or leave the model no choice; signed ones (AWS); compressed bodies;
// and answers other than a 200 with JSON or an event stream. With nothing to do,
// requests and answers are the same bytes as without it.
//
// Sessions, [middleware.Capture] and the like go by the ctx of the request.
//
// The deadline of that ctx is the caller's: a continuation ends before it. Behind
// a proxy, the SDKs of OpenAI, Anthropic and others send their time-outs in the
// headers X-Stainless-Timeout and X-Stainless-Read-Timeout. carryon treats these
// as the deadline; X-Stainless-Lang says what they mean. For clients that send
// none there is [continuation.WithDeadline]. None of these ever cuts the caller's own turn.
package transport
