package hostile

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Turn is an answer of the model, as it is sent.
type Turn struct {
	Body  string
	Reset bool // the connection breaks after the body

	script     script
	damaged    bool // it may say something else than the script
	isShuffled bool // its events came in another order, or twice
	isCut      bool
}

// Conversation is a first answer, and those to two continuations.
type Conversation struct {
	Protocol Protocol
	Seed     uint64
	Turns    [3]Turn
}

// New returns the conversation of a seed.
func New(p Protocol, seed uint64) Conversation {
	r := rand.New(rand.NewPCG(seed, uint64(p))) //nolint:gosec // makes test data
	c := Conversation{Protocol: p, Seed: seed}
	for i := range c.Turns {
		s := plan(r)
		if i > 0 {
			s = answer(r, i+1)
		}
		m := mutator{rand: r, protocol: p, turn: i + 1, events: p.events(s, i+1)}
		m.addNoise()
		if i > 0 && r.IntN(3) > 0 {
			m.damage()
		}
		c.Turns[i] = Turn{Body: m.frame(), script: s, damaged: m.damaged, isShuffled: m.shuffled}
		if i > 0 && r.IntN(4) == 0 {
			c.Turns[i].cut(r)
		}
	}
	return c
}

// cut cuts the answer off at any byte.
func (t *Turn) cut(r *rand.Rand) {
	t.Body, t.Reset = t.Body[:r.IntN(len(t.Body)+1)], r.IntN(2) == 0
	t.damaged, t.isCut = true, true
}

// mutator changes the events of an answer.
type mutator struct {
	rand     *rand.Rand
	protocol Protocol
	turn     int
	events   []event
	damaged  bool
	shuffled bool
}

// at returns a random place between two events, from the first on.
func (m *mutator) at() int { return m.rand.IntN(len(m.events) + 1) }

func (m *mutator) insert(e event) { m.events = slices.Insert(m.events, m.at(), e) }

// addNoise adds events that every client ignores. genai ignores none.
func (m *mutator) addNoise() {
	if m.protocol == Gemini {
		return
	}
	for range m.rand.IntN(3) {
		switch noise := m.rand.IntN(3); {
		case noise == 0:
			m.insert(event{"", comment})
		case m.protocol == Messages:
			m.insert(event{"ping", `{"type":"ping"}`})
		case m.protocol == Responses && noise == 1:
			m.insert(event{"ping", `{"type":"ping","cost":{"usd":0.1}}`})
		}
	}
}

// comment stands for a line that is a comment.
const comment = "\x00comment"

// damage changes what the answer says, or how it ends.
func (m *mutator) damage() {
	m.damaged = true
	for range 1 + m.rand.IntN(3) {
		if len(m.events) == 0 {
			return
		}
		i := m.rand.IntN(len(m.events))
		switch m.rand.IntN(11) {
		case 0:
			m.events = slices.Delete(m.events, i, i+1)
		case 1:
			m.events, m.shuffled = slices.Insert(m.events, m.at(), m.events[i]), true
		case 2:
			j := m.rand.IntN(len(m.events))
			m.events[i], m.events[j], m.shuffled = m.events[j], m.events[i], true
		case 3:
			m.insert(event{"novelty", `{"type":"novelty","index":1,"delta":{"text":"new"}}`})
		case 4:
			m.insert(m.report())
		case 5:
			other := (m.protocol + Protocol(1+m.rand.IntN(2))) % 3
			foreign := other.events(script{{kind: words, pieces: []string{"Foreign."}}}, m.turn)
			m.insert(foreign[m.rand.IntN(len(foreign))])
		case 6:
			m.renumber(i)
		case 7:
			m.events = m.events[:i] // the rest is missing
		case 8:
			m.events = append(slices.Delete(slices.Clone(m.events), i, i+1), m.events[i]) // it comes last
			m.shuffled = true
		case 9:
			m.endEarly()
		default:
			other := (m.protocol + Protocol(1+m.rand.IntN(2))) % 3
			if m.rand.IntN(4) == 0 {
				m.events = other.events(script{{kind: words, pieces: []string{"Foreign."}}}, m.turn)
			}
		}
	}
}

// endEarly puts the event that says how the answer ends before others.
func (m *mutator) endEarly() {
	end := len(m.events) - [...]int{3, 2, 1, 1}[m.protocol]
	if end < 1 {
		return
	}
	e := m.events[end]
	m.events = slices.Insert(slices.Delete(m.events, end, end+1), m.rand.IntN(end), e)
	m.shuffled = true
}

// renumber gives an event other indexes. The choices, or candidates, of a turn all get
// the same.
func (m *mutator) renumber(i int) {
	if m.protocol == ChatCompletions || m.protocol == Gemini {
		index := strconv.Itoa(m.rand.IntN(4))
		for at := range m.events {
			data := strings.Replace(m.events[at].data, `"choices":[{"index":0`, `"choices":[{"index":`+index, 1)
			m.events[at].data = strings.Replace(data, `"index":0}],"usageMetadata"`, `"index":`+index+`}],"usageMetadata"`, 1)
		}
		return
	}
	m.events[i].data = indexes.ReplaceAllStringFunc(m.events[i].data, func(member string) string {
		return member[:strings.IndexByte(member, ':')+1] + strconv.Itoa(m.rand.IntN(4)-1)
	})
}

// indexes finds the indexes of blocks and items.
var indexes = regexp.MustCompile(`"(?:index|output_index|content_index)":\d+`)

// report returns an error that the provider reports.
func (m *mutator) report() event {
	switch m.protocol {
	case Messages:
		return event{"error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
	case Responses:
		return event{"error", `{"type":"error","code":"overloaded","message":"Overloaded","param":null,"sequence_number":1}`}
	case Gemini:
		return event{"", `{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}`}
	case ChatCompletions, protocols:
	}
	return event{"", `{"error":{"message":"Overloaded","type":"server_error","param":null,"code":null}}`}
}

// frame returns the events as a stream.
func (m *mutator) frame() string {
	end := "\n"
	if m.rand.IntN(4) == 0 {
		end = "\r\n"
	}
	severalLines := m.protocol != ChatCompletions && m.protocol != Gemini && m.rand.IntN(5) == 0 // which go-openai and genai do not read
	var b strings.Builder
	for _, e := range m.events {
		if e.data == comment {
			b.WriteString(": a comment" + end + end)
			continue
		}
		if e.name != "" {
			b.WriteString("event: " + e.name + end)
		}
		data := e.data
		if severalLines && strings.HasPrefix(data, "{") && m.rand.IntN(2) == 0 {
			data = strings.TrimSuffix(strings.Replace(data, "{", "{"+end+"data: ", 1), "}") + end + "data:}"
		}
		b.WriteString("data: " + data + end + end)
	}
	return b.String()
}
