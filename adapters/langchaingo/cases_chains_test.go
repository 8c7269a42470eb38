package langchaingo_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/outputparser"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools/sqldatabase"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// chainTest runs a chain and returns its result.
type chainTest struct {
	// answer has the model's answers by a part of the prompt; the first match
	// counts.
	answers [][2]string
	run     func(ctx context.Context, t *testing.T, model llms.Model) any
	asked   int // how often the model is asked
}

var documents = []schema.Document{
	{PageContent: "Tea is green."},
	{PageContent: "Tea is black."},
	{PageContent: "Tea is white."},
	{PageContent: "Tea is red."},
	{PageContent: "Tea is yellow."},
	{PageContent: "Tea is dark."},
}

var chainTests = map[string]chainTest{
	"SQL": {
		[][2]string{{"SELECT count", "Answer: There are 3."}, {"", "SELECT count(*) FROM tea"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			engine := &sqlEngine{}
			db, err := sqldatabase.NewSQLDatabase(engine, nil)
			require.NoError(t, err)
			answer, err := chains.Run(ctx, chains.NewSQLDatabaseChain(model, 5, db), "How many teas are there?")
			require.NoError(t, err)
			return []any{engine.queries, answer}
		}, 2,
	},
	"API": {
		[][2]string{{"80 degrees", "It is hot."}, {"", `{"method":"GET","headers":{},"url":"http://tea.test/","body":{}}`}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			answer, err := chains.Call(ctx, chains.NewAPIChain(model, hotTea{}), map[string]any{"api_docs": "docs", "input": "How hot?"})
			require.NoError(t, err)
			return answer["answer"]
		}, 2,
	},
	"math": {
		[][2]string{{"", "Answer: 42"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			answer, err := chains.Run(ctx, chains.NewLLMMathChain(model), "What is 6 times 7?")
			require.NoError(t, err)
			return answer
		}, 1,
	},
	"map and reduce": {
		[][2]string{{"green", "Green."}, {"", "Many."}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			chain := chains.LoadMapReduceQA(model)
			chain.MaxNumberOfConcurrent = 5
			return ofDocuments(ctx, t, chain)
		}, 7,
	},
	"map and rerank": {
		[][2]string{{"green", "Green.\nScore: 100"}, {"", "No idea.\nScore: 1"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			chain := chains.LoadMapRerankQA(model)
			chain.MaxConcurrentWorkers = 5
			return ofDocuments(ctx, t, chain)
		}, 6,
	},
	"stuff": {
		[][2]string{{"", "Green."}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			return ofDocuments(ctx, t, chains.LoadStuffQA(model))
		}, 1,
	},
	"refine": {
		[][2]string{{"dark", "All of them."}, {"", "Green."}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			return ofDocuments(ctx, t, chains.LoadRefineQA(model))
		}, 6,
	},
	"summary": {
		[][2]string{{"", "There are many teas."}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			return ofDocuments(ctx, t, chains.LoadMapReduceSummarization(model))
		}, 7,
	},
	"constitution": {
		[][2]string{{"Revision:", "Tea, please."}, {"Critique:", "It is rude."}, {"", "Tea!"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			first := chains.NewLLMChain(model, prompts.NewPromptTemplate("Order tea.", nil))
			principle := chains.NewConstitutionalPrinciple("Is it rude?", "Be kind.")
			chain := chains.NewConstitutional(model, *first, []chains.ConstitutionalPrinciple{principle}, nil)
			answer, err := chain.Call(ctx, map[string]any{}) // The chain asks for critique and revision without options.
			require.NoError(t, err)
			return answer["output"]
		}, 3,
	},
	"retrieval": {
		[][2]string{{"Standalone question", "Which tea is green?"}, {"", "Sencha."}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			teas := &retriever{}
			history := memory.NewConversationBuffer()
			require.NoError(t, history.ChatHistory.AddUserMessage(ctx, "Hello."))
			chain := chains.NewConversationalRetrievalQAFromLLM(model, teas, history)
			answer, err := chains.Run(ctx, chain, "Which is green?")
			require.NoError(t, err)
			return []any{teas.queries, answer}
		}, 2,
	},
	"boolean parser": {
		[][2]string{{"", "YES"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			return parsed(ctx, t, model, outputparser.NewBooleanParser())
		}, 1,
	},
	"defined parser": {
		[][2]string{{"", "```json\n{\"color\":\"green\"}\n```"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			parser, err := outputparser.NewDefined(tea{})
			require.NoError(t, err)
			value, err := parser.Parse(predicted(ctx, t, model))
			require.NoError(t, err)
			return value
		}, 1,
	},
	"list parser": {
		[][2]string{{"", "green, black"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			list, err := outputparser.NewCommaSeparatedList().Parse(predicted(ctx, t, model))
			require.NoError(t, err)
			return list
		}, 1,
	},
	"structured parser": {
		[][2]string{{"", "```json\n{\"color\":\"green\"}\n```"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			return parsed(ctx, t, model, outputparser.NewStructured([]outputparser.ResponseSchema{{Name: "color"}}))
		}, 1,
	},
	"regex parser": {
		[][2]string{{"", "Color: green"}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			return parsed(ctx, t, model, outputparser.NewRegexParser(`Color: (?P<color>.*)`))
		}, 1,
	},
	"conversation": {
		[][2]string{{"", "Hello."}},
		func(ctx context.Context, t *testing.T, model llms.Model) any {
			t.Helper()
			answer, err := chains.Run(ctx, chains.NewConversation(model, memory.NewConversationBuffer()), "Hi.")
			require.NoError(t, err)
			return answer
		}, 1,
	},
}

type tea struct {
	Color string `json:"color"`
}

// ofDocuments asks a chain about the documents.
func ofDocuments(ctx context.Context, t *testing.T, chain chains.Chain) any {
	t.Helper()
	answer, err := chains.Call(ctx, chain, map[string]any{"input_documents": documents, "question": "Which?"})
	require.NoError(t, err)
	return answer["text"]
}

func predicted(ctx context.Context, t *testing.T, model llms.Model) string {
	t.Helper()
	out, err := chains.Predict(ctx, chains.NewLLMChain(model, prompts.NewPromptTemplate("Which color?", nil)), nil)
	require.NoError(t, err)
	return out
}

// parsed runs a chain that parses its answer.
func parsed(ctx context.Context, t *testing.T, model llms.Model, parser schema.OutputParser[any]) any {
	t.Helper()
	chain := chains.NewLLMChain(model, prompts.NewPromptTemplate("Is tea green?", nil))
	chain.OutputParser = parser
	out, err := chains.Call(ctx, chain, map[string]any{})
	require.NoError(t, err)
	return out["text"]
}

// server answers any number of workers with the test's answers.
func (c chainTest) server(t *testing.T) *fakellm.Server {
	t.Helper()
	server := fakellm.NewServer(t)
	for range 2 * c.asked {
		server.Append(fakellm.Func(func(r fakellm.Request) fakellm.Turn {
			for _, answer := range c.answers {
				if strings.Contains(r.Messages[0].Content, answer[0]) {
					return fakellm.Text(answer[1])
				}
			}
			return fakellm.Status(http.StatusBadRequest, `{}`)
		}))
	}
	return server
}

func TestCase29ChainsGetWhatTheModelSays(t *testing.T) {
	t.Parallel()
	for name, test := range chainTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := continuation.WithSession(t.Context(), "s")
			bare, wrapped := test.server(t), test.server(t)
			want := test.run(ctx, t, newOpenAI(t, bare))
			got := test.run(ctx, t, carrylangchain.Wrap(newOpenAI(t, wrapped), middleware.New(twoTodos, unhurried)))
			assert.Equal(t, want, got)
			assert.Len(t, bare.Requests(), test.asked)
			assert.ElementsMatch(t, bodies(bare), bodies(wrapped))
		})
	}
}

// bodies returns the request bodies that a server got.
func bodies(server *fakellm.Server) (bodies []string) {
	for _, request := range server.Requests() {
		bodies = append(bodies, string(request.Body))
	}
	return bodies
}

func TestCase29TheFirstAnswerIsWhatTheDatabaseRuns(t *testing.T) {
	t.Parallel()
	test := chainTests["SQL"]
	ctx := continuation.WithSession(t.Context(), "s")
	model := carrylangchain.Wrap(newOpenAI(t, test.server(t)), middleware.New(twoTodos, unhurried))
	sample := "SELECT * FROM tea LIMIT 3" // which the database's own tool has in each prompt
	assert.Equal(t, []any{[]string{sample, "SELECT count(*) FROM tea"}, "There are 3."}, test.run(ctx, t, model))
}

func TestWorkersOfOneSessionAreContinuedOneAtATime(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	more := fakellm.Func(func(r fakellm.Request) fakellm.Turn {
		if len(r.Messages) > 1 {
			return fakellm.Text("More.")
		}
		return fakellm.Text("Green.")
	})
	s.server.Append(slices.Repeat([]fakellm.Turn{more}, 2*(len(documents)+1))...)
	chain := chains.LoadMapReduceQA(carrylangchain.Wrap(s.bare, s.mw, carrylangchain.WithPlainChains()))
	chain.MaxNumberOfConcurrent = 5
	answer, err := chains.Call(s.ctx, chain, map[string]any{"input_documents": documents, "question": "Which?"})
	require.NoError(t, err)
	assert.Contains(t, []any{"Green.", "Green.\n\nMore."}, answer["text"])
	assert.Greater(t, len(s.requests()), len(documents)+1)
	state, err := s.mw.State(s.ctx)
	require.NoError(t, err)
	assert.False(t, state.Active)
}

func TestPlainChainsAreContinuedIfTheyWantIt(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")))
	model := carrylangchain.Wrap(s.bare, s.mw, carrylangchain.WithPlainChains())
	buffer := memory.NewConversationBuffer()
	answer, err := chains.Run(s.ctx, chains.NewConversation(model, buffer), "Write the parser.")
	require.NoError(t, err)
	assert.Equal(t, "Did one:\n\nDid two:", answer)
	requests := s.requests()
	require.Len(t, requests, 2)
	assert.Empty(t, requests[1].Tools, "a first tool is never added")
	assertPrompt(t, requests[1].Last().Content)
	history, err := buffer.LoadMemoryVariables(s.ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, "Human: Write the parser.\nAI: Did one:\n\nDid two:", history["history"])
}

// An option of the middleware for calls without tools does not open chains: they need an option of the adapter.
func TestPlainChainsAreLeftAloneBesideToollessCalls(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:")), middleware.WithToollessCalls())
	ctx, outcomes := middleware.Capture(s.ctx)
	answer, err := chains.Run(ctx, chains.NewConversation(s.model, memory.NewConversationBuffer()), "Write the parser.")
	require.NoError(t, err)
	assert.Equal(t, "Did one:", answer)
	assert.Len(t, s.requests(), 1)
	assert.Equal(t, reasons.NoTools, outcomes.Last().Reason)
}

func TestCase30TheSessionIsThatOfCtx(t *testing.T) {
	t.Parallel()
	prompt := prompts.NewPromptTemplate("Write {{.it}}.", []string{"it"})
	inputs := map[string]any{"it": "the parser"}
	for name, run := range map[string]func(ctx context.Context, chain *chains.LLMChain) error{
		"run": func(ctx context.Context, c *chains.LLMChain) error {
			_, err := chains.Run(ctx, c, "the parser")
			return err
		},
		"call": func(ctx context.Context, c *chains.LLMChain) error { _, err := chains.Call(ctx, c, inputs); return err },
		"predict": func(ctx context.Context, c *chains.LLMChain) error {
			_, err := chains.Predict(ctx, c, inputs)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			todos := new(asker)
			server := fakellm.NewServer(t, fakellm.Text("Did one:"), fakellm.Text("Did two:"), fakellm.Text("Suppressed."))
			model := carrylangchain.Wrap(newOpenAI(t, server), middleware.New(todos, unhurried), carrylangchain.WithPlainChains())
			chain := chains.NewLLMChain(model, prompt)
			ctx := continuation.WithSession(t.Context(), "s1")
			require.NoError(t, run(ctx, chain))
			assert.Len(t, server.Requests(), 2)
			require.NotEmpty(t, todos.sessions)
			for _, session := range todos.sessions {
				assert.Equal(t, "s1", session)
			}
			require.NoError(t, run(continuation.Suppress(ctx), chain))
			assert.Len(t, server.Requests(), 3)
		})
	}
}

func TestCase30CallbacksCanTellTheTurns(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")),
		onceMore)
	started, streamed := new(turnsSeen), new(turnsSeen)
	s.bare.CallbacksHandler = started
	s.requireAsk(t, llms.WithStreamingFunc(func(ctx context.Context, _ []byte) error {
		streamed.note(ctx)
		return nil
	}))
	assert.Equal(t, []int{0, 2}, started.turns)
	assert.Equal(t, []int{0, 2}, slices.Compact(streamed.turns))
}

func TestCase30TheModelIsAsBefore(t *testing.T) {
	t.Parallel()
	mw := middleware.New(twoTodos)
	server := fakellm.NewServer(t, fakellm.Text("Hello."), fakellm.Text("Hello."))
	bare := newOpenAI(t, server)
	model := carrylangchain.Wrap(bare, mw)
	assert.Same(t, bare, model.Unwrap())

	want, err := bare.Call(t.Context(), "Hi.")
	require.NoError(t, err)
	got, err := model.Call(t.Context(), "Hi.")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	requests := server.Requests()
	assert.Equal(t, string(requests[0].Body), string(requests[1].Body))

	for _, reasons := range []bool{true, false} {
		assert.Equal(t, reasons, llms.SupportsReasoningModel(carrylangchain.Wrap(reasoner(reasons), mw)))
	}
	silent, _ := speaks()
	assert.False(t, llms.SupportsReasoningModel(carrylangchain.Wrap(silent, mw)))
}

// asker is a todo source that records the sessions it was asked for.
type asker struct {
	mu       sync.Mutex
	sessions []string
}

func (a *asker) Todos(ctx context.Context) ([]todo.Todo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions = append(a.sessions, continuation.Session(ctx))
	return twoTodos.Todos(ctx)
}

// reasoner is a model that reports whether it reasons.
type reasoner bool

func (r reasoner) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return says("", ""), nil
}

func (r reasoner) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func (r reasoner) SupportsReasoning() bool { return bool(r) }

// sqlEngine is a database that remembers its queries.
type sqlEngine struct{ queries []string }

func (e *sqlEngine) Dialect() string { return "sqlite" }
func (e *sqlEngine) Query(_ context.Context, query string, _ ...any) ([]string, [][]string, error) {
	e.queries = append(e.queries, query)
	return []string{"count"}, [][]string{{"3"}}, nil
}
func (e *sqlEngine) TableNames(context.Context) ([]string, error) { return []string{"tea"}, nil }
func (e *sqlEngine) TableInfo(context.Context, string) (string, error) {
	return "CREATE TABLE tea (color TEXT)", nil
}
func (e *sqlEngine) Close() error { return nil }

// hotTea is an API.
type hotTea struct{}

func (hotTea) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("80 degrees"))}, nil
}

// retriever is a store of documents that remembers its queries.
type retriever struct{ queries []string }

func (r *retriever) GetRelevantDocuments(_ context.Context, query string) ([]schema.Document, error) {
	r.queries = append(r.queries, query)
	return documents[:1], nil
}
