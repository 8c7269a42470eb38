package chatcompletions_test

import (
	"flag"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

var updateGoldens = flag.Bool("update", false, "write the goldens of the quirk table")

func quirkGoldens() quirks.Goldens {
	return quirks.Goldens{Dir: filepath.Join("..", "..", "testkit", "quirks", "testdata"), Update: *updateGoldens}
}

// forEachQuirk runs a test for each row of the table.
func forEachQuirk(t *testing.T, test func(t *testing.T, q quirks.Quirk)) {
	t.Helper()
	for _, q := range quirks.All() {
		t.Run(q.Slug(), func(t *testing.T) {
			t.Parallel()
			test(t, q)
		})
	}
}

func TestQuirksOnTheWire(t *testing.T) {
	t.Parallel()
	forEachQuirk(t, func(t *testing.T, q quirks.Quirk) {
		x := play(t, q, 0, 0)
		require.NoError(t, q.JudgeWire(x.body))
		require.NoError(t, q.JudgeRequest(x.asked, quirkTask))
		broken := q.Effect == quirks.Broken || q.Effect == quirks.Relayed && q.First.Cut
		assert.Equal(t, broken, x.err != nil, "error of the body: %v", x.err)
		if q.Effect != quirks.Relayed {
			require.NoError(t, quirkGoldens().Check(q.Slug()+".joined", x.body))
		}
	})
}

func TestQuirksAreReadWell(t *testing.T) {
	t.Parallel()
	for _, client := range quirkClients() {
		t.Run(client.Name, func(t *testing.T) {
			t.Parallel()
			forEachQuirk(t, func(t *testing.T, q quirks.Quirk) {
				readings := q.Read(t.Context(), client, carriedOn)
				require.NoError(t, q.Judge(client.Name, readings))
				require.NoError(t, quirkGoldens().Check(q.Slug()+"."+client.Name+".txt", q.Golden(readings)))
			})
		})
	}
}

func TestQuirksHoldHoweverTheBytesCome(t *testing.T) {
	t.Parallel()
	forEachQuirk(t, func(t *testing.T, q quirks.Quirk) {
		want := play(t, q, 0, 0)
		for i, sizes := range []struct{ bite, sip int }{
			{1, 1}, {0, 1}, {7, 5}, {1, 4096}, {200, 4096}, {600, 600}, {1000, 1 << 20},
		} {
			if measure.RaceDetector && (i+len(q.Name))%3 > 0 {
				continue // too slow for all: a third of the sizes, different ones for different rows
			}
			got := play(t, q, sizes.bite, sizes.sip)
			what := strconv.Itoa(sizes.bite) + " bytes at a time, read " + strconv.Itoa(sizes.sip)
			assert.Equal(t, want.body, got.body, what)
			assert.Equal(t, want.err, got.err, what)
			assert.Equal(t, want.asked, got.asked, what)
		}
	})
}

func TestQuirksKeepTheHeaderOfTheFirstAnswer(t *testing.T) {
	t.Parallel()
	forEachQuirk(t, func(t *testing.T, q quirks.Quirk) {
		x := play(t, q, 0, 0)
		status := q.First.Status
		if status == 0 {
			status = http.StatusOK
		}
		assert.Equal(t, status, x.status)
		assert.Equal(t, "request-1", x.header.Get("X-Request-Id"))
		assert.Equal(t, q.First.Encoding, x.header.Get("Content-Encoding"))
		if length := x.header.Get("Content-Length"); length != "" {
			assert.Equal(t, strconv.Itoa(len(x.body)), length)
		}
		if x.length >= 0 {
			assert.Len(t, x.body, int(x.length))
		}
	})
}

func TestQuirkGoldensBelongToRows(t *testing.T) {
	t.Parallel()
	suffixes := []string{".joined"}
	for _, client := range quirkClients() {
		suffixes = append(suffixes, "."+client.Name+".txt")
	}
	for _, suffix := range suffixes {
		stale, err := quirkGoldens().Stale(suffix)
		require.NoError(t, err)
		assert.Empty(t, stale, "remove them")
	}
}
