package chatcompletions_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/httprr"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/todo"
)

// If there is nothing to do, recorded answers and their requests pass byte for byte.
func TestRecordingsPassUntouched(t *testing.T) {
	t.Parallel()
	offered := func(chat httprr.Chat) httprr.Chat { return chat.WithTool(httprr.Tool) }
	recorded := func(chat httprr.Chat) httprr.Chat { return chat }
	for _, scene := range []struct {
		name  string
		todos todo.Provider
		chat  func(httprr.Chat) httprr.Chat
		takes func(httprr.Chat) bool
		floor int
	}{
		{"no todos", todo.Static(), recorded, anyRecording, 115},
		{"nothing left to do, with a tool", recordedDone, offered, anyRecording, 115},
		{"not in scope", recordedTodos, recorded, offersNoTools, 100},
		{"not to be continued, with a tool", recordedTodos, offered, func(c httprr.Chat) bool { return !c.Continuable() }, 11},
	} {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			played := 0
			for _, chat := range recordings(t) {
				if !scene.takes(chat) {
					continue
				}
				played++
				t.Run(chat.Name, func(t *testing.T) {
					t.Parallel()
					requireRecordingUntouched(t, scene.chat(chat), scene.todos)
				})
			}
			require.GreaterOrEqual(t, played, scene.floor, "recordings played")
		})
	}
}

func anyRecording(httprr.Chat) bool { return true }

// offersNoTools reports whether a call offers no tools, and so is not an agent's.
func offersNoTools(chat httprr.Chat) bool { return !strings.Contains(string(chat.Body), `"tools"`) }

func requireRecordingUntouched(t *testing.T, chat httprr.Chat, todos todo.Provider) {
	t.Helper()
	for _, reads := range recordedReads {
		bare, replay := httprr.NewReplay(0, chat.Exchange), httprr.NewReplay(reads.upstream, chat.Exchange)
		want := sendRecorded(t, chat, bare, 4096)
		got := sendRecorded(t, chat, transport.New(replay, forRecordings(todos)), reads.read)
		if got.Length < 0 && chat.Streamed {
			// The length of a stream is dropped when a continuation is possible.
			want.Length = -1
			want.Header.Del("Content-Length")
		}
		require.Equal(t, want, got, reads.name)
		require.Equal(t, bare.Sent(), replay.Sent(), reads.name)
		require.Zero(t, replay.Open(), "bodies left open: %s", reads.name)
	}
}

// Two recorded turns, joined, read as one answer, to every client and on the wire.
func TestRecordingsJoined(t *testing.T) {
	t.Parallel()
	pairs := httprr.Pairs(recordings(t))
	streams := 0
	for _, pair := range pairs {
		if !pair.Unary {
			streams++
		}
		t.Run(pair.Name, func(t *testing.T) {
			t.Parallel()
			requireRecordingJoined(t, pair)
			for _, client := range quirkClients() {
				readings := pair.Read(t.Context(), client, continueRecorded(pair.Asked))
				assert.NoError(t, pair.Judge(client.Name, readings))
			}
		})
	}
	require.GreaterOrEqual(t, streams, 22, "pairs of streams")
	require.GreaterOrEqual(t, len(pairs)-streams, 200, "pairs of answers in one piece")
}

// requireRecordingJoined checks the bytes of the joined answer, and of the requests, in whatever pieces they are read.
func requireRecordingJoined(t *testing.T, pair httprr.Pair) {
	t.Helper()
	whole := ""
	for _, reads := range recordedReads {
		upstream := pair.Upstream()
		upstream.ReadSize = reads.upstream
		joined := sendRecorded(t, pair.Asked, carriedOn(upstream), reads.read)
		if whole == "" {
			whole = joined.Body
			require.NoError(t, pair.JudgeWire(whole))
		}
		require.Equal(t, whole, joined.Body, reads.name)
		require.NoError(t, pair.JudgeRequest(upstream.Asked(), quirkTask), reads.name)
		require.Equal(t, string(pair.Asked.Body), upstream.Asked()[0], reads.name)
		if pair.Unary {
			require.EqualValues(t, len(joined.Body), joined.Length, reads.name)
			require.Equal(t, strconv.Itoa(len(joined.Body)), joined.Header.Get("Content-Length"), reads.name)
		} else {
			require.EqualValues(t, -1, joined.Length, reads.name)
			require.Empty(t, joined.Header.Get("Content-Length"), reads.name)
		}
	}
}

// Over HTTP/1.1 and HTTP/2 a joined stream is the same as in memory.
func TestRecordingsJoinedOverHTTP(t *testing.T) {
	t.Parallel()
	recorded := map[string]httprr.Chat{}
	for _, chat := range recordings(t) {
		recorded[chat.Name] = chat
	}
	for _, pair := range httprr.Pairs(recordings(t)) {
		if pair.Unary || pair.Effect != quirks.Joined {
			continue
		}
		want := sendRecorded(t, pair.Asked, carriedOn(pair.Upstream()), 4096)
		_, second, _ := strings.Cut(pair.Name, " and ")
		for _, http2 := range []bool{false, true} {
			replay := httprr.NewReplay(0, pair.Asked.Exchange, recorded[second].Exchange)
			got := sendRecorded(t, pair.Asked, carriedOn(recordingServer(t, replay, http2)), 4096)
			assert.Equal(t, map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[http2], got.Proto)
			assert.Equal(t, want.Body, got.Body, pair.Name)
		}
	}
}

// recordingServer serves the handler over HTTP and returns a RoundTripper that leads there, whatever host is asked.
func recordingServer(t *testing.T, handler http.Handler, http2 bool) http.RoundTripper {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	client := server.Client().Transport
	return redirectedTo{client, base}
}
