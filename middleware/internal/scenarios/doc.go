// Package scenarios tests the engine through both clients of adapters/openai
// against a scripted server, each answer whole and streamed. It holds tests only.
package scenarios
