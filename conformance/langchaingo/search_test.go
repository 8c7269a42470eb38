package langchaingo_test

import "context"

// search is a tool that remembers what it was asked for.
type search struct{ inputs []string }

func (s *search) Name() string        { return "search" }
func (s *search) Description() string { return "Finds things." }

func (s *search) Call(_ context.Context, input string) (string, error) {
	s.inputs = append(s.inputs, input)
	return "found", nil
}
