package proxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// fileOf returns a file of settings with that text.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestSettingsFile(t *testing.T) {
	t.Parallel()
	flags := Rules{TodoContinuation: true, Mode: ModeStandard, Questions: "mode", Untouched: "mode", MaxAttempts: 4, MinInterval: time.Second, UntilTimeout: time.Minute, Holdout: "0.2"}
	for name, test := range map[string]struct {
		text string
		want func(*Rules)
	}{
		"empty":    {"", func(*Rules) {}},
		"comments": {"# nothing\n\n", func(*Rules) {}},
		"all": {`
			todo-continuation = false
			mode = "yolo"
			questions = "wait"
			untouched = "continue"
			max-attempts = -1
			token-budget = 50_000
			min-interval = "1m30s"
			dry-run = true
			holdout = 0.5
			until = ["make lint", "go test ./a,./b"]
			until-timeout = "30s"
			log-level = "warn"
		`, func(r *Rules) {
			*r = Rules{
				Mode: ModeYOLO, Questions: "wait", Untouched: "continue", MaxAttempts: continuation.Off, TokenBudget: 50_000,
				MinInterval: 90 * time.Second, DryRun: true, Holdout: "0.5", LogLevel: "warn",
				Until: []string{"make lint", "go test ./a,./b"}, UntilTimeout: 30 * time.Second,
			}
		}},
		"a share as text": {`holdout = "0.25"`, func(r *Rules) { r.Holdout = "0.25" }},
		"a whole share":   {`holdout = 1`, func(r *Rules) { r.Holdout = "1" }},
		"no interval":     {`min-interval = "0s"`, func(r *Rules) { r.MinInterval = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := flags.fromFile(fileOf(t, test.text))
			require.NoError(t, err)
			want := flags
			test.want(&want)
			shareOf := func(r Rules) float64 {
				share, err := r.share()
				require.NoError(t, err)
				return share
			}
			assert.InDelta(t, shareOf(want), shareOf(got), 0)
			want.Holdout, got.Holdout = "", ""
			assert.Equal(t, want, got)
		})
	}
}

// An error says where it is, and what would be right.
func TestWrongSettingsFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"no TOML":           {"dry-run = true\nmode: yolo\n", "settings.toml:2: "},
		"twice":             {"dry-run = true\n\ndry-run = false\n", "settings.toml:3: "},
		"no setting":        {"# none\ncolour = \"red\"\n", `settings.toml:2: there is no setting "colour" (the settings are todo-continuation, mode,`},
		"a table":           {"\n[limits]\nmax-attempts = 1\n", `settings.toml:2: there is no setting "limits"`},
		"a flag's alone":    {"dry-run = true\nlisten = \":80\"\n", "settings.toml:2: listen cannot be changed while the proxy runs: use the flag -listen"},
		"another type":      {"dry-run = true\nmax-attempts = \"three\"\n", "settings.toml:2: max-attempts must be of the type integer, not string"},
		"a number for text": {"\nmin-interval = 1.5\n", `settings.toml:2: min-interval must be a time such as "1m30s"`},
		"a time":            {"\nmin-interval = \"5 apples\"\n", `settings.toml:2: min-interval must be a time such as "1m30s"`},
		"a time, no unit":   {"min-interval = 5", `settings.toml:1: min-interval must be a time such as "1m30s"`},
		"attempts":          {"dry-run = true\n\nmax-attempts = 0\n", "settings.toml:3: max-attempts must be at least 1, or -1 for no limit, not 0"},
		"budget":            {"token-budget = -1", "settings.toml:1: token-budget -1 is negative"},
		"interval":          {"min-interval = \"-1s\"", "settings.toml:1: min-interval -1s is negative"},
		"mode":              {"\nmode = \"wild\"", `settings.toml:2: mode must be standard or yolo, not "wild"`},
		"questions":         {"questions = \"never\"", `settings.toml:1: questions must be mode, wait or continue, not "never"`},
		"untouched":         {"untouched = \"\\u001b\"", `settings.toml:1: untouched must be mode, wait or continue, not "\x1b"`},
		"holdout":           {"dry-run = true\nholdout = 1.5", `settings.toml:2: holdout must be a share from 0 to 1`},
		"holdout, NaN":      {"holdout = nan", `settings.toml:1: holdout must be a share from 0 to 1`},
		"until":             {"until = [\"make\", \" \"]", `settings.toml:1: until must be a command, not blank`},
		"until, a text":     {"until = \"make\"", `settings.toml:1: until must be of the type slice, not string`},
		"until, no unit":    {"until-timeout = 5", `settings.toml:1: until-timeout must be a time such as "1m30s"`},
		"until, too long":   {"until-timeout = \"1h\"", `settings.toml:1: until-timeout must be more than 0 and at most 10m0s`},
		"level":             {"log-level = \"loud\"", `settings.toml:1: log-level must be debug, info, warn or error, not "loud"`},
		"too large":         {strings.Repeat("# nothing\n", 200_000), "settings.toml is larger than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := fileOf(t, test.text)
			_, err := (Rules{MaxAttempts: 4, UntilTimeout: time.Minute}).fromFile(path)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "\x1b")
		})
	}
	_, err := (Rules{}).fromFile(filepath.Join(t.TempDir(), "gone"))
	require.ErrorContains(t, err, "-settings: stat ")
}

// The interval 0 is the default in the middleware.
func TestRulesOfCalls(t *testing.T) {
	t.Parallel()
	r := Rules{MaxAttempts: 2, TokenBudget: 3, Questions: "wait", DryRun: true, Holdout: "0.5"}
	assert.Equal(t, middleware.Rules{
		Limits:   continuation.Limits{MaxAttempts: 2, TokenBudget: 3, MinInterval: continuation.Off},
		Handback: continuation.Handback{Questions: continuation.Wait}, DryRun: true, Holdout: 0.5,
	}, r.ofCalls())
}
