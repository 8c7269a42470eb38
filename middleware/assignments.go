package middleware

import (
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/lru"
)

// assignments recognizes the conversations of sub-agents, whatever the agent is. A model
// hands work over with a call of a tool, and the sub-agent's conversation begins with a
// message that ends with an argument of that call. The zero value is ready.
type assignments struct {
	mu    sync.Mutex
	seed  maphash.Seed
	given *lru.Table[[]assignment] // by their last bytes; nil before the first
	begun *lru.Table[struct{}]     // main conversations, by the hash of their first message
}

// assignment is a text that was given to a tool.
type assignment struct {
	size int
	hash uint64
}

// Bounds of what is remembered.
const (
	leastAssignment = 24   // characters of a text; shorter ones may stand anywhere
	maxAssignments  = 4096 // texts with different ends
	sameEnds        = 8    // texts with the same end
	maxBegun        = 4096 // conversations
)

// addArguments remembers the texts in the arguments of a call.
func (h *assignments) addArguments(arguments []byte) {
	var value any
	if json.Unmarshal(arguments, &value) != nil {
		value = string(arguments) // some tools take a text
	}
	h.addValue(value)
}

func (h *assignments) addValue(value any) {
	switch value := value.(type) {
	case string:
		h.add(value)
	case []any:
		for _, element := range value {
			h.addValue(element)
		}
	case map[string]any:
		for _, member := range value {
			h.addValue(member)
		}
	}
}

// add remembers a text.
func (h *assignments) add(text string) {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) < leastAssignment {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	same := h.given.Put(text[len(text)-leastAssignment:])
	one := assignment{len(text), maphash.String(h.seed, text)}
	if slices.Contains(*same, one) {
		return
	}
	if len(*same) == sameEnds {
		*same = slices.Delete(*same, 0, 1)
	}
	*same = append(*same, one)
	h.given.Trim(maxAssignments)
}

// isBeginning reports whether the first message of a conversation ends with a text that
// was given to a tool. A conversation that began before remains what it was: a model may
// give a tool the user's own words.
func (h *assignments) isBeginning(message string) bool {
	text := strings.TrimSpace(automatic.Own(message))
	if text == "" {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	key := string(binary.BigEndian.AppendUint64(nil, maphash.String(h.seed, text)))
	if h.begun.Get(key) != nil {
		return false
	}
	if len(text) >= leastAssignment {
		if same := h.given.Get(text[len(text)-leastAssignment:]); same != nil {
			for _, one := range *same {
				if one.size <= len(text) && one.hash == maphash.String(h.seed, text[len(text)-one.size:]) {
					return true
				}
			}
		}
	}
	h.begun.Put(key)
	h.begun.Trim(maxBegun)
	return false
}

// begin makes the tables.
func (h *assignments) begin() {
	if h.given == nil {
		h.seed, h.given, h.begun = maphash.MakeSeed(), lru.New[[]assignment](), lru.New[struct{}]()
	}
}
