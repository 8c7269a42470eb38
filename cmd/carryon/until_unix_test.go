//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// failsTwice is a command that passes when it is run for the third time.
func failsTwice(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs")
	return fmt.Sprintf(`echo x >> %[1]s; [ $(wc -l < %[1]s) -ge 3 ] || { echo "--- FAIL: TestTea"; exit 1; }`, path)
}

func TestRunGoesOnUntilACommandPasses(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, list("in_progress"), list("completed"), carryontest.Text("All done."),
		carryontest.Call("write_file", "{}").Usage(100, 11), carryontest.Text("Now it works."), carryontest.Text("Mended.").Usage(100, 11))
	command := failsTwice(t)
	stdout, stderr, err := asAgent(t, "work", "-until", command, "-upstream", upstream.URL(), "-min-interval", "0")
	require.NoError(t, err)
	assert.Equal(t, "\n\nAll done.\nNow it works.\n\nMended.\n", stdout)
	assert.Equal(t, "carryon: 4 requests, 2 continuations, 1 of 1 todo done, 222 tokens added\n"+
		"carryon: sent 2 continuations because a check failed, for 222 tokens\n"+
		"carryon: `"+short(command)+"` failed twice, then passed\n", stderr)
	prompts := 0
	for _, r := range upstream.Requests() {
		if strings.Contains(string(r.Body), "--- FAIL: TestTea") {
			prompts++
		}
	}
	assert.Equal(t, 2, prompts)
}

// short returns a command as the last line shows it.
func short(command string) string {
	if len(command) > 100 {
		return command[:100] + "..."
	}
	return command
}

func TestRunSaysWhatItsCommandsHaveSaid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags []string
		turns int // of the model's, with text
		want  string
	}{
		"passed":    {[]string{"-until", "true"}, 1, "carryon: `true` passed\n"},
		"two":       {[]string{"-until", "true", "-until", "exit 0"}, 1, "carryon: the commands of -until passed\n"},
		"never":     {[]string{"-until", "false"}, 5, "carryon: `false` failed 4 times, and had not passed when no attempt was left\n"},
		"the other": {[]string{"-until", "true", "-until", "false", "-max-attempts", "1"}, 2, "carryon: the commands of -until failed once, and had not passed when no attempt was left\n"},
		"not found": {[]string{"-until", "no-such-command"}, 1, `carryon: nobody knows whether the work is done: "no-such-command" cannot be run (exit status 127): `},
		"too slow":  {[]string{"-until", "sleep 60", "-until-timeout", "200ms"}, 1, `carryon: nobody knows whether the work is done: "sleep 60" was ended after 200ms` + "\n"},
		"dry run":   {[]string{"-until", "false", "-dry-run"}, 1, "carryon: `false` failed once, and had not passed at the end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := []carryontest.Turn{list("completed")}
			for i := range test.turns {
				turns = append(turns, carryontest.Text(fmt.Sprintf("Done, for the %dth time.", i)))
			}
			upstream := carryontest.NewServer(t, turns...)
			_, stderr, err := asAgent(t, "work", append(test.flags, "-upstream", upstream.URL(), "-min-interval", "0")...)
			require.NoError(t, err)
			assert.Contains(t, stderr, test.want)
			assert.Len(t, upstream.Requests(), len(turns))
		})
	}
}

// An agent without a tool call has done nothing that could be checked.
func TestRunAsksNoCommandWithoutWork(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, carryontest.Text("Tea is a drink."))
	_, stderr, err := asAgent(t, "work", "-until", "false", "-upstream", upstream.URL())
	require.NoError(t, err)
	assert.NotContains(t, stderr, "false")
}

// The command of -until runs as if it were typed, and knows nothing of the run.
func TestRunGivesCommandsTheEnvironmentOfTheUser(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	upstream := carryontest.NewServer(t, list("completed"), carryontest.Text("All done."))
	p := program(t, "run", "-upstream", upstream.URL(), "-until", `env > env; pwd > pwd; cat > input`, "--", "env", asProgram+"=agent", os.Args[0], "work")
	p.Dir = folder
	p.Env = append(p.Env, "OWN=mine")
	require.NoError(t, p.Run())
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		return string(text)
	}
	env := "\n" + read("env")
	assert.Contains(t, env, "\nOWN=mine\n")
	assert.NotContains(t, env, "\nCARRYON_")
	for _, name := range []string{"HTTPS_PROXY", "SSL_CERT_FILE"} {
		_, value, _ := strings.Cut(env, "\n"+name+"=")
		value, _, _ = strings.Cut(value, "\n")
		assert.Equal(t, os.Getenv(name), value, "the agent's is another")
	}
	assert.Empty(t, read("input"))
	want, err := filepath.EvalSymlinks(folder)
	require.NoError(t, err)
	assert.Equal(t, want, strings.TrimSpace(read("pwd")))
}

// With the agent, the command that runs for it ends, and everything that it has started,
// even if none of it listens.
func TestEndOfTheAgentEndsTheCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	upstream := carryontest.NewServer(t, list("completed"), carryontest.Text("All done."))
	const deaf = `trap '' TERM INT HUP; sh -c 'echo $$ > child; while :; do sleep 0.1; done' & echo $$ > leader; wait; while :; do sleep 0.1; done`
	p := program(t, "run", "-upstream", upstream.URL(), "-drain-timeout", "100ms", "-until", deaf, "--", "env", asProgram+"=agent", os.Args[0], "work")
	p.Dir = folder
	require.NoError(t, p.Start())
	pids := map[string]int{}
	for _, name := range []string{"leader", "child"} {
		require.Eventually(t, func() bool {
			text, _ := os.ReadFile(filepath.Join(folder, name))
			pids[name], _ = strconv.Atoi(strings.TrimSpace(string(text)))
			return pids[name] > 1
		}, time.Minute, time.Millisecond)
	}
	require.NoError(t, p.Process.Signal(syscall.SIGTERM)) // which goes to the agent
	require.Error(t, p.Wait())
	for name, pid := range pids {
		assert.True(t, isGone(pid), name)
	}
}

// isGone reports whether a process has ended, though perhaps nobody has waited for it.
func isGone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}
