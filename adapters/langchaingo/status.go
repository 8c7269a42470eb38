package langchaingo

import (
	"errors"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
)

// statusText precedes the HTTP status in the error texts of langchaingo's
// clients. The clients have no error type with a status, and do not expose the
// headers.
const statusText = "API returned unexpected status code: "

// withStatus adds the HTTP status to an error that reports one.
func withStatus(err error) error {
	if status := statusOf(err); status > 0 {
		return &adapter.StatusError{Status: status, Err: err}
	}
	return err
}

// statusOf returns the HTTP status of an error, or 0.
func statusOf(err error) int {
	if err == nil {
		return 0
	}
	var aws interface{ HTTPStatusCode() int } // the method of the AWS SDK's errors
	if errors.As(err, &aws) {
		return aws.HTTPStatusCode()
	}
	_, rest, _ := strings.Cut(err.Error(), statusText)
	status, _ := strconv.ParseUint(rest[:min(3, len(rest))], 10, 16)
	return int(status)
}
