package postgres_test

import (
	"testing"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/records"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	url := server(t).URL
	carryontest.TestRecords(t, func() (records.Records, records.Records) {
		table := newTable()
		return open(t, url, table), open(t, url, table)
	})
}
