package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/examples/internal/plaintext"
	"github.com/carryon-go/carryon/todo"
)

const (
	writeFile  = "write_file"
	readFile   = "read_file"
	listFiles  = "list_files"
	checkFiles = "check_files"
)

// toolbox executes the tools of the model.
type toolbox struct {
	files   *sandbox
	todos   *todo.Memory
	tasks   *asynctask.Manager
	pace    time.Duration                        // the least time that a background task takes
	started func(ctx context.Context, id string) // is called for each background task
	view    terminal.View
}

// use executes a tool call, shows it, and returns the result for the model.
func (t *toolbox) use(ctx context.Context, name, arguments string) string {
	if result, ok := t.todos.Handle(ctx, name, arguments); ok {
		return result // the panel shows the list
	}
	if result, ok, _ := t.tasks.Handle(ctx, name, arguments); ok { // memory does not fail
		t.view.Say(terminal.Worked, "looked at the background tasks")
		return result
	}
	var in input
	err := json.Unmarshal([]byte(arguments), &in)
	if err != nil {
		err = errors.New("the arguments are not the JSON object that it takes")
	}
	var shown, result string
	if err == nil {
		shown, result, err = t.work(ctx, name, in)
	}
	if err != nil {
		t.view.Say(terminal.Failed, plaintext.OneLine(fmt.Sprintf("%s: %v", name, err)))
		return fmt.Sprintf("Error: %v.", err)
	}
	t.view.Say(terminal.Worked, plaintext.OneLine(shown))
	return result
}

// input has the arguments of all tools; each tool uses some of them.
type input struct{ Path, Content, Folder string }

// work executes a tool. It returns what to show the user and the result for the
// model.
func (t *toolbox) work(ctx context.Context, name string, in input) (shown, result string, err error) {
	switch name {
	case writeFile:
		shown = fmt.Sprintf("wrote %s, %d bytes", in.Path, len(in.Content))
		return shown, "OK: " + shown + ".", t.files.write(in.Path, in.Content)
	case readFile:
		text, broken, err := t.files.read(in.Path)
		if broken {
			text = "Note: what is not UTF-8 was replaced by U+FFFD.\n\n" + text
		}
		return fmt.Sprintf("read %s, %d bytes", in.Path, len(text)), text, err
	case listFiles:
		names, err := t.files.list(in.Folder)
		return fmt.Sprintf("listed %d files", len(names)), strings.Join(append(names, "That is all."), "\n"), err
	case checkFiles:
		name := "check the files in " + cmp.Or(in.Folder, ".")
		ticket, err := t.tasks.Start(ctx, name, func(ctx context.Context) (*asynctask.Output, error) {
			return t.check(ctx, in.Folder)
		})
		if err == nil {
			t.started(ctx, ticket.ID)
		}
		return "started in the background: " + name, "Started. You will be told of the result.", err
	}
	return "", "", fmt.Errorf("there is no tool %q", name)
}

// check is the background task: after t.pace it checks the files in a folder.
func (t *toolbox) check(ctx context.Context, folder string) (*asynctask.Output, error) {
	timer := time.NewTimer(t.pace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	names, err := t.files.list(folder)
	if err != nil {
		return nil, err
	}
	words, faults := 0, ""
	for _, name := range names {
		text, broken, err := t.files.read(name)
		switch {
		case err != nil:
			faults += fmt.Sprintf(" %v.", err)
		case broken:
			faults += fmt.Sprintf(" %s is not UTF-8.", name)
		}
		words += len(strings.Fields(text))
	}
	return asynctask.Message(fmt.Sprintf("%d files with %d words.%s", len(names), words, faults)), nil
}

func (t *toolbox) definitions() []openai.Tool {
	object := func(names ...string) json.RawMessage {
		properties := make([]string, len(names))
		for i, name := range names {
			properties[i] = fmt.Sprintf(`%q:{"type":"string"}`, name)
		}
		return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":["%s"],"additionalProperties":false}`,
			strings.Join(properties, ","), strings.Join(names, `","`)))
	}
	check := asynctask.CheckTool()
	list := []todo.Definition{
		{Name: writeFile, Description: "Write a text file.", Parameters: object("path", "content")},
		{Name: readFile, Description: "Read a text file.", Parameters: object("path")},
		{Name: listFiles, Description: `List the files in a folder; "." is all of them.`, Parameters: object("folder")},
		{
			Name: checkFiles, Parameters: object("folder"),
			Description: `Check the files in a folder ("." for all) in the background: their number, words and faults.`,
		},
		todo.WriteTool(), todo.ReadTool(),
		{Name: check.Name, Description: check.Description, Parameters: check.Parameters},
	}
	tools := make([]openai.Tool, 0, len(list))
	for _, d := range list {
		tools = append(tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: d.Name, Description: d.Description, Parameters: d.Parameters,
		}})
	}
	return tools
}
