package protocols_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A total that a turn does not report is the sum of its parts.
func TestTotalsThatAreNotReported(t *testing.T) {
	t.Parallel()
	total := regexp.MustCompile(`,"total_?[tT]okens?(Count)?":11`)
	for name, s := range map[string]*speaker{"Chat Completions": chatSpeaker, "Responses": responsesSpeaker, "Gemini": geminiSpeaker} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for missing := range 2 {
				answers := []string{s.document(1, stops, plan), s.document(2, stops, part{says, "two"})}
				answers[missing] = total.ReplaceAllString(answers[missing], "")
				got := s.exchange(t, false, whole(answers[0]), whole(answers[1]))
				require.Equal(t, 2, got.requests)
				assert.Regexp(t, `"total_?[tT]okens?(Count)?":13`, got.shown, "9 of the prompt, and twice 2")
			}
		})
	}
}

// The last chunk of a Gemini stream may leave out what an earlier one has counted.
func TestTotalIsNoLessThanItsParts(t *testing.T) {
	t.Parallel()
	last := strings.Replace(geminiChunk(1, `{"text":""}`, "STOP"), `"candidatesTokenCount":2,"totalTokenCount":11`, `"totalTokenCount":9`, 1)
	first := strings.Join(geminiSpeaker.events(1, plan), "") + eventOf(last)
	got := geminiSpeaker.exchange(t, true, whole(first), whole(geminiSpeaker.stream(2, stops, part{calls, ""})))
	assert.Contains(t, got.shown[strings.LastIndex(got.shown, "usageMetadata"):], `"totalTokenCount":13`)
}

// The tokens of a Gemini stream, which each chunk counts, never become fewer, though the
// continuation breaks off.
func TestTokensNeverFall(t *testing.T) {
	t.Parallel()
	for _, first := range []string{
		geminiSpeaker.stream(1, stops, plan), eventOf(geminiChunk(1, `{"text":"Next I will write the parser."}`, "STOP")),
	} {
		got := geminiSpeaker.exchange(t, true, whole(first), cut(strings.Join(geminiSpeaker.events(2, part{says, "two"}), "")))
		counts := regexp.MustCompile(`"candidatesTokenCount":(\d+)`).FindAllStringSubmatch(got.shown, -1)
		require.NotEmpty(t, counts)
		assert.Equal(t, "4", counts[len(counts)-1][1], got.shown)
		assert.True(t, geminiSpeaker.readStream(t, got.shown).isWhole)
	}
}

// A stream with two finishes, which is left alone, keeps its bytes.
func TestTwoFinishesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{
		"texts": eventOf(geminiChunk(1, `{"text": "one "}`, "STOP")) + eventOf(geminiChunk(1, `{"text": "step."}`, "STOP")),
		"code": eventOf(geminiChunk(1, `{"executableCode":{"code":"print(2)","language":"PYTHON"}}`, "STOP")) +
			eventOf(geminiChunk(1, `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}}`, "")) + eventOf(geminiChunk(1, `{"text":"Next."}`, "STOP")),
	} {
		got := geminiSpeaker.exchange(t, true, whole(first))
		assert.Equal(t, first, got.shown, name)
		assert.Equal(t, 1, got.requests, name)
	}
}

// A second answer that nobody asked for does not end the first one of a continuation.
func TestSecondChoiceDoesNotEndTheFirst(t *testing.T) {
	t.Parallel()
	second := func(chunk string) string { return strings.Replace(chunk, `"index":0`, `"index":1`, 1) }
	for name, answer := range map[string]struct {
		speaker *speaker
		chunks  []string
	}{
		"Chat Completions": {chatSpeaker, []string{
			chatChunk(2, `{"content":"two"}`, "null"), second(chatChunk(2, `{"content":"other"}`, "null")), second(chatChunk(2, "{}", `"stop"`)),
			chatChunk(2, `{"content":" three"}`, "null"), chatChunk(2, "{}", `"stop"`), eventOf("[DONE]"),
		}},
		"Gemini": {geminiSpeaker, []string{
			eventOf(geminiChunk(2, `{"text":"two"}`, "")), second(eventOf(geminiChunk(2, `{"text":"other"}`, ""))),
			second(eventOf(geminiChunk(2, `{"text":""}`, "STOP"))), eventOf(geminiChunk(2, `{"text":" three"}`, "STOP")),
		}},
	} {
		first := answer.speaker.stream(1, stops, plan)
		got := answer.speaker.exchange(t, true, whole(first), whole(strings.Join(answer.chunks, "")))
		require.NoError(t, got.outcome.Err, name)
		joined := answer.speaker.readStream(t, got.shown)
		assert.Equal(t, plan.text+"\n\ntwo three", joined.text, got.shown)
		assert.True(t, joined.isWhole, name)
	}
}

// A request without any message is left alone.
func TestRequestWithoutMessages(t *testing.T) {
	t.Parallel()
	inEveryProtocol(t, func(t *testing.T, s *speaker) {
		t.Helper()
		body := regexp.MustCompile(`"(messages|input|contents)":\[.*?\]([,}]"tools")`).ReplaceAllString(s.request(true), `"$1":[]$2`)
		require.Contains(t, body, `:[],"tools"`)
		answer := s.stream(1, stops, plan)
		got := s.ask(t, &answering{t: t, answers: []answerFunc{whole(answer)}, kind: "text/event-stream"}, s.path, body)
		assert.Equal(t, answer, got.shown)
		assert.Equal(t, 1, got.requests)
	})
}

// A content of a JSON type that the protocol does not have there is not lost: nothing is
// joined to it, and it is joined to nothing.
func TestContentOfAnotherType(t *testing.T) {
	t.Parallel()
	for _, content := range []string{`{"title":"Apples"}`, "7", "true"} {
		odd := strings.Replace(chatSpeaker.document(1, stops, plan), `"`+plan.text+`"`, content, 1)
		got := chatSpeaker.exchange(t, false, whole(odd))
		assert.Equal(t, odd, got.shown)
		assert.Equal(t, 1, got.requests, content)

		first := chatSpeaker.document(1, stops, plan)
		got = chatSpeaker.exchange(t, false, whole(first), whole(odd))
		assert.Equal(t, first, got.shown)
		require.Error(t, got.outcome.Err)

		stream := chatChunk(1, `{"content":`+content+`}`, "null") + chatChunk(1, "{}", `"stop"`) + eventOf("[DONE]")
		got = chatSpeaker.exchange(t, true, whole(stream))
		assert.Equal(t, stream, got.shown)
		assert.Equal(t, 1, got.requests, content)
	}
}

// A tool that the provider ran has failed, in the words of the protocol, if the
// continuation breaks off before its result.
func TestToolOfTheProviderThatHasNoResult(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Messages": `"tool_use_id":"srvtoolu_1","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}`,
		"Gemini":   `"codeExecutionResult":{"outcome":"OUTCOME_FAILED"`, "Responses": `"type":"web_search_call","status":"failed"`,
	} {
		s := speakers[name]
		got := s.exchange(t, true, whole(s.stream(1, stops, plan)), cut(strings.Join(s.events(2, part{runs, ""}), "")))
		require.NoError(t, got.err)
		assert.Contains(t, got.shown, want, name)
	}
	shell := strings.NewReplacer("web_search_call", "shell_call", `"status"`, `"call_id":"c","action":{},"status"`)
	s := responsesSpeaker
	hosted := strings.Replace(s.request(true), `{"type":"shell"}`, `{"type":"shell","environment":{"type":"container_auto"}}`, 1)
	base := &answering{t: t, kind: "text/event-stream", answers: []answerFunc{
		whole(s.stream(1, stops, plan)), cut(shell.Replace(strings.Join(s.events(2, part{runs, ""}), ""))),
	}}
	got := s.ask(t, base, s.path, hosted)
	require.NoError(t, got.err)
	assert.Equal(t, 2, got.requests)
	assert.Contains(t, got.shown, `"status":"incomplete"`)
	assert.Equal(t, 1, strings.Count(got.shown, `"response.output_item.added","sequence_number":2,`), got.shown)
}

// Reasoning behind the message of a continuation stays, with what the caller is to send
// back, in Responses.
func TestReasoningBehindAMessage(t *testing.T) {
	t.Parallel()
	s, parts := responsesSpeaker, []part{{says, "two"}, {thinks, ""}}
	sealed := strings.NewReplacer(`"summary":[]`, `"summary":[],"encrypted_content":"xyz"`)
	got := s.exchange(t, true, whole(s.stream(1, stops, plan)), whole(sealed.Replace(s.stream(2, stops, parts...))))
	require.NoError(t, got.outcome.Err)
	assert.Equal(t, 3, strings.Count(got.shown, "xyz"), "its two events, and the whole response: %s", got.shown)
	got = s.exchange(t, false, whole(s.document(1, stops, plan)), whole(sealed.Replace(s.document(2, stops, parts...))))
	assert.Contains(t, got.shown, "xyz")
}

// The log probabilities of a text that was held back come with the text, in Responses.
func TestLogProbabilitiesOfHeldText(t *testing.T) {
	t.Parallel()
	s := responsesSpeaker
	whole2 := s.stream(2, stops, part{says, "held"})
	at := strings.Index(whole2, "event: response.output_text.delta")
	end := at + strings.Index(whole2[at:], "\n\n") + 2
	var deltas strings.Builder
	for _, piece := range []string{`"{\""`, `"na"`, `"me\":1}"`} {
		delta := strings.Replace(whole2[at:end], `"delta":"held"`, `"delta":`+piece+`,"logprobs":[{"token":`+piece+`,"logprob":-0.5}]`, 1)
		deltas.WriteString(delta)
	}
	second := strings.ReplaceAll(whole2[:at]+deltas.String()+whole2[end:], `"text":"held"`, `"text":"{\"name\":1}"`)
	got := s.exchange(t, true, whole(s.stream(1, stops, plan)), whole(second))
	require.NoError(t, got.outcome.Err)
	assert.Equal(t, 3, strings.Count(got.shown, `"logprob":-0.5`), got.shown)
}
