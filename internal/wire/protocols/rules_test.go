package protocols_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// Rules that hold in every protocol.

var plan = part{says, wiretest.Plan}

// A continuation that is refused is not asked for again, and the answer ends as the
// caller's own turn did: whoever has not asked is not told no.
func TestRefusalOfAContinuation(t *testing.T) {
	t.Parallel()
	for name, no := range map[string]struct {
		how   string
		parts []part
	}{
		"a filter": {filtered, nil}, "a filter, within a text": {filtered, []part{{says, "two"}}}, "a blocked prompt": {blocked, nil},
		"words": {stops, []part{{refuses, "I can't."}}}, "words, behind a text": {stops, []part{{says, "two"}, {refuses, "I can't."}}},
	} {
		inEveryProtocol(t, func(t *testing.T, s *speaker) {
			t.Helper()
			if s == geminiSpeaker && no.how == stops {
				t.Skip("Gemini has no refusal in words")
			}
			for _, stream := range []bool{true, false} {
				say := func(turn int, how string, parts ...part) string {
					if stream {
						return s.stream(turn, how, parts...)
					}
					return s.document(turn, how, parts...)
				}
				got := s.exchange(t, stream, whole(say(1, stops, plan)), whole(say(2, no.how, no.parts...)))
				require.NoError(t, got.err)
				assert.Equal(t, 2, got.requests, "%s, streamed %t", name, stream)
				require.Error(t, got.outcome.Err, got.shown)
				assert.NotContains(t, got.shown, "I can't.")
				if !stream {
					assert.Equal(t, say(1, stops, plan), got.shown, name)
					continue
				}
				alone := s.readStream(t, say(1, stops, plan))
				joined := s.readStream(t, got.shown)
				assert.True(t, joined.isWhole, got.shown)
				assert.True(t, strings.HasPrefix(joined.text, alone.text), got.shown)
				for _, word := range []string{"content_filter", "refusal", "SAFETY"} {
					assert.NotContains(t, got.shown, word, name)
				}
			}
		})
	}
}

// An error that time cannot mend is no reason to try again, though it comes in the
// middle of a stream and not as a status.
func TestErrorsInAStreamThatLast(t *testing.T) {
	t.Parallel()
	for kind, lasts := range map[string]bool{
		"insufficient_quota": true, "invalid_api_key": true, "context_length_exceeded": true, "authentication_error": true,
		"PERMISSION_DENIED": true, "INVALID_ARGUMENT": true, "billing_error": true, "402": true,
		"server_error": false, "overloaded_error": false, "rate_limit_exceeded": false, "RESOURCE_EXHAUSTED": false, "UNAVAILABLE": false, "503": false, "429": false,
	} {
		inEveryProtocol(t, func(t *testing.T, s *speaker) {
			t.Helper()
			first := whole(s.stream(1, stops, plan))
			got := s.exchange(t, true, first, whole(s.failure(kind)))
			require.NoError(t, got.err)
			require.Error(t, got.outcome.Err)
			assert.Equal(t, map[bool]int{true: 2, false: 4}[lasts], got.requests, kind)
			assert.True(t, s.readStream(t, got.shown).isWhole)
		})
	}
}

// Each event of a continuation is JSON when it reaches the caller, however much it looks
// like the one before it.
func TestEventsThatAreNoJSON(t *testing.T) {
	t.Parallel()
	inEveryProtocol(t, func(t *testing.T, s *speaker) {
		t.Helper()
		first := s.stream(1, stops, plan)
		events := append(s.events(2, part{says, "two"}, part{says, "three"}), s.end(2, stops, part{says, "two"}, part{says, "three"})...)
		for at := range events {
			for name, broken := range brokenJSON(events[at]) {
				second := strings.Join(events[:at], "") + broken + strings.Join(events[at+1:], "")
				got := s.exchange(t, true, whole(first), whole(second))
				require.NoError(t, got.err)
				if !strings.Contains(broken, "message_stop") { // the answer is whole without it
					require.Error(t, got.outcome.Err, "%s in %s", name, broken)
				}
				joined := s.readStream(t, got.shown)
				require.True(t, joined.isWhole, "%s: %s", name, got.shown)
				require.True(t, strings.HasPrefix(joined.text, wiretest.Plan), got.shown)
			}
		}
		for name, broken := range brokenJSON(s.document(2, stops, part{says, "two"})) {
			document := s.document(1, stops, plan)
			got := s.exchange(t, false, whole(document), whole(broken))
			require.NoError(t, got.err)
			require.Error(t, got.outcome.Err, name)
			require.Equal(t, document, got.shown)
		}
	})
}

// brokenJSON returns an event in each of the ways in which its JSON may be broken.
func brokenJSON(event string) map[string]string {
	broken := map[string]string{}
	for name, change := range map[string][2]string{
		"a control character": {`":"`, "\":\"\x01"}, "an escape that there is not": {`":"`, `":"\x`}, "half an escape": {`":"`, `":"\u00`},
		"no UTF-8": {`":"`, "\":\"\xff"}, "a comma too many": {`"}`, `",}`}, "a missing comma": {`,"`, `"`},
	} {
		at := strings.LastIndex(event, change[0])
		if at >= 0 {
			broken[name] = event[:at] + change[1] + event[at+len(change[0]):]
		}
	}
	return broken
}

// What of a continuation has reached the caller, whatever it is, is not shown a second
// time: nothing is tried again.
func TestWhatWasShownIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for kind, p := range map[string]part{says: {says, "two"}, thinks: {thinks, "Hm."}, runs: {runs, ""}} {
		inEveryProtocol(t, func(t *testing.T, s *speaker) {
			t.Helper()
			mark := s.marks[kind]
			if mark == "" {
				t.Skip("the protocol shows none")
			}
			first := s.stream(1, stops, plan)
			before := strings.Count(first, mark)
			second := strings.Join(s.events(2, p), "")
			got := s.exchange(t, true, whole(first), cut(second))
			require.NoError(t, got.err)
			assert.Equal(t, 2, got.requests, kind)
			assert.Equal(t, before+1, strings.Count(got.shown, mark), "%s: %s", kind, got.shown)
			assert.True(t, s.readStream(t, got.shown).isWhole)
		})
	}
}

// A call that the model has not ended is never ended by carryon, wherever the answer
// breaks off: the program would run half a call.
func TestHalfACallIsNeverEnded(t *testing.T) {
	t.Parallel()
	inEveryProtocol(t, func(t *testing.T, s *speaker) {
		t.Helper()
		parts := []part{{says, "two"}, {calls, ""}}
		events := append(s.events(2, parts...), s.end(2, stops, parts...)...)
		halves := 0
		for n := range events {
			for name, answer := range map[string]string{"reset": "", "report": s.failure("server_error"), "no JSON": "data: {]\n\n", "another turn": events[0]} {
				alone := s.readStream(t, strings.Join(events[:n], ""))
				got := s.exchange(t, true, whole(s.stream(1, stops, plan)), cut(strings.Join(events[:n], "")+answer))
				joined := s.readStream(t, withoutReport(got.shown))
				if !alone.isHalf() {
					continue
				}
				halves++
				assert.Empty(t, joined.ended, "%s after %d events: %s", name, n, got.shown)
				assert.False(t, joined.isWhole, "%s after %d events: %s", name, n, got.shown)
				require.Error(t, got.err, "%s after %d events", name, n)
			}
		}
		assert.Positive(t, halves)
	})
}

// withoutReport leaves out the provider's report of an error at the end.
func withoutReport(shown string) string {
	before, _, _ := strings.Cut(shown, `"No."`)
	return before[:strings.LastIndex(before, "\n\n")+1]
}

// Observers are told how the provider names each answer, and the model that wrote it.
func TestNamesOfAnswersAreObserved(t *testing.T) {
	t.Parallel()
	inEveryProtocol(t, func(t *testing.T, s *speaker) {
		t.Helper()
		for _, stream := range []bool{true, false} {
			say := func(turn int) string {
				text := part{says, fmt.Sprintf("%s %d", wiretest.Plan, turn)}
				if stream {
					return s.stream(turn, stops, text)
				}
				return s.document(turn, stops, text)
			}
			got := s.exchange(t, stream, whole(say(1)), whole(say(2)))
			require.NoError(t, got.err)
			require.Len(t, got.turns, 2)
			for i, turn := range got.turns {
				assert.Contains(t, turn.ResponseID, strconv.Itoa(i+1), "streamed %t", stream)
				assert.Contains(t, say(i+1), `"`+turn.ResponseID+`"`)
				assert.Equal(t, "m", turn.ResponseModel)
			}
		}
	})
}
