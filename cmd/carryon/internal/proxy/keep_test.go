package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/records"
)

// started is a proxy as the command runs it, in front of a scripted upstream.
type started struct {
	*scene

	server *Server
}

// launch starts a proxy with these flags, whose log goes to logs.
func launch(t *testing.T, logs *buffer, args ...string) *started {
	t.Helper()
	upstream := carryontest.NewServer(t)
	c := parsed(t, append([]string{"-upstream", upstream.URL(), "-listen", "127.0.0.1:0", "-min-interval", "0", "-yolo"}, args...)...)
	server, err := Start(t.Context(), c, loggerTo(logs))
	require.NoError(t, err)
	s := &started{&scene{upstream: upstream, base: server.Root() + prefix, client: newClient(t), logs: logs}, server}
	s.served = &served{}
	s.served.changed.L = &s.served.mu
	return s
}

func (s *started) stop(t *testing.T) {
	t.Helper()
	s.client.CloseIdleConnections()
	require.NoError(t, s.server.Stop(context.WithoutCancel(t.Context())))
}

// ask returns once the request is counted.
func (s *started) ask(t *testing.T, c conversation, turns ...carryontest.Turn) {
	t.Helper()
	s.scene.ask(t, c, turns...)
	for entry := s.server.proxy.journal.report(0).Entries[0]; entry.Ended.IsZero(); {
		entry = s.server.proxy.journal.report(0).Entries[0]
	}
}

// work is a session that stalls, is resumed and finishes its list.
func (s *started) work(t *testing.T, session string) {
	t.Helper()
	s.ask(t, conversation{session: session}, carryontest.Text(plan), edit().Usage(100, 10))
	s.ask(t, conversation{session: session, call: "c1", todos: `{"todos":[{"id":"1","content":"Write the parser","status":"completed"}]}`}, carryontest.Text("Done."))
}

// places are where figures can be kept.
func places(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{
		"file":  {"-stats", filepath.Join(t.TempDir(), "stats")},
		"state": {"-state", "redis://" + miniredis.RunT(t).Addr()},
	}
}

func TestFiguresSurviveARestart(t *testing.T) {
	t.Parallel()
	for name, flags := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := launch(t, newBuffer(), append(flags, "-content")...)
			first.work(t, "a")
			first.ask(t, conversation{session: "b"}, carryontest.Text(plan), carryontest.Pause(goodReason))
			before := first.report(t)
			assert.Equal(t, name, before.Settings.Kept)
			first.stop(t)

			second := launch(t, newBuffer(), append(flags, "-content")...)
			after := second.report(t)
			assert.NotEqual(t, before.Process, after.Process)
			assert.Equal(t, before.Sentence, after.Sentence)
			assert.Equal(t, before.Counts, after.Counts)
			assert.Equal(t, before.Chart, after.Chart)
			assert.Empty(t, after.Entries)
			require.Len(t, after.Sessions, 2)
			for _, s := range after.Sessions {
				assert.Empty(t, s.Pause, "texts are not kept")
				assert.Equal(t, 1, s.List.Todos)
			}
			second.work(t, "c")
			assert.Equal(t, "resumed 2 stalls in 3 sessions with a todo list; 2 todos were finished after that, for 235 tokens; the model paused once and said why", second.report(t).Sentence)
			assert.Equal(t, []string{"resumed 1 stall in 1 session with a todo list; 1 todo was finished after that, for 110 tokens"}, second.server.Summary().Sentences()[:1])
			assert.Regexp(t, `^since \d+ \w+ \d+: resumed 2 stalls in 3 sessions with a todo list; `, second.server.Summary().Sentences()[1])
			second.stop(t)
		})
	}
}

// Processes that run at the same time add to what the others have kept.
func TestProcessesKeepTheirFiguresInOnePlace(t *testing.T) {
	t.Parallel()
	for name, flags := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := []*started{launch(t, newBuffer(), flags...), launch(t, newBuffer(), flags...), launch(t, newBuffer(), flags...)}
			for i, s := range all {
				s.work(t, strings.Repeat("a", i+1))
			}
			var stopping sync.WaitGroup
			for _, s := range all {
				stopping.Go(func() { s.stop(t) })
			}
			stopping.Wait()
			last := launch(t, newBuffer(), flags...)
			assert.Contains(t, last.report(t).Sentence, "resumed 3 stalls in 3 sessions with a todo list; ")
			last.stop(t)
		})
	}
}

// A page that is open shows what other processes do; without one, an idle process asks for nothing.
func TestOpenPageShowsOtherProcesses(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	flags := []string{"-state", "redis://" + redis.Addr()}
	idle, busy := launch(t, newBuffer(), flags...), launch(t, newBuffer(), flags...)
	keeperOf := func(s *started) *keeper {
		return newKeeper(s.server.proxy.config, s.server.proxy.journal, recordsOf(s.server.state), &hints{logger: slog.New(slog.DiscardHandler)})
	}
	busy.work(t, "a")
	keeperOf(busy).tryKeep(t.Context())
	before := redis.CommandCount()
	keeperOf(idle).tryKeep(t.Context())
	assert.Equal(t, before, redis.CommandCount())
	assert.Contains(t, idle.report(t).Sentence, "has seen no call")
	keeperOf(idle).tryKeep(t.Context())
	assert.Contains(t, idle.report(t).Sentence, "resumed 1 stall ")
	assert.Empty(t, idle.report(t).Entries)
	idle.stop(t)
	busy.stop(t)
}

// A broken file is set aside, and one that is not carryon's is left alone.
func TestFileOfFiguresThatCannotBeRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "stats")
	logs := newBuffer()
	var said []string // to the user of carryon run, who sees no log
	begin := func(content string) error {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		j := newJournal(new(Config))
		h := &hints{logger: slog.New(slog.NewTextHandler(logs, nil))}
		k := newKeeper(&Config{Stats: path}, j, nil, h)
		err := k.begin(t.Context())
		said = h.all()
		return err
	}
	for i, broken := range []string{`carryon/figures/1 {"counts":`, `carryon/figures/1 {"counts":{"requests":"many"}}`, "carryon/figures/x {}", `carryon/figures/1 {"sessions":{"a":null}`} {
		aside := path + ".broken"
		if i > 0 { // it replaces none that was set aside before
			aside += fmt.Sprint("-", i+1)
		}
		require.NoError(t, begin(broken))
		kept, err := os.ReadFile(aside)
		require.NoError(t, err)
		assert.Equal(t, broken, string(kept))
		assert.Contains(t, logs.String(), "is broken, and was set aside")
		assert.Equal(t, []string{"the figures in " + path + " could not be read: they are now in " + aside + ", and counting begins anew"}, said)
	}
	require.NoError(t, begin(""), "an empty file is none")
	assert.Empty(t, said)
	require.NoError(t, begin(`carryon/figures/1 {"sessions":{"a":null}}`))

	require.ErrorIs(t, begin("carryon/figures/2 {}"), records.ErrNewer)
	require.ErrorContains(t, begin("Dear diary,"), "-stats: "+path+" has something else in it; name a new file")
	for _, content := range []string{"carryon/figures/2 {}", "Dear diary,"} {
		require.Error(t, begin(content))
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(kept))
	}
	_, err := Start(t.Context(), parsed(t, "-listen", "127.0.0.1:0", "-stats", filepath.Join(path, "below")), loggerTo(logs))
	require.ErrorContains(t, err, "-stats: ")
}

// Nobody else can read the file, it holds no text and no key, and nothing is left beside it.
func TestFileOfFiguresIsPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "stats")
	s := launch(t, newBuffer(), "-stats", path, "-content")
	s.ask(t, conversation{session: "a"}, carryontest.Text(plan), carryontest.Pause(goodReason))
	s.stop(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, secret := range append(contents, "secret", "grammar") {
		assert.NotContains(t, string(content), secret)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
	}
	assert.Equal(t, []string{"stats", "stats.lock"}, names)
}

// While the shared state is away, the figures wait, and none is lost or counted twice.
func TestFiguresWaitForTheSharedState(t *testing.T) {
	t.Parallel()
	redis, logs := miniredis.RunT(t), newBuffer()
	s := launch(t, logs, "-state", "redis://"+redis.Addr())
	s.work(t, "a")
	k := newKeeper(s.server.proxy.config, s.server.proxy.journal, recordsOf(s.server.state), &hints{logger: loggerTo(logs)})
	redis.SetError("LOADING the data set")
	k.tryKeep(t.Context())
	k.tryKeep(t.Context())
	assert.Equal(t, 1, strings.Count(logs.String(), "figures are not kept"))
	assert.True(t, s.server.proxy.journal.wantsKeeping(), "although nobody looks at the page")
	assert.Contains(t, s.report(t).Sentence, "resumed 1 stall ")
	redis.SetError("")
	for range 3 {
		k.tryKeep(t.Context())
	}
	assert.Contains(t, logs.String(), "figures are kept again")
	assert.Contains(t, s.report(t).Sentence, "resumed 1 stall ")
	s.stop(t)
	again := launch(t, newBuffer(), "-state", "redis://"+redis.Addr())
	assert.Contains(t, again.report(t).Sentence, "resumed 1 stall ")
	again.stop(t)
}
