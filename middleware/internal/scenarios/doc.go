// Package scenarios tests the engine's rules with the typed client of adapters/openai
// against a scripted server, with whole and with streamed answers. Property tests show
// that the client on the wire does the same. How streams are joined is tested with both
// clients. It has only tests.
package scenarios
