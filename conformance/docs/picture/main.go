// The command picture draws docs/demo.svg, a terminal with both runs of the comparison. It runs the comparison, so
// that the picture shows a real run. With -screen, it draws docs/run.svg instead: what a terminal shows that was sent the
// bytes of a file, which "make recording" has from an agent under carryon run.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
)

func main() {
	screen := flag.String("screen", "", "draw what a terminal shows that was sent this `file`")
	flag.Parse()
	var err error
	if *screen != "" {
		err = drawScreen(*screen, filepath.Join("docs", "run.svg"))
	} else {
		err = draw(".")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// draw runs the comparison of the repository at root and writes its picture.
func draw(root string) error {
	run := exec.Command("go", "run", "./examples/comparison") //nolint:noctx // a program that ends by itself
	run.Dir = root
	run.Env = append(run.Environ(), "OPENAI_API_KEY=")
	run.Stderr = os.Stderr
	output, err := run.Output()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "demo.svg"), []byte(render(runs(string(output)), demoLabel)), 0o600)
}

// runs returns the two runs, without the title before them and the table after them: fewer lines can be read at the
// size of a picture.
func runs(output string) string {
	parts := strings.Split(output, "\n\n")
	return strings.Join(parts[1:len(parts)-1], "\n\n")
}

const (
	demoLabel = "The demo: without carryon the agent stops after one of three todos, with carryon it completes all three"
	runLabel  = "Claude Code under carryon run, in its own terminal: it stops twice, goes on each time, and carryon says at the end what it did"
)

// The size of the terminal that was recorded.
const columns, rows = 100, 50

// drawScreen draws the screen of a terminal that was sent the bytes of a file.
func drawScreen(sent, picture string) error {
	text, err := os.ReadFile(sent)
	if err != nil {
		return err
	}
	screen, err := shown(text)
	if err != nil {
		return err
	}
	return os.WriteFile(picture, []byte(render(screen, runLabel)), 0o600)
}

// leaves is what a program sends that gives back the screen which it has taken over.
var leaves = []byte("\x1b[?1049l") //nolint:gochecknoglobals // constant

// shown returns what a terminal showed: the last screen of a program that had taken it over, and what is on it at the end.
func shown(sent []byte) (string, error) {
	terminal := vt10x.New(vt10x.WithSize(columns, rows))
	var screens []string
	if i := bytes.LastIndex(sent, leaves); i >= 0 {
		if _, err := terminal.Write(sent[:i]); err != nil {
			return "", err
		}
		screens, sent = append(screens, screenOf(terminal)), sent[i:]
	}
	if _, err := terminal.Write(sent); err != nil {
		return "", err
	}
	return strings.Join(append(screens, screenOf(terminal)), "\n\n"), nil
}

// screenOf returns the text on the screen, without blank lines at its edges or several in a row, and with the folder of
// the test run replaced.
func screenOf(terminal vt10x.Terminal) string {
	var lines []string
	for line := range strings.Lines(terminal.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	return folder.ReplaceAllString(blank.ReplaceAllString(text, "\n\n"), "~/tea")
}

var blank = regexp.MustCompile(`\n{3,}`)

// folder is where a run of "make agents" works.
var folder = regexp.MustCompile(`/tmp/[\w./-]+`)

const (
	lineHeight = 18
	charWidth  = 7.82
	margin     = 18
	titleBar   = 30
)

// colours are the colours for a line's first word; each is readable on the dark background.
var colours = map[string]string{ //nolint:gochecknoglobals // constant
	"carryon": "#7ee787", "carryon:": "#7ee787", "DONE": "#7ee787", "STOPPED": "#ff9b8e", "model": "#d6deeb", "WITHOUT": "#9aa7b8",
}

// render returns an SVG of a terminal that shows a text.
func render(text, label string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	width, height := int(float64(widest)*charWidth)+2*margin, len(lines)*lineHeight+2*margin+titleBar
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, label)
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
