// Package responses holds tests of the transport with the official SDK of
// OpenAI's Responses API, on recorded streams. It has no code.
package responses
