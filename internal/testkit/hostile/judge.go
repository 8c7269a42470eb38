package hostile

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/separator"
)

// Reading is what a client reads of an answer.
type Reading struct {
	Text   string
	Calls  []Call
	Finish string // "" if the answer has no end
	Err    error
}

// Call is a tool call that a client reads.
type Call struct{ Name, Arguments string }

// accepts reports whether the client takes the answer as whole.
func (r Reading) accepts() bool { return r.Err == nil && r.Finish != "" }

// Result is what a client reads of a conversation.
type Result struct {
	Alone    [3]Reading // of each turn, without carryon
	Joined   Reading
	Raw      string   // the joined answer on the wire
	Requests []string // that the server got
	Paused   bool
}

// Judge returns what is wrong with a result.
func (c *Conversation) Judge(r *Result) error {
	asked := min(len(r.Requests), len(c.Turns))
	problems := []error{c.judgeSize(r, asked), judgeLeaks(r)}
	if !strings.HasPrefix(r.Joined.Text, r.Alone[0].Text) {
		problems = append(problems, fmt.Errorf("turn 1 says %q", r.Alone[0].Text))
	}
	if asked < 2 && !c.Turns[0].damaged && r.Alone[0].accepts() {
		problems = append(problems, errors.New("it was not continued"))
	}
	if asked > 1 && r.Joined.accepts() {
		problems = append(problems, c.judgeShape(r.Raw, c.Turns[asked-1].damaged))
	}
	problems = append(problems, c.judgeTexts(r, asked), c.judgeCalls(r, asked), c.judgeEnd(r, asked))
	return errors.Join(problems...)
}

// judgeSize checks that the output grows with the input.
func (c *Conversation) judgeSize(r *Result, asked int) error {
	size, events := 4096, 0
	for i := range asked {
		size, events = size+2*len(c.Turns[i].Body), events+strings.Count(c.Turns[i].Body, "data:")
	}
	size += 100 * events
	if len(r.Raw) > size {
		return fmt.Errorf("%d bytes were shown", len(r.Raw))
	}
	return nil
}

// otherChoice finds a choice that is not the first.
var otherChoice = regexp.MustCompile(`"choices":\[\{"index":[1-9]`)

// judgeShape checks what only the strictest clients look at: a joined answer begins and
// ends once, and so does each of its blocks.
func (c *Conversation) judgeShape(joined string, damaged bool) error {
	counts := func(member string) int { return strings.Count(joined, member) }
	once := [...][]string{
		{`"finish_reason":"`},
		{`"type":"message_start"`, `"type":"message_delta"`, `"type":"message_stop"`},
		{`"type":"response.created"`, `"type":"response.completed"`},
		{`"finishReason":"`},
	}[c.Protocol]
	for _, member := range once {
		if n := counts(member); n != 1 {
			return fmt.Errorf("%s is there %d times", member, n)
		}
	}
	if c.Protocol == ChatCompletions && otherChoice.MatchString(joined) {
		return errors.New("a choice has another number")
	}
	begun, ended := counts(`"type":"content_block_start"`), counts(`"type":"content_block_stop"`)
	if begun != ended && (!damaged || begun != ended+1) { // half a call has no end
		return fmt.Errorf("%d blocks begin, and %d end", begun, ended)
	}
	return nil
}

// judgeLeaks checks that nothing of carryon's requests is shown.
func judgeLeaks(r *Result) error {
	for _, c := range r.Joined.Calls {
		if strings.EqualFold(c.Name, "todo_pause") {
			return errors.New("a call of todo_pause is shown")
		}
	}
	if strings.Contains(r.Raw, Task) {
		return errors.New("the prompt is shown")
	}
	return nil
}

// judgeTexts checks that no text is lost, and none made up.
func (c *Conversation) judgeTexts(r *Result, asked int) error {
	rest, whole := r.Joined.Text, ""
	for i := range asked {
		alone := &r.Alone[i]
		whole = c.joinTexts(whole, alone.Text)
		if c.Turns[i].script.pauses() {
			return nil // some of it is not shown
		}
		if alone.Finish == "" && len(r.Requests) > i+1 {
			continue // it was sent again, as nothing of it was shown yet
		}
		if r.Joined.Err != nil && c.Turns[i].mayBeRefused(alone.Calls) {
			return nil // it was refused before its text came
		}
		if c.Protocol == Responses && c.Turns[i].isShuffled {
			continue // the end of an item repeats its text, so that a later part of it is dropped
		}
		at := strings.Index(rest, alone.Text)
		switch {
		case at >= 0:
			rest = rest[at+len(alone.Text):]
		case !c.Turns[i].damaged || !hasLetters(r.Joined.Text, alone.Text):
			return fmt.Errorf("of turn %d this is lost: %q", i+1, alone.Text)
		}
	}
	isDamaged := slices.ContainsFunc(c.Turns[:asked], func(t Turn) bool { return t.damaged })
	if r.allAccept(asked) && !isDamaged && r.Joined.Text != whole {
		return fmt.Errorf("the text is not %q", whole)
	}
	return nil
}

// hasLetters reports whether a text has all letters of another, in any order: the parts
// of a damaged answer may belong to other blocks for carryon than for a client.
func hasLetters(text, part string) bool {
	left := make(map[rune]int)
	for _, letter := range text {
		left[letter]++
	}
	for _, letter := range part {
		left[letter]--
		if left[letter] < 0 {
			return false
		}
	}
	return true
}

// joinTexts joins the texts of two turns. In Responses, each stays an item of its own.
func (c *Conversation) joinTexts(a, b string) string {
	if a == "" || b == "" || c.Protocol == Responses {
		return a + b
	}
	return a + separator.After(a) + b
}

// allAccept reports whether the client accepts each answer alone.
func (r *Result) allAccept(asked int) bool {
	return !slices.ContainsFunc(r.Alone[:asked], func(a Reading) bool { return !a.accepts() })
}

// judgeCalls checks that each call is one that the client reads of the turn alone, or
// that the model meant, unless events are in disorder or the client fails alone. Half a call must not
// look whole, unless it does so alone.
func (c *Conversation) judgeCalls(r *Result, asked int) error {
	last, turn := &r.Alone[asked-1], &c.Turns[asked-1]
	if !r.Joined.accepts() {
		return nil
	}
	isHalf := func(c Call) bool { return !json.Valid([]byte(c.Arguments)) }
	for _, call := range r.Joined.Calls {
		switch {
		case isHalf(call) && (last.Finish == "" || !slices.ContainsFunc(last.Calls, isHalf)):
			return fmt.Errorf("half a call looks whole: %v", call)
		case !turn.isShuffled && last.Err == nil && !isHalf(call) && !slices.Contains(last.Calls, call) && !turn.means(call):
			return fmt.Errorf("a call is not the model's: %v", call)
		}
	}
	if !turn.ends(c.Protocol) && len(r.Joined.Calls) > 0 {
		return errors.New("calls of a turn that has failed look whole")
	}
	return nil
}

// means reports whether the model meant a call, whatever was damaged since.
func (t *Turn) means(call Call) bool {
	return slices.ContainsFunc(t.script, func(p part) bool { return p.name == call.Name && p.whole() == call.Arguments })
}

// ends reports whether the turn says how it ends.
func (t *Turn) ends(p Protocol) bool {
	return strings.Contains(t.Body, [...]string{`"finish_reason":"`, `"stop_reason":"`, `"status":"completed","model"`, `"finishReason":"`}[p])
}

// mayBeRefused reports whether a call was damaged so that carryon may refuse an answer
// that a client accepts: a part of the call came too late, or twice.
func (t *Turn) mayBeRefused(calls []Call) bool {
	if !t.damaged || !t.script.calls() {
		return false
	}
	if t.isCut || t.script.pauses() || len(calls) == 0 {
		return true
	}
	return t.isShuffled || slices.ContainsFunc(calls, func(c Call) bool { return !t.means(c) })
}

// judgeEnd checks how the joined answer ends.
func (c *Conversation) judgeEnd(r *Result, asked int) error {
	last := &r.Alone[asked-1]
	calls := slices.DeleteFunc(slices.Clone(last.Calls), func(c Call) bool { return strings.EqualFold(c.Name, "todo_pause") })
	switch {
	case c.Turns[asked-1].mayBeRefused(last.Calls):
		return nil
	case r.allAccept(asked) && !r.Joined.accepts():
		return fmt.Errorf("accepted alone, and not joined: %w", cmpErr(r.Joined.Err))
	case !r.Joined.accepts() && !c.Turns[asked-1].script.calls():
		return fmt.Errorf("no call was cut, and the answer has no end: %w", cmpErr(r.Joined.Err))
	case r.allAccept(asked) && !slices.Equal(calls, r.Joined.Calls):
		return fmt.Errorf("the calls are not %v", calls)
	case r.allAccept(asked) && !c.Turns[asked-1].script.pauses() && last.Finish != r.Joined.Finish:
		return fmt.Errorf("the finish is not %q", last.Finish)
	}
	return nil
}

var errNoEnd = errors.New("no end")

func cmpErr(err error) error {
	if err == nil {
		return errNoEnd
	}
	return err
}

// Report describes a result, for a person to read.
func (c *Conversation) Report(r *Result) string {
	var b strings.Builder
	for i, turn := range c.Turns {
		fmt.Fprintf(&b, "--- turn %d, reset %v\n%s\n--- read alone: %+v\n", i+1, turn.Reset, turn.Body, r.Alone[i])
	}
	fmt.Fprintf(&b, "--- joined, of %d requests\n%s\n--- read: %+v\n", len(r.Requests), r.Raw, r.Joined)
	return b.String()
}
