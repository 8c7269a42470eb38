// Package reading keeps what was read of a call's turns: text, reasoning, tool calls, how
// a turn ended. A dialect reports it chunk by chunk; carryon/adapter/join shows it, and
// the engine decides by it.
package reading

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/pausecall"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/separator"
)

// Turn is the [adapter.TurnReader] of a turn: what was read of the turn so far. When the
// next turn begins, another value replaces it.
type Turn struct {
	Shown          ShownText
	Calls          Calls
	Chunk          Chunk
	First          bool // the turn is the caller's own
	ModelRefused   bool
	HasUnknown     bool // there was content that the dialect does not know
	HasSigned      bool // there was signed reasoning
	ManyChoices    bool
	FinishWasEarly bool // more came after the finish
	SaidDone       bool // the provider has said that the turn is over
	Ended          bool // nothing more is read
	WroteList      bool // a tool that writes the list was called
	WasShown       bool // the consumer was shown something of the turn, if it is a continuation
	otherCall      bool // the adapter reported a call that Call cannot express
	textEndKnown   bool // textEnd is set

	reply   prompt.Reply // what the turn answers to the closing question, if it does
	textEnd handback.End // how the text ends

	FinishReason string
	Err          error
	provider     *provider // nil until it has said something, mostly at the end

	isListTool func(name string) bool // says which tools write the list; nil if that does not matter
	repeat     *Repetition            // of the answer before the turn, as long as the turn may be one
}

var _ adapter.TurnReader = (*Turn)(nil)

// Traits say how a turn is read.
type Traits struct {
	Watched         bool // calls of todo_pause in it are carryon's own
	Printable       bool // the model may also print todo_pause as text
	ClosingQuestion bool // it answers the closing question
	NeedsSeparator  bool // clients show its text together with that of other turns: a separator goes between
	ReportNames     bool // somebody wants to know the id of the answer and the model
	KeepArguments   bool // the arguments of all calls are kept
	Totals          adapter.UsageShown
	// IsListTool says which tools write the list; nil if that does not matter.
	IsListTool func(name string) bool
}

// Begin returns the first turn of a call, whose text goes to the transcript.
func Begin(text *Transcript, traits *Traits) Turn {
	t := begin(text, traits)
	t.First = true
	return t
}

// Next returns the turn that follows t. before is the answer that it must not repeat.
func (t *Turn) Next(before []byte, traits *Traits) Turn {
	next := begin(t.Shown.transcript, traits)
	next.Chunk.Calls = t.Chunk.Calls[:0]
	next.repeat = NewRepetition(before)
	if traits.ClosingQuestion {
		next.reply = prompt.NewReply()
	}
	return next
}

func begin(text *Transcript, traits *Traits) Turn {
	t := Turn{
		Calls: Calls{Unwatched: !traits.Watched, KeepArguments: traits.KeepArguments}, isListTool: traits.IsListTool,
		Shown: ShownText{
			transcript: text, printable: traits.Printable, reasoned: text.Reasoned, Totals: traits.Totals,
			from: int32(text.Len()), //nolint:gosec // a text is no longer than maxText
		},
	}
	if traits.NeedsSeparator {
		t.Shown.before = text.End()
	}
	if traits.Printable {
		t.Shown.printed = new(printedText)
	}
	if traits.ReportNames {
		t.provider = &provider{names: new(names)}
	}
	return t
}

// Room is memory for what a turn keeps, for a caller that has some.
type Room struct {
	calls    [1]ToolCall
	provider provider
	chunk    [1]Fragment
}

// Use makes the turn, of which nothing was read yet, use the memory of a room.
func (t *Turn) Use(room *Room) {
	t.Chunk.Calls, t.Calls.calls = room.chunk[:0], room.calls[:0]
	if t.provider != nil {
		room.provider.names = t.provider.names
	}
	t.provider = &room.provider
}

// ForCallback returns the same turn as one callback sees it, to be read a part at a time
// while the SDK streams to the callback; t itself is read later, from the whole answer.
// earlier is the turn before, as the callback saw it. shown says that the callback was
// shown text, so that a separator goes before this turn's.
func (t *Turn) ForCallback(earlier *Turn, shown bool) Turn {
	c := Turn{
		First: t.First, Chunk: Chunk{Calls: earlier.Chunk.Calls[:0]}, Calls: Calls{Unwatched: t.Calls.Unwatched},
		Shown: ShownText{printable: t.Shown.printable},
		reply: t.reply, repeat: t.repeat.Clone(),
	}
	if t.Shown.printed != nil {
		c.Shown.printed = new(printedText)
	}
	if shown {
		c.Shown.before = t.Shown.before
	}
	return c
}

// provider is what the provider says of a turn, as last reported. It is as large as the
// usage alone in memory.
type provider struct {
	usage adapter.Usage
	names *names // nil if nobody wants to know
}

// names is how the provider names an answer, and the model that wrote it.
type names struct{ id, model string }

// Chunk is what the chunk just read adds.
type Chunk struct {
	Text     string           // the text to show
	Calls    []Fragment       // in the dialect's order
	Size     int              // in bytes: as reported, or the sum of what was added
	Finishes bool             // it has the finish reason
	OwnText  bool             // it has text of its own, shown or held back
	HasUsage bool             // it has usage
	Before   separator.End    // the end of earlier reasoning, which its own is separated from
	other    bool             // content that is neither text nor a call
	joined   *strings.Builder // holds Text once it has several pieces; nil before
}

// Adds reports whether a reader would miss the chunk.
func (c *Chunk) Adds() bool {
	return c.Text != "" || len(c.Calls) > 0 || c.other
}

// Speaks reports whether the chunk holds anything from the model, even if it is not
// shown.
func (c *Chunk) Speaks() bool {
	return c.OwnText || c.other || c.Finishes || slices.ContainsFunc(c.Calls, func(f Fragment) bool { return !f.empty })
}

// Clone returns a copy that outlives the next chunk.
func (c Chunk) Clone() Chunk {
	c.Calls = append([]Fragment(nil), c.Calls...)
	c.Text, c.joined = strings.Clone(c.Text), nil
	return c
}

// show adds text. Most chunks have one piece of text, which is not copied; some have
// a million.
func (c *Chunk) show(text string) {
	if c.Text == "" {
		c.Text = text
		return
	}
	if c.joined == nil {
		c.joined = new(strings.Builder)
		c.joined.WriteString(c.Text)
	}
	c.joined.WriteString(text)
	c.Text = c.joined.String()
}

// Paused reports whether the model wants to pause.
func (t *Turn) Paused() bool { return t.Calls.Pause() != nil || t.PrintedPause() != nil }

// NextChunk makes the turn ready for a chunk.
func (t *Turn) NextChunk() {
	t.Chunk = Chunk{Calls: t.Chunk.Calls[:0]}
}

// Text implements [adapter.TurnReader].
func (t *Turn) Text(text string) {
	if text == "" {
		return
	}
	t.Chunk.Size += len(text)
	t.Chunk.OwnText = true
	t.reply.Add(text)
	if t.repeat != nil && !t.repeat.Add(text) {
		t.repeat = nil
	}
	if t.Shown.printable {
		text = t.Shown.printed.Write(strings.Clone(text))
	}
	t.show(text)
}

// show adds text to what the chunk shows.
func (t *Turn) show(text string) {
	text = t.Shown.show(text)
	if text != "" {
		t.Chunk.show(text)
	}
}

// Reasoning implements [adapter.TurnReader].
func (t *Turn) Reasoning(text string) {
	if text == "" {
		return
	}
	t.Chunk.other = true
	t.repeat = nil // reasoning is shown as it comes
	t.Chunk.Size += len(text)
	if all := t.Shown.transcript; all != nil {
		if before := t.Shown.reasoned.Separator(); before != "" {
			t.Chunk.Before, t.Shown.reasoned = t.Shown.reasoned, separator.End{}
			all.AddReasoning(before)
		}
		all.AddReasoning(text)
	}
}

// errPauseShown is the failure of a turn whose call of todo_pause was shown in part. The
// caller cannot answer it.
var errPauseShown = errors.New("middleware: the name of a call of todo_pause came after the call was shown")

// Call implements [adapter.TurnReader].
func (t *Turn) Call(index int, id, name, arguments string) {
	t.StopHolding()
	call := t.Calls.add(index, id, name, arguments)
	if name != "" && !t.WroteList && t.isListTool != nil {
		t.WroteList = t.isListTool(name)
	}
	if t.Calls.pauseShown && !t.First {
		t.Fail(errPauseShown)
	}
	t.Chunk.Size += len(id) + len(name) + len(arguments)
	t.Chunk.Calls = append(t.Chunk.Calls, Fragment{call: call, empty: id == "" && name == "" && arguments == ""})
	if t.Calls.ProgramCalls > 0 && t.Shown.printable {
		// Once a turn calls tools, a printed pause no longer counts.
		t.Shown.printable, t.Shown.printed.pause = false, nil
		t.show(t.Shown.release())
	}
}

// Pause implements [adapter.TurnReader].
func (t *Turn) Pause(reason string) {
	if t.Shown.printable {
		t.Shown.printed.pause = &reason
	}
}

// PrintedPause returns the reason of a pause that was printed, or that the adapter read;
// nil if there is none.
func (t *Turn) PrintedPause() *string {
	if t.Shown.printed == nil {
		return nil
	}
	return t.Shown.printed.pause
}

// OtherCall implements [adapter.TurnReader].
func (t *Turn) OtherCall() {
	t.otherCall = true
	t.Content()
}

// Signed implements [adapter.TurnReader].
func (t *Turn) Signed() { t.HasSigned = true }

// Content implements [adapter.TurnReader].
func (t *Turn) Content() {
	t.Chunk.other = true
	t.StopHolding()
}

// Unknown implements [adapter.TurnReader].
func (t *Turn) Unknown() {
	t.HasUnknown = true
	t.Content()
}

// errRefused is the failure of a continuation that the model or a filter has refused.
var errRefused = errors.New("middleware: the continuation was refused")

// Refusal implements [adapter.TurnReader]. The caller has not asked what a continuation
// asks, so that a refusal of it is not the caller's: the answer ends as the turn before.
func (t *Turn) Refusal() {
	t.ModelRefused = true
	t.Content()
	if !t.First {
		t.Fail(errRefused)
	}
}

// OtherChoice implements [adapter.TurnReader].
func (t *Turn) OtherChoice() {
	t.ManyChoices = true
	t.Content()
}

// Finish implements [adapter.TurnReader].
func (t *Turn) Finish(reason string) {
	if reason == "" {
		return
	}
	if reason != t.FinishReason {
		t.FinishReason = cloneFinish(reason)
	}
	t.Chunk.Finishes = true
	if !t.First && handback.IsRefusal(reason) {
		t.Refusal()
	}
}

// cloneFinish copies a reason, except the two that nearly all turns end with.
func cloneFinish(reason string) string {
	switch reason {
	case "stop":
		return "stop"
	case "tool_calls":
		return "tool_calls"
	}
	return strings.Clone(reason)
}

// Done implements [adapter.TurnReader].
func (t *Turn) Done() { t.SaidDone = true }

// Size implements [adapter.TurnReader].
func (t *Turn) Size(bytes int) { t.Chunk.Size += bytes }

// Response implements [adapter.TurnReader].
func (t *Turn) Response(id, model string) {
	if t.provider == nil || t.provider.names == nil {
		return
	}
	n := t.provider.names
	if n.id == "" {
		n.id = strings.Clone(id)
	}
	if n.model == "" {
		n.model = strings.Clone(model)
	}
}

// Names returns the first id and model that were reported.
func (t *Turn) Names() (id, model string) {
	if t.provider == nil || t.provider.names == nil {
		return "", ""
	}
	return t.provider.names.id, t.provider.names.model
}

// Usage implements [adapter.TurnReader].
func (t *Turn) Usage(u adapter.Usage) {
	t.Chunk.HasUsage = true
	if t.provider == nil {
		t.provider = new(provider)
	}
	t.provider.usage = plausible(u)
}

// LastUsage returns the usage of the turn as last reported.
func (t *Turn) LastUsage() adapter.Usage {
	if t.provider == nil {
		return adapter.Usage{}
	}
	return t.provider.usage
}

// plausible returns the usage with no count below zero, and none that is so large that
// the sum of many calls overflows, in carryon's figures or in somebody else's.
func plausible(u adapter.Usage) adapter.Usage {
	for _, count := range []*int{&u.Prompt, &u.Completion, &u.Total, &u.Cached, &u.Reasoning} {
		*count = min(max(*count, 0), math.MaxInt32)
	}
	return u
}

// Fail implements [adapter.TurnReader].
func (t *Turn) Fail(err error) {
	if t.Err == nil {
		t.Err = err
	}
}

// EndedWithoutFinish reports whether the chunk just read ends the turn in another way than with a
// finish. Some providers give no finish.
func (t *Turn) EndedWithoutFinish(noFinish bool) bool {
	return t.Err != nil || t.SaidDone && !t.Chunk.Finishes && !noFinish
}

// ShowedCall reports whether the turn has shown a tool call or a part of one.
func (t *Turn) ShowedCall() bool { return t.Calls.ProgramCalls > 0 || t.otherCall }

// Identity returns a number that identifies the turn's calls other than todo_pause, by
// names and arguments; 0 if it cannot tell them from others.
func (t *Turn) Identity() uint64 {
	if t.otherCall {
		return 0
	}
	return t.Calls.identity()
}

// MayBeHidden reports whether the turn so far may be one of which nothing is shown.
func (t *Turn) MayBeHidden() bool { return t.repeat != nil || t.reply.IsPending() }

// IsHidden reports whether nothing is shown of the turn: it says that nothing is open, or
// gives the answer before it again.
func (t *Turn) IsHidden() bool {
	return t.SaysNothingOpen() || t.Repeats() && !t.Paused() && !t.ShowedCall()
}

// Repeats reports whether the turn so far is the whole answer before it again.
func (t *Turn) Repeats() bool { return t.repeat.IsWhole() }

// ShowRepeated makes the turn one that is shown even if it repeats the answer before it.
func (t *Turn) ShowRepeated() { t.repeat = nil }

// StopHolding ends holding the turn back: it has something that is shown in any case.
func (t *Turn) StopHolding() {
	t.reply.Release()
	t.repeat = nil
}

// SaysNothingOpen reports whether the turn answers the closing question, and says only
// that nothing is open. Such a turn is not shown.
func (t *Turn) SaysNothingOpen() bool { return t.reply.SaysNothingOpen() }

// IsAsItCame reports whether this is turn 1 and no pause was removed from it.
func (t *Turn) IsAsItCame() bool { return t.First && !t.Calls.PauseRemoved }

// End ends the turn. Calls with incomplete names become ordinary calls. Text that may
// be a printed pause is shown, or becomes the pause. The current chunk gets the text
// that is still to be shown.
func (t *Turn) End() {
	t.Calls.DecideOpen()
	t.endPrinted()
	if !t.IsHidden() {
		t.StopHolding()
	}
}

// endPrinted ends the text that the model may print a pause in.
func (t *Turn) endPrinted() {
	if !t.Shown.printable {
		return
	}
	t.Shown.printable = false
	if t.ShowedCall() {
		t.show(t.Shown.release())
		t.Shown.printed.pause = nil
		return
	}
	reason, ok, rest := t.Shown.printed.End()
	t.show(rest)
	if ok && t.PrintedPause() == nil {
		printed := reason // a copy, so that only turns with a pause allocate
		t.Shown.printed.pause = &printed
	}
}

// EndForCallback ends the turn as read for a callback, and returns the text that is still
// to be shown. If the turn was found to be a pause, the printed call is not.
func (t *Turn) EndForCallback(pause bool) string {
	t.NextChunk()
	if pause && t.Shown.printed != nil {
		_, _, rest := t.Shown.printed.End()
		t.show(rest)
	} else {
		t.show(t.Shown.release())
	}
	return t.Chunk.Text
}

// UnshownText returns the text that is held back in a turn that has failed.
func (t *Turn) UnshownText() string {
	t.NextChunk()
	t.show(t.Shown.release())
	return t.Chunk.Text
}

// TextEnd returns how the text of the turn ends. It reads the text once.
func (t *Turn) TextEnd() handback.End {
	if !t.textEndKnown {
		t.textEndKnown, t.textEnd = true, handback.Of(rawjson.View(t.OwnText()))
	}
	return t.textEnd
}

// IfStopped returns the turn as it would be if the model stopped now and said nothing more.
func (t *Turn) IfStopped() Turn {
	stopped := *t
	stopped.FinishReason, stopped.textEndKnown, stopped.textEnd = "stop", true, handback.Unclear
	return stopped
}

// StopsMidSentence reports whether the text of the turn ends in the middle of something.
func (t *Turn) StopsMidSentence() bool {
	return t.TextEnd() == handback.Announces && handback.BreaksOff(rawjson.View(t.OwnText()))
}

// OwnText returns the text of the turn. The caller must not change it.
func (t *Turn) OwnText() []byte { return t.Shown.transcript.Bytes()[t.Shown.from:] }

// From returns where the text of the turn begins in the transcript.
func (t *Turn) From() int { return int(t.Shown.from) }

// Forget forgets the text of the turn, of which nothing is shown. How the text ends is
// read before.
func (t *Turn) Forget() {
	if !t.SaysNothingOpen() {
		t.TextEnd()
	}
	t.Shown.transcript.Cut(t.From())
}

// ShownText is how the text of a turn is shown.
type ShownText struct {
	transcript *Transcript        // nil if the text is not kept
	printed    *printedText       // nil if no printed todo_pause is carryon's own
	from       int32              // where its text begins in the transcript
	before     separator.End      // of the text before the turn, which its own is separated from
	reasoned   separator.End      // of the turns before it, until it has reasoning of its own
	printable  bool               // the model may print todo_pause as text
	IsAny      bool               // the turn has shown text
	Totals     adapter.UsageShown // which usage of the answer so far its chunks may show
}

// printedText holds back what may be a printed todo_pause.
type printedText struct {
	pausecall.Finder

	pause *string // the reason of a pause that was found
}

// release returns the text that is held back, which is no pause.
func (s *ShownText) release() string {
	if s.printed == nil {
		return ""
	}
	return s.printed.Release()
}

// show returns text as it is shown: the first of a turn follows the separator.
func (s *ShownText) show(text string) string {
	if text == "" {
		return ""
	}
	if !s.IsAny {
		text = s.before.Separator() + text
	}
	s.IsAny = true
	if s.transcript != nil {
		s.transcript.Add(text)
	}
	return text
}

// Times are when the parts of the current turn of a stream were read. A nil value keeps
// nothing.
type Times struct {
	Clock clock.Clock

	Finish time.Time // when the finish reason was read; zero if it was not

	first atomic.Pointer[time.Time] // when the first chunk was read, by any goroutine
}

// Begin begins the next turn.
func (t *Times) Begin() {
	t.Finish = time.Time{}
	t.first.Store(nil)
}

// ReadChunk notes the time at which the first part of a turn was read.
func (t *Times) ReadChunk() {
	if t != nil && t.first.Load() == nil {
		now := t.Clock.Now()
		t.first.Store(&now)
	}
}

// ReadFinish notes the time at which the finish reason was read.
func (t *Times) ReadFinish() {
	if t != nil {
		t.Finish = t.Clock.Now()
	}
}

// First returns when the first part was read, if one was.
func (t *Times) First() (time.Time, bool) {
	first := t.first.Load()
	if first == nil {
		return time.Time{}, false
	}
	return *first, true
}
