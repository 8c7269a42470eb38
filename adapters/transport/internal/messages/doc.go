// Package messages tests the transport with Anthropic's Messages: the answer
// that a caller sees, and that the caller may send it back. It has no code.
package messages
