//go:build !race

package transport_test

// raceDetector says that times and memory are not what they are without.
const raceDetector = false
