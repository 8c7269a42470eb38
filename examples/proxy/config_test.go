package main

import (
	"flag"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	with := func(change func(*config)) config {
		c := config{
			listen:      "127.0.0.1:8787",
			upstream:    &url.URL{Scheme: "https", Host: "api.openai.com", Path: "/v1"},
			maxAttempts: 3, minInterval: time.Second, patience: 10 * time.Second,
		}
		change(&c)
		return c
	}
	tests := map[string]struct {
		args string
		want config
	}{
		"none":         {"", with(func(*config) {})},
		"listen":       {"-listen :0", with(func(c *config) { c.listen = ":0" })},
		"upstream":     {"-upstream http://[::1]:11434/v1/", with(func(c *config) { c.upstream = &url.URL{Scheme: "http", Host: "[::1]:11434", Path: "/v1/"} })},
		"query":        {"-upstream https://a/b?c=d", with(func(c *config) { c.upstream = &url.URL{Scheme: "https", Host: "a", Path: "/b", RawQuery: "c=d"} })},
		"yolo":         {"-yolo", with(func(c *config) { c.yolo = true })},
		"attempts":     {"-max-attempts 7", with(func(c *config) { c.maxAttempts = 7 })},
		"no limit":     {"-max-attempts -1", with(func(c *config) { c.maxAttempts = -1 })},
		"interval":     {"-min-interval 250ms", with(func(c *config) { c.minInterval = 250 * time.Millisecond })},
		"no interval":  {"-min-interval 0", with(func(c *config) { c.minInterval = 0 })},
		"dry run":      {"-dry-run", with(func(c *config) { c.dryRun = true })},
		"content, log": {"-content -v", with(func(c *config) { c.content, c.verbose = true, true })},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, parsed(t, strings.Fields(test.args)...))
		})
	}
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	const noURL = "proxy: -upstream is not a URL such as https://api.openai.com/v1"
	tests := map[string]struct{ args, want string }{
		"no scheme":         {"-upstream localhost:11434/v1", noURL},
		"no host":           {"-upstream http:///v1", noURL},
		"another scheme":    {"-upstream ftp://host/v1", noURL},
		"no URL at all":     {"-upstream http://%zz", noURL},
		"empty":             {"-upstream=", noURL},
		"key in the URL":    {"-upstream https://sk-secret@host/v1", "proxy: -upstream has a user name in it, but keys are for clients to send"},
		"attempts":          {"-max-attempts -2", "proxy: -max-attempts -2 is neither 1 or more nor -1 (-dry-run continues nothing)"},
		"attempts in words": {"-max-attempts three", `invalid value "three" for flag -max-attempts: parse error`},
		"interval":          {"-min-interval -1s", "proxy: -min-interval -1s is negative"},
		"interval, no unit": {"-min-interval 5", `invalid value "5" for flag -min-interval: parse error`},
		"argument":          {"serve", `proxy: unexpected argument "serve"`},
		"unknown":           {"-port 80", "flag provided but not defined: -port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := new(strings.Builder)
			_, err := parse(strings.Fields(test.args), said)
			require.Error(t, err)
			first, _, _ := strings.Cut(said.String(), "\n")
			assert.Equal(t, test.want, first)
			assert.NotContains(t, said.String(), "sk-secret")
		})
	}
}

func TestHelpIsNoMistake(t *testing.T) {
	t.Parallel()
	said := new(strings.Builder)
	_, err := parse([]string{"-h"}, said)
	require.ErrorIs(t, err, flag.ErrHelp)
	assert.True(t, strings.HasPrefix(said.String(), usage))
}

func TestLimitsOfTheFlags(t *testing.T) {
	t.Parallel()
	c := parsed(t, "-max-attempts", "-1", "-min-interval", "0")
	assert.Equal(t, continuation.Limits{MaxAttempts: continuation.Off, MinInterval: continuation.Off}, c.limits())
	c = parsed(t, "-max-attempts", "2", "-min-interval", "5s")
	assert.Equal(t, continuation.Limits{MaxAttempts: 2, MinInterval: 5 * time.Second}, c.limits())
}
