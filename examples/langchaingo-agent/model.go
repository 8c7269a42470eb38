package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tmc/langchaingo/llms/openai"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/internal/plaintext"
	"github.com/carryon-go/carryon/examples/internal/upstream"
	"github.com/carryon-go/carryon/todo"
)

// endpointFromEnv returns a real endpoint if the environment has a key for one,
// and the scripted endpoint otherwise.
func endpointFromEnv(getenv func(string) string) (endpoint, error) {
	e, err := upstream.FromEnv(getenv)
	switch {
	case err != nil:
		return endpoint{}, err
	case e == nil:
		return scripted(func() (*carryontest.Server, string, http.RoundTripper) {
			server := carryontest.Start(script()...)
			return server, server.URL(), http.DefaultTransport
		}), nil
	}
	return endpoint{
		title: fmt.Sprintf("The model is %s.", plaintext.OneLine(e.Model)),
		dial: func() (*openai.LLM, func(), error) {
			llm, err := openai.New(openai.WithToken(e.Key), openai.WithModel(e.Model), openai.WithBaseURL(e.URL))
			return llm, func() {}, err
		},
	}, nil
}

// scripted returns an endpoint with a scripted model, which restarts for each
// run.
func scripted(start func() (server *carryontest.Server, url string, transport http.RoundTripper)) endpoint {
	return endpoint{
		title: "The model is scripted.",
		dial: func() (*openai.LLM, func(), error) {
			server, url, transport := start()
			llm, err := openai.New(openai.WithToken("none"), openai.WithModel("scripted"), openai.WithBaseURL(url),
				openai.WithHTTPClient(&http.Client{Transport: transport}))
			return llm, server.Close, err
		},
	}
}

// script returns the answers of the scripted model, one per request. Twice the
// model announces its next step and stops.
func script() []carryontest.Turn {
	return []carryontest.Turn{
		carryontest.Call(todo.WriteTool().Name, list(todo.InProgress, todo.Pending, todo.Pending)),
		writes("index.html\n<h1>Tea</h1>", todo.Completed, todo.InProgress, todo.Pending),
		carryontest.Text("index.html is in place. Next, I will write style.css."),
		writes("style.css\nh1 { color: darkgreen }", todo.Completed, todo.Completed, todo.InProgress),
		carryontest.Text("The styles are done. Now let me add the README."),
		writes("README.md\n# Tea", todo.Completed, todo.Completed, todo.Completed),
		carryontest.Text("All done: the page, its styles and the README."),
	}
}

// writes returns a turn that writes a file and the updated list.
func writes(file string, statuses ...todo.Status) carryontest.Turn {
	return carryontest.Call("write_file", input(file)).AndCall(todo.WriteTool().Name, list(statuses...))
}

// list returns the arguments of a call that writes the list.
func list(statuses ...todo.Status) string {
	return input(encode([]todo.Todo{
		{ID: "1", Content: "Write index.html", Status: statuses[0]},
		{ID: "2", Content: "Write style.css", Status: statuses[1]},
		{ID: "3", Content: "Write README.md", Status: statuses[2]},
	}))
}

// input returns a tool's input in the form in which the agent declares its tools
// to the model.
func input(text string) string { return encode(map[string]string{"__arg1": text}) }

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}
