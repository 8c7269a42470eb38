package docs_test

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

// page is a Markdown file of the repository.
type page struct {
	path string // from the root
	text string
}

// pages returns the README and all pages of docs/.
func pages(t *testing.T) []page {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	require.Greater(t, len(paths), 5)
	all := []page{readme(t)}
	for _, path := range paths {
		all = append(all, read(t, "docs/"+filepath.Base(path)))
	}
	return all
}

func readme(t *testing.T) page { return read(t, "README.md") }

func read(t *testing.T, path string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return page{path, string(text)}
}

// fences returns the code blocks of a language.
func (p page) fences(language string) (blocks []string) {
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(p.text, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// prose returns the page without its code blocks.
func (p page) prose() string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(p.text, "")
}

// table returns the first two cells of each row of the page's tables.
func (p page) table(t *testing.T) (rows [][2]string) {
	t.Helper()
	return rowsOf(t, p.text)
}

// tableUnder returns the first two cells of each row of the tables under a
// heading.
func (p page) tableUnder(t *testing.T, heading string) (rows [][2]string) {
	t.Helper()
	_, section, found := strings.Cut(p.text, "\n## "+heading+"\n")
	require.True(t, found, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	return rowsOf(t, section)
}

func rowsOf(t *testing.T, section string) (rows [][2]string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^\| (.*?) \| (.*?) \|`).FindAllStringSubmatch(section, -1)[1:] {
		rows = append(rows, [2]string{match[1], match[2]})
	}
	require.NotEmpty(t, rows)
	return rows
}

// anchors returns the anchors of the page's headings.
func (p page) anchors() map[string]bool {
	names := make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(p.prose(), -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return names
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, p := range append(pages(t), read(t, "CONTRIBUTING.md"), read(t, "SECURITY.md"), read(t, "MAINTAINERS.md")) {
		for _, match := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(p.prose(), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(match[1], "#")
			path := p.path
			if target != "" {
				path = filepath.Join(filepath.Dir(p.path), target)
			}
			_, err := os.Stat(filepath.Join(root, path))
			require.NoError(t, err, "%s links to %s", p.path, match[1])
			assert.True(t, anchor == "" || read(t, path).anchors()[anchor], "%s links to %s", p.path, match[1])
		}
	}
}

// The index of docs/ links every page.
func TestIndexNamesEveryPage(t *testing.T) {
	t.Parallel()
	index := read(t, "docs/README.md")
	for _, p := range pages(t) {
		if name, in := strings.CutPrefix(p.path, "docs/"); in && name != "README.md" {
			assert.Contains(t, index.text, "]("+name+")")
		}
	}
}

func TestMakeTargetsExist(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile").text
	found := 0
	for _, p := range append(pages(t), read(t, "CONTRIBUTING.md"), read(t, "AGENTS.md")) {
		for _, target := range regexp.MustCompile("(?m)(?:^|`)make ([a-z]+(?:-[a-z]+)*)").FindAllStringSubmatch(p.text, -1) {
			assert.Regexp(t, `(?m)^`+target[1]+`:`, makefile, p.path)
			found++
		}
	}
	assert.Greater(t, found, 3)
}

// No line of code falls off the right edge of the README on GitHub, where a tab is eight columns wide.
func TestCodeOfTheReadmeFits(t *testing.T) {
	t.Parallel()
	for _, block := range readme(t).fences(`\w+`) {
		for line := range strings.Lines(block) {
			columns := len([]rune(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "        ")))
			assert.LessOrEqual(t, columns, 95, line)
		}
	}
	code := regexp.MustCompile(`(?m)^.*\w.*$`).FindAllString(readme(t).fences("go")[0], -1) // a lone bracket is no line to read
	assert.LessOrEqual(t, len(code), 20, "the first program is short")
}

// The text of pictures can be read at the size in which GitHub shows them: at most 830 pixels wide.
func TestPicturesCanBeRead(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range pages(t) {
		for _, img := range regexp.MustCompile(`<img src="([^"]*\.svg)"[^>]*>`).FindAllStringSubmatch(p.text, -1) {
			picture := read(t, filepath.Join(filepath.Dir(p.path), img[1])).text
			width, height := attribute(t, picture, "width"), attribute(t, picture, "height")
			shown := width
			if strings.Contains(img[0], " height=") {
				shown = width * attribute(t, img[0], "height") / height
			}
			if strings.Contains(img[0], " width=") {
				shown = attribute(t, img[0], "width")
			}
			assert.GreaterOrEqual(t, attribute(t, picture, "font-size")*min(shown, 830)/width, 10.0, "%s: %s", p.path, img[0])
			seen++
		}
		for _, img := range regexp.MustCompile(`!\[[^\]]*\]\(([^)]*\.png)\)`).FindAllStringSubmatch(p.text, -1) {
			picture, err := png.DecodeConfig(strings.NewReader(read(t, filepath.Join(filepath.Dir(p.path), img[1])).text))
			require.NoError(t, err)
			assert.GreaterOrEqual(t, smallestType*min(float64(picture.Width), 830)/float64(picture.Width), 10.0, "%s: %s", p.path, img[1])
			seen++
		}
	}
	assert.Positive(t, seen)
}

// smallestType is the size of the smallest text on the page of the command, in pixels.
const smallestType = 12.0

// attribute returns the first number that an attribute of this name has.
func attribute(t *testing.T, text, name string) float64 {
	t.Helper()
	found := regexp.MustCompile(` ` + name + `="([\d.]+)"`).FindStringSubmatch(text)
	require.NotNil(t, found, name)
	value, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return value
}

// Each page of docs/ names its readers in its first sentence.
func TestPagesNameTheirReaders(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		if p.path != "README.md" {
			assert.True(t, regexp.MustCompile(`^# .*\n\nFor `).MatchString(p.text), p.path)
		}
	}
}

// The README stays short; details belong in docs/.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	assert.LessOrEqual(t, strings.Count(readme(t).text, "\n"), 205)
}

// The documents stay short: README and docs/ together, without the decisions.
func TestDocumentsAreShort(t *testing.T) {
	t.Parallel()
	words := 0
	for _, p := range pages(t) {
		n := len(strings.Fields(p.text))
		if p.path != "docs/decisions.md" {
			words += n
		}
	}
	assert.LessOrEqual(t, words, 14_000)
}
