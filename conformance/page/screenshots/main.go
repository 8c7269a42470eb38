// The command screenshots takes the screenshots of the command's page into a folder.
package main

import (
	"fmt"
	"os"

	"github.com/carryon-go/carryon/cmd/carryon/page"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: screenshots FOLDER")
		os.Exit(2)
	}
	if err := page.TakeAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}
