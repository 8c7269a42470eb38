package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/cmd/carryon/internal/agent"
)

// askHosts is an agent that knows only where its model is, as the vendors' own do. It posts to each address until the
// model calls no tool, and prints the texts.
func askHosts(addresses []string) int {
	for _, address := range addresses {
		messages := []map[string]any{{"role": "user", "content": "Build a small web page about tea."}}
		for range 8 {
			body, _ := json.Marshal(map[string]any{
				"model": "m", "messages": messages,
				"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "todo_write", "parameters": map[string]any{"type": "object"}}}},
			})
			client := http.Client{Transport: http.DefaultTransport}                        // with the proxy of the environment
			answer, err := client.Post(address, "application/json", bytes.NewReader(body)) //nolint:noctx // it waits
			if err != nil {
				fmt.Println(err)
				return 1
			}
			var said struct {
				Choices []struct{ Message map[string]any }
			}
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if json.Unmarshal(text, &said) != nil || len(said.Choices) == 0 {
				fmt.Println(answer.StatusCode, string(text))
				break
			}
			message := said.Choices[0].Message
			fmt.Println(message["content"])
			calls, _ := message["tool_calls"].([]any)
			if len(calls) == 0 {
				break
			}
			messages = append(messages, message)
			for _, call := range calls {
				messages = append(messages, map[string]any{"role": "tool", "tool_call_id": call.(map[string]any)["id"], "content": "ok"})
			}
		}
	}
	return 0
}

// company is a network in which every host is behind a proxy with a password, and has a certificate of the company's own
// authority. Nothing else reaches a host.
type company struct {
	variables []string // of the user's environment
	mu        sync.Mutex
	connected []string // for whom the proxy has opened a connection
}

// inCompany starts a company in which every host is handler.
func inCompany(t *testing.T, handler http.Handler) *company {
	t.Helper()
	host := httptest.NewUnstartedServer(handler)
	host.EnableHTTP2 = true
	authority := filepath.Join(t.TempDir(), "company.pem")
	host.TLS = anyHost(t, authority)
	host.StartTLS()
	t.Cleanup(host.Close)
	c := new(company)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.connect(w, r, host.Listener.Addr().String()) }))
	t.Cleanup(proxy.Close)
	via := strings.Replace(proxy.URL, "://", "://some:body@", 1)
	c.variables = []string{"HTTPS_PROXY=" + via, "https_proxy=" + via, "SSL_CERT_FILE=" + authority, "SSL_CERT_DIR=/no/such", "NO_PROXY=", "no_proxy="}
	return c
}

// anyHost stands for every host, with certificates of an authority that it writes into a file.
func anyHost(t *testing.T, file string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	issue := func(template, issuer *x509.Certificate) []byte {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, key)
		assert.NoError(t, err)
		return der
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "some company"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca, err = x509.ParseCertificate(issue(ca, ca))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}), 0o600))
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		leaf := issue(&x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName}}, ca)
		return &tls.Certificate{Certificate: [][]byte{leaf}, PrivateKey: key}, nil
	}}
}

// connect answers a CONNECT.
func (c *company) connect(w http.ResponseWriter, r *http.Request, host string) {
	_, password, _ := parseBasic(r.Header.Get("Proxy-Authorization"))
	if r.Method != http.MethodConnect || password != "body" {
		w.Header().Set("Proxy-Authenticate", `Basic realm="company"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	c.mu.Lock()
	c.connected = append(c.connected, r.RequestURI)
	c.mu.Unlock()
	there, err := net.Dial("tcp", host) //nolint:noctx // a test
	if err != nil {
		return
	}
	defer there.Close()
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(there, here)
		_ = there.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(here, there)
}

func parseBasic(header string) (name, password string, ok bool) {
	r := http.Request{Header: http.Header{"Authorization": {header}}}
	return r.BasicAuth()
}

// reached returns the hosts that somebody has reached.
func (c *company) reached() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.connected)
	return slices.Compact(slices.Clone(c.connected))
}

// models is the handler of a scripted model.
func models(t *testing.T, server *carryontest.Server) http.Handler {
	t.Helper()
	u, err := url.Parse(strings.TrimSuffix(server.URL(), "/v1"))
	require.NoError(t, err)
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}
}

// inRun runs an agent that knows only addresses, with these flags.
func (c *company) inRun(t *testing.T, flags []string, command ...string) (stdout, stderr string) {
	t.Helper()
	p := program(t, slices.Concat([]string{"run"}, flags, []string{"--", "env"}, command)...)
	p.Env = slices.DeleteFunc(p.Env, func(v string) bool { return strings.HasPrefix(v, "CARRYON_UPSTREAM=") })
	p.Env = slices.Concat(p.Env, c.variables, []string{"CARRYON_MIN_INTERVAL=0"})
	var out, said bytes.Buffer
	p.Stdout, p.Stderr = &out, &said
	require.NoError(t, p.Run(), said.String())
	return out.String(), afterReach(t, said.String())
}

// agentOf is the command of an agent that knows only addresses.
func agentOf(addresses ...string) []string {
	return append([]string{asProgram + "=agent", os.Args[0], "hosts"}, addresses...)
}

// An agent of which carryon has never heard is continued with nothing but "carryon run" before it. The proxy and the
// authority that its company demands stay in force, for what carryon answers and for what it does not read.
func TestRunReachesAnyAgent(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t, list("in_progress"), carryontest.Text("Next, I will write style.css."), list("completed"), carryontest.Text("All done."))
	c := inCompany(t, models(t, server))
	stdout, stderr := c.inRun(t, nil, agentOf("https://api.openai.com/v1/chat/completions")...)
	assert.Equal(t, "<nil>\nNext, I will write style.css.\nAll done.\n", stdout)
	assert.Contains(t, stderr, "carryon: 3 requests, 1 continuation, 1 of 1 todo done")
	assert.Equal(t, []string{"api.openai.com:443"}, c.reached())
}

// With -upstream, the calls of a model go there, and all other requests where they would go alone.
func TestRunRedirectsCallsAlone(t *testing.T) {
	t.Parallel()
	c := inCompany(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, "vendor ", r.Host, r.URL) }))
	other := carryontest.NewServer(t, carryontest.Text("Hello."))
	stdout, _ := c.inRun(t, []string{"-upstream", other.URL()}, agentOf("https://chatgpt.com/backend-api/codex/chat/completions", "https://chatgpt.com/backend-api/me?a=b")...)
	assert.Equal(t, "Hello.\n200 vendor chatgpt.com/backend-api/me?a=b\n", stdout)
}

// An agent with a host that carryon does not know is told what to type next, and that works.
func TestRunTellsTheCommandToTypeNext(t *testing.T) {
	t.Parallel()
	c := inCompany(t, models(t, carryontest.NewServer(t, slices.Repeat([]carryontest.Turn{carryontest.Text("Hello.")}, 4)...)))
	stdout, stderr := c.inRun(t, nil, agentOf("https://llm.corp.example/v1/chat/completions")...)
	assert.Equal(t, "Hello.\n", stdout)
	assert.Contains(t, stderr, "carryon: the agent never used carryon: 0 requests (it spoke to llm.corp.example; if its model is at llm.corp.example, type carryon run -model-host llm.corp.example -- env")
	stdout, stderr = c.inRun(t, []string{"-model-host", "llm.corp.example"}, agentOf("https://llm.corp.example/v1/chat/completions")...)
	assert.Equal(t, "Hello.\n", stdout)
	assert.Contains(t, stderr, "carryon: 1 request, 0 continuations")

	nanocoder := filepath.Join(t.TempDir(), "nanocoder")
	require.NoError(t, os.WriteFile(nanocoder, []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // it is run
	out, err := program(t, "run", "--", nanocoder).CombinedOutput()
	require.NoError(t, err)
	assert.Regexp(t, `^carryon: nanocoder is not reached: as of \S+ it makes its connections without a proxy\ncarryon: this run is one without carryon; instead: carryon proxy`, string(out))

	_, stderr = c.inRun(t, nil, agentOf("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke")...)
	assert.Contains(t, stderr, "its requests are signed, so nobody can add to them")
	p := program(t, "run", "-model-host", "10.0.0.1", "--", "true")
	out, err = p.CombinedOutput()
	assert.Equal(t, 2, codeOf(t, err))
	assert.Contains(t, string(out), "-model-host must be a host such as llm.example.com: 10.0.0.1 is an address")
}

// An endpoint of the environment is a host of models, whoever serves it.
func TestRunAnswersForHostsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	c := inCompany(t, models(t, carryontest.NewServer(t, carryontest.Text("Hello."))))
	c.variables = append(c.variables, "KIMI_MODEL_BASE_URL=https://llm.corp.example/v1")
	_, stderr := c.inRun(t, nil, agentOf("https://llm.corp.example/v1/chat/completions")...)
	assert.Contains(t, stderr, "carryon: 1 request, 0 continuations")
}

// What a run has started and left behind is named. The files of the run are gone.
func TestRunNamesWhatItLeavesBehind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of a process in a file")
	}
	p := program(t, "run", "--", "sh", "-c", `sleep 300 >/dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do :; done; echo $!; echo "$NODE_EXTRA_CA_CERTS"`)
	var out, said bytes.Buffer
	p.Stdout, p.Stderr = &out, &said
	require.NoError(t, p.Run())
	id, path, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	t.Cleanup(func() { _ = exec.Command("kill", id).Run() }) //nolint:noctx // the test's ends before
	assert.Contains(t, said.String(), "carryon: still running, with a proxy that is gone: sleep ("+id+")\n")
	assert.NoDirExists(t, filepath.Dir(path))
}

// A helper that an agent starts for all its runs would keep the proxy of this one: it gets a port and a folder of its own,
// and ends with the run.
func TestRunEndsTheHelperThatItHasStarted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of a process in a file")
	}
	agent := filepath.Join(t.TempDir(), "cline")
	// Between its fork and its exec, the helper still has the shell's environment.
	script := "#!/bin/sh\nCLINE_RUN_AS_HUB_DAEMON=1 sleep 300 &\nuntil grep -q sleep /proc/$!/comm; do :; done\necho $CLINE_HUB_PORT $CLINE_HUB_DISCOVERY_PATH $NODE_EXTRA_CA_CERTS\n"
	require.NoError(t, os.WriteFile(agent, []byte(script), 0o700)) //nolint:gosec // it is run
	p := program(t, "run", "--", agent, "hello")
	var said bytes.Buffer
	p.Stderr = &said
	out, err := p.Output() // until the helper, which has the other end, has ended
	require.NoError(t, err)
	assert.NotContains(t, said.String(), "still running")
	words := strings.Fields(string(out))
	require.Len(t, words, 3)
	assert.Regexp(t, `^\d+$`, words[0])
	assert.Equal(t, filepath.Dir(words[2]), filepath.Dir(words[1]))
}

// An agent does not outlive carryon, whose port anybody could take.
func TestAgentEndsWithCarryon(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a process with another")
	}
	p := program(t, "run", "--", "sh", "-c", "echo ready; exec sleep 300")
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	readUntil(t, bufio.NewReader(out), "ready")
	require.NoError(t, p.Process.Kill())
	_, err = io.ReadAll(out) // until the agent, which has the other end, has ended
	require.NoError(t, err)
	require.Error(t, p.Wait())
}

// After the first minute, a run whose agent has asked no model says so.
func TestRunTellsAfterAMinute(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	c := &runConfig{stderr: &said}
	c.proxy.Listen = "127.0.0.1:0"
	c.proxy.SetUpstream("https://api.openai.com/v1", "OpenAI")
	flags := &cli.Command{Name: "run", Flags: c.proxy.Flags(), Action: func(context.Context, *cli.Command) error { return c.proxy.Check() }}
	require.NoError(t, flags.Run(t.Context(), []string{"run"}))
	s := session{config: c, command: []string{"some-agent"}, launch: &agent.Launch{Env: make(map[string]string)}, logger: c.proxy.Logger(io.Discard)}
	hosts, err := c.modelHosts(nil)
	require.NoError(t, err)
	require.NoError(t, s.start(t.Context(), hosts))
	minute := make(chan time.Time, 1)
	minute <- time.Time{}
	s.watch(t.Context(), minute)
	assert.Contains(t, said.String(), "carryon: no model was asked in the first minute: it spoke to no host")
	require.NoError(t, s.stop(t.Context()))
}
