package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// firstText is the user's message in the request that the program prints.
	firstText = "Paint the fence."
	// slowly begins a user's message after which the model thinks for a minute about each continuation: time to kill a
	// replica.
	slowly = "Take your time."
)

// request returns the body of a request with an open todo.
func request(user string) string {
	return fmt.Sprintf(`{"model":"any","messages":[{"role":"user","content":"Plan it."},`+
		`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"todo_write",`+
		`"arguments":"{\"todos\":[{\"id\":\"1\",\"content\":\"Paint\",\"status\":\"pending\"}]}"}}]},`+
		`{"role":"tool","tool_call_id":"1","content":"ok"},{"role":"user","content":%q}],`+
		`"tools":[{"type":"function","function":{"name":"todo_write"}}]}`, user)
}

// model is a model that never gets anything done.
type model struct {
	think time.Duration
	out   io.Writer // gets a line for every request
}

// ServeHTTP answers with text.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Stream   bool
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
		http.Error(w, `{"error":{"message":"not a chat completion"}}`, http.StatusBadRequest)
		return
	}
	kind, think, coats := "asked", m.think, 0
	if n := len(asked.Messages); n > 2 && asked.Messages[n-2].Role == "assistant" {
		kind, coats = "told to go on", strings.Count(asked.Messages[n-2].Content, "Coat")
		if strings.HasPrefix(asked.Messages[n-3].Content, slowly) {
			think = time.Minute
		}
	}
	say(m.out, "model: %s through replica %s\n", kind, strings.Join(r.Header[replicaHeader], ""))
	select {
	case <-time.After(think):
	case <-r.Context().Done():
		return
	}
	said := fmt.Sprintf("Coat %d: I will paint it next.", coats+1) // the same words again would end the attempts sooner
	if !asked.Stream {
		w.Header().Set("Content-Type", "application/json")
		say(w, `{"id":"1","object":"chat.completion","created":1,"model":"any","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, said)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"any\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n"
	say(w, chunk+chunk+"data: [DONE]\n\n", `{"role":"assistant","content":"`+said+`"}`, "null", "{}", `"stop"`)
}
