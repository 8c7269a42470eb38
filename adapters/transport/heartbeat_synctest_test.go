package transport_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// Events that a provider may send for any length of time without content.
var wordless = map[string]string{
	"comments":      ": still here\n\n",
	"ids":           "id: 1\n\n",
	"empty deltas":  `data: {"id":"b","choices":[{"index":0,"delta":{},"finish_reason":null}]}` + "\n\n",
	"empty texts":   `data: {"id":"b","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n",
	"no choices":    `data: {"id":"b","choices":[]}` + "\n\n",
	"empty calls":   `data: {"id":"b","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":""}}]},"finish_reason":null}]}` + "\n\n",
	"usage so far":  `data: {"id":"b","choices":[],"usage":{"total_tokens":1}}` + "\n\n",
	"one long line": "x",
}

// A silent continuation is ended, and the end of the first turn is shown. Until then, heartbeats show any proxy in
// between that the connection is alive.
func TestContinuationWithoutAWordEnds(t *testing.T) {
	t.Parallel()
	for name, piece := range wordless {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r := b.read(1 << 10)
				b.turn(1, textEvent+finishEvent+doneMark)
				began := time.Now()
				body := b.base.body(2)
				if name == "one long line" {
					body.pieces <- ": "
				}
				for !body.isClosed() {
					select {
					case body.pieces <- piece:
						select {
						case <-time.After(20 * time.Second):
						case <-body.closed:
						}
					case <-body.closed:
					}
				}
				text, err := r.now()
				require.Error(b.t, err)
				assert.Equal(b.t, 5*time.Minute, time.Since(began))
				require.ErrorIs(b.t, b.out.Last().Err, middleware.ErrResponseTimeout)
				assert.Equal(b.t, reasons.Failed, b.out.Last().Reason)
				assert.True(b.t, strings.HasPrefix(text, textEvent), text)
				assert.True(b.t, strings.HasSuffix(text, finishEvent+doneMark), text)
				beats := strings.TrimSuffix(strings.TrimPrefix(text, textEvent), finishEvent+doneMark)
				switch name {
				case "one long line", "empty calls": // nothing can stand inside of an event, or of a call
					assert.Empty(b.t, beats)
				default:
					requireHeartbeats(b.t, beats, 12, 16)
				}
			}, wiretest.Unhurried)
		})
	}
}

// requireHeartbeats checks that a text is so many chunks without content.
func requireHeartbeats(t *testing.T, text string, low, high int) {
	t.Helper()
	n := 0
	for event := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		require.True(t, ok, event)
		var chunk map[string]any
		require.NoError(t, json.Unmarshal([]byte(data), &chunk), data)
		assert.Equal(t, "a", chunk["id"])
		assert.Equal(t, []any{map[string]any{"index": 0., "delta": map[string]any{"content": ""}, "finish_reason": nil}}, chunk["choices"])
		n++
	}
	assert.LessOrEqual(t, low, n)
	assert.GreaterOrEqual(t, high, n)
}

// While a model thinks or calls todo_pause, there is nothing to show.
func TestHeartbeatWhereNothingOfATurnIsShown(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.read(1 << 10)
		b.turn(1, textEvent+finishEvent+doneMark)
		before, _ := r.now()
		body := b.base.body(2)
		body.slowly(wordless["no choices"], wordless["no choices"], wordless["comments"])
		text, err := r.now()
		require.NoError(b.t, err)
		assert.Equal(b.t, before, text, "not at once")
		body.pieces <- wordless["comments"]
		text, _ = r.now()
		requireHeartbeats(b.t, strings.TrimPrefix(text, before), 1, 1)
		b.turn(2, "data: "+wiretest.SaysMore+"\n\n"+finishEvent+doneMark)
	}, wiretest.Unhurried)
}

// While a text is held because it may repeat the answer before, the reader is told that the connection is alive. A text that goes
// on is then shown as it came.
func TestHeartbeatWhileARepeatedTextIsHeld(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.read(1 << 10)
		b.turn(1, textEvent+finishEvent+doneMark)
		before, _ := r.now()
		body := b.base.body(2)
		body.slowly(textEvent, ": still here\n\n", wordless["empty deltas"], ": still here\n\n")
		body.pieces <- ": still here\n\n"
		text, err := r.now()
		require.NoError(b.t, err)
		requireHeartbeats(b.t, strings.TrimPrefix(text, before), 1, 1)
		body.pieces <- "data: " + wiretest.SaysMore + "\n\n"
		text, err = r.now()
		require.NoError(b.t, err)
		assert.Contains(b.t, text, `"content":"\n\nSo, \"yes\" "`)
		assert.Contains(b.t, text, `"content":"\u00fcber 😀"`)
		b.turn(2, finishEvent+doneMark)
	}, wiretest.Unhurried)
}

// A reader that comes back late has not waited.
func TestNoHeartbeatWhileNobodyReads(t *testing.T) {
	inBubble(t, func(b *bubble) {
		go b.turn(1, textEvent+finishEvent+doneMark)
		b.take(textEvent)
		<-time.After(time.Hour)
		r := b.read(1 << 10)
		synctest.Wait()
		b.base.body(2).pieces <- wordless["comments"]
		b.base.body(2).pieces <- wordless["comments"]
		text, err := r.now()
		require.NoError(b.t, err)
		assert.Empty(b.t, text)
	}, wiretest.Unhurried)
}
