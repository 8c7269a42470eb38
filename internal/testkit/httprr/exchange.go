// Package httprr reads recorded HTTP traffic and plays it back, for tests against real answers of providers.
//
// A recording is a file named *.httprr: the line "httprr trace v1", then one exchange after the other. An exchange is a
// line with two lengths, so many bytes of request, and so many bytes of response, both as HTTP writes them. A recording
// that is named *.httprr.gz is gzipped.
//
// [Find] reads the recordings below a folder, [Chats] picks the calls of Chat Completions, and [Replay] plays answers
// to any client.
package httprr

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

const header = "httprr trace v1"

// maxRecording is how many bytes a recording may have, unpacked. The largest have a few megabytes.
const maxRecording = 64 << 20

// ErrCorrupt is wrapped by the errors of files that are not recordings, or are cut short.
var ErrCorrupt = errors.New("not an httprr recording")

// Exchange is one recorded request with its answer.
type Exchange struct {
	Name     string // the recording's file name without extension, and the number of the exchange in it: "TestChat/2"
	Request  []byte // as HTTP writes it to a proxy
	Response []byte
}

// Find reads the recordings in all testdata folders below dir, in the order of their paths.
func Find(dir string) ([]Exchange, error) {
	var all []Exchange
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !isRecording(path) || entry.IsDir() {
			return err
		}
		exchanges, err := Open(path)
		all = append(all, exchanges...)
		return err
	})
	return all, err
}

func isRecording(path string) bool {
	return filepath.Base(filepath.Dir(path)) == "testdata" && strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".httprr")
}

// Open reads one recording. An error names the file.
func Open(path string) ([]Exchange, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	exchanges, err := open(file, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return exchanges, nil
}

func open(file io.Reader, path string) ([]Exchange, error) {
	base, packed := strings.CutSuffix(filepath.Base(path), ".gz")
	if packed {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			return nil, err
		}
		file = unpacked
	}
	data, err := io.ReadAll(io.LimitReader(file, maxRecording+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxRecording {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrCorrupt, maxRecording)
	}
	return Parse(strings.TrimSuffix(base, ".httprr"), data)
}

// Parse reads a recording from memory; it must not be gzipped. The exchanges are called name/1 and so on, and share
// memory with data.
func Parse(name string, data []byte) ([]Exchange, error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(bytes.TrimSuffix(first, []byte("\r"))) != header {
		return nil, fmt.Errorf("%w: it begins with %.40q", ErrCorrupt, first)
	}
	var exchanges []Exchange
	for len(rest) > 0 {
		lengths, body, _ := bytes.Cut(rest, []byte("\n"))
		var request, response int
		if _, err := fmt.Sscanf(string(lengths), "%d %d", &request, &response); err != nil {
			return nil, fmt.Errorf("%w: exchange %d: %w", ErrCorrupt, len(exchanges)+1, err)
		}
		if request < 0 || response < 0 || request > len(body) || response > len(body)-request {
			return nil, fmt.Errorf("%w: exchange %d is cut short", ErrCorrupt, len(exchanges)+1)
		}
		exchanges = append(exchanges, Exchange{
			Name:     fmt.Sprintf("%s/%d", name, len(exchanges)+1),
			Request:  body[:request:request],
			Response: body[request : request+response : request+response],
		})
		rest = body[request+response:]
	}
	return exchanges, nil
}

// NewRequest returns the recorded request, ready to be sent again.
func (e Exchange) NewRequest(ctx context.Context) (*http.Request, error) {
	recorded, body, err := e.readRequest()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	// http.NewRequest sets GetBody and ContentLength, as for a client's request.
	req, err := http.NewRequestWithContext(ctx, recorded.Method, recorded.RequestURI, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	req.Header = recorded.Header
	req.Header.Del("Content-Length") // net/http adds it when it reads; clients do not
	return req, nil
}

func (e Exchange) readRequest() (*http.Request, []byte, error) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(e.Request)))
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(req.Body)
	return req, body, err
}

// NewResponse returns the recorded response as the answer to req. Its body is in memory; closing it does nothing.
func (e Exchange) NewResponse(req *http.Request) (*http.Response, error) {
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(e.Response)), req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return response, nil
}
