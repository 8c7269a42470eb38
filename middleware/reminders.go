package middleware

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
)

// noteSeparator separates a message from a note that is joined to it.
const noteSeparator = "\n\n"

// reminders are what a call tells the model about background tasks.
type reminders struct {
	env *callEnv

	begun *[]reminder // nil for most calls
}

// reminder is a delivery that began with the request of a turn.
type reminder struct {
	delivery *delivery.Delivery
	id       continuation.TurnID
	read     bool // the model has read it
}

// attachments returns the texts about background tasks that the caller's own request,
// in turn t, carries.
func (r *reminders) attachments(t *turn) []adapter.Attachment {
	if !r.mayAttach() {
		return nil
	}
	var attached []adapter.Attachment
	attach := func(message int, text string) {
		if text != "" {
			attached = append(attached, adapter.Attachment{Message: message, Text: noteSeparator + text})
		}
	}
	if r.summaryInSystem() {
		var summary string
		r.ask(t, func(ctx context.Context) (err error) {
			summary, err = r.env.options().tasks.Summary(ctx, t.Session)
			return err
		})
		attach(int(r.env.request.system)-1, summary)
	}
	if d := r.deliver(t, t.TurnID, delivery.Options{}); d != nil {
		for i := range d.Repeated {
			note := &d.Repeated[i]
			if note.Anchor == (delivery.Anchor{}) || r.anchorAt(note.Anchor.Message) != note.Anchor {
				note.Anchor = d.Anchor // the history was rewritten
			}
			attach(note.Anchor.Message, note.Text)
		}
		attach(d.Anchor.Message, d.Text)
	}
	slices.SortStableFunc(attached, func(a, b adapter.Attachment) int { return a.Message - b.Message })
	return attached
}

// mayAttach reports whether the call may tell the model of background tasks.
func (r *reminders) mayAttach() bool {
	return r.env.options().tasks != nil && r.env.request.attachable != nil && !r.env.rules().DryRun
}

// summaryInSystem reports whether the request has the status summary behind its
// system message.
func (r *reminders) summaryInSystem() bool {
	return r.env.options().summaryInSystem && r.env.request.system > 0
}

// ask asks the background tasks a question in turn t. If they fail, there is nothing
// to say.
func (r *reminders) ask(t *turn, question func(context.Context) error) {
	r.env.reportFailureOnce(t.TurnID, opTasks, r.env.askTasks(r.env.cancel.caller, question))
}

// deliver begins the delivery of the turn with the id, which is about to be sent, if
// there is anything to tell.
func (r *reminders) deliver(t *turn, id continuation.TurnID, o delivery.Options) *delivery.Delivery {
	o.NoSummary = r.summaryInSystem()
	var d *delivery.Delivery
	r.ask(t, func(ctx context.Context) (err error) {
		d, err = r.env.options().tasks.Deliver(ctx, t.Session, o)
		return err
	})
	if d == nil {
		return nil
	}
	d.Anchor = r.lastAnchor()
	if d.Anchor == (delivery.Anchor{}) {
		r.reportDelivery(t, d, delivery.Unread) // there is no message to join it to
		return nil
	}
	if r.begun == nil {
		r.begun = new([]reminder)
	}
	*r.begun = append(*r.begun, reminder{delivery: d, id: id})
	return d
}

// lastAnchor returns the anchor of the last message that a text can be joined to, or
// the zero anchor.
func (r *reminders) lastAnchor() delivery.Anchor {
	for i := int(r.env.request.messages) - 1; i >= 0; i-- {
		if at := r.anchorAt(i); at != (delivery.Anchor{}) {
			return at
		}
	}
	return delivery.Anchor{}
}

// anchorAt returns the anchor of the i-th message, or the zero anchor if there is no
// such message or no text can be joined to it. Anchors are the same in every process.
func (r *reminders) anchorAt(i int) delivery.Anchor {
	if i < 0 || i >= int(r.env.request.messages) {
		return delivery.Anchor{}
	}
	text, ok := r.env.request.attachable(i)
	if !ok {
		return delivery.Anchor{}
	}
	sum := sha256.Sum256([]byte(text))
	return delivery.Anchor{Message: i, Digest: binary.LittleEndian.Uint64(sum[:]) | 1}
}

// appendNew appends news of background tasks to the prompt of the continuation with
// the id, which follows turn t. Later requests do not have that prompt, so they
// repeat the news behind the caller's own last message.
func (r *reminders) appendNew(t *turn, id continuation.TurnID, prompt string) string {
	if !r.mayAttach() {
		return prompt
	}
	d := r.deliver(t, id, delivery.Options{OnlyNew: true})
	if d == nil {
		return prompt
	}
	return prompt + noteSeparator + d.Text
}

// markRead marks the delivery of a turn that has a finish reason as read by the
// model.
func (r *reminders) markRead(t *turn) {
	if last := r.lastBegun(t); last != nil {
		last.read = t.read.FinishReason != "" || r.env.answer.NoFinish && t.read.Err == nil
	}
}

// reportRead reports the delivery of a turn before the call goes on, which may take long.
func (r *reminders) reportRead(t *turn) {
	if last := r.lastBegun(t); last != nil && last.read {
		r.reportDelivery(t, last.delivery, delivery.Read)
	}
}

// lastBegun returns the delivery that began with turn t, nil if there is none.
func (r *reminders) lastBegun(t *turn) *reminder {
	if r.begun == nil || len(*r.begun) == 0 {
		return nil
	}
	if last := &(*r.begun)[len(*r.begun)-1]; last.id == t.TurnID {
		return last
	}
	return nil
}

// takeBack ends the delivery of turn t, which has failed and is sent once more: the
// second try delivers the same.
func (r *reminders) takeBack(t *turn) {
	if last := r.lastBegun(t); last != nil && !last.read {
		r.reportDelivery(t, last.delivery, delivery.Unread)
		*r.begun = (*r.begun)[:len(*r.begun)-1]
	}
}

// end ends the deliveries of a call that ended with turn t. If the call has not
// ended in text, later requests repeat them.
func (r *reminders) end(t *turn) {
	if r.begun == nil {
		return
	}
	outcome := delivery.Delivered
	if t.read.ShowedCall() {
		outcome = delivery.Repeat
	}
	for _, begun := range *r.begun {
		if !begun.read {
			r.reportDelivery(t, begun.delivery, delivery.Unread)
			continue
		}
		r.reportDelivery(t, begun.delivery, outcome)
		if tasks := begun.delivery.Tasks; len(tasks) > 0 {
			emit(r.env.cancel.caller, r.env.reporter(), ReminderDelivered{TurnID: begun.id, Tasks: tasks})
		}
	}
	r.begun = nil
}

// reportDelivery reports the outcome of a delivery to the tasks. It must succeed even
// if the call has ended or the tasks are not being asked; otherwise the model would
// be told the same again.
func (r *reminders) reportDelivery(t *turn, d *delivery.Delivery, outcome delivery.Outcome) {
	ctx, id := context.WithoutCancel(r.env.cancel.caller), t.TurnID
	settle := func(ctx context.Context) error { return r.env.options().tasks.Settle(ctx, d, outcome) }
	if !r.env.options().sharedTasks {
		r.env.reportFailureOnce(id, opTasks, settle(ctx))
		return
	}
	r.env.session.runSoon(func() { r.env.reportFailureOnce(id, opTasks, r.env.askSharedTasks(ctx, settle)) })
}
