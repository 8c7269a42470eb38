package scenarios_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// spelled is the bit of a form that says that the streams are words in the alphabet. The SDK reads more of those than of
// random bytes.
const spelled = 1 << 7

// agreeOptions returns options that change what a caller sees, by the bits of a form.
func agreeOptions(form uint8) []middleware.Option {
	all := []middleware.Option{
		middleware.WithPauseTool(middleware.PauseToolAlways), middleware.WithUsage(middleware.UsageLastTurn),
		middleware.WithNotice(pause.NoNotice), scenario.AtMost(2),
	}
	var some []middleware.Option
	for i, option := range all {
		if form&(1<<i) != 0 {
			some = append(some, option)
		}
	}
	return some
}

// madeUpID finds an id that carryon gave a call without one.
var madeUpID = regexp.MustCompile(`"(id|tool_call_id)":"[a-zA-Z0-9]{9}"`)

// repeating returns an upstream that answers with the bodies in turn, and repeats the last one.
func repeating(streamed bool, bodies ...string) upstream {
	return func(*testing.T) (http.RoundTripper, func() []string) {
		var asked []string
		answers := scenario.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
			request, err := io.ReadAll(r.Body)
			body := bodies[min(len(asked), len(bodies)-1)]
			asked = append(asked, madeUpID.ReplaceAllString(string(request), `"$1":"made up"`))
			kind := "application/json"
			if streamed {
				kind = "text/event-stream"
			}
			return &http.Response{
				Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
				Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1,
			}, errors.Join(err, r.Body.Close())
		})
		return answers, func() []string { return asked }
	}
}

// Wrap and the wire agree on every answer that the SDK reads as it was sent.
func FuzzTypedAndWireAgree(f *testing.F) {
	for letter := range alphabet {
		form := uint8(letter % 32) //nolint:gosec // 5 bits
		f.Add([]byte(spell([]byte{1, byte(letter), 24})), []byte(spell([]byte{0, 1, byte(letter), 24, 30, 37})), true, form)
		f.Add([]byte(spell([]byte{1, 24})), []byte(spell([]byte{12, byte(letter), 13, 27, 37})), true, form)
	}
	for i, message := range []string{
		`{"content":"So:"}`, `{"content":""}`, `{"content":null,"refusal":"No."}`, `{"content":"todo_pause('` + scenario.Blocked + `')"}`,
		`{"content":"On.","reasoning_content":"Hm."}`, `{"tool_calls":[{"id":"a","type":"function","function":{"name":"edit_file","arguments":"{}"}}]}`,
		`{"content":"x","tool_calls":[{"id":"p","type":"function","function":{"name":"todo_pause","arguments":"{\"reason\":\"stuck\"}"}}]}`,
	} {
		answer := `{"id":"a","created":1,"model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":"stop"}],` + tokens(1, 2) + `}`
		f.Add([]byte(answer), []byte(answer), false, uint8(i))                                                                 //nolint:gosec // an index
		f.Add([]byte(`{"choices":[{"message":{"content":"So:"},"finish_reason":"stop"}]}`), []byte(answer), false, uint8(8+i)) //nolint:gosec // an index
	}
	for letter := range alphabet {
		f.Add([]byte{1, byte(letter), 24}, []byte{0, 1, byte(letter), 24, 30, 37}, true, spelled|uint8(letter%32)) //nolint:gosec // 5 bits
	}
	f.Fuzz(func(t *testing.T, first, second []byte, streamed bool, form uint8) {
		if streamed && form&spelled != 0 {
			first, second = []byte(spell(first)), []byte(spell(second))
		}
		for _, body := range [][]byte{first, second} {
			if streamed && !readsStream(string(body)) || !streamed && !readsAs[openai.ChatCompletionResponse](body) {
				t.Skip("the SDK reads something else, or fails")
			}
		}
		s := script{scenario.Request(), repeating(streamed, string(first), string(second)), agreeOptions(form)}
		s.sameOnTheWire(t, streamed)
	})
}

// readsStream reports whether the SDK reads a stream as it was sent.
func readsStream(body string) bool {
	lines := strings.Split(body, "\n")
	if !utf8.ValidString(body) || strings.Contains(body, "\r") || len(lines) > 100 || lines[len(lines)-1] != "" {
		return false
	}
	for _, line := range lines {
		payload, isData := strings.CutPrefix(line, "data: ")
		switch {
		case line == "", strings.HasPrefix(line, ":"), isData && payload == "[DONE]":
		case isData && readsAs[chunk]([]byte(payload)):
		default:
			return false
		}
	}
	return true
}

// plainName matches names that mean one member to the SDK, which ignores case, and to the wire, which does not.
var plainName = regexp.MustCompile(`^[a-z0-9_]*$`)

// readsAs reports whether the SDK reads JSON as it was sent. It may not if a name comes twice or an error is in the
// place of an answer; and it does not know audio.
func readsAs[T any](text []byte) bool {
	var value T
	return len(text) > 0 && text[0] == '{' && utf8.Valid(text) && json.Unmarshal(text, &value) == nil &&
		isPlain(json.NewDecoder(bytes.NewReader(text))) && !bytes.Contains(text, []byte(`"error"`)) &&
		!bytes.Contains(text, []byte(`"audio"`)) && (!bytes.Contains(text, []byte(`"tool_calls"`)) || isKnown(text))
}

// known matches the names of the members that the SDK reads.
var known = regexp.MustCompile(`^(id|object|created|model|choices|index|delta|message|role|content|refusal|reasoning_content|tool_calls|type|` +
	`function|name|arguments|finish_reason|usage|prompt_tokens|completion_tokens|total_tokens)$`)

// isKnown reports whether the SDK reads all members. The wire passes on a fragment of a call that has only unknown
// members, while the SDK sees an empty one.
func isKnown(text []byte) bool {
	for _, name := range regexp.MustCompile(`"(\w*)"\s*:`).FindAllSubmatch(text, -1) {
		if !known.Match(name[1]) {
			return false
		}
	}
	return true
}

// isPlain reads a value and reports whether its names are plain and unique in their object.
func isPlain(d *json.Decoder) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	names, isObject := map[string]bool{}, token == json.Delim('{')
	if _, nested := token.(json.Delim); !nested {
		return true
	}
	for d.More() {
		if isObject {
			name, err := d.Token()
			text, _ := name.(string)
			if err != nil || names[text] || !plainName.MatchString(text) {
				return false
			}
			names[text] = true
		}
		if !isPlain(d) {
			return false
		}
	}
	_, err = d.Token()
	return err == nil
}
