package httprr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// Chat is a recorded call of Chat Completions.
type Chat struct {
	Exchange

	Provider string // the host
	Model    string // of the request
	Body     []byte // of the request
	Streamed bool   // whether the request asked for a stream
	Answer   []byte // the body of the response
	Turn     quirks.Turn
}

// Chats returns the calls of Chat Completions among the exchanges, in their order: those whose request is a POST to
// a path that ends in /chat/completions.
func Chats(exchanges []Exchange) ([]Chat, error) {
	var chats []Chat
	for _, exchange := range exchanges {
		if !exchange.isChat() {
			continue
		}
		chat, err := newChat(exchange)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", exchange.Name, err)
		}
		chats = append(chats, chat)
	}
	return chats, nil
}

// isChat reads only the request line, because net/http may fail to read other recordings.
func (e Exchange) isChat() bool {
	line, _, _ := bytes.Cut(e.Request, []byte("\r\n"))
	fields := strings.Fields(string(line))
	if len(fields) != 3 || fields[0] != http.MethodPost {
		return false
	}
	path, _, _ := strings.Cut(fields[1], "?")
	return strings.HasSuffix(path, "/chat/completions")
}

func newChat(exchange Exchange) (Chat, error) {
	chat := Chat{Exchange: exchange}
	req, body, err := exchange.readRequest()
	if err != nil {
		return Chat{}, err
	}
	chat.Provider, chat.Body = req.Host, body
	var request struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	if err := json.Unmarshal(chat.Body, &request); err != nil {
		return Chat{}, err
	}
	chat.Model, chat.Streamed = request.Model, request.Stream
	response, err := exchange.NewResponse(nil)
	if err != nil {
		return Chat{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it is in memory
	chat.Answer, err = io.ReadAll(response.Body)
	if err != nil {
		return Chat{}, err
	}
	if response.StatusCode == http.StatusOK {
		chat.Turn, err = readTurn(chat.Answer, chat.Streamed)
	} else {
		chat.Turn = quirks.Turn{Head: string(chat.Answer), Means: quirks.Reading{Err: response.Status}}
	}
	chat.Turn.Status, chat.Turn.Type = response.StatusCode, response.Header.Get("Content-Type")
	chat.Turn.Length = response.ContentLength >= 0
	return chat, err
}

// NewRequest returns the recorded request with this Body, ready to be sent again.
func (c Chat) NewRequest(ctx context.Context) (*http.Request, error) {
	recorded, err := c.Exchange.NewRequest(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, recorded.Method, recorded.URL.String(), bytes.NewReader(c.Body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	req.Header = recorded.Header
	return req, nil
}

// EndsInText reports whether the answer is a turn that may be continued: text, with the finish reason stop, and no tool
// call.
func (c Chat) EndsInText() bool {
	means := c.Turn.Means
	return means.Finish == "stop" && len(means.Calls) == 0 && strings.TrimSpace(means.Text) != ""
}

// WithTool returns the call with this tool added, if it offers none.
func (c Chat) WithTool(declaration string) Chat {
	var request struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(c.Body, &request) != nil || len(request.Tools) > 0 {
		return c
	}
	object := bytes.TrimSuffix(bytes.TrimSpace(c.Body), []byte("}"))
	c.Body = slices.Concat(object, []byte(`,"tools":[`), []byte(declaration), []byte("]}"))
	return c
}
