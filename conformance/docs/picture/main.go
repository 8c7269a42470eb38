// The command picture draws docs/demo.svg, a terminal with the output of the quickstart. It runs the quickstart, so
// that the picture shows a real run.
package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

func main() {
	if err := draw("."); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// draw runs the quickstart of the repository at root and writes its picture.
func draw(root string) error {
	run := exec.Command("go", "run", "./examples/quickstart") //nolint:noctx // a program that ends by itself
	run.Dir = root
	run.Env = append(run.Environ(), "OPENAI_API_KEY=")
	run.Stderr = os.Stderr
	output, err := run.Output()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "demo.svg"), []byte(render(string(output))), 0o600)
}

const (
	lineHeight = 18
	charWidth  = 7.82
	margin     = 18
	titleBar   = 30
)

// colours are the colours for a line's first word; each is readable on the dark background.
var colours = map[string]string{ //nolint:gochecknoglobals // constant
	"carryon": "#7ee787", "DONE": "#7ee787", "STOPPED": "#ff9b8e", "model": "#d6deeb", "WITHOUT": "#9aa7b8",
}

// render returns an SVG of a terminal that shows a text.
func render(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	width, height := int(float64(widest)*charWidth)+2*margin, len(lines)*lineHeight+2*margin+titleBar
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, "The output of make demo: without carryon the agent stops after one of three todos, with carryon it completes all three")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0f1720"/>`+"\n", width, height)
	for i, fill := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="5" fill="%s"/>`+"\n", margin+4+i*18, fill)
	}
	b.WriteString(`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#b8c4d3">` + "\n")
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>%s</text>`+"\n",
			margin, titleBar+margin+i*lineHeight, style(line), strings.ReplaceAll(html.EscapeString(line), " ", "&#160;"))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// style returns the attributes of a line: headings are bold, and the speaker's name has a colour.
func style(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch {
	case strings.HasPrefix(line, "1.") || strings.HasPrefix(line, "2."):
		return ` fill="#ffffff" font-weight="bold"`
	case strings.HasPrefix(strings.TrimSpace(line), "|"):
		return ` fill="#7ee787" opacity="0.75"`
	case colours[word] != "":
		return fmt.Sprintf(` fill="%s"`, colours[word])
	}
	return ""
}
