package middleware

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/pausecall"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/pause"
)

// turnReader is the [adapter.TurnReader] of a turn: what was read of the turn so far.
type turnReader struct {
	text         turnText
	calls        tracker
	pauseReason  *string // the reason of a pause that was printed, or that the adapter read
	chunk        added
	first        bool // the turn is the caller's own
	otherCall    bool // the adapter reported a call that Call cannot express
	refused      bool
	unknown      bool // there was content that the dialect does not know
	signed       bool // there was signed reasoning
	manyChoices  bool
	late         bool               // more came after the finish
	done         bool               // the provider has said that the turn is over
	ended        bool               // nothing more is read
	wroteList    bool               // a tool that writes the list was called
	textEndKnown bool               // textEnd is set
	reply        prompt.Reply       // what the turn answers to the closing question, if it does
	textEnd      handback.End       // how the text ends
	totals       adapter.UsageShown // which usage of the answer so far its chunks may show
	finish       string
	err          error
	told         *told // nil until something may be told, mostly at the end

	source *todoSource // says which tools write the list; nil if that does not matter
	repeat *repetition // of the answer before the turn, as long as the turn may be one
}

var _ adapter.TurnReader = (*turnReader)(nil)

// told is what the provider says of a turn, as last reported. It is as large as the usage
// alone in memory.
type told struct {
	usage adapter.Usage
	names *names // nil if nobody observes
}

// names is how the provider names an answer, and the model that wrote it.
type names struct{ id, model string }

// added is what the chunk just read adds.
type added struct {
	text     string           // the text to show
	joined   *strings.Builder // holds text once it has several pieces; nil before
	calls    []fragment       // in the dialect's order
	size     int              // in bytes: as reported, or the sum of what was added
	finishes bool             // it has the finish reason
	ownText  bool             // it has text of its own, shown or held back
	other    bool             // content that is neither text nor a call
	usage    bool
	before   adapter.ReasoningEnd // the end of earlier reasoning, which its own is separated from
}

// adds reports whether a reader would miss the chunk.
func (a *added) adds() bool {
	return a.text != "" || len(a.calls) > 0 || a.other
}

// speaks reports whether the chunk holds anything from the model, even if it is not
// shown.
func (a *added) speaks() bool {
	return a.ownText || a.other || a.finishes || slices.ContainsFunc(a.calls, func(f fragment) bool { return !f.empty })
}

// paused reports whether the model wants to pause.
func (r *turnReader) paused() bool { return r.calls.pauseCall() != nil || r.pauseReason != nil }

// clone returns a copy that outlives the next chunk.
func (a added) clone() added {
	a.calls = append([]fragment(nil), a.calls...)
	a.text, a.joined = strings.Clone(a.text), nil
	return a
}

// nextChunk makes the reader ready for a chunk.
func (r *turnReader) nextChunk() {
	r.chunk = added{calls: r.chunk.calls[:0]}
}

// Text implements [adapter.TurnReader].
func (r *turnReader) Text(text string) {
	if text == "" {
		return
	}
	r.chunk.size += len(text)
	r.chunk.ownText = true
	r.reply.Add(text)
	if r.repeat != nil && !r.repeat.add(text) {
		r.repeat = nil
	}
	if r.text.printable {
		text = r.text.printed.Write(strings.Clone(text))
	}
	r.show(text)
}

// show adds text to what the chunk shows.
func (r *turnReader) show(text string) {
	text = r.text.show(text)
	if text != "" {
		r.chunk.show(text)
	}
}

// show adds text. Most chunks have one piece of text, which is not copied; some have
// a million.
func (a *added) show(text string) {
	if a.text == "" {
		a.text = text
		return
	}
	if a.joined == nil {
		a.joined = new(strings.Builder)
		a.joined.WriteString(a.text)
	}
	a.joined.WriteString(text)
	a.text = a.joined.String()
}

// Reasoning implements [adapter.TurnReader].
func (r *turnReader) Reasoning(text string) {
	if text == "" {
		return
	}
	r.chunk.other = true
	r.repeat = nil // reasoning is shown as it comes
	r.chunk.size += len(text)
	if t := r.text.transcript; t != nil {
		if separator := r.text.reasoned.Separator(); separator != "" {
			r.chunk.before, r.text.reasoned = r.text.reasoned, adapter.ReasoningEnd{}
			t.addReasoning(separator)
		}
		t.addReasoning(text)
	}
}

// errExposed is the failure of a turn whose call of todo_pause was shown in part. The
// caller cannot answer it.
var errExposed = errors.New("middleware: the name of a call of todo_pause came after the call was shown")

// Call implements [adapter.TurnReader].
func (r *turnReader) Call(index int, id, name, arguments string) {
	r.mustShow()
	call := r.calls.add(index, id, name, arguments)
	if name != "" && !r.wroteList && r.source != nil {
		r.wroteList = r.source.isListTool(name)
	}
	if r.calls.exposed && !r.first {
		r.Fail(errExposed)
	}
	r.chunk.size += len(id) + len(name) + len(arguments)
	r.chunk.calls = append(r.chunk.calls, fragment{call: call, empty: id == "" && name == "" && arguments == ""})
	if r.calls.others > 0 && r.text.printable {
		// Once a turn calls tools, a printed pause no longer counts.
		r.text.printable, r.pauseReason = false, nil
		r.show(r.text.printed.Release())
	}
}

// Pause implements [adapter.TurnReader].
func (r *turnReader) Pause(reason string) {
	if r.text.printable {
		r.pauseReason = &reason
	}
}

// OtherCall implements [adapter.TurnReader].
func (r *turnReader) OtherCall() {
	r.otherCall = true
	r.Content()
}

// Signed implements [adapter.TurnReader].
func (r *turnReader) Signed() { r.signed = true }

// Content implements [adapter.TurnReader].
func (r *turnReader) Content() {
	r.chunk.other = true
	r.mustShow()
}

// Unknown implements [adapter.TurnReader].
func (r *turnReader) Unknown() {
	r.unknown = true
	r.Content()
}

// errRefused is the failure of a continuation that the model or a filter has refused.
var errRefused = errors.New("middleware: the continuation was refused")

// Refusal implements [adapter.TurnReader]. The caller has not asked what a continuation
// asks, so that a refusal of it is not the caller's: the answer ends as the turn before.
func (r *turnReader) Refusal() {
	r.refused = true
	r.Content()
	if !r.first {
		r.Fail(errRefused)
	}
}

// OtherChoice implements [adapter.TurnReader].
func (r *turnReader) OtherChoice() {
	r.manyChoices = true
	r.Content()
}

// Finish implements [adapter.TurnReader].
func (r *turnReader) Finish(reason string) {
	if reason == "" {
		return
	}
	if reason != r.finish {
		r.finish = cloneFinish(reason)
	}
	r.chunk.finishes = true
	if !r.first && handback.IsRefusal(reason) {
		r.Refusal()
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
func (r *turnReader) Done() { r.done = true }

// Size implements [adapter.TurnReader].
func (r *turnReader) Size(bytes int) { r.chunk.size += bytes }

// Response implements [adapter.TurnReader].
func (r *turnReader) Response(id, model string) {
	if r.told == nil || r.told.names == nil {
		return
	}
	n := r.told.names
	if n.id == "" {
		n.id = strings.Clone(id)
	}
	if n.model == "" {
		n.model = strings.Clone(model)
	}
}

// Usage implements [adapter.TurnReader].
func (r *turnReader) Usage(u adapter.Usage) {
	r.chunk.usage = true
	if r.told == nil {
		r.told = new(told)
	}
	r.told.usage = plausible(u)
}

// usage returns the usage of the turn as last reported.
func (r *turnReader) usage() adapter.Usage {
	if r.told == nil {
		return adapter.Usage{}
	}
	return r.told.usage
}

// names returns the first id and model that were reported.
func (r *turnReader) names() names {
	if r.told == nil || r.told.names == nil {
		return names{}
	}
	return *r.told.names
}

// Fail implements [adapter.TurnReader].
func (r *turnReader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// brokeOff reports whether the chunk just read ends the turn in another way than with a
// finish. Some providers give no finish.
func (r *turnReader) brokeOff(noFinish bool) bool {
	return r.err != nil || r.done && !r.chunk.finishes && !noFinish
}

// showedCall reports whether the turn has shown a tool call or a part of one.
func (r *turnReader) showedCall() bool { return r.calls.others > 0 || r.otherCall }

// mayBeLeftOut reports whether the turn so far may be one of which nothing is shown.
func (r *turnReader) mayBeLeftOut() bool { return r.repeat != nil || r.reply.IsPending() }

// isLeftOut reports whether nothing is shown of the turn: it says that nothing is open, or
// gives the answer before it again.
func (r *turnReader) isLeftOut() bool {
	return r.saysNothingOpen() || r.repeat.isWhole() && !r.paused() && !r.showedCall()
}

// mustShow notes that the turn holds something that is shown in any case.
func (r *turnReader) mustShow() {
	r.reply.Release()
	r.repeat = nil
}

// saysNothingOpen reports whether the turn answers the closing question, and says only
// that nothing is open. Such a turn is not shown.
func (r *turnReader) saysNothingOpen() bool { return r.reply.SaysNothingOpen() }

// isAsItCame reports whether this is turn 1 and no pause was removed from it.
func (r *turnReader) isAsItCame() bool { return r.first && !r.calls.pauseRemoved }

// end ends the turn. Calls with incomplete names become ordinary calls. Text that may
// be a printed pause is shown, or becomes the pause. The current chunk gets the text
// that is still to be shown.
func (r *turnReader) end() {
	r.calls.decideOpen()
	r.endPrinted()
	if !r.isLeftOut() {
		r.mustShow()
	}
}

// endPrinted ends the text that the model may print a pause in.
func (r *turnReader) endPrinted() {
	if !r.text.printable {
		return
	}
	r.text.printable = false
	if r.showedCall() {
		r.show(r.text.printed.Release())
		r.pauseReason = nil
		return
	}
	reason, ok, rest := r.text.printed.End()
	r.show(rest)
	if ok && r.pauseReason == nil {
		printed := reason // a copy, so that only turns with a pause allocate
		r.pauseReason = &printed
	}
}

// heldText returns the text that is held back in a turn that has failed.
func (r *turnReader) heldText() string {
	r.nextChunk()
	r.show(r.text.printed.Release())
	return r.chunk.text
}

// turnText is how the text of a turn is shown.
type turnText struct {
	transcript *transcript          // nil if the text is not kept
	printed    pausecall.Finder     // holds back what may be a printed todo_pause
	separator  string               // precedes the first text, if text was shown before the turn
	printable  bool                 // the model may print todo_pause as text
	shown      bool                 // the turn has shown text
	reasoned   adapter.ReasoningEnd // of the turns before it, until it has reasoning of its own
	from       int32                // where its text begins in the transcript, which is far smaller than 2 GiB
}

// show returns text as it is shown: the first of a turn follows the separator.
func (t *turnText) show(text string) string {
	if text == "" {
		return ""
	}
	if !t.shown {
		text = t.separator + text
	}
	t.shown = true
	if t.transcript != nil {
		t.transcript.add(text)
	}
	return text
}

// Sizes of a transcript's blocks. A text shorter than a small one is in a single
// block, which is moved when it is full.
const (
	minBlock   = 64
	smallBlock = 256
	maxBlock   = 64 << 10
)

// maxText is roughly how many bytes of text, and of reasoning, are kept of a streamed
// call. A longer answer is shown as it comes and not continued.
const maxText = 32 << 20

// transcript is the text of all turns of a call, in the only copy that is kept. It
// grows in blocks, so that a long text is not copied again and again while it streams
// by. The blocks are put together only when the text is read.
type transcript struct {
	blocks    [][]byte // full ones
	last      []byte   // the block that is filled
	reasoning *[]byte  // nil if it is not kept
	bounded   bool     // maxText applies
	long      bool     // the text exceeded maxText; the rest is not kept
	reasoned  adapter.ReasoningEnd
}

// add adds text.
func (t *transcript) add(text string) {
	if len(text) > cap(t.last)-len(t.last) && !t.grow(len(text)) {
		return
	}
	t.last = append(t.last, text...)
}

// grow makes room for n bytes or more, unless the text would become too long. Blocks
// grow with the text, so that there are few of them and the last one wastes little.
func (t *transcript) grow(n int) bool {
	length := t.len()
	if t.bounded && length+n > maxText {
		t.long, t.last = true, slices.Clip(t.last) // nothing fits any more
		return false
	}
	size := max(n, min(max(length, minBlock), max(length/4, smallBlock), maxBlock))
	if length < smallBlock { // all of it is in the last one
		t.last = append(make([]byte, 0, length+size), t.last...)
		return true
	}
	t.blocks = append(t.blocks, t.last)
	t.last = make([]byte, 0, size)
	return true
}

func (t *transcript) len() int {
	length := len(t.last)
	for _, block := range t.blocks {
		length += len(block)
	}
	return length
}

// bytes returns the text in one piece. The caller must not change it; text that is
// added later does not change it either.
func (t *transcript) bytes() []byte {
	if len(t.blocks) == 0 {
		return t.last
	}
	whole := make([]byte, 0, t.len())
	for _, block := range t.blocks {
		whole = append(whole, block...)
	}
	t.blocks, t.last = nil, append(whole, t.last...)
	return t.last
}

// separator returns what stands between the text and the text of another turn.
func (t *transcript) separator() string {
	if t.len() == 0 {
		return ""
	}
	return adapter.SeparatorAfter(rawjson.View(t.bytes()))
}

// cut forgets what comes after the first n bytes.
func (t *transcript) cut(n int) {
	t.last = t.bytes()[:n]
}

// addReasoning adds reasoning of the model, if it is kept.
func (t *transcript) addReasoning(text string) {
	t.reasoned.Add(text)
	if t.reasoning == nil {
		return
	}
	t.long = t.long || t.bounded && len(*t.reasoning)+len(text) > maxText
	if !t.long {
		*t.reasoning = append(*t.reasoning, text...)
	}
}

// cutReasoning forgets the reasoning after the first n bytes.
func (t *transcript) cutReasoning(n int) {
	if t.reasoning != nil {
		*t.reasoning = (*t.reasoning)[:n]
	}
}

// reasoningLen returns the length of the reasoning.
func (t *transcript) reasoningLen() int {
	if t.reasoning == nil {
		return 0
	}
	return len(*t.reasoning)
}

// reasoningText returns the reasoning.
func (t *transcript) reasoningText() string {
	if t.reasoning == nil {
		return ""
	}
	return string(*t.reasoning)
}

// Bounds of what is kept of a turn's tool calls, and results of tracker.add.
const (
	maxCalls     = 256      // calls told apart in one turn; more are relayed as they are
	maxArguments = 64 << 10 // bytes kept of one call's arguments
	untracked    = -1       // shown as it is
	dropped      = -2       // not shown
)

// tracker puts the fragments of a turn's tool calls together as far as is necessary
// to tell calls of todo_pause from others. Providers leave out or repeat the index,
// the id and the name, so tracker uses each where it is given and relies on none.
type tracker struct {
	calls        []toolCall
	others       int32           // calls other than todo_pause; beyond maxCalls, every fragment counts as one
	next         int32           // the lowest free index in what the caller sees
	undecided    int32           // calls whose name is not complete yet
	latest       rawjson.Balance // brackets of the latest call's arguments, if it has neither index nor id
	unwatched    bool            // every call is an ordinary one
	pauseRemoved bool            // a call of todo_pause was found, and is not shown
	exposed      bool            // a call was shown before its name, which is todo_pause
	keeps        bool            // it keeps the arguments of all calls
}

// toolCall is one tool call of a turn.
type toolCall struct {
	index     int // adapter.NoIndex if it never had one
	id        string
	name      string
	arguments []byte // kept only while the call is, or may become, todo_pause, unless the tracker keeps all
	sum       uint64 // of the arguments
	kind      kind
	shown     bool // a fragment of it was shown
	rewritten bool // it is shown under the index out
	out       int32
}

type kind uint8

const (
	open kind = iota // the name may still become todo_pause
	paused
	other
)

// fragment is a tool call in a chunk, or a part of one.
type fragment struct {
	call  int // the index in the tracker's calls, untracked or dropped
	empty bool
}

// add takes a fragment and returns the index of its call, untracked or dropped.
func (t *tracker) add(index int, id, name, arguments string) int {
	if index != adapter.NoIndex && index < 0 {
		index = 0 // some gateways give a single call the index -1
	}
	at := t.find(index, id, name)
	if at == untracked {
		if len(t.calls) == maxCalls {
			return t.overflow(name)
		}
		at = len(t.calls)
		t.calls = append(t.calls, toolCall{index: index})
		t.latest = rawjson.Balance{}
		t.undecided++
		if t.unwatched {
			t.decide(&t.calls[at], other)
		}
	}
	c := &t.calls[at]
	if c.id == "" {
		c.id = strings.Clone(id)
	}
	if c.index == adapter.NoIndex {
		c.index = index
	}
	t.rename(c, name)
	if c.index == adapter.NoIndex && c.id == "" {
		t.latest.Add([]byte(arguments)) // only the latest call can get a fragment without index and id
	}
	c.sum = addSum(c.sum, arguments)
	if c.kind != other || t.keeps {
		room := maxArguments + 1 - len(c.arguments) // one byte more, so that overlong arguments show
		c.arguments = append(c.arguments, arguments[:min(len(arguments), max(room, 0))]...)
	}
	return at
}

// identity returns a number that identifies the turn's calls other than todo_pause, by
// names and arguments; 0 if it cannot tell them from others.
func (t *tracker) identity() uint64 {
	if len(t.calls) == 0 || len(t.calls) == maxCalls {
		return 0
	}
	var sum uint64
	for i := range t.calls {
		c := &t.calls[i]
		if c.name == "" {
			return 0
		}
		if c.kind != paused {
			sum = addSum(addSum(sum, c.name), "\x00")*31 + c.sum
		}
	}
	return sum | 1
}

// addSum adds a text to an FNV-1a hash. Replicas share such hashes, so they must be the
// same in every process.
func addSum(sum uint64, text string) uint64 {
	const prime = 0x100000001b3
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

// overflow takes a fragment of a call beyond maxCalls.
func (t *tracker) overflow(name string) int {
	if !t.unwatched && pause.Is(name) {
		t.pauseRemoved = true
		return dropped
	}
	t.others++
	return untracked
}

// find returns the index of the call that a fragment belongs to, if it has one yet: by its
// id, else by its index, else the latest.
func (t *tracker) find(index int, id, name string) int {
	for at := len(t.calls) - 1; at >= 0; at-- {
		if t.calls[at].matches(index, id) {
			return at
		}
	}
	if id == "" && t.continuesLatest(index, name) {
		return len(t.calls) - 1
	}
	return untracked
}

// matches reports whether a fragment with the index and the id belongs to the
// call. Another id at a taken index is another call.
func (c *toolCall) matches(index int, id string) bool {
	sameIndex := c.index == index
	if id != "" && c.id == id {
		return sameIndex || c.index == adapter.NoIndex || index == adapter.NoIndex
	}
	return sameIndex && index != adapter.NoIndex && (id == "" || c.id == "")
}

// continuesLatest reports whether a fragment that matches no call belongs to the
// latest one.
func (t *tracker) continuesLatest(index int, name string) bool {
	if len(t.calls) == 0 {
		return false
	}
	latest := &t.calls[len(t.calls)-1]
	switch {
	case index != adapter.NoIndex:
		return latest.index == adapter.NoIndex && name == "" // its index comes late
	case name == "":
		return true
	case latest.kind == paused:
		return strings.EqualFold(name, latest.name) // the name of a pause is complete: only a repetition can follow
	}
	return !t.latest.Closed()
}

// rename adds to the name of a call and decides what it is. Some providers
// split names over fragments, and some repeat them.
func (t *tracker) rename(c *toolCall, name string) {
	t.exposed = t.exposed || c.kind == other && c.name == "" && !t.unwatched && pause.Is(name)
	if c.kind != open || name == "" || name == c.name {
		return
	}
	c.name += name
	if pause.Is(name) {
		c.name = name // some give the whole name after a part of it
	}
	c.name = strings.Clone(c.name)
	switch {
	case pause.Is(c.name):
		t.decide(c, paused)
	case !pausecall.IsPrefix(c.name):
		t.decide(c, other)
	}
}

func (t *tracker) decide(c *toolCall, k kind) {
	c.kind = k
	t.undecided--
	if k == paused {
		t.pauseRemoved = true
	} else {
		t.others++
	}
}

// decideOpen decides the calls whose name is still open: they did not become todo_pause.
func (t *tracker) decideOpen() {
	for i := range t.calls {
		if c := &t.calls[i]; c.kind == open {
			t.decide(c, other)
		}
	}
}

// pauseCall returns the first call of todo_pause.
func (t *tracker) pauseCall() *toolCall {
	for i := range t.calls {
		if t.calls[i].kind == paused {
			return &t.calls[i]
		}
	}
	return nil
}

// edit returns how a fragment is shown. Until a call is left out, every fragment is
// shown as it came.
func (t *tracker) edit(f fragment) adapter.CallEdit {
	switch f.call {
	case untracked:
		return adapter.CallEdit{}
	case dropped:
		return adapter.CallEdit{Drop: true}
	}
	c := &t.calls[f.call]
	if c.kind == paused {
		return adapter.CallEdit{Drop: true}
	}
	first := !c.shown
	if first {
		c.shown = true
		t.setIndex(c)
	}
	if !c.rewritten {
		return adapter.CallEdit{}
	}
	return adapter.CallEdit{Drop: f.empty, Rewrite: true, Index: int(c.out), First: first}
}

// edits appends to dst how the fragments of a chunk are shown.
func (t *tracker) edits(dst []adapter.CallEdit, fragments []fragment) []adapter.CallEdit {
	for _, f := range fragments {
		dst = append(dst, t.edit(f))
	}
	return dst
}

// setIndex gives a call its index in what the caller sees.
func (t *tracker) setIndex(c *toolCall) {
	c.out = t.next
	if t.pauseRemoved {
		c.rewritten = true
	} else if c.index != adapter.NoIndex {
		c.out = int32(min(c.index, math.MaxInt32-1)) //nolint:gosec // bounded
	}
	t.next = max(t.next, c.out) + 1
}
