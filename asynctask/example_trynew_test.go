package asynctask_test

import (
	"fmt"

	"github.com/carryon-go/carryon/asynctask"
)

// A program that reads its limits from a configuration file reports a wrong value
// instead of crashing on it.
func ExampleTryNewManager() {
	_, err := asynctask.TryNewManager(asynctask.WithLimit(-3))

	fmt.Println(err)
	// Output:
	// asynctask: limit -3 is not positive (use asynctask.Off for none)
}
