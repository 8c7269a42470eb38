package transport_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// blockAnswer returns an answer of the small protocol: texts and, where one begins
// with a brace, the arguments of a call. A call's name stands before the brace.
func blockAnswer(id, reason string, parts ...string) string {
	var b strings.Builder
	put := func(name, data string, args ...any) {
		fmt.Fprintf(&b, "event: "+name+"\ndata: {\"type\":\""+name+"\","+data+"}\n\n", args...)
	}
	put("start", `"id":%q`, id)
	for i, part := range parts {
		tool, arguments, isCall := strings.Cut(part, "{")
		if isCall {
			put("block_start", `"index":%d,"kind":"call","id":"%s-%d","name":%q`, i, id, i, tool)
			put("block_delta", `"index":%d,"arguments":%q`, i, "{"+arguments)
		} else {
			put("block_start", `"index":%d,"kind":"text"`, i)
			for word := range strings.SplitAfterSeq(part, " ") {
				put("block_delta", `"index":%d,"text":%q`, i, word)
			}
		}
		put("block_stop", `"index":%d`, i)
	}
	put("end", `"reason":%q,"usage":{"in":10,"out":5}`, reason)
	return b.String()
}

// askBlocks plays answers of the small protocol, and returns what is read, the
// bodies of the requests and the outcome.
func askBlocks(t *testing.T, todos todo.Provider, as func(io.Reader) io.Reader, answers ...string) (string, []string, middleware.Outcome) {
	t.Helper()
	var requests []string
	base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		requests = append(requests, string(body))
		return wiretest.Streamed(r, io.NopCloser(as(strings.NewReader(answers[len(requests)-1])))), r.Body.Close()
	})
	ctx, outcomes := middleware.Capture(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test/v1/blocks",
		strings.NewReader(`{"input":["user: Go on."],"tools":["edit_file"]}`))
	require.NoError(t, err)
	response, err := transport.NewFor(base, wiretest.OneContinuation(todos), blocks{}).RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(got), requests, outcomes.Last()
}

func asItCame(r io.Reader) io.Reader { return r }

// Adding a protocol takes a package and an entry in a list: the transport has
// nothing of Chat Completions in it.
func TestOtherProtocolWithNothingToDoIsByteIdentical(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		blockAnswer("a", "stop", "All is done and said."), blockAnswer("a", "calls", "One. ", `edit_file{"path":"a"}`), ": ping\n\n" + blockAnswer("a", "stop"), "",
	} {
		for _, as := range []func(io.Reader) io.Reader{asItCame, iotest.OneByteReader} {
			got, requests, _ := askBlocks(t, todo.Static(), as, answer)
			assert.Equal(t, answer, got)
			assert.Len(t, requests, 1)
		}
	}
}

func TestOtherProtocolIsContinued(t *testing.T) {
	t.Parallel()
	first := blockAnswer("a", "stop", "Next I will write the parser.")
	for name, tt := range map[string]struct {
		second []string // parts of turn 2
		shown  []string // what the caller sees of them
		reason string
	}{
		"text":        {[]string{"Done with it."}, []string{"\n\nDone with it."}, "stop"},
		"a call":      {[]string{"Now.", `edit_file{"path":"a"}`}, []string{"\n\nNow.", `edit_file{"path":"a"}`}, "calls"},
		"calls alone": {[]string{`edit_file{"path":"a"}`, `edit_file{"path":"b"}`}, []string{`edit_file{"path":"a"}`, `edit_file{"path":"b"}`}, "calls"},
		"pause and call": {
			[]string{"Now.", `todo_pause{"reason":"The grammar file grammar.ebnf is missing"}`, `edit_file{"path":"a"}`},
			[]string{"\n\nNow.", `edit_file{"path":"a"}`, "\n\nTask paused: The grammar file grammar.ebnf is missing"},
			"calls",
		},
		"pause": {
			[]string{"Stuck.", `todo_pause{"reason":"The grammar file grammar.ebnf is missing"}`},
			[]string{"\n\nStuck.", "\n\nTask paused: The grammar file grammar.ebnf is missing"},
			"stop",
		},
	} {
		for _, as := range []func(io.Reader) io.Reader{asItCame, iotest.OneByteReader} {
			got, requests, outcome := askBlocks(t, wiretest.TwoTodos, as, first, blockAnswer("b", tt.reason, tt.second...))
			require.Len(t, requests, 2, name)
			assert.Contains(t, requests[1], `"model: Next I will write the parser."`)
			assert.Contains(t, requests[1], `["edit_file","todo_pause"]`)
			assert.True(t, strings.HasPrefix(got, strings.TrimSuffix(first, first[strings.Index(first, "event: end"):])), "turn 1 is shown as it came: %s", name)

			read := readBlocks(t, got)
			assert.Equal(t, "a", read.id, name)
			assert.Equal(t, append([]string{"Next I will write the parser."}, tt.shown...), read.blocks, name)
			assert.Equal(t, tt.reason, read.reason, name)
			assert.Equal(t, `{"in":20,"out":10}`, read.usage, name)
			assert.Equal(t, 1, outcome.Attempts, name)
			assert.NotContains(t, got, "todo_pause")
			assert.NotContains(t, got, "[DONE]")
		}
	}
}

// A continuation that fails does not change the answer.
func TestOtherProtocolSurvivesAFailure(t *testing.T) {
	t.Parallel()
	first := blockAnswer("a", "stop", "Next I will write the parser.")
	failure := "event: error\ndata: {\"type\":\"overloaded\",\"message\":\"Later.\"}\n\n"
	got, _, outcome := askBlocks(t, wiretest.TwoTodos, asItCame, first, failure, failure, failure)
	assert.Equal(t, first, got)
	var reported *transport.ProviderError
	require.ErrorAs(t, outcome.Err, &reported)
	assert.Equal(t, "overloaded", reported.Type)
}

// blocksRead is what a reader makes of an answer.
type blocksRead struct {
	id, reason, usage string
	blocks            []string
}

// readBlocks reads an answer as a strict client does.
func readBlocks(t *testing.T, answer string) blocksRead {
	t.Helper()
	var got blocksRead
	started, ended, open := 0, 0, false
	for event := range strings.SplitSeq(strings.TrimSuffix(answer, "\n\n"), "\n\n") {
		parts := regexp.MustCompile(`^event: (\w+)\ndata: (\{.*\})$`).FindStringSubmatch(event)
		require.NotNil(t, parts, event)
		var data struct {
			Type, ID, Name, Text, Arguments, Reason string
			Index                                   int
			Usage                                   any
		}
		require.NoError(t, json.Unmarshal([]byte(parts[2]), &data))
		require.Equal(t, parts[1], data.Type)
		require.Zero(t, ended, "behind the end: %s", event)
		switch data.Type {
		case "start":
			started++
			got.id = data.ID
		case "block_start":
			require.False(t, open, event)
			require.Len(t, got.blocks, data.Index, "blocks are dense: %s", event)
			open, got.blocks = true, append(got.blocks, data.Name)
		case "block_delta":
			require.True(t, open, event)
			require.Len(t, got.blocks, data.Index+1, event)
			got.blocks[data.Index] += data.Text + data.Arguments
		case "block_stop":
			require.True(t, open, event)
			open = false
		case "end":
			require.False(t, open, event)
			ended++
			got.reason = data.Reason
			got.usage = string(regexp.MustCompile(`\{"in".*?\}`).Find([]byte(parts[2])))
		}
	}
	assert.Equal(t, []int{1, 1}, []int{started, ended}, "one start, one end")
	return got
}

// lineEnds are what may end the lines of a stream.
var lineEnds = map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"}

// requestsByPath are requests in scope, one of each protocol.
var requestsByPath = map[string]string{
	"/chat/completions": wiretest.ChatBody(true),
	"/responses":        responsesBody(true),
	"/messages": `{"model":"claude-sonnet-4-5","max_tokens":1024,"stream":true,"messages":[{"role":"user","content":"Write the parser."}],` +
		`"tools":[{"name":"edit_file","input_schema":{"type":"object"}}]}`,
}

// responsesBody is a request of the Responses API in scope.
func responsesBody(stream bool) string {
	return fmt.Sprintf(`{"model":"test-model","stream":%t,"input":[{"role":"user","content":"Write and test the parser."}],`+
		`"tools":[{"type":"function","name":"edit_file","parameters":{"type":"object","properties":{}},"strict":null}]}`, stream)
}

// The lines of a joined answer end like those of turn 1, in all protocols and
// whatever the continuation's end with.
func TestJoinedAnswerHasTheLineEndsOfTurn1(t *testing.T) {
	t.Parallel()
	for path, body := range requestsByPath {
		for name, second := range map[string]fakellm.Turn{
			"text": fakellm.Text("It is written now."), "call": wiretest.Edit().AndText("Now."), "pause": fakellm.Pause(wiretest.Blocked).AndText("It fails."),
			"fails": fakellm.Text("It is written now.").EndAfter(-2),
		} {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				first := wiretest.Bytes(t, path, body, fakellm.Text(wiretest.Plan))[0]
				want := joinedOver(t, path, body, fakellm.Raw(first), second)
				for end, chars := range lineEnds {
					turn1 := fakellm.Raw(strings.ReplaceAll(first, "\n", chars))
					assert.Equal(t, strings.ReplaceAll(want, "\n", chars), joinedOver(t, path, body, turn1, second), end)
					assert.Equal(t, strings.ReplaceAll(want, "\n", chars), joinedOver(t, path, body, turn1, second.CRLF()), end)
				}
			})
		}
	}
}

// A continuation may have its JSON on several data lines.
func TestJoinedAnswerHasOneDataLineForEachEvent(t *testing.T) {
	t.Parallel()
	for path, body := range requestsByPath {
		for name, second := range map[string]fakellm.Turn{
			"text": fakellm.Text("It is written now."), "call": wiretest.Edit().AndText("Now."), "pause": fakellm.Pause(wiretest.Blocked).AndText("It fails."),
		} {
			whole := wiretest.Bytes(t, path, body, fakellm.Text(wiretest.Plan), second)
			split := strings.ReplaceAll(whole[1], `,"`, ",\ndata: \"")
			want := joinedOver(t, path, body, fakellm.Raw(whole[0]), fakellm.Raw(whole[1]))
			got := joinedOver(t, path, body, fakellm.Raw(whole[0]), fakellm.Raw(split))
			assert.Equal(t, want, strings.ReplaceAll(got, `, "`, `,"`), path+" "+name)
		}
	}
}

// joinedOver returns the answer that carryon makes of turns over a connection.
func joinedOver(t *testing.T, path, body string, turns ...fakellm.Turn) string {
	t.Helper()
	server, base := fakellm.NewServer(t, turns...), new(http.Transport)
	defer base.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Len(t, server.Requests(), 2)
	return string(got)
}
