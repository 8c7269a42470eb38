package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAddCredentials(t *testing.T) {
	t.Parallel()
	added := func(query string, header map[string][]string) (texts []string, found bool) {
		found = AddCredentials(header, query, func(text string) { texts = append(texts, text) })
		return texts, found
	}
	for name := range strings.FieldsSeq("Authorization Proxy-Authorization X-Api-Key api-key X-Goog-Api-Key X-Portkey-Api-Key Cookie " +
		"Ocp-Apim-Subscription-Key Cf-Access-Client-Secret Cf-Access-Token X-Amz-Security-Token X-Auth-Request-Email Helicone-Auth " +
		"X-Forwarded-Client-Cert X-Forwarded-User Openai-Organization X-Org-Id Openai-Project X-Goog-User-Project Chatgpt-Account-Id X-Tenant") {
		texts, found := added("", map[string][]string{name: {"a", "b"}, "Accept": {"*/*"}})
		assert.True(t, found, name)
		assert.Equal(t, []string{"", name, "a", "b"}, texts)
	}
	for name := range strings.FieldsSeq("Accept Content-Type User-Agent X-Request-Id Idempotency-Key X-Stainless-Retry-Count Traceparent " +
		"Anthropic-Beta Anthropic-Version X-Initiator X-Session-Id Thread-Id Origin Keep-Alive") {
		texts, found := added("", map[string][]string{name: {"a"}})
		assert.False(t, found, name)
		assert.Equal(t, []string{""}, texts)
	}
	for _, query := range []string{"alt=sse&key=a", "key=a&alt=sse", "key=a&$alt=json%3Benum-encoding%3Dint", "key=a&%24alt=json"} {
		texts, found := added(query, nil)
		assert.True(t, found, query)
		assert.Equal(t, []string{"key=a"}, texts, query)
	}
	texts, found := added("alt=sse", nil)
	assert.False(t, found, "it says nothing of the caller")
	assert.Equal(t, []string{""}, texts)
	texts, found = added("key=a", nil)
	assert.True(t, found)
	assert.Equal(t, []string{"key=a"}, texts)
}
