package fakellm

// Unexported functions for tests in package fakellm_test.
const (
	BeforeHeaders = beforeHeaders
	MaxFragments  = maxFragments
)

// Position makes a count of chunks absolute.
func Position(after, total int) int { return position(after, total) }

// CutArguments divides arguments into fragments.
func CutArguments(arguments string) []string { return cut(arguments) }
