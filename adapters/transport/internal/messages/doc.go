// Package messages holds tests of the transport with Anthropic's Messages: what
// a caller sees, and that the caller may send it back. It has no code.
package messages
