package sse_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/wire/sse"
)

// read is an event in these tests: its lines, its kind, its name and its data.
type read struct {
	Raw        string
	Kind       sse.Kind
	Name, Data string
}

// readAll reads a stream to its end, and returns the bytes after the last whole
// event.
func readAll(src io.Reader) (events []read, err error) {
	r := sse.NewReader(io.NopCloser(src))
	for {
		e, err := r.Next()
		if err != nil {
			rest, ok := r.Rest()
			if !ok {
				return events, err
			}
			e = rest
		}
		events = append(events, read{string(e.Raw), e.Kind, string(e.Name()), string(e.Data())})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	const one, two = `{"a":1}`, `{"b":"}\"{"}`
	for name, tt := range map[string]struct {
		stream string
		want   []read
	}{
		"nothing":       {"", nil},
		"one":           {"data: " + one + "\n\n", []read{{"data: " + one + "\n", sse.Object, "", one}, {"\n", sse.NonData, "", ""}}},
		"CRLF":          {"data: " + one + "\r\n\r\n", []read{{"data: " + one + "\r\n", sse.Object, "", one}, {"\r\n", sse.NonData, "", ""}}},
		"CR":            {"data: " + one + "\r\rdata: " + two, []read{{"data: " + one + "\r", sse.Object, "", one}, {"\r", sse.NonData, "", ""}, {"data: " + two, sse.Object, "", two}}},
		"no space":      {"data:" + one + "\n", []read{{"data:" + one + "\n", sse.Object, "", one}}},
		"much space":    {"data: \t " + one + " \t\n", []read{{"data: \t " + one + " \t\n", sse.Object, "", one}}},
		"mark":          {"\xef\xbb\xbfdata: " + one + "\n", []read{{"\xef\xbb\xbfdata: " + one + "\n", sse.Object, "", one}}},
		"mark, no end":  {"\xef\xbb\xbfevent: x\ndata: " + one, []read{{"\xef\xbb\xbfevent: x\ndata: " + one, sse.Object, "x", one}}},
		"no blank line": {"data: " + one + "\ndata: " + two + "\n", []read{{"data: " + one + "\n", sse.Object, "", one}, {"data: " + two + "\n", sse.Object, "", two}}},
		"no last end":   {"data: " + one, []read{{"data: " + one, sse.Object, "", one}}},
		"fields": {"event: x\nid: 1\nretry: 5\n: c\ndata: " + one + "\n\n", []read{
			{"event: x\nid: 1\nretry: 5\n: c\ndata: " + one + "\n", sse.Object, "x", one}, {"\n", sse.NonData, "", ""},
		}},
		"last name counts": {"event: x\nevent: y\ndata: " + one + "\n", []read{{"event: x\nevent: y\ndata: " + one + "\n", sse.Object, "y", one}}},
		"no data":          {"event: error\n\ndata: " + one + "\n", []read{{"event: error\n\n", sse.NonData, "error", ""}, {"data: " + one + "\n", sse.Object, "", one}}},
		"comments":         {": a\n\n:\n", []read{{": a\n", sse.NonData, "", ""}, {"\n", sse.NonData, "", ""}, {":\n", sse.NonData, "", ""}}},
		"text": {"data: [DONE]\n\ndata: ping\nevent: x\ndata\ndata:\n", []read{
			{"data: [DONE]\n", sse.Text, "", "[DONE]"},
			{"\n", sse.NonData, "", ""},
			{"data: ping\n", sse.Text, "", "ping"},
			{"event: x\ndata\ndata:\n", sse.Text, "x", ""},
		}},
		"bare": {"[DONE]\n{\"error\":1}\ngarbage\ndata\n", []read{
			{"[DONE]\n", sse.Text, "", "[DONE]"}, {"{\"error\":1}\n", sse.Broken, "", `{"error":1}`}, {"garbage\n", sse.Text, "", "garbage"}, {"data\n", sse.Text, "", "data"},
		}},
		"bare inside":  {"id: 1\n[DONE]\ndata: " + one + "\n", []read{{"id: 1\n[DONE]\ndata: " + one + "\n", sse.Object, "", one}}},
		"several":      {"data: {\"a\":\ndata: [1,\r\ndata: \"]}\"]}\n\n", []read{{"data: {\"a\":\ndata: [1,\r\ndata: \"]}\"]}\n", sse.Object, "", "{\"a\":\n[1,\n\"]}\"]}"}, {"\n", sse.NonData, "", ""}}},
		"cut":          {"data: {\"a\":\n\n", []read{{"data: {\"a\":\n\n", sse.Broken, "", `{"a":`}}},
		"cut at end":   {"data: {\"a\":", []read{{"data: {\"a\":", sse.Broken, "", `{"a":`}}},
		"more behind":  {"data: " + one + "x\n", []read{{"data: " + one + "x\n", sse.Broken, "", one + "x"}}},
		"two in a row": {"data: {\"a\":\ndata: 1}x\n", []read{{"data: {\"a\":\ndata: 1}x\n", sse.Broken, "", "{\"a\":\n1}x"}}},
	} {
		got, err := readAll(strings.NewReader(tt.stream))
		require.ErrorIs(t, err, io.EOF, name)
		assert.Equal(t, tt.want, got, name)
	}
}

// An object that was cut off does not take the next event with it.
func TestEventBehindABrokenOneIsRead(t *testing.T) {
	t.Parallel()
	got, _ := readAll(strings.NewReader("data: {\"a\":\ndata: {\"b\":1}\n"))
	require.Len(t, got, 2)
	assert.Equal(t, sse.Broken, got[0].Kind)
	assert.Equal(t, read{"data: {\"b\":1}\n", sse.Object, "", `{"b":1}`}, got[1])
}

func TestErrorOfTheStreamComesLast(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	got, err := readAll(io.MultiReader(strings.NewReader("data: {}\n\ndata: {\"a\""), iotest.ErrReader(lost)))
	require.ErrorIs(t, err, lost)
	require.Len(t, got, 3)
	assert.Equal(t, read{`data: {"a"`, sse.Broken, "", `{"a"`}, got[2])
}

func TestStreamWithoutProgressEnds(t *testing.T) {
	t.Parallel()
	_, err := readAll(stuck{})
	assert.ErrorIs(t, err, io.ErrNoProgress)
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestEventOverTheLimitIsBroken(t *testing.T) {
	t.Parallel()
	r := sse.NewReader(io.NopCloser(io.MultiReader(strings.NewReader("data: {}\n"+`data: {"a":"`), io.LimitReader(letters{}, 2*sse.MaxEvent))))
	e, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, sse.Object, e.Kind)
	size, longest := 0, 0
	for err == nil {
		e, err = r.Next()
		if err == nil {
			assert.Equal(t, sse.Broken, e.Kind)
			size, longest = size+len(e.Raw), max(longest, len(e.Raw))
		}
	}
	assert.Equal(t, len(`data: {"a":"`)+2*sse.MaxEvent, size)
	assert.LessOrEqual(t, longest, 2*sse.MaxEvent)
}

// letters is an endless line.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// pieces gives a text in pieces of random sizes.
type pieces struct {
	text string
	rand *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.rand.IntN(7))], p.text)
	p.text = p.text[n:]
	return n, nil
}

// The events are the same for any pieces of the stream, and together they are
// its bytes.
func FuzzReader(f *testing.F) {
	for i, stream := range []string{
		"data: {\"a\":1}\n\ndata: [DONE]\n\n", "event: x\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n", "\xef\xbb\xbfdata: {}\r\r: c\r", "data: {\"\\\\\":\"\\\"\"}x\n",
		"{\"error\":{}}\n[DONE]\n", "data: {\ndata: {}\n", "event: error\n\ndata:\n\ndata", "data: {]\n", "data: {\"a\":[}}\n\r\n",
	} {
		f.Add(stream, uint64(i)) //nolint:gosec // small
	}
	f.Fuzz(func(t *testing.T, stream string, seed uint64) {
		want, err := readAll(strings.NewReader(stream))
		require.ErrorIs(t, err, io.EOF)
		got, err := readAll(&pieces{stream, rand.New(rand.NewPCG(seed, 0))}) //nolint:gosec // splits a text
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, want, got)
		var all strings.Builder
		for _, e := range got {
			all.WriteString(e.Raw)
		}
		require.Equal(t, stream, all.String())
	})
}

func TestWhatIsReadUnread(t *testing.T) {
	t.Parallel()
	r := sse.NewReader(io.NopCloser(strings.NewReader("data: {\"a\":1}\ndata: {\"b\":2}\ndata: {\"c\":3}\nid: 4\ndata: {\"d\"")))
	p := make([]byte, 20)
	assert.True(t, r.IsBetween())
	r.Restore(p[14:r.ReadInto(p)])
	assert.Equal(t, "data: ", string(r.Buffered()))
	n := r.MoveTo(p)
	assert.Empty(t, r.Buffered())
	n += r.ReadInto(p[n:])
	assert.Equal(t, "data: {\"b\":2}\ndata: ", string(p[:n]))
	r.Restore(p[14:n])
	e, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, `{"c":3}`, string(e.Data()))
	assert.True(t, r.IsBetween())
	assert.Equal(t, "id: 4\n", string(r.Take(6)))
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, `data: {"d"`, string(r.Buffered()))
	rest, err := io.ReadAll(&r)
	require.NoError(t, err)
	assert.Equal(t, `data: {"d"`, string(rest))
	require.NoError(t, r.Close())

	r = sse.NewReader(io.NopCloser(iotest.OneByteReader(strings.NewReader("id: 4\nx"))))
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
	assert.False(t, r.IsBetween(), "the id belongs to the event to come")
}

// Later reads do not change events that own their bytes.
func TestEventsThatOwnTheirBytes(t *testing.T) {
	t.Parallel()
	const restored, more = "data: {\"a\":1}\ndata: {\"b\":2}\ndata: {\"c\"", ":3}\ndata: {\"d\":4}\n"
	r := sse.NewReader(io.NopCloser(strings.NewReader(more + strings.Repeat("x", 1<<16) + "\n" + more)))
	r.Restore([]byte(restored))
	r.GiveAway()
	var events, clones []sse.Event
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		events, clones = append(events, e), append(clones, e.Clone())
	}
	require.Len(t, events, 7)
	for i, want := range []string{`{"a":1}`, `{"b":2}`, `{"c":3}`, `{"d":4}`} {
		isRestored := i < 2
		assert.Equal(t, isRestored, events[i].Owned, want)
		if isRestored {
			assert.Equal(t, want, string(events[i].Data()))
			assert.Same(t, &events[i].Raw[0], &clones[i].Raw[0], "there is nothing to copy")
		}
		assert.True(t, clones[i].Owned, want)
		assert.Equal(t, want, string(clones[i].Data()))
	}
}

func TestWrittenEvents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "data: {\"a\":1}\n\n", "x": "event: x\ndata: {\"a\":1}\n\n"} {
		e := sse.Written(name, []byte(`{"a":1}`), sse.Object)
		assert.Equal(t, want, string(e.Raw))
		assert.Equal(t, `{"a":1}`, string(e.Data()))
		assert.Equal(t, name, string(e.Name()))
		assert.True(t, e.Written)

		assert.True(t, e.Owned)
		back, err := readAll(strings.NewReader(want))
		require.ErrorIs(t, err, io.EOF)
		assert.Equal(t, `{"a":1}`, back[0].Data)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]sse.Kind{
		`{"a":1}`: sse.Object, "\r\n \t{\"a\":1}\n": sse.Object, `{"a":1`: sse.Broken, `{"a":1}x`: sse.Broken, `[1]`: sse.Broken, ``: sse.Broken, "\n\n": sse.Broken,
	} {
		e := sse.Document([]byte(text), false)
		assert.Equal(t, want, e.Kind, "%q", text)
		assert.Equal(t, strings.TrimSpace(text), string(e.Data()))
		assert.Equal(t, text, string(e.Raw))
	}
}
