// Package scenario holds what tests need that call a scripted server through
// go-openai's client: with carryon in the typed client and on the wire, streamed
// and not. The tests of the engine and those of adapters/openai share it.
package scenario
