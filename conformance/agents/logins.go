package main

import (
	"encoding/base64"
	"fmt"
	"time"
)

// The made-up logins.
const (
	openAIKey    = "sk-proj-none"
	anthropicKey = "sk-ant-api03-none"
	claudeToken  = "sk-ant-oat01-none"                        //nolint:gosec // made up
	githubToken  = "gho_none00000000000000000000000000000000" //nolint:gosec // made up
	companyToken = "gho_none00000000000000000000000000000001" //nolint:gosec // made up
	googleToken  = "ya29.none"
	geminiKey    = "AIzaNone"
	planKey      = "sk-sp-none"
	account      = "11111111-2222-3333-4444-555555555555"
	regional     = "66666666-2222-3333-4444-555555555555" // an account whose data stay in a region
	forever      = 4102444800                             // until when the logins are valid, in seconds
)

// The files with which agents know who their user is.
var (
	codexKeyLogin = toJSON(map[string]any{"auth_mode": "apikey", "OPENAI_API_KEY": openAIKey}) //nolint:gochecknoglobals // constant
	googleLogin   = toJSON(map[string]any{                                                     //nolint:gochecknoglobals // constant
		"access_token": googleToken, "refresh_token": "1//none", "scope": "https://www.googleapis.com/auth/cloud-platform",
		"token_type": "Bearer", "expiry_date": forever * 1000,
	})
)

// chatGPTLogin returns the file with which Codex knows an account.
func chatGPTLogin(account string) string {
	token := chatGPTToken(account)
	return toJSON(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": time.Now().UTC().Format(time.RFC3339),
		"tokens": map[string]string{"id_token": token, "access_token": token, "refresh_token": "rt_none", "account_id": account},
	})
}

// chatGPTToken returns a token of an account as ChatGPT issues it.
func chatGPTToken(account string) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(
		`{"exp":%d,"email":"somebody@example.com","https://api.openai.com/auth":{"chatgpt_account_id":%q,"chatgpt_plan_type":"pro","chatgpt_user_id":"user-1"}}`,
		forever, account)) + "." + part("none")
}
