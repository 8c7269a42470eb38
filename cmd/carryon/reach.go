package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carryon-go/carryon/cmd/carryon/internal/agent"
	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
	"github.com/carryon-go/carryon/cmd/carryon/internal/numbers"
	"github.com/carryon-go/carryon/cmd/carryon/internal/providers"
	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
	"github.com/carryon-go/carryon/cmd/carryon/internal/tunnel"
)

// session is one run of an agent.
type session struct {
	config  *runConfig
	program agent.Agent
	command []string
	launch  *agent.Launch
	logger  *slog.Logger

	name   string // of the run
	dir    string // of its files
	server *proxy.Server
	tunnel *tunnel.Tunnel
}

// modelHosts returns the hosts that carryon answers for: those of the table, of the
// environment and of the flag, whose mistakes are the user's.
func (c *runConfig) modelHosts(inEnvironment []string) (hosts tunnel.Hosts, err error) {
	for _, host := range append(providers.Hosts(os.Getenv), inEnvironment...) {
		_ = hosts.Add(host) // what is in the environment may be anything
	}
	for _, host := range c.hosts {
		if err := hosts.Add(host); err != nil {
			return hosts, usageError{fmt.Errorf("-model-host must be a host such as llm.example.com: %w", err)}
		}
		if name, _, _ := strings.Cut(host, ":"); tunnel.Bypassed(os.Getenv, strings.TrimPrefix(name, "*.")) {
			c.say(fmt.Sprintf("NO_PROXY keeps requests to %s away from carryon: take it out for this run", host))
		}
	}
	return hosts, nil
}

// maxShown is how much of an agent's name is shown, in bytes.
const maxShown = 20

// nameOf returns the name of what a command starts.
func nameOf(program agent.Agent, command []string) string {
	name := cmp.Or(program.Name, filepath.Base(command[0]))
	return name[:min(len(name), maxShown)]
}

// reach says in one short line how the agent is reached, if it is.
func (c *runConfig) reach(program agent.Agent, launch *agent.Launch) string {
	ways := []string{"a proxy", "a certificate"}
	switch {
	case program.Unreached != "":
		launch.Notes = append(launch.Notes, "this run is one without carryon; instead: "+program.Instead)
		return fmt.Sprintf("%s is not reached: %s", c.name, program.Unreached)
	case len(launch.Local) == 1:
		ways = append(ways, launch.Local[0])
	case len(launch.Local) > 1 || !program.Known():
		ways = append(ways, "base URLs")
	}
	last := len(ways) - 1
	return fmt.Sprintf("%s is reached by %s and %s of this run", c.name, strings.Join(ways[:last], ", "), ways[last])
}

// checkAuthorities looks at the file of authorities that Go's library opens by itself: at a
// named pipe it would wait for somebody who writes.
func checkAuthorities(getenv func(string) string) error {
	const variable = "SSL_CERT_FILE"
	path := getenv(variable)
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return fmt.Errorf("%s: %s %w", variable, path, files.ErrNotRegular)
	}
	return nil
}

// start starts the proxy and the tunnel of the run.
func (s *session) start(ctx context.Context, hosts tunnel.Hosts) error {
	if err := checkAuthorities(os.Getenv); err != nil {
		return err
	}
	c := &s.config.proxy
	c.Via, c.Roots = tunnel.Proxies(os.Getenv), tunnel.Roots(os.Getenv)
	proxy.RouteLogs(s.logger)
	var err error
	if s.server, err = proxy.Start(ctx, c, s.logger); err != nil {
		return err
	}
	s.name = rand.Text()[:12]
	s.dir, err = os.MkdirTemp("", "carryon-") // for this user alone
	if err == nil {
		s.tunnel, err = tunnel.Start(ctx, tunnel.Options{Run: s.name, Hosts: hosts, Via: c.Via, Roots: c.Roots, Logger: s.logger})
	}
	if err == nil {
		s.server.Answer(s.tunnel, tunnel.Origin)
		err = s.prepare()
	}
	if err != nil {
		return errors.Join(err, s.stop(ctx))
	}
	return nil
}

// prepare gives the agent's command the variables of the tunnel.
func (s *session) prepare() error {
	env, err := s.tunnel.Environment(os.Getenv, s.dir)
	if err != nil {
		return err
	}
	env[agent.Mark] = s.name
	if !s.program.Known() && os.Getenv("NODE_USE_ENV_PROXY") == "" {
		env["NODE_USE_ENV_PROXY"] = "1" // else what Node brings along does not obey
	}
	maps.Copy(s.launch.Env, env)
	return nil
}

// stop ends the proxy and the tunnel, and removes the files of the run.
func (s *session) stop(ctx context.Context) error {
	err := s.server.Stop(ctx)
	if s.tunnel != nil {
		_ = s.tunnel.Close() // it never fails
	}
	_ = os.RemoveAll(s.dir) // the system cleans up its temporary folder
	return err
}

// patience is the time after which an agent has usually asked its model.
const patience = time.Minute

// run runs the agent to its end, and reports. On a screen of its own, nothing is said
// meanwhile.
func (s *session) run(ctx context.Context, onScreen bool) error {
	c := s.config
	watching, done := context.WithCancel(ctx)
	var early chan struct{}
	if !onScreen {
		early = make(chan struct{})
		minute := time.NewTimer(patience)
		defer minute.Stop()
		go func() {
			defer close(early)
			s.watch(watching, minute.C)
		}()
	}
	code, err := s.launch.Run(os.Environ(), s.dir)
	done()
	if early != nil {
		<-early
	}
	stopped := s.stop(ctx)
	if err != nil {
		return cmp.Or(c.refused(s.command[0], err), err)
	}
	s.report(stopped)
	if code != 0 {
		return exitError(code)
	}
	return nil
}

// watch says after the first minute if no model was asked.
func (s *session) watch(ctx context.Context, minute <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-minute:
		if s.server.Summary().Unused() {
			s.config.say("no model was asked in the first minute: " + s.elsewhere())
		}
	}
}

// report says what was probably wrong, and what carryon has done. stopped is the error
// of stopping the server.
func (s *session) report(stopped error) {
	c := s.config
	for _, hint := range s.server.Hints() {
		c.say(hint)
	}
	if stopped != nil {
		c.say(stopped.Error())
	}
	if left := s.launch.Leftovers(s.name); len(left) > 0 {
		c.say("still running, with a proxy that is gone: " + strings.Join(left, ", "))
	}
	summary := s.server.Summary()
	line := summary.String()
	switch {
	case summary.Unused() && summary.Handshakes > 0:
		line = "the agent never used carryon: it asked for a WebSocket, which carryon does not read, and posted no request"
	case summary.Unused():
		requests := numbers.Of(summary.Requests, "request")
		if summary.Requests > 0 {
			requests += ", none of a model"
		}
		line = fmt.Sprintf("the agent never used carryon: %s (%s)", requests, s.elsewhere())
		s.logger.Warn("the agent asked no model through carryon", slog.Int("requests", summary.Requests))
	}
	if summary.NoList && s.program.HasListSetting() && !c.list {
		line += fmt.Sprintf(" (%s has its list turned off by default: %s)", s.program.Name, s.program.ListAdvice())
	}
	c.say(line)
	for _, sentence := range summary.Sentences() {
		c.say(sentence)
	}
}

// maxHosts is how many hosts a sentence names.
const maxHosts = 5

// elsewhere says to which hosts the agent has spoken in place of a model, and which
// command to type next.
func (s *session) elsewhere() string {
	if s.program.Unreached != "" {
		return s.program.Unreached
	}
	contacts := s.tunnel.Contacts()
	if len(contacts) == 0 {
		return "it spoke to no host through the proxy of this run; to point it there by hand, type carryon proxy -upstream URL, " +
			"and set its base URL to http://" + proxy.DefaultAddress + "/v1"
	}
	names := make([]string, 0, len(contacts))
	for _, contact := range contacts {
		names = append(names, contact.Host)
	}
	spoke := "it spoke to " + listed(names)
	for _, contact := range contacts {
		switch why := providers.Foreign(contact.Host); {
		case why != "":
			return fmt.Sprintf("%s; carryon cannot answer for %s, because %s", spoke, contact.Host, why)
		case contact.Distrusted:
			return fmt.Sprintf("%s; for %s it accepts no certificate but those that it knows; type carryon proxy -upstream https://%s/v1, "+
				"and set its base URL to http://%s/v1", spoke, contact.Host, contact.Host, proxy.DefaultAddress)
		case contact.Unread:
			return fmt.Sprintf("%s; to %s it speaks nothing but HTTP/2, which passes unread", spoke, contact.Host)
		}
	}
	most := slices.MaxFunc(contacts, func(a, b tunnel.Contact) int { return cmp.Compare(a.Sent, b.Sent) })
	if most.Answered {
		return spoke + ", and asked no model there"
	}
	return fmt.Sprintf("%s; if its model is at %s, type %s", spoke, most.Host, s.again("-model-host "+most.Host))
}

// listed returns names as a list in a sentence.
func listed(names []string) string {
	if more := len(names) - maxHosts; more > 0 {
		names = append(slices.Clone(names[:maxHosts]), fmt.Sprintf("%d more", more))
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// maxAgain is the length of the longest command that is repeated in full.
const maxAgain = 60

// again returns the command of this run with another flag.
func (s *session) again(flag string) string {
	words := strings.Join(s.command, " ")
	if len(words) > maxAgain || strings.ContainsAny(words, "\"'\\$`*?;&|<>()\n") || slices.ContainsFunc(s.command, func(word string) bool { return strings.Contains(word, " ") }) {
		words = s.command[0] + " …"
	}
	list := ""
	if s.config.list {
		list = "-list "
	}
	return "carryon run " + list + flag + " -- " + words
}
