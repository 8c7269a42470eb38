package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/genai"

	"github.com/carryon-go/carryon/adapters/transport"
)

// geminiPromises are about the transport with Google's generateContent.
func geminiPromises() []promise {
	return []promise{
		{"Gemini under genai, loopback", "<= 4.5% over bare", func(pairs int) result {
			server := loopback(geminiTurn(chunks, true))
			defer server.Close()
			ratio, _ := genaiPair(server.URL, server.Client().Transport).compare(pairs)
			return percent(4.5, ratio)
		}},
		{"Gemini under genai, in memory", "<= 4.5% over bare", func(pairs int) result {
			ratio, _ := genaiPair("http://bench", inMemory(geminiTurn(manyChunks, true))).compare(pairs)
			return percent(4.5, ratio)
		}},
		{"Gemini: relay with nothing to do, per event", "<= 0.12 chunks", func(pairs int) result {
			body := inMemory(geminiTurn(relayedEvents, true))
			return relay(pairs, body, geminiPair(body).carried)
		}},
		{"Gemini: relay, allocations per event", "0", func(int) result {
			return allocatedPerChunk(func(events []string) pair { return geminiPair(inMemory(geminiTurn(len(events), true))) })
		}},
		{"Gemini: event of a later turn", "<= 3 chunks", func(pairs int) result { return laterGeminiTurn(pairs) }},
	}
}

// geminiTurn is a stream of that many pieces of text, in the form that Google sends: each with the usage so far.
func geminiTurn(texts int, call bool) []string {
	chunk := func(part, finish string, n int) string {
		return fmt.Sprintf(`data: {"candidates": [{"content": {"parts": [%s],"role": "model"}%s,"index": 0}],"usageMetadata": {"promptTokenCount": 218,`+
			`"candidatesTokenCount": %d,"totalTokenCount": %d,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 218}]},`+
			`"modelVersion": "gemini-2.5-flash","responseId": "XgCzaazDItHRz7IPmsmB4Qk"}`, part, finish, n, 218+n) + "\r\n\r\n"
	}
	events := make([]string, 0, texts+1)
	for i := range texts {
		events = append(events, chunk(fmt.Sprintf(`{"text": %q}`, word), "", 2*i+1))
	}
	last := `{"text": ""}`
	if call {
		last = `{"functionCall": {"name": "edit_file","args": {}}}`
	}
	return append(events, chunk(last, `,"finishReason": "STOP"`, 2*texts))
}

// genaiPair reads a stream of the official SDK bare and over the transport.
func genaiPair(url string, base http.RoundTripper) pair {
	ctx := context.Background()
	reader := func(through http.RoundTripper) func() {
		client, err := genai.NewClient(ctx, &genai.ClientConfig{
			APIKey: "no key", Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: through}, HTTPOptions: genai.HTTPOptions{BaseURL: url},
		})
		must(err)
		config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "edit_file"}}}}}
		return func() {
			for _, err := range client.Models.GenerateContentStream(ctx, "m", genai.Text("Go on."), config) {
				must(err)
			}
		}
	}
	return pair{reader(base), reader(transport.New(base, openTodos()))}
}

const (
	geminiPath    = "beta/models/m:streamGenerateContent?alt=sse" // behind /v1
	geminiRequest = `{"contents":[{"role":"user","parts":[{"text":"Go on."}]}],"tools":[{"functionDeclarations":[{"name":"edit_file"}]}]}`
)

// geminiPair reads a stream bare and through the transport.
func geminiPair(base memory) pair {
	carried, buffer := transport.New(base, openTodos()), make([]byte, 32<<10)
	return pair{
		func() { drain(postTo(base, geminiPath, geminiRequest), buffer) },
		func() { drain(postTo(carried, geminiPath, geminiRequest), buffer) },
	}
}

// laterGeminiTurn measures how long an event of the second turn takes to come through, which has its usage added to.
func laterGeminiTurn(pairs int) result {
	base := &turns{first: string(inMemory(geminiTurn(1, false))), second: string(inMemory(geminiTurn(chunks, false)))}
	carried, buffer := transport.New(base, openTodos()), make([]byte, 32<<10)
	took := repeated(pairs, func() time.Duration {
		drain(postTo(carried, geminiPath, geminiRequest), buffer)
		return time.Since(base.continued)
	})
	return atMost(3, took.over(chunks))
}
