package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
)

// compressed returns a text in a content encoding.
func compressed(t *testing.T, encoding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip", "X-GZip":
		w = gzip.NewWriter(&b)
	case "zstd":
		var err error
		w, err = zstd.NewWriter(&b)
		require.NoError(t, err)
	case "br":
		w = brotli.NewWriter(&b)
	}
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// encoded returns a request with a body in a content encoding.
func encoded(t *testing.T, s *scene, encoding, body string) *http.Request {
	t.Helper()
	r := newRequest(t, http.MethodPost, s.base+"/chat/completions", body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", encoding)
	return r
}

// carryon reads compressed bodies. It sends them on as they came, and its own in
// plain.
func TestCompressedBodiesAreRead(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"gzip", "X-GZip", "zstd", "br"} {
		model := carryontest.NewServer(t, carryontest.Text(plan), edit())
		var bodies, encodings []string
		s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			name := r.Header.Get("Content-Encoding")
			bodies, encodings = append(bodies, string(body)), append(encodings, name)
			if open := decoders[strings.ToLower(name)]; open != nil {
				body, _ = decode(body, open)
			}
			answer, err := newClient(t).Post(model.URL()+"/chat/completions", "application/json", bytes.NewReader(body)) //nolint:noctx // a test's
			if err != nil {
				return
			}
			defer answer.Body.Close()
			w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
			_, _ = io.Copy(w, answer.Body)
		})
		body := compressed(t, encoding, conversation{}.body())
		got := s.send(encoded(t, s, encoding, body))
		require.Equal(t, http.StatusOK, got.status, encoding)
		assert.Contains(t, got.body, "edit_file", encoding)
		require.Len(t, bodies, 2, encoding)
		assert.Equal(t, body, bodies[0], encoding)
		assert.Contains(t, bodies[1], "no new message has come from the user", encoding)
		assert.Equal(t, []string{encoding, ""}, encodings)
		s.served.wait()
		assert.Zero(t, s.report(t).Counts.Encoded)
	}
}

// A few bytes cannot take much memory.
func TestBombsAreNotRead(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"gzip", "zstd", "br"} {
		_, err := decode([]byte(compressed(t, encoding, strings.Repeat("a", transport.MaxBody))), decoders[encoding])
		require.ErrorIs(t, err, transport.ErrTooLarge, encoding)
		whole := strings.Repeat("a", plainRoom)
		plain, err := decode([]byte(compressed(t, encoding, whole)), decoders[encoding])
		require.NoError(t, err, encoding)
		assert.Len(t, plain, len(whole), encoding)
	}
}

// What carryon cannot decode passes as it came, and is counted.
func TestOtherBodiesPassAsTheyCame(t *testing.T) {
	t.Parallel()
	whole := compressed(t, "gzip", conversation{}.body())
	for name, tt := range map[string]struct{ encoding, body string }{
		"an unknown encoding": {"snappy", "…"},
		"two encodings":       {"gzip, br", whole},
		"not compressed":      {"gzip", conversation{}.body()},
		"cut short":           {"gzip", whole[:len(whole)-9]},
		"a bomb":              {"zstd", compressed(t, "zstd", strings.Repeat("a", transport.MaxBody+1))},
		"not zstd":            {"zstd", "\x28\xb5\x2f\xfd\xff\xff\xff"},
		"not brotli":          {"br", "\xff\xff\xff"},
	} {
		var received, encoding string
		s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			received, encoding = string(body), r.Header.Get("Content-Encoding")
			w.WriteHeader(http.StatusNoContent)
		})
		assert.Equal(t, http.StatusNoContent, s.send(encoded(t, s, tt.encoding, tt.body)).status, name)
		assert.Equal(t, tt.body, received, name)
		assert.Equal(t, tt.encoding, encoding, name)
		s.served.wait()
		report := s.report(t)
		assert.Equal(t, 1, report.Counts.Encoded, name)
		assert.Equal(t, "encoded", report.Entries[0].Outcome.Code, name)
		assert.Contains(t, s.logs.String(), "encoded in a way that carryon cannot read", name)
	}
}
