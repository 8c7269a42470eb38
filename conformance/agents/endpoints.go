package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// endpoint is what a vendor serves below a path.
type endpoint struct {
	host, path string
	login      string            // the credentials that it accepts, "" for any
	header     map[string]string // that it demands
	body       string            // its answer; "" for that of the model
}

// The made-up logins.
const (
	openAIKey    = "sk-proj-none"
	anthropicKey = "sk-ant-api03-none"
	claudeToken  = "sk-ant-oat01-none"                        //nolint:gosec // made up
	githubToken  = "gho_none00000000000000000000000000000000" //nolint:gosec // made up
	planKey      = "sk-sp-none"
	account      = "11111111-2222-3333-4444-555555555555"
)

// chatGPTToken is a token as ChatGPT issues it.
var chatGPTToken = func() string { //nolint:gochecknoglobals // constant
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(
		`{"exp":%d,"email":"somebody@example.com","https://api.openai.com/auth":{"chatgpt_account_id":%q,"chatgpt_plan_type":"pro","chatgpt_user_id":"user-1"}}`,
		time.Now().Add(24*time.Hour).Unix(), account)) + "." + part("none")
}()

// endpoints returns what the vendors serve.
func endpoints() []endpoint {
	return []endpoint{
		{host: "api.openai.com", path: "/v1/responses", login: openAIKey},
		{host: "api.openai.com", path: "/v1/chat/completions", login: openAIKey},
		{host: "chatgpt.com", path: "/backend-api/codex/responses", login: chatGPTToken, header: map[string]string{"Chatgpt-Account-Id": account}},
		{
			host: "chatgpt.com", path: "/backend-api/wham/accounts/check", login: chatGPTToken,
			body: `{"accounts":[{"id":"` + account + `","plan_type":"pro","structure":"personal","workspace_backend_origin":"https://chatgpt.com","account_routing_override":"NO_CONSTRAINT"}],"account_ordering":["` + account + `"]}`,
		},
		{host: "api.anthropic.com", path: "/v1/messages"},
		{host: "opencode.ai", path: "/zen/v1/"},
		{host: "api.kilo.ai", path: "/api/openrouter/chat/completions"},
		{host: "api.kilo.ai", path: "/api/gateway/chat/completions"},
		{host: "coding.dashscope.aliyuncs.com", path: "/v1/chat/completions", login: planKey},
		{host: "api.github.com", path: "/copilot_internal/user", login: githubToken, body: copilotUser},
		{host: "api.githubcopilot.com", path: "/models", login: githubToken, body: copilotModels},
		{host: "api.githubcopilot.com", path: "/", login: githubToken},
	}
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
	return e.login == "" || given == e.login
}

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
