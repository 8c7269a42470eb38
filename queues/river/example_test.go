package river_test

import (
	"context"
	"fmt"

	"github.com/riverqueue/river/rivertype"

	"github.com/carryon-go/carryon/asynctask"
	carryonriver "github.com/carryon-go/carryon/queues/river"
)

// The middleware goes into river.Config, and a job that carries no ticket passes.
func ExampleMiddleware() {
	tasks := asynctask.NewManager() // with an engine that processes share, in production
	middleware := carryonriver.Middleware(tasks)

	job := &rivertype.JobRow{Metadata: []byte(`{}`)}
	err := middleware.Work(context.Background(), job, func(context.Context) error {
		fmt.Println("works")
		return nil
	})
	fmt.Println(err)
	// Output:
	// works
	// <nil>
}
