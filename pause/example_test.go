package pause_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/pause"
)

func ExampleParse() {
	for _, arguments := range []string{
		`{"reason": "Cannot find config file 'app.config.js' mentioned in the task"}`,
		`{"reason": "not sure about the best approach"}`,
		`{}`,
	} {
		reason, err := pause.Parse(arguments, pause.Strict)
		if errors.Is(err, pause.ErrInvalidReason) {
			fmt.Println(err) // the answer to the model
			continue
		}
		fmt.Println("paused:", reason)
	}
	// Output:
	// paused: Cannot find config file 'app.config.js' mentioned in the task
	// Invalid pause reason: Please provide a more specific explanation of the blocking issue
	// Invalid pause reason: Reason is required
}

func ExamplePolicy() {
	tickets := pause.Policy(func(reason string) error {
		if len(reason) < 5 || reason[:4] != "OPS-" {
			return errors.New("start with the ticket, such as OPS-12")
		}
		return pause.Lenient(reason)
	})
	_, err := pause.Parse(`{"reason": "no access"}`, tickets)
	fmt.Println(err)
	_, err = pause.Parse(`{"reason": "OPS-7 no access"}`, tickets)
	fmt.Println(err)
	// Output:
	// Invalid pause reason: start with the ticket, such as OPS-12
	// <nil>
}

func ExampleJudge() {
	_, err := pause.Judge("stuck", nil)
	fmt.Println(err)
	// Output:
	// Invalid pause reason: Reason too brief (min 10 characters for clarity)
}

func ExampleSchema() {
	fmt.Println(string(pause.Schema(true)))
	// Output:
	// {"type":"object","properties":{"reason":{"type":"string","description":"Explanation of why the task needs to be paused (e.g., missing file, configuration error, blocked dependency)"}},"required":["reason"],"additionalProperties":false}
}

func ExampleShown() {
	fmt.Println(pause.Shown("\x1b[31mPermission denied\x1b[0m:\n\t/etc/nginx/"))
	fmt.Println(pause.Shown(" \u200b "))
	// Output:
	// Permission denied: /etc/nginx/
	// no reason given
}

func ExampleNewResult() {
	result := pause.NewResult("the API key\nis missing", time.Now(), nil)
	fmt.Println(result.Reason)
	fmt.Println(result.Message)
	// Output:
	// the API key is missing
	// Task paused: the API key is missing
}

func ExampleFullNotice() {
	at := time.Date(2025, time.March, 9, 12, 30, 0, 0, time.UTC)
	fmt.Println(pause.FullNotice("the API key is missing", at))
	// Output:
	// 🛑 Task Paused
	//
	// Reason: the API key is missing
	// Time: 2025-03-09T12:30:00Z
	//
	// The continuation process has been stopped. You can now:
	// • Address the blocking issue mentioned above
	// • Modify the current task or add new tasks
	// • Continue with other work
	//
	// Resume work when the blocking issue is resolved.
}
