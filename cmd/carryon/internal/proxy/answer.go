package proxy

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// answerWriter is the [http.ResponseWriter] of an answer from the upstream. If
// flushEach was called, it flushes each write, and its headers leave with the first
// one, or alone if that takes longer than headerPatience. ReverseProxy would flush
// the headers at once, from a timer of its own: that wakes up another thread, and
// the first event then waits for a write that it does not need.
type answerWriter struct {
	http.ResponseWriter

	late        *lateHeaders
	flushes     bool     // whether each write is flushed
	contentType []string // the header that ReverseProxy must not see

	mu      sync.Mutex // for the writer once it has headers
	waiting bool       // whether the headers wait for a write
}

// passesAtOnce reports whether each part of an answer is to be flushed: that of a
// stream, and of an answer that carryon does not read, such as a file.
func passesAtOnce(r *http.Response) bool {
	if r.StatusCode == http.StatusSwitchingProtocols {
		return false // it has no body
	}
	return r.ContentLength == -1 || !speaks(r.Request.URL.Path) || strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream")
}

type writerKey struct{}

// withWriter returns a ctx for flushEach.
func withWriter(ctx context.Context, w *answerWriter) context.Context {
	return context.WithValue(ctx, writerKey{}, w)
}

// flushEach makes the writer of an answer flush it as it arrives. It hides from
// ReverseProxy why it should do the same.
func flushEach(r *http.Response) {
	if w, ok := r.Request.Context().Value(writerKey{}).(*answerWriter); ok {
		w.flushes, w.contentType = true, r.Header["Content-Type"]
		delete(r.Header, "Content-Type")
		r.ContentLength = 0 // the header still has the length
	}
}

// Unwrap is for [http.ResponseController].
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *answerWriter) WriteHeader(status int) {
	if !w.flushes {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.Header()["Content-Type"] = w.contentType // nil keeps net/http from guessing one
	w.ResponseWriter.WriteHeader(status)
	w.waiting = true
	w.late.add(w)
}

// Write implements [http.ResponseWriter].
func (w *answerWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = false
	n, err := w.ResponseWriter.Write(p)
	if w.flushes && err == nil {
		err = w.flush()
	}
	return n, err
}

// FlushError is for [http.ResponseController].
func (w *answerWriter) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = false
	return w.flush()
}

func (w *answerWriter) flush() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// sendHeaders sends the headers if they still wait for a write. The handler must
// call it before it returns: nothing may use the writer after that, and an answer
// that breaks off before its first event still has headers.
func (w *answerWriter) sendHeaders() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting {
		w.waiting = false
		_ = w.flush() // the next write meets the error again
	}
}

// headerPatience is for how long the headers of an answer wait for its first event,
// at most.
const headerPatience = 5 * time.Millisecond

// lateHeaders sends headers that wait for an event. All answers share a timer: to
// start one for each would cost as much as the write that it may save. The zero
// value is ready.
type lateHeaders struct {
	mu      sync.Mutex
	waiting []*answerWriter // the timer runs while there are any
}

func (l *lateHeaders) add(w *answerWriter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = append(l.waiting, w); len(l.waiting) == 1 {
		time.AfterFunc(headerPatience, l.send)
	}
}

func (l *lateHeaders) send() {
	l.mu.Lock()
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for _, w := range waiting {
		go w.sendHeaders() // a client that does not read delays no other
	}
}

// quotingBody is the body of an answer whose errors, which are logged, may quote what the
// upstream has sent.
type quotingBody struct {
	io.ReadCloser

	ctx     context.Context //nolint:containedctx // of the request
	journal *journal
}

// Read implements [io.Reader].
func (b quotingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // as ReverseProxy compares it
		err = b.journal.withoutSecrets(b.ctx, err)
	}
	return n, err
}

// bufferSize is the size in bytes of the copy buffer of an answer. It is small,
// because events are small and every open stream has a buffer.
const bufferSize = 8 << 10

// buffers is a pool of copy buffers. Without it, the buffer would be half of the
// memory that a request allocates.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{sync.Pool{New: func() any { return new([bufferSize]byte) }}}
}

// Get implements [httputil.BufferPool].
func (b *buffers) Get() []byte {
	buffer, _ := b.pool.Get().(*[bufferSize]byte)
	return buffer[:]
}

// Put implements [httputil.BufferPool].
func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferSize]byte)(buffer)) }
