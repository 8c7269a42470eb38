//go:build !race

package continuation_test

const raceDetector = false
