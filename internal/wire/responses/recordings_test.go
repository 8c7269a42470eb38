package responses_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/todo"
)

var responsesDir = flag.String("responses", "", "a folder of recorded Responses streams to read too: *.chunks.txt, an event's JSON a line")

// recordedResponses returns the streams of the package's testdata, and of the
// folder that the flag names.
func recordedResponses(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, dir := range []string{"testdata/streams", *responsesDir} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.chunks.txt"))
		require.NoError(t, err)
		for _, path := range paths {
			if dir == "" {
				continue
			}
			lines, err := os.ReadFile(path)
			require.NoError(t, err)
			var b strings.Builder
			for line := range strings.Lines(string(lines)) {
				line = strings.TrimSpace(line)
				if line != "" {
					b.WriteString("event: " + rawjson.TextOf(rawjson.Member([]byte(line), "type")) + "\ndata: " + line + "\n\n")
				}
			}
			all[filepath.Base(path)] = b.String()
		}
	}
	require.NotEmpty(t, all)
	return all
}

// playResponses reads a call whose turns are answered with streams.
func playResponses(t *testing.T, todos todo.Provider, turns ...string) (string, int) {
	t.Helper()
	base := wiretest.ReplayOf(turns...)
	body, err := readVia(t, base, todos)
	require.NoError(t, err)
	return body, base.Asked
}

// A recorded stream passes unchanged. Joined with another one, it reads as well
// as alone: as the second turn, and, if it ends in text, as the first.
func TestRecordedResponses(t *testing.T) {
	t.Parallel()
	own := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan).Reasoning("First."), wiretest.Edit().AndText("Now.").Reasoning("Do it."))
	joinedAsFirst, joinedAsSecond := 0, 0
	for name, recorded := range recordedResponses(t) {
		alone, _ := playResponses(t, todo.Static(), recorded)
		require.Equal(t, recorded, alone, name)
		want, problem := readResponses(recorded)

		second := strings.NewReplacer("resp_2", "resp_9", "rs_2", "rs_9").Replace(own[1])
		joined, turns := playResponses(t, wiretest.TwoTodos, recorded, second)
		switch {
		case turns == 1:
			require.Equal(t, recorded, joined, name)
		case problem == nil:
			got, err := readResponses(joined)
			joinedAsFirst++
			require.NoError(t, err, "%s, then a turn: %s", name, joined)
			assert.Equal(t, append(want.texts(), "Now."), got.texts(), name)
		}

		joined, _ = playResponses(t, wiretest.TwoTodos, own[0], recorded)
		got, err := readResponses(joined)
		if problem == nil {
			joinedAsSecond++
			require.NoError(t, err, "a turn, then %s: %s", name, joined)
			if got.kind == want.kind {
				assert.Equal(t, append([]string{wiretest.Plan}, want.texts()...), got.texts(), name)
				assert.Equal(t, want.calls(), got.calls(), name)
			}
		} else {
			t.Log("not read alone: " + name + ": " + problem.Error())
		}
	}
	t.Log("read: " + strconv.Itoa(joinedAsFirst) + " before another turn, " + strconv.Itoa(joinedAsSecond) + " behind one")
}
