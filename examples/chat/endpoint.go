package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/chat/script"
	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/examples/internal/upstream"
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
	e, err := upstream.FromEnv(getenv)
	switch {
	case err != nil:
		return endpoint{}, err
	case e == nil:
		return scriptedEndpoint(pace), nil
	}
	config := openai.DefaultConfig(e.Key)
	config.BaseURL = e.URL
	return endpoint{
		client: openai.NewClientWithConfig(config), model: e.Model,
		hint: fmt.Sprintf("The model is %s.", e.Model), close: func() {},
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
func explain(err error) string { return upstream.Explain(err, terminal.OneLine) }
