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
func (a *assignments) addArguments(arguments []byte) {
	var value any
	if json.Unmarshal(arguments, &value) != nil {
		value = string(arguments) // some tools take a text
	}
	a.addValue(value)
}

func (a *assignments) addValue(value any) {
	switch value := value.(type) {
	case string:
		a.add(value)
	case []any:
		for _, element := range value {
			a.addValue(element)
		}
	case map[string]any:
		for _, member := range value {
			a.addValue(member)
		}
	}
}

// add remembers a text.
func (a *assignments) add(text string) {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) < leastAssignment {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	same := a.given.Put(text[len(text)-leastAssignment:])
	one := assignment{len(text), maphash.String(a.seed, text)}
	if slices.Contains(*same, one) {
		return
	}
	if len(*same) == sameEnds {
		*same = slices.Delete(*same, 0, 1)
	}
	*same = append(*same, one)
	a.given.Trim(maxAssignments)
}

// isBeginning reports whether the first message of a conversation ends with a text that
// was given to a tool. A conversation that began before remains what it was: a model may
// give a tool the user's own words.
func (a *assignments) isBeginning(message string) bool {
	text := strings.TrimSpace(automatic.Own(message))
	if text == "" {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	key := string(binary.BigEndian.AppendUint64(nil, maphash.String(a.seed, text)))
	if a.begun.Get(key) != nil {
		return false
	}
	if len(text) >= leastAssignment {
		if same := a.given.Get(text[len(text)-leastAssignment:]); same != nil {
			for _, one := range *same {
				if one.size <= len(text) && one.hash == maphash.String(a.seed, text[len(text)-one.size:]) {
					return true
				}
			}
		}
	}
	a.begun.Put(key)
	a.begun.Trim(maxBegun)
	return false
}

// begin makes the tables.
func (a *assignments) begin() {
	if a.given == nil {
		a.seed, a.given, a.begun = maphash.MakeSeed(), lru.New[[]assignment](), lru.New[struct{}]()
	}
}
