package langchaingo

import (
	"path"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// provider says how langchaingo's client of a provider behaves.
type provider struct {
	givesReasons    bool // every complete answer has a stop reason
	readsOneMessage bool // it sends the first message and drops the others
	readsOnePart    bool // it sends the first part of an AI message and drops the others
}

// providerOf recognizes the clients of langchaingo by their package path,
// without importing them. It does not recognize a client behind another
// wrapper.
func providerOf(model llms.Model) provider {
	t := reflect.TypeOf(model)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !strings.HasPrefix(t.PkgPath(), "github.com/tmc/langchaingo/llms/") {
		return provider{}
	}
	switch path.Base(t.PkgPath()) {
	case "cohere", "ernie", "huggingface", "local", "palm", "watsonx":
		return provider{readsOneMessage: true}
	case "anthropic":
		return provider{readsOnePart: true, givesReasons: true}
	case "openai":
		return provider{givesReasons: true}
	}
	return provider{}
}
