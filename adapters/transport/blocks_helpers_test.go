package transport_test

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// blocks is a small protocol that has what Chat Completions has not: events that
// are told apart by their names, numbered blocks that begin and end, one event
// that begins an answer, and one that ends it with finish reason and usage.
// Answers are always streamed.
//
//	event: start        {"type":"start","id":"a"}
//	event: block_start  {"type":"block_start","index":0,"kind":"text"}, or …,"kind":"call","id":"c1","name":"edit_file"}
//	event: block_delta  {"type":"block_delta","index":0,"text":"…"}, or …,"arguments":"…"}
//	event: block_stop   {"type":"block_stop","index":0}
//	event: end          {"type":"end","reason":"stop","usage":{"in":10,"out":5}}
type blocks struct{}

var _ wire.Protocol = blocks{}

func (blocks) Match(u *url.URL) bool { return strings.HasSuffix(u.Path, "/blocks") }

func (blocks) Parse(_ *url.URL, body []byte, later wire.Body) (adapter.Request, wire.Request, bool) {
	return adapter.Request{
		Tools: len(rawjson.Elements(rawjson.Member(body, "tools"))), Users: 1, User: "Go on.",
		History: func(func(adapter.Entry) bool) {
			if _, err := later.Bytes(); err != nil {
				panic(err)
			}
		},
	}, blockRequest{}, rawjson.ObjectEnd(body) > 0
}

type blockRequest struct{}

func (blockRequest) Stream() bool                                  { return true }
func (blockRequest) NewCodec() wire.Codec                          { return &blockCodec{shown: map[int]int{}} }
func (blockRequest) NewDialect() adapter.Dialect[sse.Event]        { return nil }
func (blockRequest) Attachable(wire.Body) func(int) (string, bool) { return nil }

func (blockRequest) Refusal(body []byte) error { return wire.Reported(body) }

func (blockRequest) Add(body []byte, a *adapter.Additions) []byte { return addBlocks(body, a) }

func (blockRequest) Continue(body []byte, k *adapter.Continuation) []byte {
	messages := [][]byte{rawjson.Quote("model: " + k.Text), rawjson.Quote("user: " + k.Prompt)}
	if k.Pause != nil {
		messages[1] = rawjson.Quote("tool: " + k.Pause.Result)
	}
	return addBlocks(body, &k.Additions, messages...)
}

func addBlocks(body []byte, a *adapter.Additions, messages ...[]byte) []byte {
	var e rawjson.Edits
	s := rawjson.Over(body)
	for s.Open('{'); s.Member(); {
		switch key := string(s.Key()); {
		case key == "input" && len(messages) > 0:
			e.Append(&s, messages...)
		case key == "tools" && a.PauseTool != nil:
			e.Append(&s, rawjson.Quote(a.PauseTool.Name))
		default:
			s.Skip()
		}
	}
	return e.Apply(body)
}

// blockCodec reads and shows the events of one answer.
type blockCodec struct {
	wire.Usage

	began  bool // the first turn's start was read
	later  bool // the first turn has ended
	next   int  // the number of the next block that is shown
	open   bool // a block of text that was written is open
	shown  map[int]int
	reason string
	usage  []byte
}

const roleDelta = wire.Ignored + 1

func (c *blockCodec) Classify(name, data []byte, v *wire.Values) bool {
	text := rawjson.Member(data, "text")
	if !c.began || string(name) != "block_delta" || text == nil {
		return false
	}
	from := bytes.Index(data, text)
	return v.Add(from, from+len(text), roleDelta)
}

func (c *blockCodec) Observe(_ wire.Role, value []byte, r wire.Relay) { r.Text(string(value)) }

func (c *blockCodec) EndTurn(keep bool) {
	c.later, c.shown = true, map[int]int{}
	c.Usage.EndTurn(keep)
}

// AppendHeartbeat shows an event that readers of this protocol pass over.
func (c *blockCodec) AppendHeartbeat(dst []sse.Event) []sse.Event {
	return append(dst, sse.Written("ping", []byte("{}"), sse.Object))
}

func (c *blockCodec) Clone(e *sse.Event) sse.Event { return e.Clone() }

func (c *blockCodec) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	if e.Kind != sse.Object {
		return
	}
	data := e.Data()
	index, _ := rawjson.Int(rawjson.Member(data, "index"))
	switch string(e.Name()) {
	case "start":
		c.began = true
	case "block_start":
		if !c.later {
			c.next = index + 1 // turn 1 is shown as it came
		}
		if id := rawjson.Member(data, "id"); id != nil {
			t.Call(index, rawjson.TextOf(id), rawjson.TextOf(rawjson.Member(data, "name")), "")
		}
	case "block_delta":
		t.Text(rawjson.TextOf(rawjson.Member(data, "text")))
		if arguments := rawjson.Member(data, "arguments"); arguments != nil {
			t.Call(index, "", "", rawjson.TextOf(arguments))
		}
	case "end":
		if usage := rawjson.Member(data, "usage"); usage != nil {
			c.SetUsage(usage)
			in, _ := rawjson.Int(rawjson.Member(usage, "in"))
			out, _ := rawjson.Int(rawjson.Member(usage, "out"))
			t.Usage(adapter.Usage{Prompt: in, Completion: out})
		}
		t.Finish(rawjson.TextOf(rawjson.Member(data, "reason")))
	case "error":
		t.Fail(wire.Reported(data))
	}
}

// AppendShown shows one event, or several, or none: a block of text opens when
// it has text, and the one end of an answer comes last.
func (c *blockCodec) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	if finish := edit.FinishOr("stop"); finish != "" {
		c.reason = finish
	}
	var own []byte
	if e.Kind == sse.Object {
		own = rawjson.Member(e.Data(), "usage")
	}
	if usage := c.ShownUsage(edit.Usage, own); usage != nil {
		c.usage = usage
	}
	switch edit.Part {
	case adapter.TurnCut:
		return c.close(dst)
	case adapter.AnswerEnd:
		return append(c.close(dst), block("end", `{"type":"end","reason":"`+c.reason+`","usage":`+string(c.usage)+`}`))
	case adapter.Whole:
		if e.Kind == sse.Object {
			dst = c.appendBlock(dst, e, edit)
		}
	case adapter.Synthetic, adapter.UsageOnly:
	}
	if edit.Text == "" {
		return dst
	}
	if !c.open {
		dst = append(dst, block("block_start", `{"type":"block_start","index":`+strconv.Itoa(c.next)+`,"kind":"text"}`))
		c.open = true
	}
	return append(dst, block("block_delta", `{"type":"block_delta","index":`+strconv.Itoa(c.next)+`,"text":`+string(rawjson.Quote(edit.Text))+`}`))
}

// appendBlock shows what is not text: the events of calls that are not dropped,
// under numbers of their own.
func (c *blockCodec) appendBlock(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	data, name := e.Data(), string(e.Name())
	index, _ := rawjson.Int(rawjson.Member(data, "index"))
	isCall := rawjson.Member(data, "id") != nil || rawjson.Member(data, "arguments") != nil
	switch {
	case name == "block_start" && isCall && !edit.Call(0).Drop:
		dst = c.close(dst)
		c.shown[index] = c.next
		c.next++
	case name == "block_start", name == "block_delta" && !isCall:
		return dst
	case name == "block_stop" && !c.isShown(index):
		return c.close(dst)
	case strings.HasPrefix(name, "block_") && c.isShown(index):
	default:
		return dst
	}
	var edits rawjson.Edits
	s := rawjson.Over(data)
	for s.Open('{'); s.Member(); {
		raw := s.Raw()
		if string(s.Key()) == "index" {
			edits.Replace(s.At()-len(raw), s.At(), strconv.AppendInt(nil, int64(c.shown[index]), 10))
		}
	}
	return append(dst, block(name, string(edits.Apply(data))))
}

func (c *blockCodec) isShown(index int) bool {
	_, ok := c.shown[index]
	return ok
}

// close ends a block of text that was written.
func (c *blockCodec) close(dst []sse.Event) []sse.Event {
	if !c.open {
		return dst
	}
	c.open = false
	c.next++
	return append(dst, block("block_stop", `{"type":"block_stop","index":`+strconv.Itoa(c.next-1)+`}`))
}

func block(name, data string) sse.Event {
	return sse.Written(name, []byte(data), sse.Object)
}
