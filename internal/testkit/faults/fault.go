package faults

import "io"

// Fault is a way in which an answer fails.
type Fault string

// The faults.
const (
	// Cut ends the answer as if all were well.
	Cut Fault = "cut"
	// Reset breaks the connection.
	Reset Fault = "reset"
	// Stall sends nothing more, and breaks the connection after an hour.
	Stall Fault = "stall"
	// Report sends an error object instead of the rest.
	Report Fault = "report"
	// Garbage sends something else instead of the rest.
	Garbage Fault = "garbage"
)

// allFaults returns all faults.
func allFaults() []Fault { return []Fault{Cut, Reset, Stall, Report, Garbage} }

// rest returns the bytes that replace the rest of an answer.
func (f Fault) rest() string {
	switch f {
	case Report:
		return "\n\ndata: " + `{"error":{"message":"The server is overloaded","type":"server_error","param":null,"code":null}}` + "\n\n"
	case Garbage:
		return "\x00\xfe<html><body>Bad gateway</body></html>\n"
	}
	return ""
}

// err returns the error of the read after them.
func (f Fault) err() error {
	if f == Reset {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}
