package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/chat/script"
	"github.com/carryon-go/carryon/examples/internal/upstream"
)

// endpoint is a client and the model to use with it.
type endpoint struct {
	client *openai.Client
	model  string
	hint   string // tells the user about the model
	close  func()
}

// endpointFromEnv returns a real model if the environment has a key for one, and
// the scripted model otherwise, which takes pace for each word.
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

// scriptedEndpoint returns an endpoint whose server answers in memory.
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
