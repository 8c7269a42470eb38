package docs_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(commandFolder)
		os.Exit(code) //nolint:forbidigo // as VerifyTestMain does
	}))
}
