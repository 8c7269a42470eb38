package conformance_test

import (
	"encoding/json"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	warmEncoder()
	goleak.VerifyTestMain(m)
}

// warmEncoder encodes the requests of the tests once. openai-go waits for the encoder of
// a new type with a WaitGroup that all goroutines share; one that belongs to a bubble of
// synctest must not be waited for outside of it.
func warmEncoder() {
	if _, err := json.Marshal(officialStreamRequest()); err != nil {
		panic(err)
	}
}
