package main

import (
	"fmt"
	"testing"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
)

// typedBars are those of the decorator for go-openai.
func typedBars() []bar {
	return []bar{
		{"typed stream, loopback, flushed per chunk", "<= 1 % over bare", func(pairs int) figure {
			server := loopback(nothingToDo())
			defer server.Close()
			ratio, _ := typedPair(clientOf(server.URL, server.Client().Transport)).compare(pairs)
			return percent(1, ratio)
		}},
		{"typed stream, in memory", "<= 40 ns per chunk", func(pairs int) figure {
			_, added := typedPair(clientOf("http://bench", long(terse))).compare(pairs)
			return atMost(40, "ns", added.over(manyChunks))
		}},
		{"typed stream, allocations per chunk of text", "0", func(int) figure {
			return allocatedPerChunk(func(events []string) pair { return typedPair(clientOf("http://bench", inMemory(events))) })
		}},
		{"typed stream, memory while open", "<= 2048 B + text", func(int) figure {
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

// allocatedPerChunk is a bar of what a chunk of text allocates: what a long
// stream has more than a short one, over what bare ones have. The copy of the
// text grows in blocks, a few to a thousand chunks.
func allocatedPerChunk(of func(events []string) pair) figure {
	const more = 8 * chunks
	grows := func(how func(pair) func()) float64 {
		count := func(texts int) float64 { return testing.AllocsPerRun(50, how(of(turn(texts, "tool_calls")))) }
		return count(chunks+more) - count(chunks)
	}
	added := grows(func(p pair) func() { return p.carried }) - grows(func(p pair) func() { return p.bare })
	perChunk := added / more
	return figure{fmt.Sprintf("%.3f", perChunk), perChunk < 0.01}
}
