// Command check runs a small agent twice, without a check and with one, and shows the
// difference:
//
//	make demo DEMO=check
//
// The model is scripted and has a habit of real ones: it ticks everything off and says
// that it works, with a bug in it. The check is a shell command that runs what the model
// has written.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/check"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// works is the command that says whether the work is done.
const works = `sum=$(sh sum.sh 2 3); test "$sum" = 5 || { echo "sum.sh 2 3 prints $sum and not 5"; exit 1; }`

func main() {
	if err := compare(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compare runs the agent without a check and with one.
func compare(ctx context.Context, w io.Writer) error {
	out := log.New(w, "", 0)
	out.Print("--- without a check ---\n\n")
	if err := work(ctx, out, func(string) middleware.Option { return nil }); err != nil {
		return err
	}
	out.Print("\n--- with a check ---\n\n")
	return work(ctx, out, func(folder string) middleware.Option {
		return middleware.WithCheck(check.Command(works, check.Folder(folder))) // the line for the check
	})
}

// work lets an agent work in a new folder.
func work(ctx context.Context, out *log.Logger, option func(folder string) middleware.Option) error {
	folder, err := os.MkdirTemp("", "carryon-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the system cleans up its temporary folder
	a := agent{out: out, folder: folder, todos: todo.NewMemory(todo.WithOneConversation())}
	return a.run(ctx, middleware.New(a.todos, option(folder)))
}

// script is what the model answers, one turn after the other.
func script() []carryontest.Turn {
	write := func(text string) carryontest.Turn {
		return carryontest.Call("write_file", fmt.Sprintf(`{"path":"sum.sh","content":%q}`, text))
	}
	return []carryontest.Turn{
		write("echo $(($1 - $2))\n"),
		carryontest.Call("todo_write", `{"todos":[{"content":"Write sum.sh","status":"completed"},{"content":"Test it","status":"completed"}]}`),
		carryontest.Text("All done: sum.sh adds its two arguments, and the test passes."),
		write("echo $(($1 + $2))\n"),
		carryontest.Text("It subtracted. Now it adds."),
	}
}

// agent works in a folder.
type agent struct {
	out    *log.Logger
	folder string
	todos  *todo.Memory
}

// run lets the model work until it ends its turn, and shows what its program does.
func (a *agent) run(ctx context.Context, mw *middleware.Middleware) error {
	server := carryontest.Start(script()...)
	defer server.Close()
	config := openai.DefaultConfig("none")
	config.BaseURL = server.URL()
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), mw)
	ctx, outcomes := middleware.Capture(ctx)
	request := openai.ChatCompletionRequest{
		Model:    "scripted",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Write sum.sh, which prints the sum of its two arguments, and test it."}},
		Tools:    tools(),
	}
	for {
		answer, err := client.CreateChatCompletion(ctx, request)
		if err != nil {
			return err
		}
		message := answer.Choices[0].Message
		request.Messages = append(request.Messages, message)
		for line := range strings.Lines(message.Content) {
			a.out.Println("model:  ", strings.TrimRight(line, "\n"))
		}
		if len(message.ToolCalls) == 0 {
			break
		}
		for _, call := range message.ToolCalls {
			a.out.Println("agent:  ", call.Function.Name)
			result := a.call(ctx, call.Function)
			request.Messages = append(request.Messages, openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: result})
		}
	}
	failed := 0
	for _, o := range outcomes.All() {
		failed += o.Worth.ChecksFailed
	}
	a.out.Println("carryon:", outcomes.Last().Reason)
	if failed > 0 {
		a.out.Println("carryon: The model was told of failures:", failed)
	}
	sum, _ := exec.CommandContext(ctx, "sh", filepath.Join(a.folder, "sum.sh"), "2", "3").Output() //nolint:gosec // the script above
	a.out.Printf("truth:   2 and 3 make %s", sum)
	return nil
}

// call runs a tool and returns its result.
func (a *agent) call(ctx context.Context, f openai.FunctionCall) string {
	if result, ok := a.todos.Handle(ctx, f.Name, f.Arguments); ok {
		return result
	}
	var file struct{ Path, Content string }
	if err := json.Unmarshal([]byte(f.Arguments), &file); err != nil || !filepath.IsLocal(file.Path) {
		return "error: a path inside the folder is needed"
	}
	if err := os.WriteFile(filepath.Join(a.folder, file.Path), []byte(file.Content), 0o600); err != nil {
		return "error: " + err.Error()
	}
	return "ok"
}

// tools are the tools of the agent.
func tools() []openai.Tool {
	file := json.RawMessage(`{"type":"object","required":["path","content"],"properties":{"path":{"type":"string"},"content":{"type":"string"}}}`)
	list := todo.WriteTool()
	return []openai.Tool{
		{Type: "function", Function: &openai.FunctionDefinition{Name: list.Name, Description: list.Description, Parameters: list.Parameters}},
		{Type: "function", Function: &openai.FunctionDefinition{Name: "write_file", Parameters: file}},
	}
}
