package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/carryon-go/carryon/adapters/transport"
)

// wireBars are those of the transport.
func wireBars() []bar {
	return []bar{
		{"transport under go-openai, loopback", "<= 3 % over bare", func(pairs int) figure {
			server := loopback(nothingToDo())
			defer server.Close()
			ratio, _ := wireOpeners(server.URL, server.Client().Transport).read().compare(pairs)
			return percent(3, ratio)
		}},
		{"transport under go-openai, in memory", "<= 100 ns per event", func(pairs int) figure {
			_, added := wireOpeners("http://bench", long(event)).read().compare(pairs)
			return atMost(100, "ns", added.over(manyChunks))
		}},
		{"relay with nothing to do", ">= 1 GB/s", func(pairs int) figure { return relay(pairs) }},
		{"relay, allocations per event", "0", func(int) figure {
			buffer := make([]byte, 32<<10)
			return allocatedPerChunk(func(events []string) pair {
				bare := inMemory(events)
				carried := transport.New(bare, openTodos())
				return pair{func() { drain(post(bare, wireRequest(0)), buffer) }, func() { drain(post(carried, wireRequest(0)), buffer) }}
			})
		}},
		{"chunk of a later turn", "<= 5 us", func(pairs int) figure { return laterTurn(pairs) }},
		{"seam, 10 messages", "<= 100 us", func(pairs int) figure { return seam(pairs, 10) }},
		{"seam, 500 messages", "<= 100 us", func(pairs int) figure { return seam(pairs, 500) }},
		{"transport, memory of an open stream", "<= 2048 B + text", func(int) figure {
			return footprint(wireOpeners("http://bench", waiting(nothingToDo()[:opened])))
		}},
	}
}

// wireOpeners open streams of go-openai bare and over the transport.
func wireOpeners(url string, base http.RoundTripper) openers {
	return openers{
		bare:    opener(clientOf(url, base).CreateChatCompletionStream),
		carried: opener(clientOf(url, transport.New(base, openTodos())).CreateChatCompletionStream),
	}
}

// relay measures how fast long streams come through.
func relay(pairs int) figure {
	body := inMemory(turn(64*chunks, "tool_calls"))
	carried, buffer := transport.New(body, openTodos()), make([]byte, 32<<10)
	took := repeated(max(pairs/4, 50), func() time.Duration {
		stream := post(carried, wireRequest(0))
		return timed(func() { drain(stream, buffer) })
	})
	speed := func(nanoseconds float64) float64 { return float64(len(body)) / nanoseconds }
	text := fmt.Sprintf("%.2f GB/s (%.2f to %.2f)", speed(took.median), speed(took.high), speed(took.low))
	return figure{text, speed(took.low) >= 1}
}

// laterTurn measures the second of two turns, as it comes out of the transport.
func laterTurn(pairs int) figure {
	base := &turns{first: string(inMemory(turn(1, "stop"))), second: string(inMemory(turn(chunks, "stop")))}
	carried, buffer := transport.New(base, openTodos()), make([]byte, 32<<10)
	took := repeated(pairs, func() time.Duration {
		drain(post(carried, wireRequest(0)), buffer)
		return time.Since(base.sought)
	})
	return atMost(5, "us", took.over(1000*chunks))
}

// seam measures the time from the last byte of a turn to the request of the
// continuation.
func seam(pairs, messages int) figure {
	answer := string(inMemory(turn(8, "stop")))
	base := &turns{first: answer, second: answer}
	carried, buffer, body := transport.New(base, openTodos()), make([]byte, 32<<10), wireRequest(messages)
	took := repeated(pairs, func() time.Duration {
		drain(post(carried, body), buffer)
		return base.sought.Sub(base.ended)
	})
	return atMost(100, "us", took.over(1000))
}
