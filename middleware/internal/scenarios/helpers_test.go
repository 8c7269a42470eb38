package scenarios_test

import (
	"slices"
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

// rejections returns the pauses that were rejected.
func rejections(r *carryontest.Recorder) []middleware.PauseCalled {
	return slices.DeleteFunc(carryontest.Recorded[middleware.PauseCalled](r),
		func(e middleware.PauseCalled) bool { return e.Err == nil })
}

// pauses returns the pauses that were not rejected.
func pauses(r *carryontest.Recorder) []middleware.PauseCalled {
	return slices.DeleteFunc(carryontest.Recorded[middleware.PauseCalled](r),
		func(e middleware.PauseCalled) bool { return e.Err != nil })
}

// exhaustions returns the decisions that found a budget used up.
func exhaustions(r *carryontest.Recorder) []middleware.Decision {
	return slices.DeleteFunc(carryontest.Recorded[middleware.Decision](r),
		func(e middleware.Decision) bool { return !e.Exhausted })
}

// continuationsEnded returns the ends of continuations.
func continuationsEnded(r *carryontest.Recorder) []middleware.TurnEnded {
	return slices.DeleteFunc(carryontest.Recorded[middleware.TurnEnded](r),
		func(e middleware.TurnEnded) bool { return e.Result == "" })
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
