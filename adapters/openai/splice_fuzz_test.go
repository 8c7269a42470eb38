package openai_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

// event is the bytes of payloads as a stream.
func event(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		b.WriteString("data: " + p + "\n\n")
	}
	return b.String()
}

// readRaw reads the stream of a client, within a time that no input may take.
func readRaw(t *testing.T, c client) ([]chunk, middleware.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := open(ctx, c, withUsage())
	require.NoError(t, err)
	var all []chunk
	for err == nil {
		var next chunk
		if next, err = s.Recv(); err == nil {
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

// oddlyNamed finds a member whose name is not in lower case, or spelt with an escape.
var oddlyNamed = regexp.MustCompile(`"[^"]*[A-Z\\\x80-\xff][^"]*"\s*:`)

func FuzzSplice(f *testing.F) {
	whole := event(says(`{"role":"assistant","content":"Plan."}`), ends(`{}`, "stop"), rawChunk("", tokens(1, 2)), "[DONE]")
	pause := event(says(calls("0 p function todo_pause "+goodArgs)), ends(`{}`, "tool_calls"), "[DONE]")
	for _, second := range []string{
		whole, pause, "", "data: [DONE]\n\n", "data: ping\n\n", ": comment\n\n" + whole, strings.ReplaceAll(whole, "\n", "\r\n"),
		event(ends(calls("0 p function todo_pause "+goodArgs, "1 a function edit_file {}"), "tool_calls", tokens(3, 4))),
		event(says(calls("0 a function todo _")), says(calls("0 _ _ _list {}")), ends(`{}`, "tool_calls")),
		event(says(calls("0 p function todo_ _")), says(`{"content":"So."}`), says(calls("0 _ _ pause "+goodArgs))),
		event(says(`{"content":"todo_pause('"}`), says(`{"content":"`+goodReason+`')"}`), ends(`{}`, "stop")),
		event(rawChunk(`{"index":1,"delta":{"content":"Other."},"finish_reason":"stop"}`), ends(`{"content":"x"}`, "stop")),
		event(`{"error":{"message":"overloaded"}}`, `{}`), event(ends(`{"content":"x"}`, "stop"), says(`{"content":"y"}`)),
		event(says(calls("_ _ _ _ _", "-1 a _ todo_pause {}", "9999999 b _ _ x")), ends(`{}`, "stop")), "data: {}\n\ndata: null\n\n",
	} {
		f.Add([]byte(whole), []byte(second))
		f.Add([]byte(second), []byte(whole))
		f.Add([]byte(second), []byte(second))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, m := range streamModes {
			if m.wire && (oddlyNamed.Match(first) || oddlyNamed.Match(second)) {
				continue // the SDK does not look at the case of a name, and the wire does
			}
			requireSplice(t, m, string(first), string(second))
		}
	})
}

// alphabet is chunks that, in any order, are a stream.
var alphabet = []string{
	says(`{"role":"assistant","content":""}`), says(`{"content":"One "}`), says(`{"content":"todo_pause('"}`),
	says(`{"content":"` + goodReason + `')"}`), says(`{"reasoning_content":"Hm."}`), says(`{"refusal":"No."}`), says(`{}`),
	says(`{"function_call":{"name":"edit_file","arguments":"{}"}}`), says(`{"content":null,"tool_calls":[]}`),
	says(calls("0 p function todo_pause _")), says(calls("0 _ _ _ " + argsHead)), says(calls("0 _ _ _ " + argsTail)),
	says(calls("0 p function todo_ _")), says(calls("0 _ _ pause _")), says(calls("0 _ _ list {}")),
	says(calls("1 a function edit_file {}")), says(calls("0 a function edit_file {}")), says(calls("_ a _ edit_file {}")),
	says(calls("_ _ _ todo_pause {}")), says(calls("_ _ _ _ x")), says(calls("1 _ _ _ _")), says(calls("-1 b _ todo {}")),
	says(calls("1 p _ todo_pause "+goodArgs, "0 a _ edit_file {}")), ends(calls("0 a _ todo {}"), "tool_calls", tokens(1, 2)),
	ends(`{}`, "stop"), ends(`{"content":"Two."}`, "stop"), ends(`{"content":"Two."}`, "stop", tokens(3, 4)),
	ends(`{}`, "tool_calls"), ends(`{}`, "length"), ends(`{"reasoning_content":"Hm."}`, "stop"),
	rawChunk("", tokens(5, 6)), rawChunk(""), rawChunk(`{"index":1,"delta":{"content":"Other."},"finish_reason":"stop"}`),
	rawChunk(`{"index":1,"delta":{"content":"Other."}},{"index":0,"delta":{"content":"Three."},"finish_reason":"stop"}`),
	`{"choices":[{"delta":{"content":"no id"}}]}`, `{"error":{"message":"overloaded"}}`, "ping", "[DONE]",
}

// longestWord is fewer chunks than are read after a finish.
const longestWord = 64

// spell returns the stream that a word in the alphabet stands for.
func spell(word []byte) string {
	word = word[:min(len(word), longestWord)]
	payloads := make([]string, 0, len(word))
	for _, letter := range word {
		payloads = append(payloads, alphabet[int(letter)%len(alphabet)])
	}
	return event(payloads...)
}

func FuzzSpliceOfChunks(f *testing.F) {
	for letter := range alphabet {
		f.Add([]byte{1, byte(letter), 24}, []byte{1, 24, 30})
		f.Add([]byte{1, 24, byte(letter)}, []byte{1, 24, 30})
		f.Add([]byte{1, 24, 30}, []byte{1, byte(letter), 24, 30})
		f.Add([]byte{1, 24, 30}, []byte{9, 10, byte(letter), 11, 15, 27, 30})
		f.Add([]byte{1, 24, 30}, []byte{12, byte(letter), 13, 27})
		f.Add([]byte{1, 24, 30}, []byte{1, 24, byte(letter), 30})
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, m := range streamModes {
			requireSplice(t, m, spell(first), spell(second))
		}
	})
}

// requireSplice checks what must hold for the streams of any two turns.
func requireSplice(t *testing.T, m mode, first, second string) {
	t.Helper()
	want, wantErr := readAlone(t, first)
	server := carryontest.Start(carryontest.Raw(first), carryontest.Raw(second))
	defer server.Close()
	got, outcome, err := readRaw(t, m.clientIn(server, middleware.New(twoTodos, atMost(1))))
	require.True(t, outcome.Ended)
	require.True(t, strings.HasPrefix(textOf(got), textOf(want)), "text %q of turn 1 is lost in %q", textOf(want), textOf(got))
	if outcome.Turns == 1 && m.wire && wantErr != nil {
		return // what the SDK fails on is spelt anew where the wire shows it in two pieces
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
		require.True(t, m.wire, "a turn that broke off was continued")
		return // it was sound on the wire: what the SDK fails on is no chunk there, or of a type of its own
	}
	later, laterErr := readAlone(t, second)
	if !m.wire || laterErr == nil { // else the wire has read more of it than the SDK
		requireNoPause(t, got, later)
	}
	if err != nil || outcome.Err != nil {
		return
	}
	requireOneFinish(t, got)
	if m.wire && (!strings.HasSuffix(first, "\n") || !strings.HasSuffix(second, "\n")) {
		return // the SDK does not read a line that has no end, and the wire shows what is in it
	}
	if laterErr == nil && outcome.Paused == nil {
		require.Equal(t, joinTexts(textOf(want), textOf(later)), textOf(got))
	}
}

// readAlone reads a turn with the SDK's own client.
func readAlone(t *testing.T, turn string) ([]chunk, error) {
	t.Helper()
	server := carryontest.Start(carryontest.Raw(turn))
	defer server.Close()
	all, _, err := readRaw(t, bare(inMemory(server)))
	return all, err
}

// requireNoPause checks that no call of the tool in the second turn is shown.
// It speaks of turns in which there is no doubt what belongs to what: every
// call begins with an id, and uses it at one index.
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
