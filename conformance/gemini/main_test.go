package gemini_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// langchaingo's client always opens a gRPC connection, and its Close leaves that connection open.
		goleak.IgnoreAnyFunction("google.golang.org/grpc/internal/grpcsync.(*CallbackSerializer).run"),
		goleak.IgnoreAnyFunction("google.golang.org/grpc.(*addrConn).connect"),
		goleak.IgnoreAnyFunction("go.opencensus.io/stats/view.(*worker).start"))
}
