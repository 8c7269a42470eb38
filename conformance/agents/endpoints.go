package main

import (
	"net/http"
	"slices"
	"strings"
)

// endpoint is what a vendor serves below a path.
type endpoint struct {
	host, path string
	login      string            // the credentials that it accepts, "" for any
	header     map[string]string // that it demands
	body       string            // its answer; "" for that of the model
}

// endpoints returns what the vendors serve.
func endpoints() []endpoint {
	return []endpoint{
		{host: "api.openai.com", path: "/v1/responses", login: openAIKey},
		{host: "api.openai.com", path: "/v1/chat/completions", login: openAIKey},
		{
			host: "chatgpt.com", path: "/backend-api/codex/responses", login: chatGPTToken(account),
			header: map[string]string{"Chatgpt-Account-Id": account},
		},
		{
			host: "us.chatgpt.com", path: "/backend-api/codex/responses", login: chatGPTToken(regional),
			header: map[string]string{"Chatgpt-Account-Id": regional, "X-Openai-Account-Routing-Override": "us"},
		},
		{host: "chatgpt.com", path: "/backend-api/wham/accounts/check", body: chatGPTAccounts},
		{host: "api.anthropic.com", path: "/v1/messages"},
		{host: "opencode.ai", path: "/zen/v1/"},
		{host: "api.kilo.ai", path: "/api/openrouter/chat/completions"},
		{host: "api.kilo.ai", path: "/api/gateway/chat/completions"},
		{host: "coding.dashscope.aliyuncs.com", path: "/v1/chat/completions", login: planKey},
		{host: "api.z.ai", path: "/api/anthropic/v1/messages", login: planKey},
		{host: "api.moonshot.ai", path: "/v1/chat/completions", login: planKey},
		{host: "api.groq.com", path: "/openai/v1/chat/completions", login: planKey},
		{host: "api.x.ai", path: "/v1/chat/completions", login: planKey},
		{host: "api.deepseek.com", path: "/", login: planKey},
		{host: "api.factory.ai", path: "/", body: `{}`},
		{host: "llm.example.com", path: "/v1/", login: planKey},
		{host: "generativelanguage.googleapis.com", path: "/v1beta/models/", login: geminiKey},
		{host: "aiplatform.googleapis.com", path: "/v1beta1/publishers/google/models/", login: geminiKey},
		{host: "oauth2.googleapis.com", path: "/tokeninfo", login: googleToken, body: `{"expires_in":3599,"scope":"https://www.googleapis.com/auth/cloud-platform"}`},
		{host: "www.googleapis.com", path: "/oauth2/v2/userinfo", login: googleToken, body: `{"id":"1","email":"somebody@example.com"}`},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:loadCodeAssist", login: googleToken, body: googleTiers},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:onboardUser", login: googleToken, body: googleAccount},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:listExperiments", login: googleToken, body: `{}`},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:fetchAdminControls", login: googleToken, body: `{}`},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:retrieveUserQuota", login: googleToken, body: `{}`},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:recordCodeAssistMetrics", login: googleToken, body: `{}`},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:generateContent", login: googleToken},
		{host: "cloudcode-pa.googleapis.com", path: "/v1internal:streamGenerateContent", login: googleToken},
		{host: "api.github.com", path: "/copilot_internal/user", login: githubToken, body: copilotUser},
		{host: "api.github.com", path: "/copilot_internal/user", login: companyToken, body: strings.ReplaceAll(copilotUser, "https://api.githubcopilot.com", "https://api.business.githubcopilot.com")},
		{host: "api.business.githubcopilot.com", path: "/models", login: companyToken, body: copilotModels},
		{host: "api.business.githubcopilot.com", path: "/", login: companyToken},
		{host: "api.githubcopilot.com", path: "/models", login: githubToken, body: copilotModels},
		{host: "api.githubcopilot.com", path: "/", login: githubToken},
	}
}

// hosts returns the hosts that agents ask, those included from which they get nothing.
func hosts() (all []string) {
	for _, e := range endpoints() {
		all = append(all, e.host)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// endpointFor returns the endpoint that a request is for, and the status with which it is answered.
func endpointFor(host string, r *http.Request) (endpoint, int) {
	status := http.StatusNotFound
	for _, e := range endpoints() {
		switch {
		case e.host != host || !strings.HasPrefix(r.URL.Path, e.path):
		case !e.accepts(r):
			status = http.StatusUnauthorized // unless another one accepts it
		case r.Header.Get("Upgrade") != "":
			return e, http.StatusUpgradeRequired
		default:
			return e, http.StatusOK
		}
	}
	return endpoint{}, status
}

// accepts reports whether a request has the credentials of the endpoint.
func (e *endpoint) accepts(r *http.Request) bool {
	for name, value := range e.header {
		if r.Header.Get(name) != value {
			return false
		}
	}
	if e.host == "api.anthropic.com" { // a subscription and a key have different headers
		return r.Header.Get("X-Api-Key") == anthropicKey || r.Header.Get("Authorization") == "Bearer "+claudeToken
	}
	_, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if key := r.Header.Get("X-Goog-Api-Key"); key != "" {
		given = key
	}
	return e.login == "" || given == e.login
}

// What Code Assist answers to somebody whom it does not know yet.
const (
	googleTiers = `{"allowedTiers":[{"id":"standard-tier","name":"Gemini Code Assist","description":"","isDefault":true,"userDefinedCloudaicompanionProject":false}],` +
		`"cloudaicompanionProject":"some-project"}`
	googleAccount = `{"name":"operations/1","done":true,"response":{"@type":"type.googleapis.com/google.internal.cloud.code.v1internal.OnboardUserResponse",` +
		`"cloudaicompanionProject":{"id":"some-project","name":"some-project"}}}`
)

const chatGPTAccounts = `{"accounts":[` +
	`{"id":"` + account + `","plan_type":"pro","structure":"personal","workspace_backend_origin":"https://chatgpt.com","account_routing_override":"NO_CONSTRAINT"},` +
	`{"id":"` + regional + `","plan_type":"enterprise","structure":"workspace","workspace_backend_origin":"https://us.chatgpt.com","account_routing_override":"us"}` +
	`],"account_ordering":["` + account + `","` + regional + `"]}`

const copilotUser = `{"login":"somebody","copilot_plan":"individual","access_type_sku":"plus_monthly_subscriber_quota","chat_enabled":true,` +
	`"analytics_tracking_id":"none","organization_list":[],"endpoints":{"api":"https://api.githubcopilot.com","telemetry":"https://telemetry.githubcopilot.com"}}`

const copilotModels = `{"data":[` +
	`{"id":"claude-sonnet-5.5","name":"Claude Sonnet 5.5","vendor":"Anthropic","object":"model","version":"claude-sonnet-5.5","preview":false,` +
	`"model_picker_enabled":true,"is_chat_default":true,"policy":{"state":"enabled"},"supported_endpoints":["/v1/messages","/chat/completions"],` +
	`"capabilities":{"family":"claude-sonnet-5.5","object":"model_capabilities","type":"chat","tokenizer":"o200k_base",` +
	`"limits":{"max_context_window_tokens":200000,"max_output_tokens":32000,"max_prompt_tokens":168000},` +
	`"supports":{"parallel_tool_calls":true,"streaming":true,"tool_calls":true}}},` +
	`{"id":"gpt-6.1","name":"GPT-6.1","vendor":"OpenAI","object":"model","version":"gpt-6.1","preview":false,` +
	`"model_picker_enabled":true,"policy":{"state":"enabled"},"supported_endpoints":["ws:/responses","/responses"],` +
	`"capabilities":{"family":"gpt-6.1","object":"model_capabilities","type":"chat","tokenizer":"o200k_base",` +
	`"limits":{"max_context_window_tokens":400000,"max_output_tokens":64000,"max_prompt_tokens":272000},` +
	`"supports":{"parallel_tool_calls":true,"streaming":true,"tool_calls":true}}}` +
	`],"object":"list"}`
