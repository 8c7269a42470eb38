package main

import (
	"fmt"
	"net/http"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/internal/upstream"
)

// setup says what to run and against which model.
type setup struct {
	title string
	model string
	task  string
	dial  func() endpoint // called once per run
}

// endpoint receives the requests of a run.
type endpoint struct {
	url, key  string
	transport http.RoundTripper
	close     func()
}

// setupFromEnv returns a setup with a real model if the environment has a key
// for one, and the scripted setup otherwise.
func setupFromEnv(getenv func(string) string) (setup, error) {
	e, err := upstream.FromEnv(getenv)
	switch {
	case err != nil:
		return setup{}, err
	case e == nil:
		return scripted(task, script()...), nil
	}
	return setup{
		title: fmt.Sprintf("The model is %s.", e.Model),
		model: e.Model,
		task:  task + " Write three files: index.html, style.css and README.md.",
		dial: func() endpoint {
			return endpoint{url: e.URL, key: e.Key, transport: http.DefaultTransport, close: func() {}}
		},
	}, nil
}

// scripted returns a setup with a scripted model, which restarts for each run.
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
