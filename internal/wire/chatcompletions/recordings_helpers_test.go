package chatcompletions_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/httprr"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// recordedChats reads the recordings once.
var recordedChats = sync.OnceValues(func() ([]httprr.Chat, error) { return httprr.Recorded(context.Background()) })

// recordings returns the recorded calls. It fails the test if there are fewer than before.
func recordings(t *testing.T) []httprr.Chat {
	t.Helper()
	chats, err := recordedChats()
	require.NoError(t, err)
	streamed := 0
	providers := map[string]bool{}
	for _, chat := range chats {
		providers[chat.Provider] = true
		if chat.Streamed {
			streamed++
		}
	}
	require.GreaterOrEqual(t, streamed, 6, "streamed recordings")
	require.GreaterOrEqual(t, len(chats)-streamed, 109, "recorded answers in one piece")
	require.GreaterOrEqual(t, len(providers), 4, "recorded providers")
	return chats
}

// The list that recorded calls are continued for, and one with nothing left to do.
var (
	recordedTodos = todo.Static(todo.Todo{ID: "1", Content: quirkTask, Status: todo.Pending})
	recordedDone  = todo.Static(todo.Todo{ID: "1", Content: quirkTask, Status: todo.Completed})
)

// forRecordings continues a call once, and without waiting.
func forRecordings(todos todo.Provider) *middleware.Middleware {
	return middleware.New(todos, wiretest.Unattended, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
}

// recordedAnswer is an answer to the byte.
type recordedAnswer struct {
	Status, Proto string
	Length        int64
	Header        http.Header
	Body          string
}

// recordedReads are the sizes in which recordings come from upstream and are read: many bytes or few, and from upstream
// also such as end within events.
var recordedReads = []struct {
	name           string
	upstream, read int
}{
	{"whole", 0, 1 << 20},
	{"as clients read", 0, 4096},
	{"pieces", 700, 32 << 10},
	{"bytes from upstream", 1, 4096},
	{"bytes to the consumer", 0, 1},
}

// sendRecorded sends the recorded call through a RoundTripper, and reads the answer so many bytes at a time.
func sendRecorded(t *testing.T, chat httprr.Chat, through http.RoundTripper, size int) recordedAnswer {
	t.Helper()
	req, err := chat.NewRequest(t.Context())
	require.NoError(t, err)
	response, err := through.RoundTrip(req)
	require.NoError(t, err)
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = io.CopyBuffer(struct{ io.Writer }{&body}, struct{ io.Reader }{response.Body}, make([]byte, size))
	require.NoError(t, err)
	return recordedAnswer{response.Status, response.Proto, response.ContentLength, response.Header, body.String()}
}

// continueRecorded puts the transport before an upstream, and asks as the recorded call did.
func continueRecorded(chat httprr.Chat) func(http.RoundTripper) http.RoundTripper {
	return func(upstream http.RoundTripper) http.RoundTripper { return chat.Instead(carriedOn(upstream)) }
}

// redirectedTo sends requests to another host.
type redirectedTo struct {
	http.RoundTripper

	to *url.URL
}

func (d redirectedTo) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = d.to.Scheme, d.to.Host, ""
	return d.RoundTripper.RoundTrip(r)
}
