package scenarios_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// readRaw reads the stream of a client. It fails if that takes longer than any input may.
func readRaw(t *testing.T, c scenario.Client) ([]chunk, middleware.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := scenario.Open(ctx, c, scenario.RequestWithUsage())
	require.NoError(t, err)
	var all []chunk
	for err == nil {
		var next chunk
		next, err = s.Recv()
		if err == nil {
			all = append(all, next)
		}
		require.Less(t, len(all), 1<<20)
	}
	require.NoError(t, ctx.Err(), "the stream did not end")
	_ = s.Close()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, s.Outcome(), err
}

// oddlyNamed finds a member whose name has an escape, or a letter that is not in lower case.
var oddlyNamed = regexp.MustCompile(`"[^"]*[A-Z\\\x80-\xff][^"]*"\s*:`)

func FuzzJoinedStream(f *testing.F) {
	whole := event(deltaChunk(`{"role":"assistant","content":"Plan."}`), finishChunk(`{}`, "stop"),
		rawChunk("", tokens(1, 2)), "[DONE]")
	pause := event(deltaChunk(calls("0 p function todo_pause "+pauseArgs)), finishChunk(`{}`, "tool_calls"), "[DONE]")
	for _, second := range []string{
		whole, pause, "", "data: [DONE]\n\n", "data: ping\n\n", ": comment\n\n" + whole, strings.ReplaceAll(whole, "\n", "\r\n"),
		event(finishChunk(calls("0 p function todo_pause "+pauseArgs, "1 a function edit_file {}"), "tool_calls", tokens(3, 4))),
		event(deltaChunk(calls("0 a function todo _")), deltaChunk(calls("0 _ _ _list {}")), finishChunk(`{}`, "tool_calls")),
		event(deltaChunk(calls("0 p function todo_ _")), deltaChunk(`{"content":"So:"}`),
			deltaChunk(calls("0 _ _ pause "+pauseArgs))),
		event(deltaChunk(`{"content":"todo_pause('"}`), deltaChunk(`{"content":"`+scenario.Blocked+`')"}`),
			finishChunk(`{}`, "stop")),
		event(rawChunk(`{"index":1,"delta":{"content":"Other."},"finish_reason":"stop"}`), finishChunk(`{"content":"x"}`, "stop")),
		event(`{"error":{"message":"overloaded"}}`, `{}`),
		event(finishChunk(`{"content":"x"}`, "stop"), deltaChunk(`{"content":"y"}`)),
		event(deltaChunk(calls("_ _ _ _ _", "-1 a _ todo_pause {}", "9999999 b _ _ x")), finishChunk(`{}`, "stop")),
		"data: {}\n\ndata: null\n\n",
	} {
		f.Add([]byte(whole), []byte(second))
		f.Add([]byte(second), []byte(whole))
		f.Add([]byte(second), []byte(second))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, m := range scenario.StreamModes() {
			if m.OnWire() && (oddlyNamed.Match(first) || oddlyNamed.Match(second)) {
				continue // the SDK ignores the case of a name, the wire does not
			}
			requireJoined(t, m, string(first), string(second))
		}
	})
}

// alphabet is a list of payloads that form a stream in any order.
var alphabet = []string{
	deltaChunk(`{"role":"assistant","content":""}`), deltaChunk(`{"content":"One "}`), deltaChunk(`{"content":"todo_pause('"}`),
	deltaChunk(`{"content":"` + scenario.Blocked + `')"}`), deltaChunk(`{"reasoning_content":"Hm."}`),
	deltaChunk(`{"refusal":"No."}`), deltaChunk(`{}`),
	deltaChunk(`{"function_call":{"name":"edit_file","arguments":"{}"}}`), deltaChunk(`{"content":null,"tool_calls":[]}`),
	deltaChunk(calls("0 p function todo_pause _")), deltaChunk(calls("0 _ _ _ " + argsHead)), deltaChunk(calls("0 _ _ _ " + argsTail)),
	deltaChunk(calls("0 p function todo_ _")), deltaChunk(calls("0 _ _ pause _")), deltaChunk(calls("0 _ _ list {}")),
	deltaChunk(calls("1 a function edit_file {}")), deltaChunk(calls("0 a function edit_file {}")), deltaChunk(calls("_ a _ edit_file {}")),
	deltaChunk(calls("_ _ _ todo_pause {}")), deltaChunk(calls("_ _ _ _ x")),
	deltaChunk(calls("1 _ _ _ _")), deltaChunk(calls("-1 b _ todo {}")),
	deltaChunk(calls("1 p _ todo_pause "+pauseArgs, "0 a _ edit_file {}")),
	finishChunk(calls("0 a _ todo {}"), "tool_calls", tokens(1, 2)),
	finishChunk(`{}`, "stop"), finishChunk(`{"content":"Two:"}`, "stop"), finishChunk(`{"content":"Two:"}`, "stop", tokens(3, 4)),
	finishChunk(`{}`, "tool_calls"), finishChunk(`{}`, "length"), finishChunk(`{"reasoning_content":"Hm."}`, "stop"),
	rawChunk("", tokens(5, 6)), rawChunk(""), rawChunk(`{"index":1,"delta":{"content":"Other."},"finish_reason":"stop"}`),
	rawChunk(`{"index":1,"delta":{"content":"Other."}},{"index":0,"delta":{"content":"Three:"},"finish_reason":"stop"}`),
	`{"choices":[{"delta":{"content":"no id"}}]}`, `{"error":{"message":"overloaded"}}`, "ping", "[DONE]",
}

// longestWord is below the number of chunks that are read after a finish.
const longestWord = 64

// spell returns the stream of a word: each byte is the index of a payload in the
// alphabet.
func spell(word []byte) string {
	word = word[:min(len(word), longestWord)]
	payloads := make([]string, 0, len(word))
	for _, letter := range word {
		payloads = append(payloads, alphabet[int(letter)%len(alphabet)])
	}
	return event(payloads...)
}

func FuzzJoinedStreamOfChunks(f *testing.F) {
	for letter := range alphabet {
		f.Add([]byte{1, byte(letter), 24}, []byte{1, 24, 30})
		f.Add([]byte{1, 24, byte(letter)}, []byte{1, 24, 30})
		f.Add([]byte{1, 24, 30}, []byte{1, byte(letter), 24, 30})
		f.Add([]byte{1, 24, 30}, []byte{9, 10, byte(letter), 11, 15, 27, 30})
		f.Add([]byte{1, 24, 30}, []byte{12, byte(letter), 13, 27})
		f.Add([]byte{1, 24, 30}, []byte{1, 24, byte(letter), 30})
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, m := range scenario.StreamModes() {
			requireJoined(t, m, spell(first), spell(second))
		}
	})
}

// requireJoined checks the rules for the joined stream of any two turns.
func requireJoined(t *testing.T, m scenario.Mode, first, second string) {
	t.Helper()
	want, wantErr := readRawBySDK(t, first)
	server := fakellm.Start(fakellm.Raw(first), fakellm.Raw(second))
	defer server.Close()
	got, outcome, err := readRaw(t, m.MemoryClient(server, middleware.New(scenario.TwoTodos(), scenario.Unattended(), scenario.AtMost(1))))
	require.True(t, outcome.Ended)
	require.True(t, strings.HasPrefix(textOf(got), textOf(want)), "text %q of turn 1 is lost in %q", textOf(want), textOf(got))
	if outcome.Turns == 1 && m.OnWire() && wantErr != nil {
		return // where the wire splits a chunk in two, the SDK fails on other words
	}
	if outcome.Turns == 1 {
		requireRelayed(t, want, got)
		if wantErr == nil {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, wantErr.Error())
		}
		return
	}
	if wantErr != nil {
		require.True(t, m.OnWire(), "a turn that broke off was continued")
		return // the wire takes what the SDK fails on for no chunk, or for a value that it does not read
	}
	later, laterErr := readRawBySDK(t, second)
	if !m.OnWire() || laterErr == nil { // otherwise the wire has read more of it than the SDK
		requireNoPause(t, got, later)
	}
	if err != nil || outcome.Err != nil {
		return
	}
	if laterErr == nil && textOf(got) == textOf(want) && sameWords(textOf(want), textOf(later)) {
		requireRelayed(t, want, got) // the same answer again is left out: turn 1 is all that there is
		return
	}
	requireOneFinish(t, got)
	if m.OnWire() && (!strings.HasSuffix(first, "\n") || !strings.HasSuffix(second, "\n")) {
		return // the SDK ignores a line without an end, the wire does not
	}
	if laterErr == nil && outcome.Paused == nil && beginsAsChoice0(later) {
		require.Equal(t, joinTexts(textOf(want), textOf(later)), textOf(got))
	}
}

// sameWords reports whether two texts have the same letters and digits, and any at all.
func sameWords(a, b string) bool {
	words := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				return unicode.ToLower(unicode.ToUpper(r))
			}
			return -1
		}, text)
	}
	return words(a) != "" && words(a) == words(b)
}

// beginsAsChoice0 reports whether the first choice that says something is the first of the
// answer. Another one becomes the first when it is joined.
func beginsAsChoice0(chunks []chunk) bool {
	for _, c := range chunks {
		for _, choice := range c.Choices {
			if choice.Delta.Content != "" || len(choice.Delta.ToolCalls) > 0 || choice.FinishReason != openai.FinishReasonNull {
				return choice.Index == 0
			}
		}
	}
	return true
}

// readRawBySDK reads the body of a turn with the SDK's own client.
func readRawBySDK(t *testing.T, turn string) ([]chunk, error) {
	t.Helper()
	server := fakellm.Start(fakellm.Raw(turn))
	defer server.Close()
	all, _, err := readRaw(t, scenario.SDKClient(scenario.MemoryConfig(server)))
	return all, err
}

// requireNoPause checks that no call of todo_pause in the second turn is shown. It skips turns with ambiguous
// fragments: every call must begin with an id, and use it at one index.
func requireNoPause(t *testing.T, shown, second []chunk) {
	t.Helper()
	pauses, indexes, begun := map[string]bool{}, map[string]int{}, map[int]bool{}
	for _, call := range callsIn(second) {
		if call.Index == nil {
			return
		}
		index, known := indexes[call.ID]
		switch {
		case call.ID == "" && begun[*call.Index]:
		case call.ID == "", known && index != *call.Index:
			return
		case !known:
			pauses[call.ID] = strings.EqualFold(call.Function.Name, "todo_pause")
			indexes[call.ID], begun[*call.Index] = *call.Index, true
		}
	}
	for _, call := range callsIn(shown) {
		require.False(t, pauses[call.ID], "%v", call)
	}
}

// requireOneFinish checks that the first choice has one finish, in its last
// chunk.
func requireOneFinish(t *testing.T, chunks []chunk) {
	t.Helper()
	finished := false
	for _, c := range chunks {
		at := -1
		for i, choice := range c.Choices {
			if choice.Index == 0 {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		require.False(t, finished, "choice after the finish: %s", show(c))
		finished = c.Choices[at].FinishReason != openai.FinishReasonNull && hasFinish(c)
	}
	require.True(t, finished, "no finish")
}
