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
	"unicode"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/carryontest"
)

// setup says what is run, and against which model.
type setup struct {
	title string
	model string
	task  string
	dial  func() endpoint // once per run
}

// endpoint is where a run's requests go.
type endpoint struct {
	url, key  string
	transport http.RoundTripper
	close     func()
}

// setupFromEnv returns the scripted setup unless there is a key for a real one.
func setupFromEnv(getenv func(string) string) (setup, error) {
	key := getenv("OPENAI_API_KEY")
	if key == "" {
		return scripted(task, script()...), nil
	}
	base := cmp.Or(strings.TrimRight(getenv("OPENAI_BASE_URL"), "/"), "https://api.openai.com/v1")
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return setup{}, fmt.Errorf("OPENAI_BASE_URL is not a URL that begins with http:// or https://: %q", base)
	}
	model := cmp.Or(getenv("OPENAI_MODEL"), openai.GPT4oMini)
	return setup{
		title: fmt.Sprintf("The model is %s.", model),
		model: model,
		task:  task + " Write three files: index.html, style.css and README.md.",
		dial: func() endpoint {
			return endpoint{url: base, key: key, transport: http.DefaultTransport, close: func() {}}
		},
	}, nil
}

// scripted returns a setup with a scripted model, which begins anew each run.
func scripted(task string, turns ...carryontest.Turn) setup {
	return setup{
		title: "The model is scripted.",
		model: "scripted",
		task:  task,
		dial: func() endpoint {
			server := carryontest.Start(turns...)
			return endpoint{url: server.URL(), key: "none", transport: http.DefaultTransport, close: server.Close}
		},
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
		return sentence(fmt.Sprintf("The endpoint answered HTTP %d: %s", api.HTTPStatusCode, line(api.Message)))
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
	if text == "" {
		return "Something went wrong, and nothing says what."
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimRight(text[size:], ".") + "."
}
