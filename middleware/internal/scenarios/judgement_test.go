package scenarios_test

import (
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// ending is a turn that ends in text, and whose turn it is then.
type ending struct {
	name string
	// history is the conversation, a line for each message; see conversation.
	history        []string
	text           string
	standard, yolo continuation.Reason
}

const (
	goesOn    = reasons.Satisfied
	asks      = reasons.AsksUser
	untouched = reasons.ListUntouched
	others    = reasons.OthersWork
	waits     = reasons.Background
)

// working is a conversation in which the model has just written a list with open todos.
var working = []string{"user Build the page, with a form and tests.", "list open Form, open Style, open Tests"}

// conversation returns a request with the messages. "list" is a call that writes the
// list, "call ID NAME ARGUMENTS = RESULT" another one; a line of any other kind begins
// with a role.
func conversation(lines ...string) openai.ChatCompletionRequest {
	request := scenario.Request()
	request.Tools = append(request.Tools, scenario.Tool("todo_write"), scenario.Tool("TaskCreate"))
	request.Messages = request.Messages[:1]
	add := func(message openai.ChatCompletionMessage) { request.Messages = append(request.Messages, message) }
	called := func(id, name, arguments, result string) {
		add(openai.ChatCompletionMessage{Role: "assistant", ToolCalls: []openai.ToolCall{{
			ID: id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: name, Arguments: arguments},
		}}})
		add(openai.ChatCompletionMessage{Role: "tool", ToolCallID: id, Content: result})
	}
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "list":
			called("list", "todo_write", scenario.TodoArguments(strings.Split(strings.ReplaceAll(rest, "open ", "pending "), ", ")...), "saved")
		case "call":
			words := strings.SplitN(rest, " ", 3)
			arguments, result, _ := strings.Cut(words[2], " = ")
			called(words[0], words[1], arguments, result)
		default:
			add(openai.ChatCompletionMessage{Role: kind, Content: rest})
		}
	}
	return request
}

func then(lines ...string) []string { return append(append([]string(nil), working...), lines...) }

const (
	launched = "Async agent launched successfully.\nagentId: %s (internal ID)\nThe agent is working in the background. You will be notified automatically when it completes."
	reported = "user <task-notification>\n<task-id>%s</task-id>\n<status>completed</status>\n</task-notification>"
)

func launch(call, agent string) string {
	return "call " + call + ` Agent {"prompt":"look"} = ` + strings.ReplaceAll(launched, "%s", agent)
}

func report(agent string) string { return strings.ReplaceAll(reported, "%s", agent) }

var endings = []ending{
	// Stalls.
	{"announces the next step", working, "The form is ready. Now I will style it.", goesOn, goesOn},
	{"says nothing", working, " \n", goesOn, goesOn},
	{"reports a part", working, "Two of five are done.", goesOn, goesOn},
	{"ends in a colon", working, "Let me look at the handler:", goesOn, goesOn},
	{"ends in a colon, in German", working, "Jetzt schreibe ich die Tests:", goesOn, goesOn},
	{"ends in a colon, in Chinese", working, "现在补上测试：", goesOn, goesOn},
	{"ends in a colon, in Portuguese", working, "Agora vou ligar os dois:", goesOn, goesOn},
	{"breaks off", working, "Now I will add the second", goesOn, goesOn},
	{"an offer", working, "If you want, I can do the remaining two next.", goesOn, goesOn},
	{"an offer to be told", working, "Tell me if you want more.", goesOn, goesOn},
	{"answers its own question", working, "Why was it slow? A missing index. I will add it.", goesOn, goesOn},
	{"a step behind a rhetorical question", working, "Any objections? I will add it now.", goesOn, goesOn},
	{"a question two paragraphs above", working, "Which one?\n\nBoth would do.\n\nI will take the first now.", goesOn, goesOn},
	{"a question in an earlier paragraph", working, "Want me to commit?\n\nFirst, let me run the suite:", goesOn, goesOn},
	{"options, then a step", working, "Which one?\n\n1. A\n2. B\n3. Both\n\nI will take B now.", goesOn, goesOn},
	{"an address with a question mark", working, "The next call is https://host.example/list?page=", goesOn, goesOn},
	{"code with a question mark", working, "I will simplify this next:\n\n```js\nx ? y : z?\n```", goesOn, goesOn},
	{"an unclosed fence", working, "Next I will print this:\n\n```go\nfmt.Println(\"Ready?\")", goesOn, goesOn},
	{"a quoted label", working, `The button says "Delete?". I add it next.`, goesOn, goesOn},
	{"a step in the present", working, "The server says \"not found\". I fix that next.", goesOn, goesOn},
	{"a quoted line", working, "> your question?\n\nThat is settled. I will write it now.", goesOn, goesOn},

	// Questions.
	{"asks for leave", working, "Shall I take the next one?", asks, goesOn},
	{"asks for a choice", working, "Which of the two do you want?", asks, goesOn},
	{"asks in Arabic", working, "هل أتابع؟", asks, goesOn},
	{"asks in full-width", working, "要我现在开始吗？", asks, goesOn},
	{"asks in Chinese without a mark", working, "是否继续下一步呢", asks, goesOn},
	{"asks in Armenian", working, "Շարունակե՞մ։", asks, goesOn},
	{"asks in Greek", working, "Να συνεχίσω;", asks, goesOn},
	{"asks in Thai", working, "ให้ทำต่อไหม", asks, goesOn},
	{"asks in Japanese", working, "続けてもよろしいですか。", asks, goesOn},
	{"asks in Korean", working, "계속할까요", asks, goesOn},
	{"asks in Spanish", working, "¿Lo incluyo o lo dejo?", asks, goesOn},
	{"asks in French", working, "On continue avec le module 5 ?", asks, goesOn},
	{"asks in Russian", working, "Продолжаем?", asks, goesOn},
	{"asks in German", working, "Soll ich weitermachen?", asks, goesOn},
	{"asks in brackets", working, "（需要我先看看吗？）", asks, goesOn},
	{"asks, then options", working, "Which one?\n\n1. Keep it\n2. Drop it\n3. Or something else?", asks, goesOn},
	{"asks, options, then a leaning", working, "Which one?\n\n1. Keep it\n2. Drop it\n\nI would take B.", asks, goesOn},
	{"a leaning in brackets", working, "Which first? (I recommend the parser.)", asks, goesOn},
	{"a step, then a question", working, "I will now drop the tables. May I?", asks, goesOn},
	{"a step that hangs on the answer", working, "Is B right? I will start once you have chosen.", asks, goesOn},
	{"in bold, before a smiley", working, "**May I?** 🙂", asks, goesOn},
	{"a question, then what it is about", working, "Shall I apply this?\n\n```diff\n-a\n+b\n```", asks, goesOn},
	{"cannot be undone", working, "This removes the table for good. Please confirm.", asks, goesOn},
	{"wants something", working, "Put the key into .env and tell me when it is there.", asks, goesOn},
	{"wants a word", working, "Type go to start part 4.", asks, goesOn},
	{"wants approval", working, "If this outline looks right, I'll move on to the router.", asks, goesOn},
	{"wants confirmation", working, "Please confirm, and I'll apply it.", asks, goesOn},
	{"is ready for feedback", working, "Ready for feedback before I begin with part 2.", asks, goesOn},

	// Lists that were not written in this user turn.
	{"a side question is answered", then("assistant Next.", "user What does the parser do with tabs?"), "It takes them for spaces.", untouched, goesOn},
	{"a side question, with calls", then("assistant Next.", "user What does the parser do with tabs?", `call r edit_file {} = ok`), "It takes them for spaces.", untouched, goesOn},
	{"a long message without a mark", then("assistant Next.", "user "+strings.Repeat("tell me about it, ", 5)), "It is a parser.", untouched, goesOn},
	{"a blank turn is no answer", then("assistant Next.", "user "+strings.Repeat("tell me about it, ", 5)), " \n", goesOn, goesOn},
	{"nor is an announced step", then("assistant Next.", "user "+strings.Repeat("tell me about it, ", 5)), "The form is ready. Now I will style it.", goesOn, goesOn},
	{"nor is half a sentence", then("assistant Next.", "user What does the parser do with tabs?"), "Now I will add the second", goesOn, goesOn},
	{"a message of punctuation", then("assistant Next.", "user ?", `call r edit_file {} = ok`), "It is a parser.", goesOn, goesOn},
	{"the user answers", then("assistant Which one?", "user the second"), "Good, I begin.", goesOn, goesOn},
	{"the user says go on", then("assistant Next.", "user continue", `call r edit_file {} = ok`), "Next, the form.", goesOn, goesOn},
	{"the user says go on beside a reminder", then("assistant Next.", "user <system-reminder>\n"+strings.Repeat("The list was not used recently. ", 4)+"\n</system-reminder>\ncontinue"), "Next, the form.", goesOn, goesOn},
	{"the user says ok", then("assistant All is well.", "user ok"), "The page is there.", goesOn, goesOn},
	{"the user asks in short", then("assistant Which one?", "user what is the difference?"), "The first is faster.", untouched, goesOn},
	{"a message of the agent is no user turn", then("user <system-reminder>Be brief, and remember the guide.</system-reminder>"), "Next, the form.", goesOn, goesOn},
	{"nor is a goal of Codex", then(`user <codex_internal_context source="goal">Keep working toward the goal that was set.</codex_internal_context>`), "Next, the form.", goesOn, goesOn},
	{"the list was only read", then("assistant Next.", "user "+strings.Repeat("tell me about it, ", 5), `call r TaskList {} = nothing`), "It is a parser.", untouched, goesOn},
	{"a list that is done comes first", []string{"user Build it.", "list completed Form"}, "Shall I deploy it?", reasons.NoActiveTodos, reasons.NoActiveTodos},

	// Work of others.
	{"two agents, none has reported", then(launch("a", "a1111111"), launch("b", "b2222222")), "Next, the summary:", waits, waits},
	{"two agents, one has reported", then(launch("a", "a1111111"), launch("b", "b2222222"), report("a1111111")), "Next, the summary:", waits, waits},
	{"two agents, both have reported", then(launch("a", "a1111111"), launch("b", "b2222222"), report("a1111111"), report("b2222222")), "Now the summary:", goesOn, goesOn},
	{"a report of another id", then(launch("a", "a1111111"), report("c3333333")), "Next, the summary:", waits, waits},
	{"a report by the system", then(launch("a", "a1111111"), "system"+strings.TrimPrefix(report("a1111111"), "user")), "Now the summary:", goesOn, goesOn},
	{"a result that quotes a promise", then(`call r Read {} = Notes:` + strings.Repeat("\nThe log said that you will be notified automatically when it completes.", 80)), "Next, the form.", goesOn, goesOn},
	{"the user pastes a report", then(launch("a", "a1111111"), "user Look what I got: <task-notification><task-id>a1111111</task-id><status>completed</status></task-notification> strange, is it not?"), "It is.", untouched, waits},
}

// Whose turn it is after a turn that ends in text, where a person is there and where
// nobody is. A dry run says what carryon would do.
func TestWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	for _, tt := range endings {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for mode, want := range map[continuation.ApprovalMode]continuation.Reason{
				continuation.ApprovalDefault: tt.standard, continuation.ApprovalYOLO: tt.yolo,
			} {
				s := scenario.New(t, scenario.WireUnary, todo.FromConversation(), middleware.WithDryRun(), middleware.WithApprovalMode(mode))
				got := s.Call(s.Ctx, conversation(tt.history...), fakellm.Text(tt.text))
				require.NoError(t, got.Err)
				assert.Equal(t, want, got.Outcome.Reason, "%s: %v", mode, got.Outcome)
			}
		})
	}
}

// A program may spell a status in its own way: its list is judged by what the status means.
func TestWhoseTurnItIsWhateverTheSpelling(t *testing.T) {
	t.Parallel()
	for _, status := range []todo.Status{"", "open", "Pending", "in-progress", "[ ]"} {
		scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
			s := scenario.New(t, m, todo.Static(todo.Todo{Content: "Drop the tables", Status: status}), middleware.WithApprovalMode(continuation.ApprovalDefault))
			got := s.Call(s.Ctx, scenario.Request(), fakellm.Text("Shall I delete the old tables?"))
			assert.Equal(t, reasons.AsksUser, got.Outcome.Reason, "%q: %v", status, got.Outcome)
		})
	}
}
