// Package gemini holds tests of the transport with clients of Google's generateContent API: the official SDK and
// langchaingo. It has no code.
package gemini
