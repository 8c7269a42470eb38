package asynctask_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/internal/testkit/measure"
)

func TestMain(m *testing.M) {
	if measure.RaceDetector {
		_ = flag.Set("rapid.checks", "10") // instead of 100, unless the command line says so
	}
	goleak.VerifyTestMain(m)
}
