package quirks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Reading is what a client reads of one answer.
type Reading struct {
	Text      string
	Reasoning string
	Calls     []Call
	Finish    string
	Usage     Usage
	Err       string // see [Problem]; "" if there was none
}

// Call is a tool call as a client puts it together.
type Call struct{ ID, Type, Name, Arguments string }

// Usage is the tokens that a client counts; the zero value is none.
type Usage struct{ Prompt, Completion, Total, Cached, Reasoning int64 }

// extendedBy returns the usage of an answer to which a turn was added.
func (u Usage) extendedBy(turn Usage) Usage {
	if u.Prompt > 0 {
		turn.Total -= turn.Prompt
		turn.Prompt, turn.Cached = 0, 0
	}
	return u.plus(turn)
}

func (u Usage) plus(v Usage) Usage {
	return Usage{
		Prompt: u.Prompt + v.Prompt, Completion: u.Completion + v.Completion, Total: u.Total + v.Total,
		Cached: u.Cached + v.Cached, Reasoning: u.Reasoning + v.Reasoning,
	}
}

// Problem returns the text of an error as golden files have it: without what
// differs between versions of Go and of an SDK.
func Problem(err error) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &syntax):
		return "bad JSON"
	case errors.As(err, &mismatch):
		return "JSON " + mismatch.Value + " for a Go " + mismatch.Type.String()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected EOF"
	}
	return err.Error()
}

// String returns the reading as golden files have it: a line for each field that
// is not empty.
func (r Reading) String() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", name, value)
		}
	}
	line("text", quote(r.Text))
	line("reasoning", quote(r.Reasoning))
	for _, call := range r.Calls {
		line("call", call.String())
	}
	line("finish", r.Finish)
	line("usage", r.Usage.String())
	line("error", quote(r.Err))
	if b.Len() == 0 {
		return "  nothing\n"
	}
	return b.String()
}

// String returns the call in a line.
func (c Call) String() string {
	return strings.Join([]string{dash(c.ID), dash(c.Type), dash(c.Name), dash(quote(c.Arguments))}, " ")
}

// String returns the usage in a line, "" if there is none.
func (u Usage) String() string {
	if u == (Usage{}) {
		return ""
	}
	s := fmt.Sprintf("%d prompt, %d completion, %d total", u.Prompt, u.Completion, u.Total)
	if u.Cached != 0 {
		s += fmt.Sprintf(", %d cached", u.Cached)
	}
	if u.Reasoning != 0 {
		s += fmt.Sprintf(", %d reasoning", u.Reasoning)
	}
	return s
}

// quote returns a text in quotes, cut in the middle if it is very long.
func quote(text string) string {
	const most, edge = 2000, 40
	switch {
	case text == "":
		return ""
	case len(text) > most:
		return fmt.Sprintf("%q and %d bytes more", text[:edge], len(text)-edge)
	case strconv.CanBackquote(text):
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
