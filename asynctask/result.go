package asynctask

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// maxCompletion is the most bytes of JSON that the model reads about one task.
const maxCompletion = 16 << 10

// reasonGoal is the terminate reason of an [Output] without one.
const reasonGoal = "GOAL"

// Output is what a completed task tells the model. A nil Output says only that the task
// has ended.
//
// The texts may have any length; the model reads at most 16 KiB of JSON about one task.
// Longer texts are cut in the middle, all to the same length, with a marker. Bytes that
// are not UTF-8 are replaced. The Output and its map must not be modified after they are
// passed on.
type Output struct {
	// TerminateReason says in one word why the task ended; "" means "GOAL".
	TerminateReason string `json:"terminate_reason,omitzero"`
	// EmittedVars has values that the task computed, by name.
	EmittedVars map[string]string `json:"emitted_vars,omitempty"`
	// FinalMessage is the message of the task, or nil for none. The model sees an empty
	// message as an empty message.
	FinalMessage *string `json:"final_message,omitzero"`
}

// Message returns an Output that has only a message.
func Message(text string) *Output {
	return &Output{FinalMessage: &text}
}

// result is the end of a task, as an account keeps it. It is never changed.
type result struct {
	State TaskState
	// Texts are, of an Output, the reason, the message if it has one, and the
	// variables by name; of a failure, the text of the error.
	Texts   []excerpt
	LeftOut int `json:",omitempty"` // variables that were dropped
	// Err is the very error of a failed task. It is not encoded, so it stays in the
	// process where it happened.
	Err error `json:"-"`

	Size  int // bytes of its JSON without the id; not exact above maxCompletion
	Bytes int // roughly the bytes that it takes in memory
}

// excerpt is one text of a result, in valid UTF-8. Its middle may have been cut.
type excerpt struct {
	Name       string // of the variable, or of the member of the JSON
	IsVariable bool   `json:",omitempty"`
	Head       string
	Tail       string `json:",omitempty"` // "" if nothing was cut
	Cut        int    `json:",omitempty"` // bytes cut between the two
}

const (
	reasonName  = "terminate_reason"
	messageName = "final_message"
	errorName   = "error"
	leftOutName = "..." // of the variable that counts the dropped ones

	// shortest is the least that a text is cut to. The marker fits.
	shortest = 64
	// markerSize is the most that the marker of a cut takes in JSON.
	markerSize = 40
	// completionFrame is the most that a completion has beside its texts, and
	// memberFrame the most that a text has beside its name and itself.
	completionFrame, memberFrame = 160, 12
	// perText is what a text takes in memory beside its bytes.
	perText = 72
)

// completed returns the result of a task that ended well.
func completed(o *Output) *result {
	r := result{State: Completed}
	if o == nil {
		return r.measured()
	}
	r.Texts = append(r.Texts, excerpt{Name: reasonName, Head: valid(cmp.Or(o.TerminateReason, reasonGoal))})
	if o.FinalMessage != nil {
		r.Texts = append(r.Texts, excerpt{Name: messageName, Head: valid(*o.FinalMessage)})
	}
	for _, name := range slices.Sorted(maps.Keys(o.EmittedVars)) {
		r.Texts = append(r.Texts, excerpt{Name: valid(name), IsVariable: true, Head: valid(o.EmittedVars[name])})
	}
	return r.measured()
}

// failed returns the result of a task that ended with err.
func failed(err error) *result {
	if err == nil {
		err = errors.New("no reason given")
	}
	var text string
	if guard.Run(func() error { text = err.Error(); return nil }) != nil {
		text = fmt.Sprintf("%T", err)
	}
	return result{State: Failed, Texts: []excerpt{{Name: errorName, Head: valid(text)}}, Err: err}.measured()
}

// cancelled returns the result of a task that was cancelled.
func cancelled() *result { return result{State: Cancelled}.measured() }

// measured returns the result with its sizes. A result that is too long to be shown
// is not encoded to measure it.
func (r result) measured() *result {
	r.Size = 0
	for _, t := range r.Texts {
		r.Size += len(t.Name) + len(t.Head) + len(t.Tail)
	}
	r.Bytes = r.Size + perText*len(r.Texts)
	if r.Size <= maxCompletion {
		r.Size = len(r.appendJSON(nil, ""))
	}
	return &r
}

// fit returns the result, cut until its JSON without the id has at most limit bytes.
// Names of variables are not cut: a variable whose name does not fit is dropped.
func (r *result) fit(limit int) *result {
	if r.Size <= limit {
		return r
	}
	kept, remaining := 0, limit-completionFrame
	for ; kept < len(r.Texts); kept++ {
		t := &r.Texts[kept]
		remaining -= memberFrame + (excerpt{Head: t.Name}).size(limit) + min(t.size(shortest), shortest)
		if remaining < 0 {
			break
		}
	}
	short := *r
	short.LeftOut += len(r.Texts) - kept
	sizes := make([]int, kept)
	short.Texts = make([]excerpt, kept)
	for i, t := range r.Texts[:kept] {
		sizes[i], t.Head, t.Tail, t.Cut = t.size(limit), "", "", 0
		short.Texts[i] = t
	}
	share := fairShare(sizes, limit-len(short.appendJSON(nil, "")))
	for i := range short.Texts {
		short.Texts[i] = r.Texts[i].fit(share)
	}
	return &short
}

// kept returns the result, cut to that many bytes of JSON without the id. If it has
// to be cut, its texts are copies, so that the long originals can be collected, and
// the error is dropped because it may be as large as its text.
func (r *result) kept(limit int) *result {
	short := r.fit(limit)
	if short == r {
		return r
	}
	short.Err = nil
	for i := range short.Texts {
		t := &short.Texts[i]
		t.Head, t.Tail = strings.Clone(t.Head), strings.Clone(t.Tail)
	}
	return short.measured()
}

// appendJSON appends the result in the form that the model is shown.
func (r *result) appendJSON(dst []byte, id string) []byte {
	dst = appendMember(append(dst, '{'), "\n  ", "agent_id", id)
	if r.State != Completed || len(r.Texts) == 0 {
		dst = appendMember(dst, "\n  ", "status", string(r.State))
	}
	for _, t := range r.Texts {
		if t.IsVariable {
			break
		}
		dst = appendMember(dst, "\n  ", t.Name, t.String())
		if t.Name == reasonName {
			dst = append(r.appendVariables(append(dst, "\n  \"emitted_vars\": {"...)), "},"...)
		}
	}
	return append(dst[:len(dst)-1], "\n}"...) // without the last comma
}

func (r *result) appendVariables(dst []byte) []byte {
	begin := len(dst)
	for _, t := range r.Texts {
		if t.IsVariable {
			dst = appendMember(dst, "\n    ", t.Name, t.String())
		}
	}
	if r.LeftOut > 0 {
		dst = appendMember(dst, "\n    ", leftOutName, fmt.Sprintf("[%d variables left out]", r.LeftOut))
	}
	if len(dst) > begin {
		dst = append(dst[:len(dst)-1], "\n  "...)
	}
	return dst
}

// appendMember appends a member of an object, and a comma.
func appendMember(dst []byte, indent, name, value string) []byte {
	dst = rawjson.AppendQuote(append(dst, indent...), name)
	return append(rawjson.AppendQuote(append(dst, ": "...), value), ',')
}

// output returns the Output of the result, as far as it is kept.
func (r *result) output() *Output {
	if r.State != Completed || len(r.Texts) == 0 {
		return nil
	}
	o := &Output{}
	for _, t := range r.Texts {
		text := t.String()
		switch {
		case t.IsVariable && o.EmittedVars == nil:
			o.EmittedVars = map[string]string{t.Name: text}
		case t.IsVariable:
			o.EmittedVars[t.Name] = text
		case t.Name == reasonName:
			o.TerminateReason = text
		default:
			o.FinalMessage = &text
		}
	}
	return o
}

// failure returns the error of the task, nil if it has not failed.
func (r *result) failure() error {
	if r.State == Failed && r.Err == nil && len(r.Texts) > 0 {
		return errors.New(r.Texts[0].String())
	}
	return r.Err
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// String returns the text, with a marker where it was cut.
func (t excerpt) String() string {
	if t.Cut == 0 {
		return t.Head
	}
	return fmt.Sprintf("%s\n[... %d bytes cut ...]\n%s", t.Head, t.Cut, t.Tail)
}

// size returns how many bytes the text takes in JSON. Above limit it is not exact,
// because a text that is far too long is not encoded.
func (t excerpt) size(limit int) int {
	if n := len(t.Head) + len(t.Tail); n > limit {
		return n
	}
	return len(rawjson.Quote(t.String())) - 2
}

// fit returns the text with its middle cut until it fits into limit bytes of JSON.
// limit must be at least shortest.
func (t excerpt) fit(limit int) excerpt {
	short, size := t, t.size(limit)
	for remaining := limit - markerSize; size > limit; remaining = min(remaining-1, remaining*limit/size) {
		short = t.cut(remaining / 2)
		size = short.size(limit)
	}
	return short
}

// cut returns the first n and the last n bytes of the text.
func (t excerpt) cut(n int) excerpt {
	end := t.Tail
	if t.Cut == 0 {
		end = t.Head
	}
	t.Cut += len(t.Head) + len(t.Tail)
	t.Head = strings.ToValidUTF8(t.Head[:min(n, len(t.Head))], "") // without half a character
	t.Tail = strings.ToValidUTF8(end[max(len(end)-n, 0):], "")
	t.Cut -= len(t.Head) + len(t.Tail)
	return t
}
