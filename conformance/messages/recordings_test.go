package messages_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// In a recording, *.chunks.txt has the data of one event per line, *.json a whole answer.
var recordings = flag.String("recordings", "", "a directory with more recorded answers")

// recording is an answer that a provider has given.
type recording struct {
	name   string
	stream bool
	body   string
}

// recorded returns the answers in a directory. A file may hold several streams.
func recorded(t *testing.T, dir string) []recording {
	t.Helper()
	var list []recording
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		name := filepath.Base(file)
		switch {
		case strings.HasSuffix(name, ".chunks.txt"):
			for _, body := range streamsIn(t, data, strings.Contains(name, "message-start")) {
				list = append(list, recording{name, true, body})
			}
		case strings.HasSuffix(name, ".json") && bytes.Contains(data, []byte(`"message"`)):
			list = append(list, recording{name, false, string(data)})
		}
	}
	return list
}

// streamsIn returns the streams in a file. A file with a message_start in the wrong place counts as one stream.
func streamsIn(t *testing.T, data []byte, whole bool) []string {
	t.Helper()
	var streams []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var e struct{ Type string }
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		if e.Type == "message_start" && !whole || len(streams) == 0 {
			streams = append(streams, "")
		}
		streams[len(streams)-1] += "event: " + e.Type + "\ndata: " + line + "\n\n"
	}
	return streams
}

// replay is a server that answers with these bodies, one after the other.
type replay struct{ answers []recording }

func (p *replay) RoundTrip(r *http.Request) (*http.Response, error) {
	next := p.answers[0]
	p.answers = p.answers[1:]
	kind := "application/json"
	if next.stream {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(next.body)), Request: r,
	}, nil
}

func read(t *testing.T, base http.RoundTripper, stream bool) (sdk.Message, error) {
	t.Helper()
	return ask(t.Context(), client("http://model.test/v1", base), params(), stream)
}

func eachRecording(t *testing.T, test func(t *testing.T, r recording)) {
	t.Helper()
	dirs := []string{"testdata"}
	if *recordings != "" {
		dirs = append(dirs, *recordings)
	} else {
		t.Log("no -recordings: only those made by hand")
	}
	for _, dir := range dirs {
		list := recorded(t, dir)
		require.NotEmpty(t, list, dir)
		t.Log(len(list), "answers in", dir)
		for _, r := range list {
			t.Run(r.name, func(t *testing.T) { test(t, r) })
		}
	}
}

// A recorded answer alone passes byte for byte.
func TestRecordingsPass(t *testing.T) {
	t.Parallel()
	eachRecording(t, func(t *testing.T, r recording) {
		t.Helper()
		nothing := transport.New(&replay{[]recording{r}}, middleware.New(todo.Static()))
		response, err := nothing.RoundTrip(newRequest(t, r.stream))
		require.NoError(t, err)
		got, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, r.body, string(got))
	})
}

func newRequest(t *testing.T, stream bool) *http.Request {
	t.Helper()
	body := `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"Write it."}],"tools":[{"name":"edit_file"}]`
	if stream {
		body += `,"stream":true`
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://model.test/v1/messages", strings.NewReader(body+"}"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	return r
}

func made(stream bool) recording {
	if !stream {
		return recording{"made", false, `{"id":"msg_made","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Next."}],` +
			`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}}`}
	}
	return recording{"made", true, strings.Join([]string{
		`event: message_start`, `data: {"type":"message_start","message":{"id":"msg_made","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`, ``,
		`event: content_block_start`, `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, ``,
		`event: content_block_delta`, `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Next."}}`, ``,
		`event: content_block_stop`, `data: {"type":"content_block_stop","index":0}`, ``,
		`event: message_delta`, `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`, ``,
		`event: message_stop`, `data: {"type":"message_stop"}`, ``, ``,
	}, "\n")}
}

// The SDK reads from two joined answers what it reads from each alone.
func TestRecordingsJoined(t *testing.T) {
	t.Parallel()
	joined := 0
	eachRecording(t, func(t *testing.T, r recording) {
		t.Helper()
		alone, err := read(t, &replay{[]recording{r}}, r.stream)
		if err != nil || !isWhole(alone) || strings.HasPrefix(r.name, "spliced") {
			t.Logf("left out: the SDK cannot read it alone either: %v", err)
			return
		}
		asSecond, err := read(t, transport.New(&replay{[]recording{made(r.stream), r}}, attempts(1)), r.stream)
		require.NoError(t, err)
		if alone.StopReason == "refusal" || has(alone, "compaction") {
			assert.Equal(t, []string{"Next."}, shown(asSecond)[:1])
			assert.Equal(t, sdk.StopReasonEndTurn, asSecond.StopReason)
		} else {
			assertJoined(t, "msg_made", []string{"Next."}, alone, asSecond)
			assert.Equal(t, alone.StopReason, asSecond.StopReason)
			assert.Equal(t, alone.Usage.OutputTokens+2, asSecond.Usage.OutputTokens)
			assert.Equal(t, int64(3), asSecond.Usage.InputTokens)
		}
		joined++
		asFirst, err := read(t, transport.New(&replay{[]recording{r, made(r.stream)}}, attempts(1)), r.stream)
		require.NoError(t, err)
		assert.Equal(t, alone.ID, asFirst.ID)
		assert.Equal(t, shown(alone), shown(asFirst)[:len(alone.Content)], "the first turn stays as it was")
		if len(asFirst.Content) > len(alone.Content) {
			joined++
			assert.Equal(t, "end_turn", string(alone.StopReason))
			last := alone.Content[len(alone.Content)-1].Text
			assert.Equal(t, "Next.", strings.TrimLeft(shown(asFirst)[len(alone.Content)], "\n"), last)
			assert.Equal(t, alone.Usage.OutputTokens+2, asFirst.Usage.OutputTokens)
			assert.Equal(t, alone.Usage.InputTokens, asFirst.Usage.InputTokens)
		}
	})
	t.Log(joined, "joined answers")
}

func has(m sdk.Message, kind string) bool {
	return slices.ContainsFunc(m.Content, func(b sdk.ContentBlockUnion) bool { return b.Type == kind })
}

// isWhole reports whether an answer has an end.
func isWhole(m sdk.Message) bool { return m.StopReason != "" && m.ID != "" }

// assertJoined asserts that an answer has the blocks of a first answer, and those of a second that are shown.
func assertJoined(t *testing.T, id string, first []string, second, got sdk.Message) {
	t.Helper()
	want := first
	separated := false
	for i, b := range shown(second) {
		switch kind := second.Content[i].Type; {
		case kind == "thinking", kind == "redacted_thinking", kind == "text" && b == "", kind == "compaction":
			continue
		case kind == "text" && !separated:
			separated = true
			b = "\n\n" + b
		}
		want = append(want, b)
	}
	assert.Equal(t, id, got.ID)
	assert.Equal(t, want, shown(got))
}
