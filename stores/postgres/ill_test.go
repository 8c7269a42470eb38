package postgres_test

import (
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/testkit/replicatest"
)

func TestProgramsWhoseServerIsIll(t *testing.T) {
	t.Parallel()
	url := server(t).URL
	host := url[strings.Index(url, "host=")+len("host="):]
	for name, c := range map[string]struct {
		url  string
		says string
	}{
		"it is not there":  {strings.Replace(url, host, host+"/nowhere", 1), "no such file or directory"},
		"a wrong password": {strings.Replace(url, ":secret@", ":wrong-secret@", 1), "password authentication failed"},
		"it is read-only":  {url + "&options=-c%20default_transaction_read_only%3Don", "read-only transaction"},
	} {
		t.Run(name, func(t *testing.T) {
			table := newTable()
			replicatest.Illness{Engine: open(t, url, table), Ill: connect(t, c.url, table), Says: c.says}.Test(t)
		})
	}
	t.Run("without a table", func(t *testing.T) {
		replicatest.Illness{Engine: open(t, url, newTable()), Ill: connect(t, url, newTable()), Says: "Engine.CreateTable makes the table"}.Test(t)
	})
	t.Run("bad records", func(t *testing.T) { replicatest.TestBadRecords(t, open(t, url, newTable())) })
}
