package adapter

import (
	"context"
	"math"
	"strings"

	"github.com/carryon-go/carryon/internal/separator"
)

// Dialect reads and shows values of an SDK's type C: the chunks of a stream, or whole
// answers. An adapter creates one Dialect per call, so a Dialect may hold data of that
// call, such as the first answer's id and the usage in the SDK's own type. The engine
// never calls two of its methods at the same time.
//
// A Dialect may also implement [Heartbeat].
type Dialect[C any] interface {
	// Read reports to t what c adds to its turn, in the order of c. If c has usage,
	// Read keeps it as the usage of the turn, in place of an earlier one. From the
	// first turn, Read keeps what later turns are shown under, such as id and model.
	// It must not modify c and must not affect what AppendShown appends for c.
	Read(c *C, t TurnReader)

	// AppendShown appends to dst the values that the caller sees in place of c, as e
	// describes them: none, one, or several. It may modify c, and the values may share
	// memory with c. It must not modify a usage that it has appended before. c points
	// to the zero value of C if the model sent no chunk for what e describes.
	AppendShown(dst []C, c *C, e *Edit) []C

	// Clone returns a copy of c that stays valid after the next Recv of the source,
	// and shares no memory with c that AppendShown modifies.
	Clone(c *C) C

	// EndTurn ends the turn. If keep is true, the turn's usage is added to the totals
	// that AppendShown shows. Otherwise the turn's answer and usage are dropped.
	EndTurn(keep bool)
}

// Heartbeat is an optional interface of a [Dialect] whose chunks cross a network on
// their way to the caller. During a continuation, the caller may receive nothing for
// minutes, because the model reasons or calls todo_pause; while the end of a turn is held
// back, because a check runs. A proxy in between may take the connection for dead.
type Heartbeat[C any] interface {
	// AppendHeartbeat appends to dst a chunk that clients ignore, or nothing if the
	// protocol has no such chunk at this point. The engine calls it when a
	// continuation sends chunks of which the caller sees nothing, until the finish of
	// that continuation, and after the finish of a turn while a check runs; see
	// middleware.WithCheck.
	AppendHeartbeat(dst []C) []C
}

// Source yields the chunks of one turn. Recv returns [io.EOF] after the last one. Close
// may be called at any time and on any goroutine; it makes a running Recv return.
type Source[C any] interface {
	Recv() (C, error)
	Close() error
}

// Open sends a continuation: the caller's request, extended as k says. Its ctx ends
// when the caller's ctx ends, when the stream is closed, and at the continuation's time
// limits. The engine closes the source that Open returns, and ignores a source that is
// returned with an error.
//
// The engine may call Open until the stream has ended. Until then the caller's request
// must not change.
type Open[C any] func(ctx context.Context, k *Continuation) (Source[C], error)

// Edit says what a [Dialect] shows in place of a chunk or a whole answer. It is valid
// until AppendShown returns.
type Edit struct {
	// Part says how much of the chunk is shown.
	Part Part
	// Text replaces the chunk's own text.
	Text string
	// TurnEnds are the byte offsets in Text at which each turn's text ends. The
	// separator before a turn's text belongs to that turn. Text after the last offset
	// is the notice of a pause. TurnEnds is empty for chunks.
	TurnEnds []int
	// ReasoningSeparator goes before the chunk's own reasoning. It is set for the
	// first reasoning of a turn if an earlier turn has shown reasoning. It is empty
	// for whole answers; see [KeptReasoning].
	ReasoningSeparator string
	// Finish replaces the chunk's own finish reason, in the provider's own
	// words; "" shows none, unless PlainStop is set.
	Finish string
	// PlainStop says that the finish reason to show is the protocol's own word for a
	// plain stop, because the provider has given none. Finish is then "".
	PlainStop bool
	// Usage says which usage replaces the chunk's own.
	Usage UsageShown
	// Totals is for protocols in which every chunk has usage. It says which usage such
	// a chunk shows: that of the kept turns and of the current turn so far. It is
	// UsageHidden for chunks of the first turn, which keep their own usage. Other
	// protocols ignore Totals.
	Totals UsageShown
	// Calls has an edit for each call that Read reported from the chunk, in the same
	// order. It is empty unless Part is Whole.
	Calls []CallEdit
	// Continuation is true for a chunk or answer of a continuation. It is shown with
	// the first turn's id and model, and without a role.
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

// FinishOr returns Finish, or word if PlainStop is set. word is the protocol's own
// word for a plain stop.
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
	// Whole shows the chunk with the changes that the Edit names, and no others.
	Whole Part = iota
	// Synthetic shows only what the Edit names, because the rest of the chunk was
	// shown before or because there is no chunk.
	Synthetic
	// UsageOnly shows only the usage, in a chunk without choices. It comes after the
	// finish.
	UsageOnly
	// TurnCut closes content that a failed continuation has left open, for example
	// with the end of a block, if the protocol needs that. The chunk is the zero value.
	TurnCut
	// AnswerEnd closes a joined stream, for example with "[DONE]", if the protocol
	// needs that. The chunk is the zero value. It is the last part, and comes only
	// after AppendShown has written a finish.
	AnswerEnd
	// TurnError shows the error that the provider reported inside a continuation. The
	// chunk is the one for which Read called Fail. The caller has seen a part of a tool
	// call, which must not look complete, so Recv returns the error next.
	TurnError
)

// UsageShown says which usage is shown. [UsageTotals] computes them.
type UsageShown uint8

// The usages.
const (
	UsageHidden    UsageShown = iota // no usage
	UsageOneAnswer                   // the prompt of the first kept turn and the output of all
	UsageSum                         // the sum of the kept turns
	UsageLast                        // the usage of the last kept turn
	UsageOwn                         // the chunk's own usage
)

// CallEdit says how a tool call, or a fragment of one, is shown.
type CallEdit struct {
	Drop    bool // do not show the call
	Rewrite bool // show the call under Index, with its type in the first fragment only
	Index   int  // the call's index among the shown calls; valid if Rewrite is true
	First   bool // whether this is the first fragment of its call that is shown
}

// NoIndex is the index that a [Dialect] reports for a tool call that has no index.
const NoIndex = -1 << 31

// TurnReader receives what a [Dialect] reads from the chunks of a turn. A dialect may
// call the methods in any order and any number of times per chunk; the order in which
// it calls Call is the order of [Edit].Calls. Strings may share memory with the chunk:
// the TurnReader copies what it keeps.
//
// Only the engine implements TurnReader. Minor releases may add methods.
type TurnReader interface {
	// Text reports text of the answer.
	Text(text string)
	// Reasoning reports reasoning, which is not part of the answer.
	Reasoning(text string)
	// Call reports a tool call or a fragment of one. index is its index in the turn, or
	// NoIndex. The strings are what the fragment adds to id, name and arguments.
	Call(index int, id, name, arguments string)
	// OtherCall reports a tool call that Call cannot express: one in an older form,
	// or one of a choice other than the first.
	OtherCall()
	// Pause reports that the model pauses, and the reason, if the model pauses in a
	// form that only the adapter can read, such as an agent's calls written as text.
	// The adapter then does not report that text with Text. The engine ignores a pause
	// in the first turn, beside a tool call, and if the caller has a todo_pause of its
	// own.
	Pause(reason string)
	// Signed reports reasoning that the provider has signed together with the whole
	// request before it. From then on, nothing may be added to that part of the
	// request; see [Request].FixedPrefix.
	Signed()
	// Content reports content that is shown and that is neither text, nor reasoning,
	// nor a call that the program answers. Examples are citations, a signature without
	// reasoning, and a tool that the provider has run.
	Content()
	// Unknown reports content of a kind that the dialect does not know. It could be a
	// tool call, so the turn is not continued.
	Unknown()
	// Refusal reports that the model refuses to answer.
	Refusal()
	// OtherChoice reports content of a choice other than the first.
	OtherChoice()
	// Finish reports the provider's finish reason. "" means none and is ignored.
	Finish(reason string)
	// Done reports that the provider has marked the end of the turn, for example with
	// "[DONE]". If no finish reason came before it, the turn has none.
	Done()
	// Usage reports token counts. The last report of a turn counts.
	Usage(u Usage)
	// Response reports the id of the answer and the model that wrote it, in the
	// provider's words; "" if the chunk does not have it. Observers are told the first of
	// each that a turn reports.
	Response(id, model string)
	// Size reports the size of the whole chunk in bytes. A dialect that does not know
	// it does not call Size; the engine then adds up the reported texts. The size
	// limits how much the engine holds back.
	Size(bytes int)
	// Fail reports an error that came in place of content. The first error of a turn
	// counts.
	Fail(err error)
}

// Envelope keeps the id, the model and similar fields of the first turn, which every
// turn of the call is shown with. E is a struct of these fields in the SDK's own types.
// The zero value is ready for use. An Envelope is not safe for concurrent use.
type Envelope[E any] struct {
	// First is the envelope of the first turn.
	First E

	taken, fixed bool
}

// IsFixed reports whether the envelope can no longer change.
func (e *Envelope[E]) IsFixed() bool { return e.fixed }

// Take offers the envelope of a value that was read. The first one with an id is kept,
// because some providers begin with a value that has none. If the first turn has no id
// at all, its first envelope is kept.
func (e *Envelope[E]) Take(envelope E, hasID bool) {
	if e.fixed || e.taken && !hasID {
		return
	}
	e.First, e.taken, e.fixed = envelope, true, hasID
}

// Fix ends the first turn: First no longer changes. If it has no id, later turns are
// shown without one too.
func (e *Envelope[E]) Fix() { e.fixed = true }

// KeptReasoning joins the reasoning of the kept turns. It is for a [Dialect] of whole
// answers. The zero value is ready for use. It is not safe for concurrent use.
type KeptReasoning struct {
	turn string
	kept []string
}

// SetTurn sets the reasoning of the current turn. Another call before EndTurn replaces
// it.
func (r *KeptReasoning) SetTurn(text string) { r.turn = text }

// EndTurn ends the turn; call it from [Dialect].EndTurn. If keep is false, the turn's
// reasoning is dropped.
func (r *KeptReasoning) EndTurn(keep bool) {
	if keep && r.turn != "" {
		r.kept = append(r.kept, r.turn)
	}
	r.turn = ""
}

// Text returns the reasoning of all kept turns, with a blank line between them.
func (r *KeptReasoning) Text() string {
	var text strings.Builder
	var end separator.End
	for _, turn := range r.kept {
		text.WriteString(end.Separator())
		text.WriteString(turn)
		end.Add(turn)
	}
	return text.String()
}

// Usage counts the tokens of a turn, as the provider reported them. A count that was not
// reported is 0.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Total      int `json:"total"`
	// Cached is the part of Prompt that came from the provider's cache. Reasoning is
	// the part of Completion that the model spent on reasoning.
	Cached    int `json:"cached,omitzero"`
	Reasoning int `json:"reasoning,omitzero"`
}

// Tokens returns Total, or Prompt plus Completion if that is more. It never overflows.
func (u Usage) Tokens() int {
	prompt, completion := max(u.Prompt, 0), max(u.Completion, 0)
	if prompt > math.MaxInt-completion {
		return math.MaxInt
	}
	return max(u.Total, prompt+completion)
}

// UsageTotals keeps the usage of a call in an SDK's own type U. Embed it in a [Dialect],
// which so gets its EndTurn. Both functions must be set, and must not modify their
// arguments. A UsageTotals is not safe for concurrent use.
type UsageTotals[U any] struct {
	// Add returns the sum of two usages.
	Add func(a, b U) U
	// Extend returns the usage of an answer to which a turn was added: the prompt of
	// answer, or of turn if answer has none, and the output of both.
	Extend func(answer, turn U) U

	turn, last *U // usage of the current turn, and of the last kept one
	sum, one   *U // usage of all kept turns: their sum, and as one answer
}

// SetTurn sets the usage of the current turn. Another call before EndTurn replaces it.
func (t *UsageTotals[U]) SetTurn(u U) { t.turn = &u }

// EndTurn implements [Dialect].EndTurn. If keep is false, the turn's usage is dropped.
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
// own usage. The result must not be modified.
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
