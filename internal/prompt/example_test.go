package prompt_test

import (
	"fmt"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/prompt"
)

func ExamplePrompter() {
	p, err := prompt.New(continuation.Templates{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Prompt(prompt.Input{
		Task:    "- [ ] Document the `/users/{id}` endpoint",
		List:    prompt.List{Todos: 4, Open: 2, Next: [prompt.MaxNext]string{"Update the changelog"}, Tool: "todo_write"},
		Attempt: 2,
		End:     handback.Unclear,
		Last:    decision.ResultNoProgress,
	}))
	// Output:
	// (Automatic message: no new message has come from the user.)
	//
	// You have an active task that needs completion:
	// 'Document the `/users/{id}` endpoint'
	//
	// Continue working on this task. If already done, mark it with todo_write and take the next.
	// Your answer called no tool. 2 of 4 todos are open, next 'Update the changelog'.
	// Call todo_pause only for errors you cannot mend, something started that must finish, or what the user must decide or do.
	//
	// Note: This is continuation attempt #2. Please make sure to take concrete action.
	// Previous attempt: no tool was called and no todo changed
}

// A shorter prompt.
func ExamplePrompter_oneLine() {
	p, err := prompt.New(continuation.OneLineTemplates())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Prompt(prompt.Input{Task: "Update the changelog", Attempt: 1}))
	fmt.Println()
	fmt.Println(p.Prompt(prompt.Input{Task: "Update the changelog", Attempt: 1, Mode: continuation.ApprovalYOLO}))
	// Output:
	// (Automatic message: no new message has come from the user.)
	//
	// You have an active task: 'Update the changelog'. Continue working on this task. Call todo_pause('reason') ONLY if there's an error preventing you from continuing.
	//
	// (Automatic message: no new message has come from the user.)
	//
	// CONTINUE TASK IMMEDIATELY: 'Update the changelog'. You MUST continue working on this task. Call todo_pause('reason') ONLY if there's an error preventing you from proceeding.
}

// A custom text replaces a built-in one; the others stay.
func ExampleNew() {
	texts := continuation.OneLineTemplates()
	texts.Standard.Base = "Still open: '{taskDescription}'. Carry on, or call todo_pause with the reason."
	p, err := prompt.New(texts)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Prompt(prompt.Input{Task: "Update the changelog", Attempt: 1}))
	// Output:
	// (Automatic message: no new message has come from the user.)
	//
	// Still open: 'Update the changelog'. Carry on, or call todo_pause with the reason.
}

func ExampleNew_refused() {
	texts := continuation.Templates{Standard: continuation.StandardTemplates{Base: "Do {task}."}}
	_, err := prompt.New(texts)
	fmt.Println(err)
	// Output: continuation: template Standard.Base: unknown placeholder {task}
}
