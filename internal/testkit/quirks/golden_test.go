package quirks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

func TestGoldens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	update, compare := quirks.Goldens{Dir: dir, Update: true}, quirks.Goldens{Dir: dir}
	require.ErrorContains(t, compare.Check("a", "one"), "no golden a")
	require.NoError(t, update.Check("a", "one"))
	require.NoError(t, compare.Check("a", "one"))
	require.ErrorContains(t, compare.Check("a", "two"), "golden a differs")

	require.NoError(t, update.Check("long", strings.Repeat("x", 20000)))
	assert.NoFileExists(t, filepath.Join(dir, "long"))
}

func TestStaleGoldens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"q72-no-done-turn-1.joined", "q72-no-such-row.joined", "q72-no-such-row.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	stale, err := quirks.Goldens{Dir: dir}.Stale(".joined")
	require.NoError(t, err)
	assert.Equal(t, []string{"q72-no-such-row.joined"}, stale)
}

func TestProblemIsWordedTheSameEverywhere(t *testing.T) {
	t.Parallel()
	var number int
	syntax := json.Unmarshal([]byte(`{`), &number)
	mismatch := json.Unmarshal([]byte(`"a"`), &number)
	for want, err := range map[string]error{
		"":                         nil,
		"bad JSON":                 fmt.Errorf("client: %w", syntax),
		"JSON string for a Go int": fmt.Errorf("client: %w", mismatch),
		"unexpected EOF":           fmt.Errorf("client: %w", io.ErrUnexpectedEOF),
		"out of order":             errors.New("out of order"),
	} {
		assert.Equal(t, want, quirks.Problem(err))
	}
}

func TestGoldenOfASheet(t *testing.T) {
	t.Parallel()
	s := quirks.Readings{First: quirks.Reading{Text: "a"}, Second: quirks.Reading{Text: "b"}, Joined: quirks.Reading{Text: "c"}}
	q := quirks.Quirk{Name: "Q01 name", Why: "Why."}
	assert.Equal(t, "Q01 name\nWhy.\n\nfirst\n  text       `a`\n\nsecond\n  text       `b`\n\njoined\n  text       `c`\n", q.Golden(s))
	q.Effect = quirks.Relayed
	assert.Equal(t, "Q01 name\nWhy.\n\nfirst\n  text       `a`\n\nrelayed\n  text       `c`\n", q.Golden(s))
}
