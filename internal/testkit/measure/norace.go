//go:build !race

package measure

// RaceDetector says whether the race detector is on. If so, allocations and
// memory differ, and everything takes many times as long.
const RaceDetector = false
