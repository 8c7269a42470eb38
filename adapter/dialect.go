package adapter

import (
	"context"
	"math"
	"strings"
)

// Dialect reads and shows values of an SDK's type C: the chunks of a stream, or whole
// answers. An adapter makes one Dialect per call, which may hold the call's own data:
// the first answer's id, and usage in the SDK's own type. The engine never calls two
// methods at once.
type Dialect[C any] interface {
	// Read reports to t what c adds to its turn, in c's own order. If c has usage,
	// Read keeps it as the usage of the turn; the last one counts. From the first
	// turn it takes what every later turn is shown under, such as id and model. It
	// must not change c, nor affect what AppendShown appends for c.
	Read(c *C, t TurnReader)

	// AppendShown appends to dst what the caller is shown in place of c, according to
	// e: no value, one, or several. It may change c, and what it appends may share
	// memory with c. It must not change a usage after showing it. C may be the zero
	// value if the model sent no chunk for what e describes.
	AppendShown(dst []C, c *C, e *Edit) []C

	// Clone returns a copy of c that stays valid after the source's next value and
	// shares nothing with c that AppendShown changes.
	Clone(c *C) C

	// EndTurn ends the turn. If keep is true, the turn's usage goes into the totals
	// that AppendShown shows. If it is false, the turn's answer and its usage are
	// dropped.
	EndTurn(keep bool)
}

// Heartbeat is an optional method of a [Dialect] whose chunks cross a network on
// their way to the caller. A continuation may think for minutes, or call todo_pause,
// and show nothing meanwhile; a proxy on the way may take that for a dead connection.
type Heartbeat[C any] interface {
	// AppendHeartbeat appends to dst a chunk that keeps the connection alive and that
	// clients ignore, or nothing if the protocol has no such chunk at this point. The
	// engine calls it during a continuation, only while that sends something, and
	// only before its finish.
	AppendHeartbeat(dst []C) []C
}

// Source yields the chunks of one turn. Recv returns io.EOF after the last one. Close
// may be called at any time, by any goroutine, and ends a running Recv.
type Source[C any] interface {
	Recv() (C, error)
	Close() error
}

// Open sends a continuation: the caller's own request, extended according to k. Its
// ctx ends with the caller's ctx, with the stream, and at the continuation's time
// limits. The engine closes the source; it ignores a source that comes with an error.
// Open may be called until the stream has ended, and the caller's request must not
// change before then.
type Open[C any] func(ctx context.Context, k *Continuation) (Source[C], error)

// Edit says what a [Dialect] shows in place of a chunk, or of a whole answer. It is
// valid until AppendShown returns.
type Edit struct {
	// Part says how much of the chunk is shown.
	Part Part
	// Text replaces the chunk's own text.
	Text string
	// TurnEnds are the offsets in Text at which the text of each turn ends; a turn's
	// text includes the separator before it. What follows the last offset is a
	// notice. It is empty for chunks.
	TurnEnds []int
	// ReasoningSeparator goes before the chunk's own reasoning. It is set on the
	// first reasoning of a turn, if an earlier turn has shown reasoning. It is empty
	// for whole answers; see [KeptReasoning].
	ReasoningSeparator string
	// Finish replaces the chunk's own finish reason, in the provider's own
	// words; "" shows none, unless PlainStop is set.
	Finish string
	// PlainStop shows the protocol's own word for a turn that simply stopped, because
	// the provider has given none. Finish is "" then.
	PlainStop bool
	// Usage says which usage replaces the chunk's own.
	Usage UsageShown
	// Totals says which usage is shown so far, of the kept turns and of the current one,
	// in a protocol whose chunks all have usage. Other protocols show usage only where
	// Usage says so. It is UsageHidden for chunks of the first turn, which keep their own.
	Totals UsageShown
	// Calls has an edit for each call that Read reported from the chunk, in that
	// order. It is empty unless Part is Whole.
	Calls []CallEdit
	// Continuation is true for the answer of a continuation. It is shown under the
	// first turn's id and model, and without a role of its own.
	Continuation bool
}

// Call returns the edit of the i-th call that Read reported from the chunk. If Calls
// has none for it, the call is dropped.
func (e *Edit) Call(i int) CallEdit {
	if i >= len(e.Calls) {
		return CallEdit{Drop: true}
	}
	return e.Calls[i]
}

// FinishOr returns Finish, or word if PlainStop is set: the protocol's own word
// for a turn that simply stopped.
func (e *Edit) FinishOr(word string) string {
	if e.PlainStop {
		return word
	}
	return e.Finish
}

// Part says how much of a chunk is shown.
type Part uint8

// The parts.
const (
	// Whole shows the chunk, changed according to the Edit. What the Edit does not
	// name stays as it is.
	Whole Part = iota
	// Synthetic shows only what the Edit names. Everything else in the chunk
	// was shown before, or there is no chunk.
	Synthetic
	// UsageOnly shows only the usage, in a chunk without choices. The finish was
	// shown before.
	UsageOnly
	// TurnCut shows what closes content that a failed continuation has left open,
	// such as the end of a block, if the protocol needs that. The chunk is the zero
	// value.
	TurnCut
	// AnswerEnd shows what closes a joined stream in the protocol, such as "[DONE]",
	// if there is something. The chunk is the zero value. It comes last, and only
	// after AppendShown has written a finish.
	AnswerEnd
	// TurnError shows the error that the provider reported inside a continuation, if
	// the chunk is such a report: the chunk is the one whose Read called Fail. A part of
	// a tool call was shown, which must not look whole, so Recv returns the error next.
	TurnError
)

// UsageShown says which usage is shown.
type UsageShown uint8

// The usages.
const (
	UsageHidden    UsageShown = iota // none
	UsageOneAnswer                   // of the kept turns: the prompt of the first, and the output of all
	UsageSum                         // the sum of the kept turns
	UsageLast                        // of the last kept turn
	UsageOwn                         // the chunk's own
)

// CallEdit says how a tool call, or a fragment of one, is shown.
type CallEdit struct {
	Drop    bool // do not show it
	Rewrite bool // show it under Index, with its type in the first fragment only
	Index   int  // without gaps, because an earlier call was dropped
	First   bool // this is the first fragment of its call that is shown
}

// NoIndex is the index that a [Dialect] reports for a tool call without one.
const NoIndex = -1 << 31

// TurnReader receives what a [Dialect] reads from the chunks of a turn. The engine
// implements it. A dialect may call the methods in any order and any number of times
// per chunk; the order of its calls of Call is the order of [Edit].Calls. Strings may
// share memory with the chunk: the TurnReader copies what it keeps.
type TurnReader interface {
	// Text reports text for the reader.
	Text(text string)
	// Reasoning reports reasoning: text that the model wrote for itself.
	Reasoning(text string)
	// Call reports a tool call, or a fragment of one: its index in the turn,
	// or NoIndex, and what it adds to the id, the name and the arguments.
	Call(index int, id, name, arguments string)
	// OtherCall reports a tool call that Call cannot express: one in an older form,
	// or one of another choice.
	OtherCall()
	// Pause reports that the model pauses, and why, in a form that only the adapter
	// can read, such as the text of an agent that writes its calls as text. The
	// adapter does not report that text as well. A pause counts only in
	// continuations, and not beside a tool call or the caller's own todo_pause.
	Pause(reason string)
	// Signed reports reasoning that the provider has signed together with everything
	// before it in the request. From then on nothing may be added there; see
	// [Request].FixedPrefix.
	Signed()
	// Content reports content that is shown and that is neither text, nor reasoning, nor
	// a call that the program answers: a signature alone, citations, a tool that the
	// provider has run.
	Content()
	// Unknown reports content that the dialect does not know. It could be a tool
	// call, so the turn is not continued.
	Unknown()
	// Refusal reports that the model refuses.
	Refusal()
	// OtherChoice reports content of a choice other than the first.
	OtherChoice()
	// Finish reports the provider's finish reason. The empty reason is none.
	Finish(reason string)
	// Done reports that the provider has said that nothing more comes in this turn,
	// as "[DONE]" does. A turn that is done without a finish reason has none.
	Done()
	// Usage reports token counts. The last ones of a turn count.
	Usage(u Usage)
	// Size reports the size of the whole chunk in bytes, if the dialect knows it;
	// otherwise the engine adds up what the chunk reports. The size limits how much
	// the engine holds back.
	Size(bytes int)
	// Fail reports an error that came in place of content. The first one of a
	// turn counts.
	Fail(err error)
}

// Envelope keeps the id, the model and the like of the first turn, under which every
// turn of a call is shown. E is a struct of them, in the SDK's own types. The zero
// value is ready for use.
type Envelope[E any] struct {
	// First is the envelope of the first turn.
	First E

	taken, fixed bool
}

// IsFixed reports whether the envelope can no longer change.
func (e *Envelope[E]) IsFixed() bool { return e.fixed }

// Take offers the envelope of a value that was read. The first envelope with an id
// counts, or else the very first of the first turn: some providers begin with a value
// that has no id.
func (e *Envelope[E]) Take(envelope E, hasID bool) {
	if e.fixed || e.taken && !hasID {
		return
	}
	e.First, e.taken, e.fixed = envelope, true, hasID
}

// Fix ends the first turn. If it had no id, later turns are shown without one too.
func (e *Envelope[E]) Fix() { e.fixed = true }

// KeptReasoning collects the reasoning of the kept turns, for a [Dialect] of whole
// answers to show. The zero value is ready for use.
type KeptReasoning struct {
	turn string
	kept []string
}

// SetTurn sets the reasoning of the current turn. The last one set counts.
func (r *KeptReasoning) SetTurn(text string) { r.turn = text }

// EndTurn is for [Dialect].EndTurn.
func (r *KeptReasoning) EndTurn(keep bool) {
	if keep && r.turn != "" {
		r.kept = append(r.kept, r.turn)
	}
	r.turn = ""
}

// Text returns the reasoning of all kept turns, joined like their texts.
func (r *KeptReasoning) Text() string {
	var text strings.Builder
	var end ReasoningEnd
	for _, turn := range r.kept {
		text.WriteString(end.Separator())
		text.WriteString(turn)
		end.Add(turn)
	}
	return text.String()
}

// ReasoningEnd describes the end of the reasoning streamed so far. The zero value
// means that there was none.
type ReasoningEnd struct {
	some    bool
	missing uint8 // bytes of the Separator that it lacks
}

// Add adds what was streamed next.
func (r *ReasoningEnd) Add(text string) {
	if text == "" {
		return
	}
	missing := len(SeparatorAfter(text))
	if strings.Trim(text, "\r\n") == "" && r.some { // its line breaks add to earlier ones
		missing = max(0, int(r.missing)-(len(Separator)-missing))
	}
	*r = ReasoningEnd{some: true, missing: uint8(missing)} //nolint:gosec // as long as Separator at most
}

// Separator returns the separator before the reasoning of another turn: "" if there
// was no reasoning before.
func (r ReasoningEnd) Separator() string {
	return Separator[len(Separator)-int(r.missing):]
}

// Usage is the number of tokens that a turn used, as the provider reported it.
// A count that was not reported is 0.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Total      int `json:"total"`
	// Cached is how many of the prompt tokens came from the provider's cache, and
	// Reasoning how many of the completion tokens the model spent on reasoning.
	Cached    int `json:"cached,omitzero"`
	Reasoning int `json:"reasoning,omitzero"`
}

// Tokens returns Total, or Prompt plus Completion if that is more or the provider
// leaves the total out.
func (u Usage) Tokens() int {
	prompt, completion := max(u.Prompt, 0), max(u.Completion, 0)
	if prompt > math.MaxInt-completion {
		return math.MaxInt
	}
	return max(u.Total, prompt+completion)
}

// UsageTotals keeps the usage of a call in an SDK's own type U. A [Dialect] embeds it
// and so gets its EndTurn. Both functions must be set, and must not change their
// arguments.
type UsageTotals[U any] struct {
	// Add returns the sum of two usages.
	Add func(a, b U) U
	// Extend returns the usage of an answer after a turn was added: the prompt of the
	// answer, or of the turn if the answer has none, and the output of both.
	Extend func(answer, turn U) U

	turn, last *U // of the current turn, of the last one kept
	sum, one   *U // of all kept turns: their sum, and their usage as one answer
}

// SetTurn sets the usage of the current turn. The last one set counts.
func (t *UsageTotals[U]) SetTurn(u U) { t.turn = &u }

// EndTurn implements [Dialect].EndTurn.
func (t *UsageTotals[U]) EndTurn(keep bool) {
	if keep && t.turn != nil {
		t.last = t.turn
		if t.sum == nil {
			t.sum, t.one = t.turn, t.turn
		} else {
			sum, one := t.Add(*t.sum, *t.turn), t.Extend(*t.one, *t.turn)
			t.sum, t.one = &sum, &one
		}
	}
	t.turn = nil
}

// Shown returns the usage that an edit asks for, or nil for none. own is the chunk's
// own usage.
func (t *UsageTotals[U]) Shown(which UsageShown, own *U) *U {
	switch which {
	case UsageOwn:
		return own
	case UsageOneAnswer:
		return t.one
	case UsageSum:
		return t.sum
	case UsageLast:
		return t.last
	case UsageHidden:
	}
	return nil
}
