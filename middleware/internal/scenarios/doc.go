// Package scenarios tests the engine through both clients of adapters/openai against
// a scripted server, with whole and with streamed answers. It has only tests.
package scenarios
