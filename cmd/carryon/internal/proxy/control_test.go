package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/reasons"
)

// control returns what changes the scene's proxy.
func (s *scene) control(t *testing.T) *control {
	t.Helper()
	proxy, ok := s.served.Handler.(*Proxy)
	require.True(t, ok)
	return proxy.control
}

// turn switches continuing as an operator does.
func (s *scene) turn(t *testing.T, on string) reply {
	t.Helper()
	r := newRequest(t, http.MethodPost, strings.TrimSuffix(s.base, prefix)+continuingPath, "on="+on)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("", s.control(t).madeUp)
	return s.send(r)
}

func TestContinuingIsSwitchedOffAndOn(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-metrics")
	assert.Equal(t, "ok\n", s.get(t, "/healthz").body)
	assert.InDelta(t, 1, s.samples(t)["carryon_continuing"], 0)
	assert.True(t, s.report(t).Settings.Continuing)

	off := s.turn(t, "false")
	require.Equal(t, http.StatusOK, off.status, off.body)
	assert.Regexp(t, `^\{"continuing":false,"off_since":"20.*"\}\n$`, off.body)
	assert.Equal(t, off.body, s.get(t, continuingPath).body)
	assert.Equal(t, off.body, s.turn(t, "false").body, "it stays off since then")
	s.ask(t, conversation{session: "a"}, carryontest.Text(plan))
	assert.Len(t, s.upstream.Requests(), 1)
	assert.Regexp(t, "^ok\ncontinuing is off since 20.*\n$", s.get(t, "/healthz").body)
	assert.InDelta(t, 0, s.samples(t)["carryon_continuing"], 0)
	report := s.report(t)
	assert.False(t, report.Settings.Continuing)
	assert.False(t, report.Settings.OffSince.IsZero())
	assert.Equal(t, reasons.Disabled.Code(), report.Entries[0].Outcome.Code)
	assert.Equal(t, "Continuing is switched off", report.Entries[0].Outcome.Explanation)
	assert.Equal(t, "Continuing is switched off", report.Entries[0].Outcome.Reason)
	assert.Equal(t, "1 request, 0 continuations, continuing was switched off", s.served.Handler.(*Proxy).journal.summary().String())
	assert.Contains(t, s.logs.String(), `level=WARN msg="continuing was switched" on=false by="POST /debug/carryon/continuing" continuing=false`)

	assert.Equal(t, `{"continuing":true}`+"\n", s.turn(t, "true").body)
	s.ask(t, conversation{session: "a"}, carryontest.Text(plan), edit())
	assert.Len(t, s.upstream.Requests(), 3)
	assert.Equal(t, "ok\n", s.get(t, "/healthz").body)
}

// A continuation that is under way finishes; none follows it.
func TestASwitchLetsAContinuationFinish(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	goOn := make(chan struct{})
	s.upstream.Append(carryontest.Text(plan), carryontest.Text("Then I write the tests.").GateAfter(2, goOn))
	response, err := s.client.Do(post(t, s.base, conversation{session: "a", stream: true}))
	require.NoError(t, err)
	defer response.Body.Close()
	body := bufio.NewReader(response.Body)
	readUntil(t, body, "Then ")
	require.Equal(t, http.StatusOK, s.turn(t, "false").status)
	close(goOn)
	rest, err := io.ReadAll(body)
	require.NoError(t, err)
	assert.Contains(t, string(rest), "tests.")
	assert.Contains(t, string(rest), "data: [DONE]")
	s.served.wait()
	assert.Len(t, s.upstream.Requests(), 2)
	assert.Equal(t, reasons.Disabled.Code(), s.report(t).Entries[0].Outcome.Code)
}

// Whoever knows the secret may switch, wherever it is, and nobody else: behind a balancer,
// everybody comes from this machine.
func TestWhoMaySwitchContinuing(t *testing.T) {
	t.Parallel()
	proxy := handlerOf(t, parsed(t, "-cors", "*", "-switch-secret", "a secret: long"), http.DefaultTransport, loggerTo(io.Discard))
	const secret = "a secret: long"
	for name, test := range map[string]struct {
		from, host, on, secret string
		header                 map[string]string
		want                   int
	}{
		"an operator":          {"127.0.0.1:5000", "127.0.0.1:8787", "true", secret, nil, http.StatusOK},
		"the page":             {"127.0.0.1:5000", "127.0.0.1:8787", "true", secret, map[string]string{"Origin": "http://127.0.0.1:8787", "Sec-Fetch-Site": "same-origin"}, http.StatusOK},
		"over IPv6":            {"[::1]:5000", "[::1]:8787", "true", secret, nil, http.StatusOK},
		"from another machine": {"10.1.2.3:5000", "127.0.0.1:8787", "true", secret, nil, http.StatusOK},
		"behind a balancer":    {"127.0.0.1:5000", "127.0.0.1:8787", "true", secret, map[string]string{"X-Forwarded-For": "10.1.2.3"}, http.StatusOK},
		"a program":            {"127.0.0.1:5000", "127.0.0.1:8787", "false", "", nil, http.StatusForbidden},
		"a guess":              {"127.0.0.1:5000", "127.0.0.1:8787", "false", "a secret: lon", nil, http.StatusForbidden},
		"with a program's key": {"127.0.0.1:5000", "127.0.0.1:8787", "false", "", map[string]string{"Authorization": "Bearer " + secret}, http.StatusForbidden},
		"a website":            {"127.0.0.1:5000", "127.0.0.1:8787", "false", secret, map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden},
		"a website, of today":  {"127.0.0.1:5000", "127.0.0.1:8787", "false", secret, map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		"a rebound name":       {"127.0.0.1:5000", "evil.example:8787", "false", secret, nil, http.StatusForbidden},
		"neither on nor off":   {"127.0.0.1:5000", "127.0.0.1:8787", "maybe", secret, nil, http.StatusBadRequest},
		"a form that is large": {"127.0.0.1:5000", "127.0.0.1:8787", strings.Repeat(" ", 2*maxForm) + "true", secret, nil, http.StatusBadRequest},
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8787})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, continuingPath, strings.NewReader("on="+test.on))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for key, value := range test.header {
			r.Header.Set(key, value)
		}
		if test.secret != "" {
			r.SetBasicAuth("", test.secret)
		}
		r.Host, r.RemoteAddr = test.host, test.from
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, r)
		assert.Equal(t, test.want, w.Code, name)
		assert.True(t, proxy.config.offSince().IsZero(), name)
	}
}

// Nobody can guess a secret that was made up, and a flag that is too short is none.
func TestSecretOfTheSwitch(t *testing.T) {
	t.Parallel()
	made, other := newControl(parsed(t), nil, nil), newControl(parsed(t), nil, nil)
	assert.Equal(t, "curl -u :"+made.madeUp+" -d on=false http://x/debug/carryon/continuing", made.switchOff("http://x"))
	assert.GreaterOrEqual(t, len(made.madeUp), 26)
	assert.NotEqual(t, made.madeUp, other.madeUp)
	chosen := newControl(parsed(t, "-switch-secret", "long enough"), nil, nil)
	assert.Equal(t, "curl -u :$CARRYON_SWITCH_SECRET -d on=false http://x/debug/carryon/continuing", chosen.switchOff("http://x"))
	_, err := parse("-switch-secret", "seven77")
	require.EqualError(t, err, "-switch-secret (CARRYON_SWITCH_SECRET) must have at least 8 characters")
}

// The file is read again: for the calls that begin after that.
func TestSettingsAreReadAgain(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "max-attempts = 1\nlog-level = \"debug\"\n")
	s := newScene(t, "-max-attempts", "3", "-holdout", "0", "-settings", path)
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	asked := func(user string, turns ...carryontest.Turn) shown {
		s.ask(t, conversation{session: "a", user: user}, turns...)
		return s.report(t).Entries[0]
	}
	assert.Equal(t, 1, asked("One.", carryontest.Text(plan), carryontest.Text("Next, the second part.")).Continuations)

	write("max-attempts = 2\nholdout = \"high\"\n")
	s.control(t).reload()
	assert.Contains(t, s.logs.String(), `level=ERROR msg="the settings were not changed" error="`+path+`:2: holdout must be a share from 0 to 1`)
	assert.Equal(t, 1, asked("Two.", carryontest.Text(plan), carryontest.Text("Next, the second part.")).Continuations)

	write("dry-run = true\n")
	s.control(t).reload()
	assert.Contains(t, s.logs.String(), `level=WARN msg="a setting was changed" setting=max-attempts old=1 new=3`)
	assert.Contains(t, s.logs.String(), `level=WARN msg="a setting was changed" setting=dry-run old=false new=true`)
	assert.Contains(t, s.logs.String(), `setting=log-level old=debug new=info`)
	assert.Equal(t, stateDryRun, asked("Three.", carryontest.Text(plan)).State)
	assert.True(t, s.report(t).Settings.DryRun)

	write("todo-continuation = false\n")
	s.control(t).reload()
	assert.Equal(t, reasons.Disabled.Code(), asked("Four.", carryontest.Text(plan)).Outcome.Code)
	s.turn(t, "true")
	assert.False(t, s.report(t).Settings.Continuing, "the file still says so")

	write("")
	s.control(t).reload()
	assert.Equal(t, 1, asked("Five.", carryontest.Text(plan), edit()).Continuations)
	s.control(t).reload()
	assert.Contains(t, s.logs.String(), `level=INFO msg="the settings were read again, and are the same"`)
}

// The switch is the operator's: the file does not turn continuing on again.
func TestAFileDoesNotOverruleTheSwitch(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "todo-continuation = true\n")
	s := newScene(t, "-settings", path)
	s.turn(t, "false")
	since := s.report(t).Settings.OffSince
	s.control(t).reload()
	assert.Equal(t, since, s.report(t).Settings.OffSince)
}

// With another share, sessions may change their arm. The comparison leaves those out.
func TestAnotherHoldoutWhileASessionRuns(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "holdout = 1\n")
	s := newScene(t, "-settings", path)
	s.ask(t, conversation{session: "a"}, carryontest.Text(plan))
	assert.Equal(t, stateHoldout, s.report(t).Entries[0].State)
	require.NoError(t, os.WriteFile(path, []byte("holdout = 0.000001\n"), 0o600))
	s.control(t).reload()
	s.ask(t, conversation{session: "a", user: "Two."}, carryontest.Text(plan), edit())
	report := s.report(t)
	assert.Equal(t, stateContinued, report.Entries[0].State)
	require.NotNil(t, report.Holdout)
	assert.Zero(t, report.Holdout.Continued.Sessions+report.Holdout.HeldOut.Sessions, "it has been in both")
}
