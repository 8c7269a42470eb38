package proxy

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"
	"golang.org/x/term"
)

// Logger returns the logger that c asks for. By default it logs what costs money, such
// as a continuation, and what is wrong. Its level changes with the rules.
func (c *Config) Logger(w io.Writer) *slog.Logger {
	level, _ := c.rules().level() // Check has looked at it
	c.level.Set(level)
	options := &slog.HandlerOptions{Level: &c.level, ReplaceAttr: withFlags}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// withFlags puts the command's flag in the place of a Go option that is recommended.
func withFlags(_ []string, a slog.Attr) slog.Attr {
	if a.Key != "remedy" {
		return a
	}
	switch a.Value.String() {
	case "todo.WithToolNames":
		return slog.String(a.Key, "-todo-tools")
	case "todo.ProviderFunc":
		return slog.String(a.Key, "-ask")
	}
	return a
}

// RouteLogs sends everything that the libraries of this process would print to
// standard error to the logger: it would not be JSON, or it would disturb an agent.
func RouteLogs(logger *slog.Logger) {
	slog.SetDefault(logger) // package log writes to it, too
	redis.SetLogger(redisLog{logger})
}

// redisLog is the log of go-redis. What it says is a detail of an error that is returned,
// too.
type redisLog struct{ logger *slog.Logger }

// Printf implements the interface of go-redis.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.logger.DebugContext(ctx, "redis: "+strings.TrimPrefix(fmt.Sprintf(format, args...), "redis: "))
}

// console tells whoever has started the proxy what it does: in sentences, or in lines
// of the log where the user has asked for JSON only.
type console struct {
	w      io.Writer
	logger *slog.Logger
	json   bool
}

// greet tells the addresses, and the command that switches continuing off.
func (out *console) greet(c *Config, listening net.Addr, switchOff string) {
	root, upstream := rootOf(listening), shownURL(c.Upstream)
	tcp, ok := listening.(*net.TCPAddr)
	isOpen := ok && !tcp.IP.IsLoopback()
	if out.json {
		out.logger.Info("listening", slog.String("upstream", upstream), slog.String("base_url", root+prefix),
			slog.String("page", root+pagePath), slog.Bool("open_to_network", isOpen))
		return
	}
	out.say("carryon is a proxy in front of %s", upstream)
	out.say("  base URL for clients: %s%s", root, prefix)
	out.say("  off switch:           %s", switchOff)
	out.say("  recent activity:      %s%s", root, pagePath)
	if isOpen {
		out.say("  Anyone who can reach this machine can use the proxy, and see the activity.")
	}
}

// warn tells what is probably wrong.
func (out *console) warn(advice string) {
	if out.json {
		out.logger.Warn(advice)
		return
	}
	out.say("  warning: %s", advice)
}

// stopping tells that the proxy stops.
func (out *console) stopping(timeout time.Duration) {
	if out.json {
		out.logger.Info("stopping", slog.Float64("drain_timeout_seconds", timeout.Seconds()))
		return
	}
	if file, ok := out.w.(*os.File); ok && term.IsTerminal(int(file.Fd())) { //nolint:gosec // descriptors are small
		out.say("") // the terminal has shown ^C
	}
	out.say("Stopping. Open answers have %v to finish.", timeout)
}

// sumUp tells what carryon was worth.
func (out *console) sumUp(s Summary) {
	for _, sentence := range s.Sentences() {
		if out.json {
			out.logger.Info("carryon: " + sentence)
		} else {
			out.say("carryon: %s", sentence)
		}
	}
}

// say writes a line.
func (out *console) say(format string, args ...any) {
	_, _ = fmt.Fprintln(out.w, Printable(fmt.Sprintf(format, args...))) // the reader may be gone
}

// Printable returns a line in which nothing controls a terminal or reorders text.
// Parts of it may come from a client or an upstream.
func Printable(line string) string {
	if !strings.ContainsFunc(line, isHidden) {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if isHidden(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isHidden(r rune) bool { return !unicode.IsPrint(r) }
