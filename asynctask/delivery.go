package asynctask

import "slices"

// maxStanding is how many bytes of reminders stand in the requests of a session
// at most; beyond it the oldest are dropped.
const maxStanding = 4 * MaxReminder

// Style says what a [Delivery] tells.
type Style uint8

// The styles.
const (
	// ReminderAndSummary tells what has ended, and where the status summary
	// has changed since the model was told it, the summary too.
	ReminderAndSummary Style = iota
	// ReminderOnly is for requests that have the summary elsewhere, as in the
	// system message.
	ReminderOnly
)

// Delivery is what one request to the model carries about background tasks. The
// history of the conversation does not hold it, so what a request has said
// stands: it is repeated at its place, byte for byte, in the requests that
// follow, until a turn ends in text.
//
// The one who sends the request adds what Standing and Text return to a copy of
// it, says with Place and Move where that went, and calls Ack once the finish of
// the answer has been seen, or Release if it will not be. The first of these
// calls counts; without either, the hold on the tasks lapses after [LeaseLife].
// A Delivery belongs to one request; Ack and Release are safe for concurrent
// use.
type Delivery struct {
	manager  *Manager
	session  *session
	reminder *Reminder // of what has ended; without a task if nothing has
	carried  []*note   // what stood before, as the session has it
	standing []Note    // the same, with places that may have moved
	text     string
	anchor   any
	version  uint64 // of the summary in text, 0 if there is none
	running  int    // how many tasks text says are running
	seen     bool
	settled  bool
}

// Note is a text that stands in the requests of a session.
type Note struct {
	Text string
	// Anchor is where it stands, in the words of whoever placed it; nil if
	// nobody said.
	Anchor any
}

type note struct{ Note }

// Deliver returns what is to be said in a request of the session that is about
// to be sent, nil if nothing. There is something to say if a task has ended
// that nobody is telling of, if the status summary has changed since the model
// was told it (with ReminderOnly: if more tasks are running than it was told),
// or if what an earlier request said still stands. That old tasks drop out of
// the summary is not a change.
//
// With nothing to say it does not allocate, and costs little more than a look
// into a map.
func (m *Manager) Deliver(session string, style Style) *Delivery {
	return m.deliver(session, style, true)
}

// DeliverMore is Deliver for a further request of the same call to the model,
// which carries what the one before it did anyway: nothing stands in what it
// returns, and it is nil if there is nothing new.
func (m *Manager) DeliverMore(session string, style Style) *Delivery {
	return m.deliver(session, style, false)
}

func (m *Manager) deliver(session string, style Style, standing bool) *Delivery {
	m.mu.Lock()
	s := m.look(session)
	if s == nil || (!standing || len(s.standing) == 0) && !s.hasChanged(style) && !s.hasFree(m.clock) {
		m.mu.Unlock()
		return nil
	}
	now := m.clock.Now()
	d := &Delivery{manager: m, session: s}
	if standing {
		d.carried, d.standing = slices.Clone(s.standing), s.notes()
	}
	changed := s.hasChanged(style)
	r, words := m.lease(s, now, now.Add(LeaseLife))
	d.reminder = r
	if len(r.tasks) == 0 && !changed {
		words.running = 0
	}
	d.running = words.running
	var lines []line
	if changed && style == ReminderAndSummary {
		lines, d.version = s.lines(), s.version
	}
	m.mu.Unlock()
	d.text = join(words.text(), summarize(lines))
	if d.text == "" && len(d.carried) == 0 {
		return nil
	}
	return d
}

// Standing returns what earlier requests said and this one is to repeat, oldest
// first: each text at its anchor, byte for byte. If that place is gone, for the
// history was rewritten, the text is put elsewhere and Move says where.
func (d *Delivery) Standing() []Note { return slices.Clone(d.standing) }

// Text returns what is new, "" if nothing: the reminder, then the status summary
// after a blank line, whichever there are.
func (d *Delivery) Text() string { return d.text }

// Tasks returns the ids of the tasks that Text tells the end of, in order of
// end.
func (d *Delivery) Tasks() []string { return d.reminder.Tasks() }

// Place says where Text went. The anchor means nothing to the Manager: it comes
// back in the Standing of later Deliveries.
func (d *Delivery) Place(anchor any) { d.anchor = anchor }

// Move says where the i-th of Standing went, if not to its anchor.
func (d *Delivery) Move(i int, anchor any) { d.standing[i].Anchor = anchor }

// Ack takes note that the answer's finish has been seen, so that the model has
// been told. endedInText says that the turn called no tool and that its text is
// the answer: what this request carried no longer stands then. Otherwise, for a
// tool call or a turn that is continued, it stands from now on.
func (d *Delivery) Ack(endedInText bool) {
	d.manager.mu.Lock()
	defer d.manager.mu.Unlock()
	if d.settled {
		return
	}
	d.see()
	d.settled = true
	s := d.session
	if endedInText {
		s.clear(d.carried)
	} else {
		for i, n := range d.carried {
			n.Anchor = d.standing[i].Anchor
		}
		s.stand(d.text, d.anchor)
	}
}

// Seen takes note that the answer's finish has been seen, where it is not known
// yet what the call will end in: nobody else tells what Text says, and Release
// has no effect any more. Ack is still to be called.
func (d *Delivery) Seen() {
	d.manager.mu.Lock()
	defer d.manager.mu.Unlock()
	if !d.settled {
		d.see()
	}
}

func (d *Delivery) see() {
	if d.seen {
		return
	}
	d.seen = true
	s := d.session
	s.told = max(s.told, d.version)
	// More may be running by now, and fewer: the model knows of those that it
	// was told of, as far as they still run.
	s.toldRunning = min(max(s.toldRunning, d.running), s.running)
	d.reminder.ack()
}

// Release takes note that the model has not been told, for the call failed or
// was given up before its finish: the next Delivery says it again.
func (d *Delivery) Release() {
	d.manager.mu.Lock()
	defer d.manager.mu.Unlock()
	if d.seen {
		return
	}
	d.settled = true
	d.reminder.release()
}

// join joins what is not empty.
func join(reminder, summary string) string {
	if reminder == "" || summary == "" {
		return reminder + summary
	}
	return reminder + "\n\n" + summary
}

// hasChanged reports whether the model is to be told what the session is at,
// also if nothing has ended.
func (s *session) hasChanged(style Style) bool {
	if style == ReminderOnly {
		return s.running > s.toldRunning
	}
	return s.version != s.told
}

// notes returns a copy of what stands.
func (s *session) notes() []Note {
	notes := make([]Note, len(s.standing))
	for i, n := range s.standing {
		notes[i] = n.Note
	}
	return notes
}

// stand adds what requests have to repeat from now on.
func (s *session) stand(text string, anchor any) {
	if text == "" {
		return
	}
	s.standing = append(s.standing, &note{Note{Text: text, Anchor: anchor}})
	s.standingBytes += len(text)
	for s.standingBytes > maxStanding && len(s.standing) > 1 {
		s.clear(s.standing[:1])
	}
}

// clear takes away what requests need not repeat any more.
func (s *session) clear(notes []*note) {
	s.standing = slices.DeleteFunc(s.standing, func(n *note) bool {
		gone := slices.Contains(notes, n)
		if gone {
			s.standingBytes -= len(n.Text)
		}
		return gone
	})
}
