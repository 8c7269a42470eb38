package audit

import (
	"context"
	"time"
)

// opencodeDatabase reads the sessions of opencode, which keeps them in a database.
type opencodeDatabase struct {
	*database

	messages, parts table
	byMessage       map[string][]int64 // the rows of its parts
}

// readOpencode reads a database. It calls session for the conversation of each session of a user, read for each message,
// and finish after the last one.
func readOpencode(ctx context.Context, path string, session func(id string) *conversation, read func(bytes int), finish func(*conversation)) error {
	d, err := openDatabase(path)
	if err != nil {
		return err
	}
	defer d.close()
	o := opencodeDatabase{database: d, messages: d.tables["message"], parts: d.tables["part"]}
	sessions := d.tables["session"]
	if !sessions.has("id", "parent_id") || !o.messages.has("id", "session_id", "data") || !o.parts.has("id", "message_id", "session_id", "data") {
		return errUnknown
	}
	bySession, err := d.index(o.messages, "session_id")
	if err != nil {
		return err
	}
	partsOfSession, err := d.index(o.parts, "session_id")
	if err != nil {
		return err
	}
	return d.rows(sessions, func(r *row) bool {
		values, err := r.values(max(sessions.column("id"), sessions.column("parent_id")) + 1)
		if err != nil || len(values[sessions.column("parent_id")].bytes) > 0 {
			return true
		}
		id := values[sessions.column("id")].text()
		c := session(id)
		c.seen(id, "")
		o.byMessage = o.partsByMessage(partsOfSession[id])
		for _, row := range bySession[id] {
			read(o.message(row, c))
		}
		finish(c)
		return ctx.Err() == nil
	})
}

// index returns the rows of a table for each text in a column.
func (d *database) index(t table, name string) (map[string][]int64, error) {
	column := t.column(name)
	found := map[string][]int64{}
	err := d.rows(t, func(r *row) bool {
		if values, err := r.values(column + 1); err == nil {
			key := values[column].text()
			found[key] = append(found[key], r.id)
		}
		return true
	})
	return found, err
}

func (o *opencodeDatabase) partsByMessage(rows []int64) map[string][]int64 {
	column := o.parts.column("message_id")
	found := map[string][]int64{}
	for _, id := range rows {
		r, err := o.rowAt(o.parts, id)
		if err != nil {
			continue
		}
		if values, err := r.values(column + 1); err == nil {
			key := values[column].text()
			found[key] = append(found[key], id)
		}
	}
	return found
}

// data returns the id of a row and the JSON in it, or nothing if it cannot be read.
func (o *opencodeDatabase) data(t table, row int64) (id string, data []byte) {
	r, err := o.rowAt(t, row)
	if err != nil {
		return "", nil
	}
	column := t.column("data")
	values, err := r.values(max(column, t.column("id")) + 1)
	if err != nil {
		return "", nil
	}
	return values[t.column("id")].text(), values[column].bytes
}

// message reads a message with its parts, and returns how many bytes they have.
func (o *opencodeDatabase) message(row int64, c *conversation) (bytes int) {
	id, data := o.data(o.messages, row)
	message := membersOf(data, "role", "finish", "error", "tokens", "time")
	if created := membersOf(message["time"], "created").number("created"); created > 0 {
		c.seenAt(time.UnixMilli(int64(created)))
	}
	bytes = len(data)
	fromUser := message.text("role") == "user"
	var texts []byte
	for _, row := range o.byMessage[id] {
		_, data := o.data(o.parts, row)
		bytes += len(data)
		part := membersOf(data, "type", "text", "synthetic", "tool", "callID", "state")
		switch {
		case part.text("type") == "text" && fromUser && !part.is("synthetic"):
			texts = append(append(texts, part.text("text")...), 0) // so the engine tells them apart
		case part.text("type") == "text" && !fromUser:
			c.id(id)
			c.says(part.text("text"))
		case part.text("type") == "tool":
			opencodeCall(part, c)
		}
	}
	switch {
	case fromUser && len(texts) > 0:
		c.message(id, string(texts))
	case message["error"] != nil:
		c.interrupted()
	case message.text("finish") == "stop":
		c.finishes("stop")
	}
	usage := membersOf(message["tokens"], "total", "output", "reasoning", "cache")
	cache := membersOf(usage["cache"], "read", "write")
	c.used(usage.number("total"), usage.number("output")+usage.number("reasoning"), cache.number("read")+cache.number("write"))
	return bytes
}

// opencodeCall reads a call with its result.
func opencodeCall(part object, c *conversation) {
	state := membersOf(part["state"], "status", "input", "output", "error")
	c.calls(part.text("callID"), part.text("tool"), string(state["input"]))
	switch state.text("status") {
	case "completed":
		c.result(part.text("callID"), state.text("output"))
	case "error":
		c.result(part.text("callID"), "Error: "+state.text("error"))
	}
}
