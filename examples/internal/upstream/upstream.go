// Package upstream finds the model endpoint for the examples and explains its
// errors.
package upstream

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

	"github.com/carryon-go/carryon/examples/internal/plaintext"
)

// Endpoint is a real endpoint, and the model to use there.
type Endpoint struct{ URL, Key, Model string }

// FromEnv returns the endpoint that OPENAI_API_KEY, OPENAI_BASE_URL and
// OPENAI_MODEL describe, or nil if there is no key.
func FromEnv(getenv func(string) string) (*Endpoint, error) {
	key := getenv("OPENAI_API_KEY")
	if key == "" {
		return nil, nil //nolint:nilnil // a missing key is not an error
	}
	base := cmp.Or(strings.TrimRight(getenv("OPENAI_BASE_URL"), "/"), "https://api.openai.com/v1")
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("OPENAI_BASE_URL is not a URL that begins with http:// or https://: %q", base)
	}
	return &Endpoint{URL: base, Key: key, Model: cmp.Or(getenv("OPENAI_MODEL"), openai.GPT4oMini)}, nil
}

// Explain says in one printable sentence why a call failed.
func Explain(err error) string {
	var api *openai.APIError
	var request *openai.RequestError
	var network *url.Error
	var syntax *json.SyntaxError
	text := err.Error()
	switch {
	case errors.Is(err, context.Canceled):
		text = "Interrupted"
	case errors.As(err, &api) && api.HTTPStatusCode == http.StatusNotFound,
		errors.As(err, &request) && request.HTTPStatusCode == http.StatusNotFound:
		text = "The endpoint answered HTTP 404: " + notFound
	case errors.As(err, &api):
		text = fmt.Sprintf("The endpoint answered HTTP %d: %s", api.HTTPStatusCode, api.Message)
	case errors.As(err, &request):
		text = fmt.Sprintf("The endpoint answered HTTP %d, with a body that could not be read", request.HTTPStatusCode)
	case errors.As(err, &syntax):
		text = "The endpoint answered with something that is not a chat completion"
	case errors.As(err, &network):
		text = fmt.Sprintf("The endpoint %s could not be reached: %v", network.URL, network.Err)
	}
	return sentence(plaintext.OneLine(text))
}

// notFound names the usual reasons for a 404.
const notFound = "Does OPENAI_BASE_URL end in /v1, and is there a model OPENAI_MODEL?"

func sentence(text string) string {
	if text == "" {
		return "Something went wrong, for an unknown reason."
	}
	first, size := utf8.DecodeRuneInString(text)
	end := "."
	if strings.HasSuffix(text, "?") {
		end = ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimRight(text[size:], ".") + end
}
