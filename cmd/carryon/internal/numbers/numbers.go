// Package numbers writes numbers as the command shows them.
package numbers

import "strconv"

// Grouped returns a number that is not negative with a comma before every three digits.
func Grouped(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Of returns a number of things. Their plural is formed with an s unless many is given.
func Of(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return Grouped(n) + " " + many[0]
	}
	return Grouped(n) + " " + one + "s"
}
