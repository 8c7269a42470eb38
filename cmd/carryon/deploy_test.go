package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/servertest"
)

// instructions returns what each instruction of the Dockerfile says, in order.
func instructions(t *testing.T) map[string][]string {
	t.Helper()
	file, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	all := make(map[string][]string)
	for line := range strings.Lines(string(file)) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			all[name] = append(all[name], rest)
		}
	}
	return all
}

// The image is one static binary and a user without rights, and its variables are the
// command's.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	all := instructions(t)
	assert.Equal(t, []string{"carryon /usr/local/bin/carryon", "LICENSE THIRD_PARTY_NOTICES.txt /usr/share/doc/carryon/"}, all["COPY"])
	assert.Equal(t, []string{`["/usr/local/bin/carryon"]`}, all["ENTRYPOINT"])
	assert.Equal(t, []string{`["proxy"]`}, all["CMD"])
	require.Len(t, all["FROM"], 1)
	assert.Regexp(t, `^gcr\.io/distroless/static-debian\d+:nonroot(@sha256:[0-9a-f]{64})?$`, all["FROM"][0])
	assert.Equal(t, []string{"nonroot:nonroot"}, all["USER"])
	help, err := program(t, "proxy", "-h").Output()
	require.NoError(t, err)
	set := make(map[string]string)
	for _, variable := range all["ENV"] {
		name, value, _ := strings.Cut(variable, "=")
		assert.Contains(t, string(help), "[$"+name+"]")
		set[name] = value
	}
	address := set["CARRYON_LISTEN"]
	drain, err := time.ParseDuration(set["CARRYON_DRAIN_TIMEOUT"])
	require.NoError(t, err)
	assert.Less(t, drain, 10*time.Second, "docker stop kills then")
	assert.Equal(t, []string{strings.TrimPrefix(address, ":")}, all["EXPOSE"])
}

// systemd takes the unit, which gives open answers the time that they have to end.
func TestUnit(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("carryon.service")
	require.NoError(t, err)
	unit := string(file)
	set := func(name string) string {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)
		require.NotNil(t, found, name)
		return found[1]
	}
	assert.Equal(t, "/usr/local/bin/carryon proxy", set("ExecStart"))
	assert.Equal(t, "-/etc/carryon.env", set("EnvironmentFile"))
	assert.Equal(t, "strict", set("ProtectSystem"), "nothing can be written")
	assert.Equal(t, "carryon", set("StateDirectory"), "but the file of -stats")
	stop, err := time.ParseDuration(set("TimeoutStopSec") + "s")
	require.NoError(t, err)
	assert.Greater(t, stop, 10*time.Second, "open answers have 10s to finish")

	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	here := filepath.Join(t.TempDir(), "carryon.service") // systemd asks for a program that exists
	require.NoError(t, os.WriteFile(here, []byte(strings.ReplaceAll(unit, "/usr/local/bin/carryon", os.Args[0])), 0o600))
	out, _ := exec.CommandContext(t.Context(), analyze, "verify", here).CombinedOutput() // it may fail for what the machine lacks
	assert.NotContains(t, string(out), "carryon.service")
}

// Prometheus loads the alerts; they are silent on a quiet system, and tell of a first failure.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool := servertest.Program(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", filepath.Join("testdata", "alerts.test.yml")}} {
		out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput() //nolint:gosec // of this test
		assert.NoError(t, err, string(out))
	}
}
