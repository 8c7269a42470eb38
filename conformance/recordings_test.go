package conformance_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/httprr"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// recordedChats reads the recordings in langchaingo's module, once.
var recordedChats = sync.OnceValues(func() ([]httprr.Chat, error) { return httprr.Recorded(context.Background()) })

// The SDK reads two recorded turns, joined, as one answer.
func TestRecordingsJoined(t *testing.T) {
	t.Parallel()
	chats, err := recordedChats()
	require.NoError(t, err)
	streams, whole := 0, 0
	for _, pair := range httprr.Pairs(chats) {
		if pair.Unary {
			whole++
		} else {
			streams++
		}
		t.Run(pair.Name, func(t *testing.T) {
			t.Parallel()
			readings := pair.Read(t.Context(), openaiGo, asRecorded(pair.Asked))
			require.NoError(t, pair.Judge(quirks.OpenAIGo, readings))
			if !pair.Unary {
				assert.Zero(t, refused(t, asRecorded(pair.Asked)(pair.Upstream())), "chunks refused")
			}
		})
	}
	require.GreaterOrEqual(t, streams, 22, "pairs of streams")
	require.GreaterOrEqual(t, whole, 200, "pairs of answers in one piece")
}

// From a recording alone, with nothing to do, the SDK reads what it reads without carryon.
func TestRecordingsPass(t *testing.T) {
	t.Parallel()
	chats, err := recordedChats()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(chats), 115)
	for _, chat := range chats {
		upstream := func() *quirks.Upstream {
			return &quirks.Upstream{Turns: []quirks.Turn{chat.Turn}, Unary: !chat.Streamed}
		}
		bare := readOpenAIGo(t.Context(), chat.Instead(upstream()), !chat.Streamed)
		assert.Equal(t, bare, readOpenAIGo(t.Context(), asRecorded(chat)(upstream()), !chat.Streamed), chat.Name)
	}
}

// asRecorded puts the transport in front of an upstream, and asks as the recorded call did.
func asRecorded(chat httprr.Chat) func(http.RoundTripper) http.RoundTripper {
	return func(upstream http.RoundTripper) http.RoundTripper { return chat.Instead(carryOnce(upstream)) }
}
