package faults

import "io"

// Fault is a way in which an answer fails at a place.
type Fault string

// The ways.
const (
	// Cut ends the answer as if all were well.
	Cut Fault = "cut"
	// Reset breaks the connection.
	Reset Fault = "reset"
	// Stall sends nothing more, and breaks the connection after an hour.
	Stall Fault = "stall"
	// Report sends an error object in place of the rest.
	Report Fault = "report"
	// Garbage sends something else in place of the rest.
	Garbage Fault = "garbage"
)

// ways returns them all.
func ways() []Fault { return []Fault{Cut, Reset, Stall, Report, Garbage} }

// rest is what comes in place of the rest of an answer.
func (f Fault) rest() string {
	switch f {
	case Report:
		return "\n\ndata: " + `{"error":{"message":"The server is overloaded","type":"server_error","param":null,"code":null}}` + "\n\n"
	case Garbage:
		return "\x00\xfe<html><body>Bad gateway</body></html>\n"
	}
	return ""
}

// err is what reading on gives then.
func (f Fault) err() error {
	if f == Reset {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}
