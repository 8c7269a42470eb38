package wire_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/chatcompletions"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// open returns the body of an answer, and the engine behind it.
func open(answer io.Reader) (*wire.AnswerBody, *wiretest.Engine) {
	_, request, _ := chatcompletions.Protocol{}.Parse(nil, []byte("{}"), nil)
	body, engine := wiretest.Open(request, answer)
	engine.EndsTurns = true // so that the body relays answers without an id, too
	return body, engine
}

// says is a chunk with a text.
func says(text string) string {
	return fmt.Sprintf(`{"id":"a","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, text)
}

// framings are the ways to send an event with data.
var framings = map[string]func(i int, data string) string{
	"LF":               func(_ int, data string) string { return "data: " + data + "\n\n" },
	"CRLF":             func(_ int, data string) string { return "data: " + data + "\r\n\r\n" },
	"CR":               func(_ int, data string) string { return "data: " + data + "\r\r" },
	"mixed":            func(_ int, data string) string { return "data: " + data + "\r\n\n" },
	"no blank line":    func(_ int, data string) string { return "data:" + data + "\n" },
	"more blank lines": func(_ int, data string) string { return "data: " + data + "\n\n\n" },
	"space":            func(_ int, data string) string { return "data:  " + data + " \n\n" },
	"named":            func(_ int, data string) string { return "event: delta\ndata: " + data + "\n\n" },
	"named, CRLF":      func(_ int, data string) string { return "event: delta\r\ndata: " + data + "\r\n\r\n" },
	"named, CR":        func(_ int, data string) string { return "event: delta\rdata: " + data + "\r\r" },
	"named, no blank":  func(_ int, data string) string { return "event: delta\ndata: " + data + "\n" },
	"numbered":         func(i int, data string) string { return fmt.Sprintf("id: %d\ndata: %s\n\n", i, data) },
	"numbered and named": func(i int, data string) string {
		return fmt.Sprintf("id:%d\nevent:x\nretry: 10\ndata: %s\n\n", i, data)
	},
	"number behind":  func(i int, data string) string { return fmt.Sprintf("data: %s\nid: %d\n\n", data, i) },
	"comment":        func(_ int, data string) string { return ": still here\n\ndata: " + data + "\n\n" },
	"comment inside": func(_ int, data string) string { return "event: x\n: c\ndata: " + data + "\n\n" },
}

// Events are relayed unread whatever their lines: only the first one, which has
// the id, goes to the engine.
func TestEventsOfAnyFramingAreRelayed(t *testing.T) {
	t.Parallel()
	for name, frame := range framings {
		var answer, text strings.Builder
		for i := range 100 {
			word := fmt.Sprintf("word %d \"\n", i)
			answer.WriteString(frame(i, says(word)))
			text.WriteString(word)
		}
		for what, src := range map[string]io.Reader{
			"whole": strings.NewReader(answer.String()), "in halves": iotest.HalfReader(strings.NewReader(answer.String())),
			"byte by byte": iotest.OneByteReader(strings.NewReader(answer.String())),
		} {
			body, g := open(src)
			got, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Equal(t, answer.String(), string(got), "%s, %s", name, what)
			assert.Equal(t, text.String(), g.Texts.String(), "%s, %s", name, what)
			if what == "whole" {
				assert.LessOrEqual(t, g.Handled, 2, "events that the engine has handled: %s", name)
			}
		}
	}
}

// An event with the name "error" goes to the engine, whatever its data.
func TestEventThatIsCalledAnErrorIsNotRelayed(t *testing.T) {
	t.Parallel()
	body, g := open(strings.NewReader(strings.Repeat("event: delta\ndata: "+says("x")+"\n\n", 3) + "event: error\ndata: " + says("y") + "\n\n"))
	_, err := io.ReadAll(body)
	require.NoError(t, err)
	assert.Equal(t, "xxx", g.Texts.String())
	assert.Equal(t, 2, g.Handled)
}

// Events that differ in more than their values do not match the same template.
func TestEventUnlikeTheOneBeforeIsRead(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{
		"another member": strings.Replace(says("y"), `"id"`, `"x":1,"id"`, 1), "null": strings.Replace(says("y"), `"y"`, "null", 1),
		"a finish": strings.Replace(says("y"), "null", `"stop"`, 1), "another choice": strings.Replace(says("y"), `"index":0`, `"index":1`, 1),
		"cut": `{"id":"a","choices":[{"index":0,"delta":{"content":"y`, "an object": strings.Replace(says("y"), `"y"`, `{"a":"y"}`, 1),
	} {
		answer := strings.Repeat("data: "+says("x")+"\n\n", 3) + "data: " + other + "\n\n" + "data: " + says("z") + "\n\n"
		body, g := open(strings.NewReader(answer))
		got, err := io.ReadAll(body)
		require.NoError(t, err)
		assert.Equal(t, answer, string(got), name)
		want := "xxxz"
		if name == "a finish" || name == "another member" || name == "another choice" { // the only one of a continuation
			want = "xxxyz"
		}
		assert.Equal(t, want, g.Texts.String(), name)
	}
}

// The bytes and the text of any stream are the same for any pieces and any
// sizes of reads.
func FuzzAnswerBody(f *testing.F) {
	var seed uint64
	for _, frame := range framings {
		var answer strings.Builder
		for i, data := range []string{says("a"), says(`"\u00fc`), says("b"), `{"id":"a","usage":{"total_tokens":3},"choices":[]}`, "[DONE]"} {
			answer.WriteString(frame(i, data))
		}
		f.Add(answer.String(), seed)
		seed++
	}
	f.Fuzz(func(t *testing.T, answer string, seed uint64) {
		if strings.HasPrefix(answer, "\xef\xbb\xbf") || strings.Contains(answer, "\n\xef\xbb\xbf") {
			return
		}
		plain, want := open(strings.NewReader(answer))
		want.ReadsAll = true
		all, err := io.ReadAll(plain)
		require.NoError(t, err)
		require.Equal(t, answer, string(all))

		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // splits a text
		body, got := open(&split{answer, random})
		var read strings.Builder
		for err == nil {
			p := make([]byte, 1+random.IntN(2000))
			var n int
			n, err = body.Read(p)
			read.Write(p[:n])
		}
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, answer, read.String())
		require.Equal(t, want.Texts.String(), got.Texts.String())
	})
}

// split gives a text in pieces of random sizes.
type split struct {
	text string
	rand *rand.Rand
}

func (s *split) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+s.rand.IntN(600))], s.text)
	s.text = s.text[n:]
	return n, nil
}

func TestBodyThatWasClosed(t *testing.T) {
	t.Parallel()
	body, _ := open(strings.NewReader("data: " + says("x") + "\n\n"))
	require.NoError(t, body.Close())
	_, err := body.Read(make([]byte, 10))
	require.ErrorIs(t, err, wiretest.ErrClosed)
}

func TestErrorOfTheSourceComesLast(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	answer := "data: " + says("x") + "\n\ndata: " + says("y") + "\n\ndata: {"
	body, _ := open(io.MultiReader(strings.NewReader(answer), iotest.ErrReader(lost)))
	got, err := io.ReadAll(body)
	require.ErrorIs(t, err, lost)
	assert.Equal(t, answer, string(got))
}

// A continuation's source leaves out blank lines, and an event that was cut
// off.
func TestSourceOfAContinuation(t *testing.T) {
	t.Parallel()
	touched := 0
	k := &adapter.Continuation{Touch: func() { touched++ }}
	lost := errors.New("connection lost")
	s := wire.NewSource(io.NopCloser(io.MultiReader(
		strings.NewReader(": c\n\ndata: {}\n\nid: 1\n\nevent: error\n\ndata: {"), iotest.ErrReader(lost))), k)
	var raw []string
	var err error
	for err == nil {
		var e sse.Event
		e, err = s.Recv()
		if err == nil {
			raw = append(raw, string(e.Raw))
		}
	}
	require.ErrorIs(t, err, lost)
	assert.Equal(t, []string{": c\n", "data: {}\n", "id: 1\n\n", "event: error\n\n"}, raw)
	assert.Equal(t, 1, touched)

	s = wire.NewSource(io.NopCloser(strings.NewReader("data: {}")), k)
	e, err := s.Recv()
	require.NoError(t, err)
	assert.Equal(t, "data: {}", string(e.Raw), "a last line needs no end")
}

// BenchmarkAnswerBody relays streams of events that differ in their framing only.
func BenchmarkAnswerBody(b *testing.B) {
	for _, name := range []string{"LF", "named", "CRLF", "named, CRLF", "CR", "numbered", "numbered and named"} {
		b.Run(name, func(b *testing.B) {
			var answer strings.Builder
			for i := range 1000 {
				answer.WriteString(framings[name](i, strings.Replace(says("text"), `"id":"a"`, `"id":"`+strings.Repeat("chatcmpl-", 20)+`"`, 1)))
			}
			buffer := make([]byte, 4<<10)
			b.ReportAllocs()
			for b.Loop() {
				body, g := open(strings.NewReader(answer.String()))
				for {
					if _, err := body.Read(buffer); err != nil {
						break
					}
				}
				if g.Texts.Len() != 4000 {
					b.Fatal(g.Texts.Len())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
		})
	}
}

// holding is a codec that holds every event of the caller's own turn to the end.
type holding struct {
	wire.Codec

	held     []sse.Event
	released bool
}

func (h *holding) Hold(e sse.Event) { h.held = append(h.held, e.Clone()) }
func (h *holding) Release()         { h.released = true }
func (h *holding) IsHolding() bool  { return len(h.held) > 0 }

func (h *holding) Next() (sse.Event, bool) {
	if !h.released || len(h.held) == 0 {
		return sse.Event{}, false
	}
	next := h.held[0]
	h.held = h.held[1:]
	return next, true
}

// writer is an engine that writes the events with this text itself.
type writer struct {
	*wiretest.Engine

	own string
}

func (w writer) Recv() (sse.Event, error) {
	e, err := w.Engine.Recv()
	if err == nil && strings.Contains(string(e.Raw), w.own) {
		e = sse.Written("", e.Data(), sse.Object)
	}
	return e, err
}

// What a codec holds is shown at the end, and what carryon writes is not held.
func TestHeldEventsAreShownAtTheEnd(t *testing.T) {
	t.Parallel()
	_, request, _ := chatcompletions.Protocol{}.Parse(nil, []byte("{}"), nil)
	answer := "data: " + says("one") + "\n\ndata: " + says("two") + "\n\n"
	for own, want := range map[string]string{
		"none": answer,
		"two":  "data: " + says("two") + "\n\ndata: " + says("one") + "\n\n",
	} {
		relayed := wire.NewSource(io.NopCloser(strings.NewReader("")), nil) // everything comes from the engine
		_, engine := wiretest.Open(request, strings.NewReader(answer))
		engine.ReadsAll = true
		body := wire.NewAnswerBody(writer{engine, own}, &holding{Codec: request.NewCodec()}, relayed)
		got, err := io.ReadAll(body)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSpace(want), strings.TrimSpace(string(got)), own)
	}
}
