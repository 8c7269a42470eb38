package servertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// StartPostgres starts a PostgreSQL with an empty database, user "postgres" and
// the password "secret". The test is skipped if PostgreSQL is not installed.
func StartPostgres(tb testing.TB) *Server {
	tb.Helper()
	folders := []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"}
	initdb, postgres := find(tb, []string{"initdb"}, folders), find(tb, []string{"postgres"}, folders)
	if initdb == "" || postgres == "" {
		missing(tb, "postgresql")
	}
	dir := shortDir(tb)
	password := filepath.Join(dir, "password")
	require.NoError(tb, os.WriteFile(password, []byte("secret\n"), 0o644)) //nolint:gosec // the server reads it, as somebody else
	owner := ownerOfServer(tb, dir)
	data := filepath.Join(dir, "data")
	initialise := exec.CommandContext(tb.Context(), initdb, "-D", data, "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale", "C", //nolint:gosec // as found
		"--auth", "scram-sha-256", "--pwfile", password)
	initialise.Dir = dir
	owner.apply(initialise)
	said, err := initialise.CombinedOutput()
	require.NoError(tb, err, string(said))

	serve := exec.CommandContext(context.WithoutCancel(tb.Context()), postgres, "-D", data, "-c", "listen_addresses=", //nolint:gosec // as found
		"-c", "unix_socket_directories="+dir)
	serve.Dir = dir
	owner.apply(serve)
	s := start(tb, serve)
	s.URL = "postgres://postgres:secret@/postgres?host=" + dir
	s.waitFor(tb, func(context.Context) error {
		if !strings.Contains(s.output.String(), "ready to accept connections") {
			return errors.New("it is not ready")
		}
		return nil
	})
	return s
}

// owner is the user that a server runs as. PostgreSQL refuses to run as root.
type owner struct{ uid, gid int }

// ownerOfServer returns the user to run the server as, and gives that user the
// folder.
func ownerOfServer(tb testing.TB, dir string) *owner {
	tb.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		missing(tb, "an account for postgresql, which does not run as root,")
	}
	uid, err := strconv.Atoi(account.Uid)
	require.NoError(tb, err)
	gid, err := strconv.Atoi(account.Gid)
	require.NoError(tb, err)
	require.NoError(tb, os.Chown(dir, uid, gid))
	return &owner{uid, gid}
}
