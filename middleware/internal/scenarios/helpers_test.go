package scenarios_test

import (
	"sync"
	"time"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// gaps returns the times between the requests.
func gaps(s *scenario.Scenario) []time.Duration {
	var gaps []time.Duration
	requests := s.Server.Requests()
	for i := 1; i < len(requests); i++ {
		gaps = append(gaps, requests[i].Time.Sub(requests[i-1].Time))
	}
	return gaps
}

// failures returns the operations that failed.
func failures(r *carryontest.Recorder) []string {
	var ops []string
	for _, failed := range carryontest.Recorded[middleware.Failed](r) {
		ops = append(ops, failed.Op)
	}
	return ops
}

// attempts returns the numbers of the continuations that were sent.
func attempts(r *carryontest.Recorder) []int {
	var numbers []int
	for _, started := range carryontest.Recorded[middleware.ContinuationStarted](r) {
		numbers = append(numbers, started.Attempt)
	}
	return numbers
}

// gatedTurn returns a turn that closes arrived when its request has arrived, and is not sent before release is called.
func gatedTurn(turn fakellm.Turn) (gated fakellm.Turn, arrived <-chan struct{}, release func()) {
	reached, open := make(chan struct{}), make(chan struct{})
	gated = fakellm.Func(func(fakellm.Request) fakellm.Turn {
		close(reached)
		return turn.Gate(open)
	})
	return gated, reached, sync.OnceFunc(func() { close(open) })
}

// inBackground makes a call in a goroutine and returns the channel of its answer.
func inBackground(call func() scenario.Answer) <-chan scenario.Answer {
	done := make(chan scenario.Answer, 1)
	go func() { done <- call() }()
	return done
}

// doFirst returns a turn that calls do when its request has arrived.
func doFirst(do func(), turn fakellm.Turn) fakellm.Turn {
	return fakellm.Func(func(fakellm.Request) fakellm.Turn {
		do()
		return turn
	})
}
