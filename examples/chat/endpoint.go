package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/chat/script"
	"github.com/carryon-go/carryon/examples/chat/terminal"
)

// endpoint is where a model is asked.
type endpoint struct {
	client *openai.Client
	model  string
	hint   string // what to tell the user of it
	close  func()
}

// endpointFromEnv returns the scripted model unless there is a key for a real
// one. The pace is how long the scripted one takes for a word.
func endpointFromEnv(getenv func(string) string, pace time.Duration) (endpoint, error) {
	key := getenv("OPENAI_API_KEY")
	if key == "" {
		return scriptedEndpoint(pace), nil
	}
	base := cmp.Or(strings.TrimRight(getenv("OPENAI_BASE_URL"), "/"), "https://api.openai.com/v1")
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, fmt.Errorf("OPENAI_BASE_URL is not a URL that begins with http:// or https://: %q", base)
	}
	model := cmp.Or(getenv("OPENAI_MODEL"), openai.GPT4oMini)
	config := openai.DefaultConfig(key)
	config.BaseURL = base
	return endpoint{
		client: openai.NewClientWithConfig(config), model: model,
		hint: fmt.Sprintf("The model is %s.", model), close: func() {},
	}, nil
}

// scriptedEndpoint has no socket: its server answers in memory.
func scriptedEndpoint(pace time.Duration) endpoint {
	server := carryontest.Start()
	var next carryontest.Turn
	next = carryontest.Func(func(r carryontest.Request) carryontest.Turn {
		server.Append(next)
		return script.Answer(r).WholeCalls().Delay(pace)
	})
	server.Append(next)
	config := openai.DefaultConfig("none")
	config.BaseURL, config.HTTPClient = carryontest.BaseURL, &http.Client{Transport: server.Transport()}
	return endpoint{
		client: openai.NewClientWithConfig(config), model: "scripted", close: server.Close,
		hint: "The model is scripted: no key is set. Try: " + script.Example,
	}
}

// explain says in a sentence what went wrong.
func explain(err error) string {
	var api *openai.APIError
	var request *openai.RequestError
	var network *url.Error
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, context.Canceled):
		return "Interrupted."
	case errors.As(err, &api):
		return sentence(fmt.Sprintf("The endpoint answered HTTP %d: %s", api.HTTPStatusCode, api.Message))
	case errors.As(err, &request):
		return sentence(fmt.Sprintf("The endpoint answered HTTP %d, and nothing that could be read",
			request.HTTPStatusCode))
	case errors.As(err, &syntax):
		return "The endpoint answered with something that is not a chat completion."
	case errors.As(err, &network):
		return sentence(fmt.Sprintf("The endpoint %s could not be asked: %v", network.URL, network.Err))
	}
	return sentence(err.Error())
}

func sentence(text string) string {
	text = terminal.OneLine(text)
	if text == "" {
		return "Something went wrong, and nothing says what."
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimRight(text[size:], ".") + "."
}
