package middleware

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// Most open streams keep little more than their call. Go allocates 768 bytes for it,
// of which 8 are its own, and 896 for a larger one.
func TestCallsAreSmall(t *testing.T) {
	t.Parallel()
	assert.LessOrEqual(t, unsafe.Sizeof(call{}), uintptr(760))
}
