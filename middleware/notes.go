package middleware

import (
	"hash/maphash"
	"slices"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
)

// Note is a text that a request carries and the caller's history does not: an
// adapter puts Text right behind the text of the message with the index
// Message, in a copy.
type Note struct {
	Message int
	Text    string
}

// SummaryMode says where the status summary of background tasks goes.
type SummaryMode uint8

// The summary modes.
const (
	// SummaryOnChange puts it beside the reminder, when it has changed.
	SummaryOnChange SummaryMode = iota
	// SummaryInSystem puts it behind the system message of every request. That
	// changes what the request begins with, which providers cache prompts by.
	SummaryInSystem
)

// gap stands between a message and what is joined to it.
const gap = "\n\n"

// notes are what a call tells the model of background tasks.
type notes struct {
	carried  []Note // by the caller's own request, and with it by every turn's
	tellings []telling
	last     *anchor // of the message that new texts are joined to, once it was looked for
}

// telling is what a turn's request says for the first time.
type telling struct {
	delivery *asynctask.Delivery
	place    Place
	seen     bool // the model has read it
}

// anchor is where a note stands: behind a message that says the same as when
// the note was placed.
type anchor struct {
	message int
	digest  uint64
}

// Notes returns what the caller's own request is to carry, in the order in which
// it is to be joined to the messages. The slice is the engine's and must not be
// changed.
func (c *Call) Notes() []Note {
	if c.notes == nil {
		return nil
	}
	return c.notes.carried
}

// CarriesNotes reports whether requests may carry notes. If they don't, an
// adapter can save itself to say where: the fields of [Request] for it may stay
// empty.
func (mw *Middleware) CarriesNotes() bool { return mw.options.tasks != nil }

// takeNotes finds out what is to be said of background tasks in the caller's
// own request.
func (c *Call) takeNotes() {
	if !c.tells() {
		return
	}
	if c.summaryInSystem() {
		c.carry(c.request.system-1, c.mw.options.tasks.Summary(c.place.Session))
	}
	if d := c.deliver(c.place, c.mw.options.tasks.Deliver); d != nil {
		last := *c.notes.last
		for i, note := range d.Standing() {
			at, ok := note.Anchor.(anchor)
			if !ok || c.anchorAt(at.message) != at {
				at = last // the history was rewritten
				d.Move(i, at)
			}
			c.carry(at.message, note.Text)
		}
		c.carry(last.message, d.Text())
	}
	slices.SortStableFunc(c.Notes(), func(a, b Note) int { return a.Message - b.Message })
}

// noted returns the call's notes, which most calls never have.
func (c *Call) noted() *notes {
	if c.notes == nil {
		c.notes = new(notes)
	}
	return c.notes
}

// tells reports whether the call may tell the model of background tasks.
func (c *Call) tells() bool {
	return c.mw.options.tasks != nil && c.request.carrier != nil && !c.mw.options.dryRun
}

// summaryInSystem reports whether the request has the status summary behind its
// system message.
func (c *Call) summaryInSystem() bool {
	return c.mw.options.summary == SummaryInSystem && c.request.system > 0
}

// deliver begins the delivery of a turn that is about to be sent, if there is
// anything to say. Begin is the manager's Deliver, or DeliverMore.
func (c *Call) deliver(place Place, begin func(string, asynctask.Style) *asynctask.Delivery) *asynctask.Delivery {
	style := asynctask.ReminderAndSummary
	if c.summaryInSystem() {
		style = asynctask.ReminderOnly
	}
	d := begin(c.place.Session, style)
	if d == nil {
		return nil
	}
	last := c.lastCarrier()
	if last == (anchor{}) {
		d.Release() // there is no place to say it
		return nil
	}
	d.Place(last)
	n := c.noted()
	n.tellings = append(n.tellings, telling{delivery: d, place: place})
	return d
}

func (c *Call) carry(message int, text string) {
	if text != "" {
		n := c.noted()
		n.carried = append(n.carried, Note{Message: message, Text: gap + text})
	}
}

// lastCarrier returns the last message that a note can be joined to, or the zero
// anchor. It looks for it once.
func (c *Call) lastCarrier() anchor {
	n := c.noted()
	if n.last == nil {
		n.last = new(anchor)
		for i := c.request.messages - 1; i >= 0 && *n.last == (anchor{}); i-- {
			*n.last = c.anchorAt(i)
		}
	}
	return *n.last
}

// anchorAt returns the anchor of the i-th message, the zero anchor if there is
// no such message or no note can be joined to it.
func (c *Call) anchorAt(i int) anchor {
	if i < 0 || i >= c.request.messages {
		return anchor{}
	}
	text, ok := c.request.carrier(i)
	if !ok {
		return anchor{}
	}
	return anchor{message: i, digest: maphash.String(c.mw.seed, text) | 1}
}

// addNews adds what is new of background tasks to what a continuation says. No
// later request has that prompt, so that what has to be repeated is joined to
// the caller's own last message then.
func (c *Call) addNews(k *Continuation, said string) string {
	if !c.tells() {
		return said
	}
	d := c.deliver(k.Place, c.mw.options.tasks.DeliverMore)
	if d == nil {
		return said
	}
	said += gap + d.Text()
	if k.Pause != nil {
		k.Pause.Result = said
	} else {
		k.Prompt = said
	}
	return said
}

// noteSeen takes note that the turn has ended as the provider ends it: the model
// has read its request.
func (c *Call) noteSeen() {
	if c.notes == nil {
		return
	}
	if n := len(c.notes.tellings); n > 0 && c.notes.tellings[n-1].place == c.place {
		t := &c.notes.tellings[n-1]
		if t.seen = c.sink.finish != "" || c.request.noFinish && c.sink.err == nil; t.seen {
			t.delivery.Seen()
		}
	}
}

// settleNotes ends the deliveries of a call that is over. What they have said is
// repeated in later requests, unless the call has ended in text.
func (c *Call) settleNotes() {
	if c.notes == nil {
		return
	}
	for _, t := range c.notes.tellings {
		if !t.seen {
			t.delivery.Release()
			continue
		}
		t.delivery.Ack(!c.sink.showedCall())
		if tasks := t.delivery.Tasks(); len(tasks) > 0 {
			c.mw.delivered(c.caller, ReminderDelivered{Place: t.place, Tasks: tasks})
		}
	}
	c.notes.tellings = nil
}

// background returns what the decision has to know of background tasks.
func (c *Call) background() continuation.Background {
	tasks := c.mw.options.tasks
	if tasks == nil {
		return continuation.Background{}
	}
	n, oldest := tasks.Pending(c.place.Session, c.mw.options.limits.MaxTaskAge)
	return continuation.Background{Unfinished: n, Oldest: oldest}
}
