package audit

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

// Bounds of what is kept of a conversation. The engine looks at less.
const (
	maxEntries = 2000
	maxKept    = 16 << 20  // bytes of all texts
	maxText    = 260 << 10 // bytes of one text; a list with more is too long for carryon
	maxAnswer  = 64 << 10  // bytes of the end of an answer
)

// listener is told what happens in a conversation.
type listener interface {
	// turnEnded is called when a turn of the model has ended in text, or was broken off.
	turnEnded(c *conversation, broke bool)
	// userSaid is called for each message of the user.
	userSaid(c *conversation, id, text string)
	// flush is called at the end.
	flush()
}

// conversation is a session of an agent, as far as it was read. A reader calls its methods in the order of the
// transcript. Its texts belong to the conversation: they share no memory with the line that they came from.
type conversation struct {
	agent, file string
	listener    listener

	name        string // of the session, as the agent calls it; "" if the transcript does not say
	began, last time.Time
	answered    bool // the model has called a tool, or written something

	entries []entry
	bytes   int
	waiting map[string]int // by id: calls without a result, as numbers of entries since the beginning
	dropped int            // entries

	users     int
	user      string // the last message of the user
	answer    answer
	afterUser bool          // nothing but text has come since that message
	usage     adapter.Usage // of the last request and its answer, 0 if the transcript does not say
}

// entry is a message of the user, a text of the agent, or a call.
type entry struct {
	user bool
	text string // of a message
	call todo.Call
}

// answer is what the model has written since the last call.
type answer struct {
	id     string // of its last message, "" if it has none
	text   []byte // its end
	finish string
	begun  bool
}

func newConversation(agent, file string, l listener) *conversation {
	return &conversation{agent: agent, file: file, listener: l, waiting: map[string]int{}}
}

// seen notes the name of the session, and when something happened; each may be "".
func (c *conversation) seen(name, at string) {
	if name != "" {
		c.name = strings.Clone(name)
	}
	if at, err := time.Parse(time.RFC3339, at); err == nil {
		c.seenAt(at)
	}
}

func (c *conversation) seenAt(at time.Time) {
	if c.began.IsZero() || at.Before(c.began) {
		c.began = at
	}
	if at.After(c.last) {
		c.last = at
	}
}

// isSession reports whether the user has written something, and the model has answered.
func (c *conversation) isSession() bool { return c.users > 0 && c.answered }

// message adds a message with the role of the user, which the agent may have written. id may be "".
func (c *conversation) message(id, text string) {
	text = clip(text)
	c.endTurn(false)
	automatic := adapter.IsAutomatic(text)
	if !automatic {
		c.listener.userSaid(c, strings.Clone(id), text)
		c.users, c.user, c.afterUser = c.users+1, text, true
	}
	c.add(entry{user: !automatic, text: text})
}

// note adds a text that the agent has put beside the results of calls.
func (c *conversation) note(text string) {
	if adapter.IsAutomatic(text) {
		c.add(entry{text: clip(text)})
	}
}

// says adds text of the model.
func (c *conversation) says(text string) {
	c.answer.begun, c.answered = true, true
	c.answer.text = append(c.answer.text, text...)
	if more := len(c.answer.text) - maxAnswer; more > maxAnswer {
		c.answer.text = append(c.answer.text[:0], c.answer.text[more:]...)
	}
}

// id notes the id of a message of the model.
func (c *conversation) id(id string) { c.answer.id = strings.Clone(id) }

// used notes how many tokens a request and its answer had. cached are those of the request that the next one finds in a cache.
func (c *conversation) used(total, answer, cached int) {
	if total > 0 {
		c.usage = adapter.Usage{Prompt: max(total-answer, 0), Completion: answer, Cached: cached}
	}
}

// finishes notes the reason with which the model's answer ended.
func (c *conversation) finishes(reason string) { c.answer.begun, c.answer.finish = true, reason }

// calls adds a tool call.
func (c *conversation) calls(id, name, arguments string) {
	c.answer, c.afterUser, c.answered = answer{}, false, true
	c.add(entry{call: todo.Call{ID: strings.Clone(id), Name: strings.Clone(name), Arguments: clip(arguments)}})
	c.waiting[id] = c.dropped + len(c.entries) - 1
}

// result adds the result of a call. A running call may have several; the first one with the right beginning counts.
func (c *conversation) result(id, text string) {
	c.answer, c.afterUser = answer{}, false
	number, ok := c.waiting[id]
	if !ok || number < c.dropped {
		return
	}
	delete(c.waiting, id)
	call := &c.entries[number-c.dropped].call
	call.Result, call.Answered = clip(text), true
	c.bytes += len(call.Result)
}

// interrupted ends a turn that the user has stopped.
func (c *conversation) interrupted() { c.endTurn(true) }

// end ends the conversation.
func (c *conversation) end() {
	c.endTurn(false)
	c.listener.flush()
}

// endTurn ends the model's turn, if it has written something since the last call.
func (c *conversation) endTurn(broke bool) {
	if c.answer.begun && c.users > 0 {
		c.listener.turnEnded(c, broke)
	}
	c.answer = answer{}
}

// add adds an entry, and drops the oldest ones beyond the bounds.
func (c *conversation) add(e entry) {
	c.entries = append(c.entries, e)
	c.bytes += e.size()
	drop := 0
	for size := c.bytes; len(c.entries)-drop > maxEntries || size > maxKept; drop++ {
		size -= c.entries[drop].size()
	}
	if drop > 0 {
		c.drop(max(drop, maxEntries/8))
	}
}

// drop forgets the oldest entries.
func (c *conversation) drop(n int) {
	n = min(n, len(c.entries)-1)
	for i := range n {
		c.bytes -= c.entries[i].size()
		delete(c.waiting, c.entries[i].call.ID)
	}
	c.entries = slices.Delete(c.entries, 0, n)
	c.dropped += n
}

func (e *entry) size() int { return len(e.text) + len(e.call.Arguments) + len(e.call.Result) }

// history yields the calls, newest first, and what the agent has written between them.
func (c *conversation) history() iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		walk := adapter.HistoryWalk{Yield: yield}
		for i := range c.entries {
			e := &c.entries[len(c.entries)-1-i]
			var more bool
			switch {
			case e.user:
				more = walk.User(e.text, nil)
			case e.text != "":
				more = walk.Text(e.text)
			default:
				more = walk.Call(e.call)
			}
			if !more {
				return
			}
		}
	}
}

// clip returns a copy of a text: the beginning and the end if it is too long.
func clip(text string) string {
	if len(text) <= maxText {
		return strings.Clone(text)
	}
	return strings.ToValidUTF8(text[:maxText/2], "") + "\n…\n" + strings.ToValidUTF8(text[len(text)-maxText/2:], "")
}
