package middleware_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var sample = flag.Int("sample", 7, "play one in so many cases of the long drills; 1 is all of them")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
