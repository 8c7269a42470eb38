package main

import (
	"context"
	"fmt"
	"os"
)

func Example() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// carried on
	//   carryon.call carryon.continuations=1 carryon.reason=tool_calls
	//     * carryon.decision carryon.reason=satisfied carryon.todo.id=1
	//     * carryon.continuation carryon.todo.id=1
	//     * carryon.decision carryon.reason=tool_calls
	//     chat gpt-4.1 (client) carryon.turn.kind=own gen_ai.response.finish_reasons=["stop"] gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=5
	//       HTTP POST (client) http.response.status_code=200
	//     chat gpt-4.1 (client) carryon.turn.kind=continuation gen_ai.response.finish_reasons=["tool_calls"] gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=5
	//       -> chat gpt-4.1
	//       HTTP POST (client) http.response.status_code=200
	//
	// paused
	//   carryon.call carryon.continuations=1 carryon.reason=paused
	//     * carryon.decision carryon.reason=satisfied carryon.todo.id=1
	//     * carryon.continuation carryon.todo.id=1
	//     * carryon.pause
	//     chat gpt-4.1 (client) carryon.turn.kind=own gen_ai.response.finish_reasons=["stop"] gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=5
	//       HTTP POST (client) http.response.status_code=200
	//     chat gpt-4.1 (client) carryon.turn.kind=continuation gen_ai.response.finish_reasons=["tool_calls"] gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=5
	//       -> chat gpt-4.1
	//       HTTP POST (client) http.response.status_code=200
	//
	// refused
	//   carryon.call carryon.continuations=1 carryon.reason=failed
	//     * carryon.decision carryon.reason=satisfied carryon.todo.id=1
	//     * carryon.continuation carryon.todo.id=1
	//     * carryon.failed error.type=400
	//     chat gpt-4.1 (client) carryon.turn.kind=own gen_ai.response.finish_reasons=["stop"] gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=5
	//       HTTP POST (client) http.response.status_code=200
	//     chat gpt-4.1 (client) FAILED carryon.turn.kind=continuation error.type=400
	//       -> chat gpt-4.1
	//       HTTP POST (client) FAILED error.type=400 http.response.status_code=400
}
