package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// actAsLayer is a program that has carryon in it, and asks a model once whose
// list has work on it.
func actAsLayer(how string) int {
	config := openai.DefaultConfig("none")
	config.BaseURL = os.Getenv("OPENAI_BASE_URL")
	client := openai.NewClientWithConfig(config)
	if how == "layer" {
		limits := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})
		client = carryopenai.NewClientWithConfig(config, middleware.New(todo.FromConversation(), limits))
	}
	var request openai.ChatCompletionRequest
	if err := json.Unmarshal([]byte(strings.Replace(stalled, `"stream": true, `, "", 1)), &request); err != nil {
		panic(err)
	}
	request.Tools = []openai.Tool{tool("write_file"), tool("todo_write")}
	answer, err := client.CreateChatCompletion(context.Background(), request)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(answer.Choices[0].Message.Content)
	return 0
}

// Two layers of carryon in two processes add up and do not multiply: what one has
// added, the other leaves alone.
func TestLayersInTwoProcessesDoNotMultiply(t *testing.T) {
	t.Parallel()
	const each = 4 // continuations
	for name, tt := range map[string]struct {
		program string
		proxies int
		sent    int
	}{
		"no layer":                   {"plain", 0, 1},
		"a program":                  {"layer", 0, 1 + each},
		"a proxy":                    {"plain", 1, 1 + each},
		"a program behind a proxy":   {"layer", 1, 1 + 2*each},
		"a proxy behind a proxy":     {"plain", 2, 1 + 2*each},
		"a program, and two proxies": {"layer", 2, 1 + 3*each},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := make([]carryontest.Turn, 64)
			for i := range turns {
				turns[i] = carryontest.Text(fmt.Sprintf("Now I will write it, part %d.", i))
			}
			upstream := carryontest.NewServer(t, turns...)
			base := upstream.URL()
			for range tt.proxies {
				base = startProxy(t, base)
			}
			agent := program(t, tt.program)
			agent.Env = append(agent.Env, asProgram+"=agent", "OPENAI_BASE_URL="+base)
			out, err := agent.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Equal(t, tt.sent, strings.Count(string(out), "Now I will write it, part "))
			assert.Len(t, upstream.Requests(), tt.sent)
		})
	}
}

// startProxy starts a proxy before an upstream, and returns its base URL.
func startProxy(t *testing.T, upstream string) string {
	t.Helper()
	p := program(t, "proxy", "-listen", "127.0.0.1:0", "-upstream", upstream, "-min-interval", "1ms")
	_, base := started(t, p)
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return base
}
