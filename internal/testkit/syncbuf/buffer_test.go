package syncbuf_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/testkit/syncbuf"
)

func TestBufferIsReadWhileItIsWritten(t *testing.T) {
	t.Parallel()
	var b syncbuf.Buffer
	assert.Empty(t, b.String())
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 100 {
				if _, err := b.Write([]byte("a line\n")); err != nil {
					t.Error(err)
				}
				assert.True(t, strings.HasSuffix(b.String(), "a line\n"), "only whole lines")
			}
		})
	}
	writers.Wait()
	assert.Equal(t, strings.Repeat("a line\n", 800), b.String())
}
