package adapter_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
)

// Only the missing part of the blank line between two texts is added.
func TestSeparatorAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "\n\n", "One.": "\n\n", "One. ": "\n\n", "One.\n": "\n", "One.\r\n": "\n", "One.\n\n": "", "One.\r\n\r\n": "", "One.\n\n\n": "",
	} {
		assert.Equal(t, want, adapter.SeparatorAfter(text), "%q", text)
	}
}

func ExampleSeparatorAfter() {
	text := "Next I write the parser.\n"
	fmt.Printf("%q\n", text+adapter.SeparatorAfter(text)+"Done.")
	// Output:
	// "Next I write the parser.\n\nDone."
}
