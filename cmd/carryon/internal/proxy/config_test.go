package proxy

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/check"
	"github.com/carryon-go/carryon/continuation"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	with := func(change func(*Config)) *Config {
		c := Config{
			Listen:   "127.0.0.1:8787",
			Upstream: &url.URL{Scheme: "https", Host: "api.openai.com", Path: "/v1"},
			Rules: Rules{
				TodoContinuation: true, Questions: "mode", Untouched: "mode", MaxAttempts: continuation.DefaultLimits().MaxAttempts, MinInterval: time.Second,
				UntilTimeout: check.DefaultTimeout,
			},
			Usage: "one", LogFormat: "text", DrainTimeout: defaultDrain,
			TodoTools: []string{}, CORS: []string{}, Hosts: []string{}, bodyPatience: bodyPatience,
		}
		change(&c)
		return &c
	}
	tests := map[string]struct {
		args string
		want *Config
	}{
		"none":        {"", with(func(*Config) {})},
		"listen":      {"-listen :0", with(func(c *Config) { c.Listen = ":0" })},
		"upstream":    {"-upstream http://[::1]:11434/v1/", with(func(c *Config) { c.Upstream = &url.URL{Scheme: "http", Host: "[::1]:11434", Path: "/v1/"} })},
		"query":       {"-upstream https://a/b?c=d", with(func(c *Config) { c.Upstream = &url.URL{Scheme: "https", Host: "a", Path: "/b", RawQuery: "c=d"} })},
		"two dashes":  {"--yolo", with(func(c *Config) { c.YOLO, c.Mode = true, ModeYOLO })},
		"yolo":        {"-yolo", with(func(c *Config) { c.YOLO, c.Mode = true, ModeYOLO })},
		"attempts":    {"-max-attempts 7", with(func(c *Config) { c.MaxAttempts = 7 })},
		"no limit":    {"-max-attempts -1", with(func(c *Config) { c.MaxAttempts = -1 })},
		"budget":      {"-token-budget 5000", with(func(c *Config) { c.TokenBudget = 5000 })},
		"interval":    {"-min-interval 250ms", with(func(c *Config) { c.MinInterval = 250 * time.Millisecond })},
		"no interval": {"-min-interval 0", with(func(c *Config) { c.MinInterval = 0 })},
		"dry run":     {"-dry-run", with(func(c *Config) { c.DryRun = true })},
		"until":       {"-until=make -until=lint,vet -until-timeout 10m", with(func(c *Config) { c.Until, c.UntilTimeout = []string{"make", "lint,vet"}, 10*time.Minute })},
		"holdout":     {"-holdout 0.5", with(func(c *Config) { c.Holdout = "0.5" })},
		"price":       {"-price 3,0.30,15", with(func(c *Config) { c.Price = "3,0.30,15" })},
		"lists": {"-todo-tools note,plan -cors http://a,http://b -allow-host box", with(func(c *Config) {
			c.TodoTools, c.CORS, c.Hosts = []string{"note", "plan"}, []string{"http://a", "http://b"}, []string{"box"}
		})},
		"usage":        {"-usage sum", with(func(c *Config) { c.Usage = "sum" })},
		"session":      {"-session-header X-Chat", with(func(c *Config) { c.SessionHeader = "X-Chat" })},
		"log format":   {"-log json", with(func(c *Config) { c.LogFormat = "json" })},
		"content, log": {"-content -v", with(func(c *Config) { c.Content, c.Verbose, c.LogLevel = true, true, "debug" })},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsed(t, strings.Fields(test.args)...)
			got.upstream = ""
			assert.Equal(t, test.want, got)
		})
	}
}

// Not parallel: the environment is the process's.
func TestEachFlagHasAVariable(t *testing.T) {
	for name, value := range map[string]string{
		"CARRYON_LISTEN": ":0", "CARRYON_UPSTREAM": "http://host/v1", "CARRYON_YOLO": "true", "CARRYON_MAX_ATTEMPTS": "7",
		"CARRYON_MIN_INTERVAL": "2s", "CARRYON_DRY_RUN": "1", "CARRYON_CONTENT": "true", "CARRYON_VERBOSE": "true",
		"CARRYON_UNTIL": "make lint\n\nmake test\n", "CARRYON_UNTIL_TIMEOUT": "30s",
	} {
		t.Setenv(name, value)
	}
	c := parsed(t)
	assert.Equal(t, ":0", c.Listen)
	assert.Equal(t, "http://host/v1", c.Upstream.String())
	assert.Equal(t, 7, c.MaxAttempts)
	assert.Equal(t, 2*time.Second, c.MinInterval)
	assert.True(t, c.YOLO && c.DryRun && c.Content && c.Verbose)
	assert.Equal(t, []string{"make lint", "make test"}, c.Until)
	assert.Equal(t, 30*time.Second, c.UntilTimeout)
	assert.Equal(t, 2, parsed(t, "-max-attempts", "2").MaxAttempts, "the flag counts more")
	assert.Equal(t, []string{"make"}, parsed(t, "-until", "make").Until, "likewise")
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	const noURL = "-upstream must be a URL such as https://api.openai.com/v1"
	tests := map[string]struct{ args, want string }{
		"no scheme":         {"-upstream localhost:11434/v1", noURL},
		"no host":           {"-upstream http:///v1", noURL},
		"another scheme":    {"-upstream ftp://host/v1", noURL},
		"no URL at all":     {"-upstream http://%zz", noURL},
		"empty":             {"-upstream=", noURL},
		"key in the URL":    {"-upstream https://sk-secret@host/v1", "-upstream must not contain a user name: clients send their own API keys"},
		"attempts":          {"-max-attempts -2", "-max-attempts must be at least 1, or -1 for no limit, not -2 (to send no continuations, use -dry-run)"},
		"attempts in words": {"-max-attempts three", `invalid value "three" for flag -max-attempts`},
		"budget":            {"-token-budget -1", "-token-budget -1 is negative"},
		"interval":          {"-min-interval -1s", "-min-interval -1s is negative"},
		"interval, no unit": {"-min-interval 5", `invalid value "5" for flag -min-interval`},
		"until, blank":      {"-until=", "the command is blank"},
		"until, no time":    {"-until-timeout 0", "-until-timeout must be more than 0 and at most 10m0s, not 0s"},
		"until, too long":   {"-until-timeout 11m", "-until-timeout must be more than 0 and at most 10m0s, not 11m0s"},
		"holdout":           {"-holdout 1.5", `-holdout must be a share from 0 to 1, such as 0.5, not "1.5"`},
		"holdout, negative": {"-holdout -0.5", `-holdout must be a share from 0 to 1`},
		"holdout, NaN":      {"-holdout NaN", `-holdout must be a share from 0 to 1`},
		"holdout in words":  {"-holdout half", `-holdout must be a share from 0 to 1, such as 0.5, not "half"`},
		"price, two":        {"-price 3,15", "-price must be three prices of a million tokens"},
		"price, negative":   {"-price 3,-1,15", `such as 3,0.30,15, not "3,-1,15"`},
		"price, NaN":        {"-price 3,NaN,15", `-price must be three prices`},
		"price, infinite":   {"-price 3,Inf,15", `-price must be three prices`},
		"price in words":    {"-price cheap", `-price must be three prices`},
		"usage":             {"-usage all", `-usage must be one, sum or last, not "all"`},
		"log":               {"-log xml", `-log must be text or json, not "xml"`},
		"an endpoint":       {"-upstream http://host/v1/chat/completions", "-upstream must be a base URL: leave out /chat/completions"},
		"state, no URL":     {"-state foo", "-state: not a URL such as redis://127.0.0.1:6379 or postgres://127.0.0.1/carryon"},
		"state, unknown":    {"-state mongo://sk-secret@host", "-state: mongo:// is not supported: use redis:// or postgres://"},
		"origin":            {"-cors app.example", `-cors must be an origin such as https://app.example, or * for all, not "app.example"`},
		"origin, a pattern": {"-cors https://*.example", `-cors must be an origin such as https://app.example, or * for all, not "https://*.example"`},
		"origin, a path":    {"-cors https://app.example/", "-cors must be an origin"},
		"host, a URL":       {"-allow-host http://box", `-allow-host must be a host name alone, such as box.example, not "http://box"`},
		"host, a port":      {"-allow-host box:80", "-allow-host must be a host name alone"},
		"header":            {"-session-header X:Chat", `-session-header must be the name of a header, not "X:Chat"`},
		"unknown":           {"-port 80", "flag provided but not defined: -port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(strings.Fields(test.args)...)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "sk-secret")
		})
	}
}

func TestLimitsOfTheFlags(t *testing.T) {
	t.Parallel()
	c := parsed(t, "-max-attempts", "-1", "-min-interval", "0")
	assert.Equal(t, continuation.Limits{MaxAttempts: continuation.Off, MinInterval: continuation.Off}, c.limits())
	c = parsed(t, "-max-attempts", "2", "-min-interval", "5s")
	assert.Equal(t, continuation.Limits{MaxAttempts: 2, MinInterval: 5 * time.Second}, c.limits())
}
