package description_test

import (
	"fmt"

	"github.com/carryon-go/carryon/internal/description"
)

func ExampleOf() {
	fmt.Println(description.Of("1. Don't break\n   the build"))
	// Output: Don’t break the build
}
