package langchaingo

import (
	"path"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// provider is what is known of the client of a provider.
type provider struct {
	givesReasons    bool // all its answers have a stop reason, but those that broke off
	readsOneMessage bool // it sends the first message and drops the others
	readsOnePart    bool // of an AI message it sends the first part and drops the others
}

// providerOf knows the clients of langchaingo by their package, so that none
// has to be imported. A client behind another wrapper is not recognised.
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
