package main

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hinshun/vt10x"
	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/chat/script"
	"github.com/carryon-go/carryon/examples/chat/terminal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// asProgram in the environment makes the test binary run as the program.
const asProgram = "CHAT_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// requireGolden compares text with a file in testdata.
func requireGolden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "if this change is intended, run the test with -update")
}

// scene is a chat in a synctest bubble, where waiting takes no time.
type scene struct {
	*chat

	t      *testing.T
	server *carryontest.Server // nil: the model is the script
	files  *sandbox
	keys   *io.PipeWriter
	ended  chan struct{}

	mu  sync.Mutex
	out strings.Builder // what was written
	vt  vt10x.Terminal  // the emulated terminal that shows it, if there is one
}

// Write receives the output of the view.
func (s *scene) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(p)
	if s.vt == nil {
		return len(p), nil
	}
	return s.vt.Write(p)
}

// inTerminal runs f with a chat in a terminal of that size, and inPipe without a
// terminal. Without turns the model is the script.
func inTerminal(t *testing.T, columns, rows int, f func(*scene), turns ...carryontest.Turn) {
	t.Helper()
	play(t, func(s *scene, in io.Reader) terminal.View {
		s.vt = vt10x.New(vt10x.WithSize(columns, rows))
		_, _ = s.Write([]byte("\x1b[20l"))
		return terminal.NewScreen(in, s, func() (int, int) { return s.vt.Size() }, true)
	}, f, turns)
}

func inPipe(t *testing.T, f func(*scene), turns ...carryontest.Turn) {
	t.Helper()
	play(t, func(s *scene, in io.Reader) terminal.View { return terminal.NewLines(in, s, true) }, f, turns)
}

func play(t *testing.T, view func(*scene, io.Reader) terminal.View, f func(*scene), turns []carryontest.Turn) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, ended: make(chan struct{})}
		files, err := openSandbox(dir)
		require.NoError(t, err)
		defer files.close()
		s.files = files
		e := scriptedEndpoint(25 * time.Millisecond)
		if len(turns) > 0 {
			e, s.server = serve(turns)
		}
		defer e.close()
		in, keys := io.Pipe()
		s.keys = keys
		v := view(s, in)
		s.chat = newChat(v, files, e, 3*time.Second)
		s.dir = "the folder"
		go func() {
			defer close(s.ended)
			_ = s.talk(t.Context(), nil) // fails where a turn does
			v.Close()
			_ = in.Close()
		}()
		synctest.Wait()
		f(s)
		s.quit()
	})
}

func serve(turns []carryontest.Turn) (endpoint, *carryontest.Server) {
	server := carryontest.Start(turns...)
	config := openai.DefaultConfig("sk-secret")
	config.BaseURL, config.HTTPClient = carryontest.BaseURL, &http.Client{Transport: server.Transport()}
	return endpoint{
		client: openai.NewClientWithConfig(config), model: "some-model", hint: "The model is scripted.", close: server.Close,
	}, server
}

// enter types a line; press sends the bytes of keys.
func (s *scene) enter(line string) { s.press(line + "\r") }

func (s *scene) press(keys string) {
	s.t.Helper()
	if s.vt == nil {
		keys = strings.ReplaceAll(keys, "\r", "\n")
	}
	_, err := s.keys.Write([]byte(keys))
	require.NoError(s.t, err)
	synctest.Wait()
}

// pass lets time pass until nothing more happens.
func (s *scene) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// settle waits until all turns and tasks have ended.
func (s *scene) settle() {
	s.t.Helper()
	for range 600 {
		s.pass(100 * time.Millisecond)
		if s.quiet() {
			return
		}
	}
	require.Fail(s.t, "does not come to an end", s.written())
}

// quit ends the input and waits for the program to end.
func (s *scene) quit() {
	_ = s.keys.Close()
	<-s.ended
}

func (s *scene) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// seen returns the screen without blanks at the ends of lines and without blank
// lines at its end.
func (s *scene) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return seenOn(s.vt)
}

func seenOn(vt vt10x.Terminal) string {
	rows := strings.Split(vt.String(), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n") + "\n"
}

func (s *scene) file(name string) string {
	text, _, err := s.files.read(name)
	assert.NoError(s.t, err)
	return text
}

const request = script.Example

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}
