package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// The servers that this program runs as separate processes.
const (
	modelPart = "model" // answers as the requests ask
	barePart  = "bare"  // a reverse proxy without carryon
)

// play prints its address and serves a part until its standard input ends.
func play(part, upstream string) error {
	var handler http.Handler
	switch part {
	case modelPart:
		handler = newModel()
	case barePart:
		target, err := url.Parse(upstream)
		if err != nil {
			return err
		}
		handler = bareProxy(target)
	default:
		return fmt.Errorf("there is no part %q", part)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}

// bareProxy does what every proxy must do: it flushes at once, keeps enough connections, and lets the model answer
// while the request is still being sent; otherwise net/http would truncate some answers.
func bareProxy(target *url.URL) http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
		FlushInterval: -1,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1 supports it
		forward.ServeHTTP(w, r)
	})
}

// model answers every protocol, by path and kind of answer.
type model map[[2]string][]string

func newModel() model {
	m := make(model)
	for _, p := range proxied() {
		for kind, events := range map[string][]string{oneEvent: p.stream(1), manyEvents: p.stream(chunks), wholeOne: {p.whole}} {
			path, _, _ := strings.Cut(p.path(kind), "?")
			m[[2]string{"/v1" + path, kind}] = events
		}
	}
	return m
}

// kindOf returns the kind of answer that a request asks for, in its path or at the beginning of its body.
func kindOf(path string, body []byte) string {
	head := append([]byte(path), body[:min(len(body), 100)]...)
	for _, kind := range []string{oneEvent, manyEvents} {
		if bytes.Contains(head, []byte(kind)) {
			return kind
		}
	}
	return wholeOne
}

// ServeHTTP implements [http.Handler].
func (m model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	kind := kindOf(r.URL.Path, body)
	answer := m[[2]string{r.URL.Path, kind}]
	if kind == wholeOne {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Join(answer, ""))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	sendAll(w, answer)
}

// sendAll flushes each event.
func sendAll(w http.ResponseWriter, events []string) {
	flush := http.NewResponseController(w).Flush
	for _, e := range events {
		_, _ = io.WriteString(w, e)
		_ = flush()
	}
}

// sides are connections to the two proxies, in front of the same model.
type sides struct {
	bare, carried            []*line
	withoutIt, withIt, model *process // the two proxies, and the model
}

// open starts the processes and connects to them. base is the path of the upstream's base URL.
func open(command, base string, connections int) *sides {
	self, err := os.Executable()
	must(err)
	upstream := start(self, "-part", modelPart)
	bare := start(self, "-part", barePart, "-upstream", upstream.address)
	carried := start(command, "proxy", "-listen", "127.0.0.1:0", "-upstream", upstream.address+base)
	s := &sides{withoutIt: bare, withIt: carried, model: upstream}
	for range connections {
		s.bare, s.carried = append(s.bare, dial(bare.address)), append(s.carried, dial(carried.address))
	}
	return s
}

func (s *sides) close() {
	for _, l := range append(s.bare, s.carried...) {
		_ = l.Close()
	}
	for _, p := range []*process{s.withIt, s.withoutIt, s.model} {
		p.end()
	}
}

// compareCPU compares the CPU time that the two proxies use while all connections do the same work at the same time.
func (s *sides) compareCPU(pairs int, work func(*line)) interval {
	side := func(p *process, lines []*line) func() time.Duration {
		return func() time.Duration {
			before := p.used()
			atOnce(lines, work)
			return p.used() - before
		}
	}
	ratio, _ := compareTimes(side(s.withoutIt, s.bare), side(s.withIt, s.carried), pairs)
	return ratio
}

// process is a server in a separate process.
type process struct {
	address string // its URL without a path
	command *exec.Cmd
	in      io.Closer
	started time.Time
}

// start starts a program and waits until it has printed its address.
func start(name string, args ...string) *process {
	c := exec.CommandContext(context.Background(), name, args...)
	in, err := c.StdinPipe()
	must(err)
	out, err := c.StdoutPipe()
	must(err)
	c.Stderr = c.Stdout // carryon prints its address there
	must(c.Start())
	said := bufio.NewReader(out)
	for {
		text, err := said.ReadString('\n')
		must(err)
		if _, address, ok := strings.Cut(text, "http://127.0.0.1:"); ok && !strings.Contains(text, "in front of") {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			port, _, _ := strings.Cut(strings.TrimSpace(address), "/")
			return &process{"http://127.0.0.1:" + port, c, in, time.Now()}
		}
	}
}

// end ends the process.
func (p *process) end() {
	_ = p.in.Close()
	_ = p.command.Process.Kill()
	_ = p.command.Wait() // it was killed
}

// line is a connection of a client. It does as little as possible, on one goroutine, so that the client's cost does not
// hide the proxies'.
type line struct {
	net.Conn

	in     *bufio.Reader
	buffer []byte
}

func dial(address string) *line {
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", strings.TrimPrefix(address, "http://"))
	must(err)
	return &line{conn, bufio.NewReaderSize(conn, 64<<10), make([]byte, 64<<10)}
}

// posted returns the bytes of a POST request.
func posted(path, body string) []byte {
	return fmt.Appendf(nil, "POST /v1%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer no-key-at-all\r\n"+
		"User-Agent: bench\r\nAccept: */*\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// firstByte returns how long the first byte of the answer's body takes, and reads
// the rest.
func (l *line) firstByte(request []byte) time.Duration {
	began := time.Now()
	body := l.send(request)
	_, err := io.ReadFull(body, l.buffer[:1])
	took := time.Since(began)
	must(err)
	drain(body, l.buffer)
	return took
}

// whole sends a request and reads its answer.
func (l *line) whole(request []byte) { drain(l.send(request), l.buffer) }

func (l *line) send(request []byte) io.ReadCloser {
	_, err := l.Write(request)
	must(err)
	r, err := http.ReadResponse(l.in, nil)
	must(err)
	if r.StatusCode != http.StatusOK {
		panic(r.Status)
	}
	return r.Body
}

// atOnce calls f for all lines at the same time.
func atOnce(lines []*line, f func(*line)) {
	var all sync.WaitGroup
	for _, l := range lines {
		all.Go(func() { f(l) })
	}
	all.Wait()
}
