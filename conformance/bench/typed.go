package main

import (
	"fmt"
	"testing"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
)

// typedPromises are about the wrapper of go-openai.
func typedPromises() []promise {
	return []promise{
		{"typed stream, loopback, flushed per chunk", "<= 1.5% over bare", func(pairs int) result {
			server := loopback(nothingToDo())
			defer server.Close()
			ratio, _ := typedPair(clientOf(server.URL, server.Client().Transport)).compare(pairs)
			return percent(1.5, ratio)
		}},
		{"typed stream, in memory", "<= 1.5% over bare", func(pairs int) result {
			ratio, _ := typedPair(clientOf("http://bench", long(event))).compare(pairs)
			return percent(1.5, ratio)
		}},
		{"typed stream, added per short chunk", "<= 0.015 chunks", func(pairs int) result {
			_, added := typedPair(clientOf("http://bench", long(terse))).compare(pairs)
			return atMost(0.015, added.over(manyChunks))
		}},
		{"typed stream, allocations per chunk of text", "0", func(int) result {
			return allocatedPerChunk(func(events []string) pair { return typedPair(clientOf("http://bench", inMemory(events))) })
		}},
		{"typed stream, memory while open", "<= 2048 B + text", func(int) result {
			client := clientOf("http://bench", waiting(nothingToDo()[:opened]))
			return footprint(typedOpeners(client))
		}},
	}
}

// typedOpeners open streams bare and wrapped.
func typedOpeners(client *openai.Client) openers {
	return openers{
		bare:    opener(client.CreateChatCompletionStream),
		carried: opener(carryopenai.Wrap(client, openTodos()).CreateChatCompletionStream),
	}
}

// typedPair reads streams bare and wrapped.
func typedPair(client *openai.Client) pair { return typedOpeners(client).read() }

// allocatedPerChunk is the result of counting the allocations that carryon adds
// per text chunk: those of a long stream less those of a short one. The copy of
// the text grows in blocks, a few for a thousand chunks.
func allocatedPerChunk(of func(events []string) pair) result {
	const more = 8 * chunks
	grows := func(how func(pair) func()) float64 {
		count := func(texts int) float64 { return testing.AllocsPerRun(50, how(of(turn(texts, "tool_calls")))) }
		return count(chunks+more) - count(chunks)
	}
	added := grows(func(p pair) func() { return p.carried }) - grows(func(p pair) func() { return p.bare })
	perChunk := added / more
	return result{fmt.Sprintf("%.3f", perChunk), perChunk < 0.01}
}
