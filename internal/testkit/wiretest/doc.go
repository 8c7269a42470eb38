// Package wiretest is what the tests of the wire protocols have in common: a client that goes through the transport to a
// scripted server, the answers and requests that it sees, and streams that come in pieces.
//
// The package is for tests.
package wiretest
