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

// handovers recognizes the conversations of sub-agents, whatever the agent is. A model
// hands work over with a call of a tool, and the sub-agent's conversation begins with a
// message that ends with an argument of that call. The zero value is ready.
type handovers struct {
	mu    sync.Mutex
	seed  maphash.Seed
	given *lru.Table[[]handover] // by their last bytes; nil before the first
	begun *lru.Table[struct{}]   // main conversations, by the hash of their first message
}

// handover is a text that was given to a tool.
type handover struct {
	size int
	hash uint64
}

// Bounds of what is remembered.
const (
	leastHandover = 24   // characters of a text; shorter ones may stand anywhere
	maxHandovers  = 4096 // texts with different ends
	sameEnds      = 8    // texts with the same end
	maxBegun      = 4096 // conversations
)

// addArguments remembers the texts in the arguments of a call.
func (h *handovers) addArguments(arguments []byte) {
	var value any
	if json.Unmarshal(arguments, &value) != nil {
		value = string(arguments) // some tools take a text
	}
	h.addValue(value)
}

func (h *handovers) addValue(value any) {
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
func (h *handovers) add(text string) {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) < leastHandover {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	same := h.given.Put(text[len(text)-leastHandover:])
	one := handover{len(text), maphash.String(h.seed, text)}
	if slices.Contains(*same, one) {
		return
	}
	if len(*same) == sameEnds {
		*same = slices.Delete(*same, 0, 1)
	}
	*same = append(*same, one)
	h.given.Trim(maxHandovers)
}

// isBeginning reports whether the first message of a conversation ends with a text that
// was given to a tool. A conversation that began before remains what it was: a model may
// give a tool the user's own words.
func (h *handovers) isBeginning(message string) bool {
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
	if len(text) >= leastHandover {
		if same := h.given.Get(text[len(text)-leastHandover:]); same != nil {
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
func (h *handovers) begin() {
	if h.given == nil {
		h.seed, h.given, h.begun = maphash.MakeSeed(), lru.New[[]handover](), lru.New[struct{}]()
	}
}
