package terminal

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onScreen runs f with a screen on an emulated terminal.
func onScreen(t *testing.T, columns, rows int, f func(s *Screen, vt vt10x.Terminal, keys io.Writer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		vt := vt10x.New(vt10x.WithSize(columns, rows))
		in, keys := io.Pipe()
		s := NewScreen(in, vt, vt.Size, false)
		s.Panel(func(columns, _ int) []string { return []string{strings.Repeat("-", columns)} })
		f(s, vt, keys)
		s.Close()
		require.NoError(t, keys.Close())
		synctest.Wait()
	})
}

func seen(vt vt10x.Terminal) string {
	rows := strings.Split(vt.String(), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

func TestStreamedTextIsShownAsItComes(t *testing.T) {
	t.Parallel()
	onScreen(t, 11, 10, func(s *Screen, vt vt10x.Terminal, _ io.Writer) {
		s.Stream("\n\nThe ")
		assert.Equal(t, "The\n----------\n>", seen(vt), "it begins where it says something")
		s.Stream("first li")
		assert.Equal(t, "The first\nli\n----------\n>", seen(vt))
		s.Stream("ne.\nNext\x1b")
		s.Stream("[2J.")
		assert.Equal(t, "The first\nline.\nNext.\n----------\n>", seen(vt))
		s.Say(Noted, "carrying on with it")
		assert.Equal(t, "The first\nline.\nNext.\n* carrying\n  on with\n  it\n----------\n>", seen(vt))
		s.Stream("\n\nDone.")
		s.Say(Told, "")
		s.Say(Said, "Well.")
		assert.Equal(t, "* carrying\n  on with\n  it\nDone.\n\n> Well.\n----------\n>", strings.Join(strings.Split(seen(vt), "\n")[2:], "\n"))
	})
}

func TestAnyPiecesLookTheSame(t *testing.T) {
	t.Parallel()
	text := "First the \x1b[1mwords\x1b[0m that are  many,\nthen averylongwordthatdoesnotfit and caf\xe9.\n\n  indented"
	var want string
	for _, size := range []int{len(text), 1, 2, 3, 7} {
		onScreen(t, 14, 24, func(s *Screen, vt vt10x.Terminal, _ io.Writer) {
			for rest := []rune(text); len(rest) > 0; {
				n := min(size, len(rest))
				s.Stream(string(rest[:n]))
				rest = rest[n:]
			}
			if want == "" {
				want = seen(vt)
			}
			assert.Equal(t, want, seen(vt), "pieces of %d", size)
			assert.Contains(t, seen(vt), "\n  indented\n")
			assert.Equal(t, "First the\nwords that\nare  many,", strings.Join(strings.Split(seen(vt), "\n")[:3], "\n"))
		})
	}
}

func TestTypingGoesOnBelowWhatIsShown(t *testing.T) {
	t.Parallel()
	onScreen(t, 20, 6, func(s *Screen, vt vt10x.Terminal, keys io.Writer) {
		_, _ = keys.Write([]byte("hello\x1b[D"))
		synctest.Wait()
		s.Stream("An answer\nin two lines")
		assert.Equal(t, "An answer\nin two lines\n-------------------\n> hello", seen(vt))
		assert.Equal(t, 6, vt.Cursor().X, "the cursor is where one types")
		assert.Equal(t, 3, vt.Cursor().Y)
		go func() { _, _ = keys.Write([]byte("\r\x03")) }()
		assert.Equal(t, "hello", <-s.Lines())
		<-s.Interrupts()
		_, _ = keys.Write([]byte("\x04"))
		_, more := <-s.Lines()
		assert.False(t, more, "Ctrl-D is the end")
	})
}

func TestScreenFollowsTheSizeOfTheTerminal(t *testing.T) {
	t.Parallel()
	onScreen(t, 40, 10, func(s *Screen, vt vt10x.Terminal, _ io.Writer) {
		s.Stream("Some words of which there will be more than fit.")
		vt.Resize(60, 10)
		s.Stream(" And more of them.")
		assert.Equal(t, 59, strings.Count(seen(vt), "-"), "the panel is as wide as the terminal")
		vt.Resize(20, 10)
		s.Say(Noted, "narrow")
		assert.Contains(t, seen(vt), "\n* narrow\n-------------------\n>")
	})
}

func TestLinesThatTheTerminalBrokeAreReplaced(t *testing.T) {
	t.Parallel()
	s := &Screen{above: []int{39, 39, 10}, cursor: 2}
	assert.Equal(t, 3, s.rowsAbove(40))
	assert.Equal(t, 5, s.rowsAbove(20))
	s.cursor = 25
	assert.Equal(t, 6, s.rowsAbove(20))
	assert.NotPanics(t, func() { s.rowsAbove(0) })
}

func TestTinyTerminals(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {2, 2}, {5, 3}} {
		onScreen(t, size[0], size[1], func(s *Screen, _ vt10x.Terminal, _ io.Writer) {
			s.Stream("Some words, 茶, and more")
			s.Say(Failed, "words")
		})
	}
}

func TestColors(t *testing.T) {
	t.Parallel()
	for color, want := range map[bool]string{true: "\x1b[31m! no\x1b[m", false: "! no\r\n"} {
		var b strings.Builder
		s := NewScreen(strings.NewReader(""), &b, func() (int, int) { return 80, 24 }, color)
		_, more := <-s.Lines()
		assert.False(t, more)
		s.Say(Failed, "no")
		assert.Contains(t, b.String(), want)
		s.Close()
	}
}

func TestScreenIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	onScreen(t, 40, 12, func(s *Screen, vt vt10x.Terminal, keys io.Writer) {
		var all sync.WaitGroup
		for _, f := range []func(){
			func() { s.Stream("word ") },
			func() { s.Say(Noted, "line") },
			func() { s.Panel(func(int, int) []string { return []string{"panel"} }) },
			func() { _, _ = keys.Write([]byte("x")) },
		} {
			all.Go(func() {
				for range 50 {
					f()
				}
			})
		}
		all.Wait()
		synctest.Wait()
		assert.Contains(t, seen(vt), "\npanel\n> xxx")
	})
}
