package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// isValid is what ValidObjectEnd must say of a whole text.
func isValid(text string) bool {
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && utf8.ValidString(text)
}

// objects are objects, whole and in each of the ways in which one can be broken.
var objects = []string{
	`{}`, `{ }`, `{"a":1}`, `{"a":[]}`, `{"a":[ ],"b":{ }}`, `{"a":[1,2,{"b":null}],"c":true,"d":false}`, "{\"a\":\t1 ,\n\"b\" : 2\r}",
	`{"a":"\"\\\/\b\f\n\r\t\u00fc\ud83d\ude00\ud83d"}`, `{"a":"ü😀 and more than eight bytes"}`, `{"ü":1,"\u0041":2}`,
	`{"a":-0,"b":0.5,"c":1e5,"d":1E+5,"e":-12.25e-3}`,
	`{"a":"` + "\x01" + `"}`, "{\"a\":\"a line\nand another\"}", "{\"a\":\"long enough for a word\x1f\"}", `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u123"}`,
	`{"a":"\`, `{"a":"\u`, "{\"a\":\"\xff\"}", "{\"a\":\"half of a letter: \xc3\"}", "{\"\xe2\x82\":1}",
	`{"a":-}`, `{"a":1.}`, `{"a":1e}`, `{"a":1e+}`, `{"a":.5}`, `{"a":01}`, `{"a":+1}`, `{"a":1a}`, `{"a":NaN}`, `{"a":tru}`, `{"a":nulls}`, `{"a":0x1}`,
	`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, `{,}`, `{"a":[1,]}`, `{"a":[,1]}`, `{"a":[1 2]}`,
	`{"a":[}`, `{"a":{]}`, `{"a":[1}]`, `{"a":[1]]`, `{"a"::1}`, `{1:2}`, `[]`, `"a"`, `1`, ``,
}

// An object is valid if each byte of it is JSON.
func TestValidObjectEnd(t *testing.T) {
	t.Parallel()
	for _, text := range objects {
		want := -1
		if isValid(text) {
			want = len(text)
		}
		assert.Equal(t, want, rawjson.ValidObjectEnd([]byte(text)), "%q", text)
		if want > 0 {
			assert.Equal(t, want, rawjson.ValidObjectEnd([]byte(text+`,"and more`)), "%q with more behind it", text)
		}
	}
	nested := strings.Repeat(`{"a":[`, 500) + strings.Repeat(`]}`, 500)
	assert.Len(t, nested, rawjson.ValidObjectEnd([]byte(nested)))
	deep := strings.Repeat(`{"a":[`, 5000) + strings.Repeat(`]}`, 5000)
	assert.Equal(t, -1, rawjson.ValidObjectEnd([]byte(deep)), "many clients read nothing that deep")
}

// A change of any byte is noticed wherever it makes a difference.
func TestValidObjectEndSeesEachByte(t *testing.T) {
	t.Parallel()
	whole := `{"id":"a","choices":[{"index":0,"delta":{"content":" ünd \"quoted\" \u00fc and so on"},"finish_reason":null}],"usage":{"n":-1.5e3}}`
	for at := range len(whole) {
		for _, c := range []byte("\x00\x1f \"\\{}[],:0-.eu\x80\xff") {
			text := whole[:at] + string([]byte{c}) + whole[at+1:]
			assert.Equal(t, isValid(text), rawjson.ValidObjectEnd([]byte(text)) == len(text), "%q", text)
		}
		assert.Equal(t, -1, rawjson.ValidObjectEnd([]byte(whole[:at])), "%q", whole[:at])
	}
}

func FuzzValidObjectEnd(f *testing.F) {
	for _, text := range objects {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := rawjson.ValidObjectEnd([]byte(text))
		if strings.Count(text, "{")+strings.Count(text, "[") < 1000 {
			assert.Equal(t, isValid(text), n == len(text) || n > 0 && strings.Trim(text[n:], " \t\r\n") == "", "%q", text)
		}
		if n >= 0 {
			assert.True(t, isValid(text[:n]), "%q", text[:n])
		}
	})
}
