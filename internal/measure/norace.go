//go:build !race

package measure

// RaceDetector says whether the race detector is on. Then times, allocations and
// memory are not what they are without, and everything takes many times as long.
const RaceDetector = false
