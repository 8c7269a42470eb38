//go:build race

package continuation_test

// raceDetector says that allocations and memory are not what they are without.
const raceDetector = true
