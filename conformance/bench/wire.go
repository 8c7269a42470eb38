package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/carryon-go/carryon/adapters/transport"
)

// wirePromises are about the transport.
func wirePromises() []promise {
	return []promise{
		{"transport under go-openai, loopback", "<= 4% over bare", func(pairs int) result {
			server := loopback(nothingToDo())
			defer server.Close()
			ratio, _ := wireOpeners(server.URL, server.Client().Transport).read().compare(pairs)
			return percent(4, ratio)
		}},
		{"transport under go-openai, in memory", "<= 4% over bare", func(pairs int) result {
			ratio, _ := wireOpeners("http://bench", long(event)).read().compare(pairs)
			return percent(4, ratio)
		}},
		{"relay with nothing to do, per event", "<= 0.12 chunks", func(pairs int) result {
			body := inMemory(turn(relayedEvents, "tool_calls"))
			return relay(pairs, body, relayPair(body).carried)
		}},
		{"relay of named events over unnamed", "<= 20%", func(pairs int) result { return relayNamed(pairs) }},
		{"relay, allocations per event", "0", func(int) result {
			return allocatedPerChunk(func(events []string) pair { return relayPair(inMemory(events)) })
		}},
		{"relay of named events, allocations per event", "0", func(int) result {
			return allocatedPerChunk(func(events []string) pair { return relayPair(inMemory(named(events))) })
		}},
		{"chunk of a later turn", "<= 1.8 chunks", func(pairs int) result { return laterTurn(pairs) }},
		{"join, 10 messages", "<= 36 chunks", func(pairs int) result { return join(pairs, 10) }},
		{"join, 500 messages", "<= 36 chunks", func(pairs int) result { return join(pairs, 500) }},
		{"transport, memory of an open stream", "<= 2048 B + text", func(int) result {
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

// relayedEvents is the number of texts in a stream that measures what relaying an
// event costs.
const relayedEvents = 64 * chunks

// relay measures how long an event of a stream of relayedEvents takes to come
// through.
func relay(pairs int, body memory, through func()) result {
	took := repeated(max(pairs/4, 50), func() time.Duration { return timed(through) })
	r := atMost(0.12, took.over(relayedEvents))
	r.text += fmt.Sprintf(", %.1f GB/s", float64(len(body))/(took.median*typicalChunkTime()))
	return r
}

// relayNamed compares streams whose events have an "event:" line with streams
// whose events have none.
func relayNamed(pairs int) result {
	events := turn(8*chunks, "tool_calls")
	through := pair{relayPair(inMemory(events)).carried, relayPair(inMemory(named(events))).carried}
	ratio, _ := through.compare(pairs)
	return percent(20, ratio)
}

// named puts a line with a name before each event.
func named(events []string) []string {
	all := make([]string, 0, len(events))
	for _, e := range events {
		all = append(all, "event: message\n"+e)
	}
	return all
}

// relayPair reads a stream bare and through the transport.
func relayPair(base memory) pair {
	carried, buffer, request := transport.New(base, openTodos()), make([]byte, 32<<10), wireRequest(0)
	return pair{func() { drain(post(base, request), buffer) }, func() { drain(post(carried, request), buffer) }}
}

// laterTurn measures how long a chunk of the second turn takes to come through.
func laterTurn(pairs int) result {
	base := &turns{first: string(inMemory(turn(1, "stop"))), second: string(inMemory(turn(chunks, "stop")))}
	carried, buffer := transport.New(base, openTodos()), make([]byte, 32<<10)
	took := repeated(pairs, func() time.Duration {
		drain(post(carried, wireRequest(0)), buffer)
		return time.Since(base.continued)
	})
	return atMost(1.8, took.over(chunks))
}

// join measures the time from the last byte of a turn to the request of the
// continuation.
func join(pairs, messages int) result {
	answer := string(inMemory(turn(8, "stop")))
	base := &turns{first: answer, second: answer}
	carried, buffer, body := transport.New(base, openTodos()), make([]byte, 32<<10), wireRequest(messages)
	took := repeated(pairs, func() time.Duration {
		drain(post(carried, body), buffer)
		return base.continued.Sub(base.ended)
	})
	return atMost(36, took)
}
