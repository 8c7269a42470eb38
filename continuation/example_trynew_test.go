package continuation_test

import (
	"fmt"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// A program that reads its limits from a configuration file reports a wrong value
// instead of crashing on it.
func ExampleTryNewMemoryStore() {
	_, err := continuation.TryNewMemoryStore(continuation.WithMaxAge(-time.Hour))

	fmt.Println(err)
	// Output:
	// continuation: WithMaxAge: -1h0m0s is negative (use continuation.Off for no limit)
}

func ExampleTryNewSettings() {
	_, err := continuation.TryNewSettings(continuation.Values{ApprovalMode: "reckless"})

	fmt.Println(err)
	// Output:
	// continuation: unknown approval mode "reckless" (valid: default, yolo)
}
