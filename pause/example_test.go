package pause_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/pause"
)

func ExamplePolicy() {
	tickets := pause.Policy(func(reason string) error {
		if len(reason) < 5 || reason[:4] != "OPS-" {
			return errors.New("start with the ticket, such as OPS-12")
		}
		return pause.Lenient(reason)
	})
	fmt.Println(tickets("no access"))
	fmt.Println(tickets("OPS-7 no access"))
	// Output:
	// start with the ticket, such as OPS-12
	// <nil>
}

func ExampleStrict() {
	fmt.Println(pause.Strict("Cannot find config file 'app.config.js' mentioned in the task"))
	fmt.Println(pause.Strict("not sure about the best approach"))
	// Output:
	// <nil>
	// Invalid pause reason: Please provide a more specific explanation of the blocking issue
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
