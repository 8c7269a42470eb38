// Package docs has no code: its tests compile, run and check what the README
// and the pages in docs/ say.
package docs
