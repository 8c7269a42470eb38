package agents_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	carryagents "github.com/carryon-go/carryon/adapters/langchaingo/agents"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The list that most tests work on.
var twoTodos = todo.Static(
	todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
	todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
)

// unhurried has no interval between prompts, so that no test waits.
var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// unattended is the mode in which it does not matter how a text ends.
var unattended = middleware.WithApprovalMode(continuation.ApprovalYOLO)

// threeTries is the default budget of other clients.
var threeTries = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 3})

// blocked is a reason that todo_pause accepts.
const blocked = "The grammar file grammar.ebnf is missing"

// kind is a kind of agent.
type kind struct {
	name   string
	option carrylangchain.Option
	make   func(llms.Model, []tools.Tool, ...agents.Option) agents.Agent
	final  string // what a final answer begins with
}

var (
	oneShot = kind{
		"one shot", carryagents.OneShot(),
		func(m llms.Model, t []tools.Tool, o ...agents.Option) agents.Agent {
			return agents.NewOneShotAgent(m, t, o...)
		}, "Final Answer: ",
	}
	conversational = kind{
		"conversational", carryagents.Conversational(),
		func(m llms.Model, t []tools.Tool, o ...agents.Option) agents.Agent {
			return agents.NewConversationalAgent(m, t, o...)
		}, "AI: ",
	}
	functions = kind{
		"functions", nil,
		func(m llms.Model, t []tools.Tool, o ...agents.Option) agents.Agent {
			return agents.NewOpenAIFunctionsAgent(m, t, o...)
		}, "",
	}
	textKinds = []kind{oneShot, conversational}
)

// inTextKinds runs a test with each kind of text agent.
func inTextKinds(t *testing.T, test func(t *testing.T, k kind)) {
	t.Helper()
	for _, k := range textKinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// scene is an executor with one tool, memory and a scripted server.
type scene struct {
	ctx      context.Context // of a session
	server   *fakellm.Server
	events   *carryontest.Recorder
	mw       *middleware.Middleware
	model    *carrylangchain.Model
	tool     *search
	memory   *memory.ConversationBuffer
	executor *agents.Executor
}

// setup configures a scene.
type setup struct {
	todos    todo.Provider
	options  []middleware.Option
	executor []agents.Option
	agent    []agents.Option
}

func newScene(t *testing.T, k kind, with setup, script ...fakellm.Turn) *scene {
	t.Helper()
	s := &scene{
		ctx: continuation.WithSession(t.Context(), "s"), server: fakellm.NewServer(t, script...),
		events: carryontest.NewRecorder(), tool: new(search),
	}
	if with.todos == nil {
		with.todos = twoTodos
	}
	s.mw = middleware.New(with.todos, slices.Concat(
		[]middleware.Option{unhurried, unattended, middleware.WithObserver(s.events.Observer())}, with.options)...)
	llm, err := openai.New(openai.WithToken("none"), openai.WithModel("test-model"), openai.WithBaseURL(s.server.URL()))
	require.NoError(t, err)
	s.model = carrylangchain.Wrap(llm, s.mw, k.option)
	s.memory = memory.NewConversationBuffer(memory.WithOutputKey("output"), memory.WithInputKey("input"))
	s.executor = agents.NewExecutor(k.make(s.model, []tools.Tool{s.tool}, with.agent...), slices.Concat(
		[]agents.Option{agents.WithMemory(s.memory), agents.WithReturnIntermediateSteps()}, with.executor)...)
	return s
}

// run is the result of a run.
type run struct {
	output string
	steps  []schema.AgentStep
}

func (s *scene) run(input string, options ...chains.ChainCallOption) (run, error) {
	values, err := chains.Call(s.ctx, s.executor, map[string]any{"input": input}, options...)
	output, _ := values["output"].(string)
	steps, _ := values["intermediateSteps"].([]schema.AgentStep)
	return run{output, steps}, err
}

// requireRun runs the agent, and checks that the program's memory has no text
// of carryon's.
func (s *scene) requireRun(t *testing.T, input string, options ...chains.ChainCallOption) run {
	t.Helper()
	r, err := s.run(input, options...)
	require.NoError(t, err)
	kept := []string{r.output, s.remembered(t)}
	for _, step := range r.steps {
		kept = append(kept, step.Action.Log, step.Observation)
	}
	for _, word := range []string{"todo_pause", "automatic", "Automatic"} {
		assert.NotContains(t, strings.Join(kept, "\n"), word)
	}
	return r
}

func (s *scene) remembered(t *testing.T) string {
	t.Helper()
	values, err := s.memory.LoadMemoryVariables(s.ctx, nil)
	require.NoError(t, err)
	text, _ := values["history"].(string)
	return text
}

// text returns all texts of a request.
func text(r fakellm.Request) string {
	var all []string
	for _, message := range r.Messages {
		all = append(all, message.Content)
		for _, call := range message.ToolCalls {
			all = append(all, call.Name, call.Arguments)
		}
	}
	return strings.Join(all, "\n")
}

// search is a tool that records its inputs.
type search struct {
	name   string // "" is search
	mu     sync.Mutex
	inputs []string
	do     func(ctx context.Context, input string) (string, error)
}

func (s *search) Name() string        { return cmp.Or(s.name, "search") }
func (s *search) Description() string { return "Finds things." }

func (s *search) Call(ctx context.Context, input string) (string, error) {
	s.mu.Lock()
	s.inputs = append(s.inputs, input)
	s.mu.Unlock()
	if s.do != nil {
		return s.do(ctx, input)
	}
	return "found", nil
}

// searches is an answer of a text agent's model that calls the tool.
func searches(input string) fakellm.Turn {
	return fakellm.Text("Thought: I have to look.\nAction: search\nAction Input: " + input)
}
