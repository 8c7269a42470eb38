// Package scenario is a test kit for calls of a scripted server through
// go-openai's client: with carryon in the typed client and on the wire,
// streamed and not. The tests of the engine and of adapters/openai share it.
package scenario
