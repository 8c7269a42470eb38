package providers_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/providers"
	"github.com/carryon-go/carryon/cmd/carryon/internal/tunnel"
)

func none(string) string { return "" }

func TestTheTableOfHosts(t *testing.T) {
	t.Parallel()
	all := providers.Hosts(none)
	var hosts tunnel.Hosts
	for i, pattern := range all {
		require.NoError(t, hosts.Add(pattern))
		assert.NotContains(t, all[:i], pattern, "twice")
	}
	for _, host := range []string{
		"api.openai.com", "chatgpt.com", "us.chatgpt.com", "api.anthropic.com", "generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com",
		"us-central1-aiplatform.googleapis.com", "api.githubcopilot.com", "api.individual.githubcopilot.com", "opencode.ai", "api.kilo.ai",
		"openrouter.ai", "api.x.ai", "api.mistral.ai", "api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn", "api.kimi.com", "api.z.ai",
		"api.minimax.io", "dashscope.aliyuncs.com", "coding.dashscope.aliyuncs.com", "api.groq.com", "api.cerebras.ai", "api.together.xyz",
		"api.fireworks.ai", "mine.openai.azure.com", "mine.services.ai.azure.com",
	} {
		assert.True(t, hosts.Has(host, 443), host)
	}
	for _, host := range []string{
		"api.github.com", "github.com", "registry.npmjs.org", "pypi.org", "proxy.golang.org", "storage.googleapis.com", "oauth2.googleapis.com",
		"bedrock-runtime.us-east-1.amazonaws.com", "huggingface.co", "openai.com", "google.com",
	} {
		assert.False(t, hosts.Has(host, 443), host)
	}
}

func TestHostsThatTheEnvironmentNames(t *testing.T) {
	t.Parallel()
	set := map[string]string{"GH_HOST": "corp.ghe.com", "CLOUD_ML_REGION": "moon-west1", "GOOGLE_CLOUD_LOCATION": "global", "COPILOT_GH_HOST": "github.com"}
	more := providers.Hosts(func(name string) string { return set[name] })
	known := providers.Hosts(none)
	more = slices.DeleteFunc(more, func(host string) bool { return slices.Contains(known, host) })
	assert.Equal(t, []string{"copilot-api.corp.ghe.com", "moon-west1-aiplatform.googleapis.com"}, more)
}

func TestHostsThatCarryonCannotAnswerFor(t *testing.T) {
	t.Parallel()
	assert.Contains(t, providers.Foreign("bedrock-runtime.us-east-1.amazonaws.com"), "signed")
	assert.Contains(t, providers.Foreign("api2.cursor.sh"), "protocol")
	for _, host := range []string{"s3.amazonaws.com", "api.openai.com", "notcursor.sh"} {
		assert.Empty(t, providers.Foreign(host), host)
	}
}
