// Package messages holds tests of the transport with clients of Anthropic's
// Messages: the official SDK and langchaingo. It has no code.
package messages
