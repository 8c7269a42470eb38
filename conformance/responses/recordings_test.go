package responses_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// made is an answer that ends in text.
const made = `{"type":"response.created","response":{"id":"resp_made","object":"response","created_at":1893456000,"status":"in_progress","model":"m","output":[]},"sequence_number":0}
{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_made","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":1}
{"type":"response.content_part.added","item_id":"msg_made","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":2}
{"type":"response.output_text.delta","item_id":"msg_made","output_index":0,"content_index":0,"delta":"Next ","logprobs":[],"sequence_number":3}
{"type":"response.output_text.delta","item_id":"msg_made","output_index":0,"content_index":0,"delta":"I write it.","logprobs":[],"sequence_number":4}
{"type":"response.output_text.done","item_id":"msg_made","output_index":0,"content_index":0,"text":"Next I write it.","logprobs":[],"sequence_number":5}
{"type":"response.content_part.done","item_id":"msg_made","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Next I write it.","annotations":[]},"sequence_number":6}
{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_made","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Next I write it.","annotations":[]}]},"sequence_number":7}
{"type":"response.completed","response":{"id":"resp_made","object":"response","created_at":1893456000,"status":"completed","model":"m","output":[{"id":"msg_made","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Next I write it.","annotations":[]}]}],"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}},"sequence_number":8}
`

// A recorded stream alone passes byte for byte, and the SDK reads its events as they are.
func TestRecordingsPass(t *testing.T) {
	t.Parallel()
	eachRecording(t, func(t *testing.T, stream string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, serve(t, []string{stream})+"/responses",
			strings.NewReader(`{"model":"m","input":"Write it.","stream":true,"tools":[{"type":"function","name":"edit_file"}]}`))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := through(t, nothingToDo()).Do(request)
		require.NoError(t, err)
		got, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, stream, string(got))

		sent := []string{}
		for line := range strings.Lines(stream) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				sent = append(sent, strings.TrimSpace(data))
			}
		}
		r := read(t, nothingToDo(), stream)
		if r.end == "" {
			require.Error(t, r.err)
			sent = sent[:len(r.events)] // the SDK stops at an error
		}
		assert.Equal(t, sent, r.events)
	})
}

// The SDK reads from two joined answers what it reads from each alone, in the events and in the final response.
func TestRecordingsJoined(t *testing.T) {
	t.Parallel()
	first := read(t, nothingToDo(), streamsIn(t, made)[0])
	require.NoError(t, first.err)
	before, behind, leftOut := 0, 0, 0
	eachRecording(t, func(t *testing.T, stream string) {
		t.Helper()
		alone := read(t, nothingToDo(), stream)
		if alone.err != nil {
			leftOut++
			t.Log("left out: the SDK does not read it alone:", alone.err)
			return
		}
		behind++
		assertJoined(t, first, alone.withoutCompactions(), read(t, carryOnce(), streamsIn(t, made)[0], stream))

		joined := read(t, carryOnce(), stream, streamsIn(t, made)[0])
		if slices.Contains(joined.ids, "msg_made") {
			before++
			assertJoined(t, alone, first, joined)
		} else {
			assert.Equal(t, alone.events, joined.events)
		}
	})
	assert.GreaterOrEqual(t, behind, 9)
	assert.GreaterOrEqual(t, before, 4)
	t.Log(behind, "behind another turn,", before, "before one,", leftOut, "left out")
}

// assertJoined asserts that an answer consists of two others.
func assertJoined(t *testing.T, first, second, joined *reading) {
	t.Helper()
	require.NoError(t, joined.err)
	assert.Equal(t, first.announced, joined.announced)
	assert.Equal(t, first.response.ID, joined.response.ID)
	assert.Equal(t, second.end, joined.end)
	assert.Equal(t, second.response.Status, joined.response.Status)
	assert.Equal(t, second.response.IncompleteDetails.Reason, joined.response.IncompleteDetails.Reason)

	if len(first.numbers) > 0 {
		said := first.numbers[:len(first.numbers)-1] // all but that of its end
		assert.Equal(t, countOn(said, len(joined.events)), joined.numbers, "sequence numbers")
	} else {
		assert.Empty(t, joined.numbers)
	}
	assert.Equal(t, countOn(first.indexes, len(first.indexes)+len(second.indexes)), joined.indexes, "output indexes")
	assert.Equal(t, slices.Concat(first.ids, second.ids), joined.ids)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(joined.ids))), len(joined.ids), "each id is there once")

	assert.Equal(t, follow(first.pieces, second.pieces), joined.pieces, "pieces")
	assert.Equal(t, follow(first.parts, second.parts), joined.parts, "parts")
	assert.Equal(t, follow(first.atEnd(), second.atEnd()), joined.final, "response")

	assert.Equal(t, first.response.Usage.InputTokens, joined.response.Usage.InputTokens)
	assert.Equal(t, first.response.Usage.OutputTokens+second.response.Usage.OutputTokens, joined.response.Usage.OutputTokens)
	assert.Equal(t, joined.response.Usage.InputTokens+joined.response.Usage.OutputTokens, joined.response.Usage.TotalTokens)
}

// withoutCompactions returns what is shown of a continuation: a compaction stands for its prompt, too.
func (r *reading) withoutCompactions() *reading {
	shown := *r
	for _, list := range []*items{&shown.pieces, &shown.parts, &shown.final} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(it responses.ResponseAccumulatedOutput) bool { return it.Type == "compaction" })
	}
	shown.indexes = shown.indexes[:len(shown.pieces)]
	shown.ids = slices.DeleteFunc(slices.Clone(shown.ids), func(id string) bool { return strings.HasPrefix(id, "cmp_") })
	return &shown
}

// atEnd returns the items in the last event. Some servers list none.
func (r *reading) atEnd() items {
	if len(r.final) == 0 {
		return r.parts
	}
	return r.final
}

// follow returns the items of two answers as the items of one.
func follow(first, second items) items {
	list := slices.Clone(first)
	for _, it := range second {
		it.OutputIndex = list[len(list)-1].OutputIndex + 1
		list = append(list, it)
	}
	return list
}

// countOn extends numbers to n by counting on.
func countOn(numbers []int64, n int) []int64 {
	list := slices.Clone(numbers)
	for len(list) < n {
		list = append(list, list[len(list)-1]+1)
	}
	return list
}

// halfACall is a continuation that breaks off in a call.
const halfACall = `{"type":"response.created","response":{"id":"resp_half","object":"response","created_at":1893456000,"status":"in_progress","model":"m","output":[]},"sequence_number":0}
{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_half","type":"function_call","status":"in_progress","call_id":"call_half","name":"edit_file","arguments":""},"sequence_number":1}
{"type":"response.function_call_arguments.delta","item_id":"fc_half","output_index":0,"delta":"{\"path","sequence_number":2}
`

// The provider's own error inside a continuation's call reaches the program, and half the call is no call.
func TestErrorInsideACallIsRead(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"error":    `{"type":"error","code":"overloaded","message":"Overloaded","param":null,"sequence_number":3}`,
		"an error": `{"type":"error","error":{"type":"overloaded","message":"Overloaded"},"sequence_number":3}`,
		"failed":   `{"type":"response.failed","response":{"id":"resp_half","object":"response","status":"failed","error":{"code":"server_error","message":"Overloaded"},"output":[]},"sequence_number":3}`,
		"cut":      "",
	} {
		for _, lineEnd := range []string{"\n", "\r\n"} {
			first := strings.ReplaceAll(streamsIn(t, made)[0], "\n", lineEnd)
			got := read(t, carryOnce(), first, streamsIn(t, halfACall+end)[0])
			said := strings.Join(got.events, "\n") + got.response.Error.Message
			if got.err != nil {
				said += got.err.Error()
			}
			assert.Equal(t, name != "cut", strings.Contains(said, "Overloaded"), "%s: %s", name, said)
			assert.True(t, got.err != nil || got.end == "response.failed" || strings.Contains(said, `"type":"error"`), name)
			assert.Equal(t, 1, strings.Count(said, `"type":"response.output_item.done"`), "only turn 1's: %s", said)
			assert.NotEqual(t, "response.completed", got.end)
		}
	}
}
