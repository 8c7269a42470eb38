package proxy

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
)

// samples returns what carryon has counted, by the name with its labels.
func (s *scene) samples(t *testing.T) map[string]float64 {
	t.Helper()
	got := s.get(t, metricsPath)
	require.NoError(t, got.err)
	require.Equal(t, http.StatusOK, got.status)
	all := make(map[string]float64)
	for line := range strings.Lines(got.body) {
		if !strings.HasPrefix(line, "carryon_") {
			continue // a comment, or what the library tells of the process
		}
		at := strings.LastIndex(line, " ")
		value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		require.NoError(t, err)
		all[line[:at]] = value
	}
	return all
}

// series returns the names that are counted, sorted.
func (s *scene) series(t *testing.T) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(s.samples(t)))
}

// documented returns the metrics that the documentation names, as Prometheus has them, with their labels: those of
// package otel, and the proxy's own.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	metrics := make(map[string][]string)
	words := regexp.MustCompile(`\w+`)
	for _, row := range regexp.MustCompile("(?m)^\\| `(carryon_\\w+)` \\|[^|]*\\|([^|]*)\\|$").FindAllStringSubmatch(document(t, "operators.md"), -1) {
		metrics[row[1]] = words.FindAllString(row[2], -1)
	}
	underscores := strings.NewReplacer(".", "_")
	list := strings.ReplaceAll(document(t, "../otel/doc.go"), "\n//     ", " ")
	for _, item := range regexp.MustCompile(`(?m)^//   - (carryon\S+?)(?: \((.*?)\))?: `).FindAllStringSubmatch(list, -1) {
		name := underscores.Replace(item[1])
		switch {
		case name == "carryon_calls_open":
		case strings.HasSuffix(name, "_duration"):
			name += "_seconds"
		default:
			name += "_total"
		}
		metrics[name] = words.FindAllString(underscores.Replace(item[2]), -1)
	}
	return metrics
}

// The proxy serves the metrics that the documentation names, with the labels that it names.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	documented := documented(t)
	s := newScene(t, "-metrics", "-max-attempts", "2", "-min-interval", "200ms", "-state", "redis://"+miniredis.RunT(t).Addr())
	s.ask(t, conversation{session: "a", stream: true}, carryontest.Text(plan), carryontest.Text("Soon:"), carryontest.Text("Very soon."))
	served := make(map[string][]string)
	for series := range s.samples(t) {
		name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, part)
		}
		served[name] = append(served[name], "")
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(labels, -1) {
			served[name] = append(served[name], label[1])
		}
	}
	for name, labels := range documented {
		optional := []string{"", "le", "error_type"} // no label, of a histogram, of failures
		for _, label := range without(labels, optional) {
			assert.Contains(t, served[name], label, name)
		}
		assert.Subset(t, append(optional, labels...), served[name], name)
		assert.NotEmpty(t, served[name], "%s is not served", name)
		delete(served, name)
	}
	assert.Empty(t, served, "not documented")
}

const goodReason = "The grammar file grammar.ebnf is missing"

func TestMetrics(t *testing.T) {
	t.Parallel()
	refused := carryontest.Status(http.StatusBadRequest, `{"error":{"message":"no"}}`)
	tests := map[string]struct {
		args []string
		do   func(t *testing.T, s *scene)
		want map[string]float64
	}{
		"calls, by why they went no further and whether they were continued": {
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{}, carryontest.Text(plan), edit())
				s.ask(t, conversation{stream: true}, edit())
				s.ask(t, conversation{todos: `{"todos":[]}`}, carryontest.Text("Hello."))
			},
			want: map[string]float64{
				`carryon_requests_total{status="200"}`:                                                                      3,
				`carryon_calls_total{carryon_continued="true",carryon_reason="tool_calls"}`:                                 1,
				`carryon_calls_total{carryon_continued="false",carryon_reason="tool_calls"}`:                                1,
				`carryon_calls_total{carryon_continued="false",carryon_reason="list_empty"}`:                                1,
				`carryon_calls_open{gen_ai_request_stream="true"}`:                                                          0,
				`carryon_calls_open{gen_ai_request_stream="false"}`:                                                         0,
				`carryon_continuations_total{carryon_result="interrupted"}`:                                                 0,
				`carryon_todos_duration_seconds_count`:                                                                      2,
				`carryon_tokens_total{carryon_turn_kind="own",gen_ai_request_model="test-model",gen_ai_token_type="input"}`: 30,
			},
		},
		"decisions, by reason": {
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{}, carryontest.Text(plan), edit())
			},
			want: map[string]float64{
				`carryon_decisions_total{carryon_reason="satisfied"}`:  1,
				`carryon_decisions_total{carryon_reason="tool_calls"}`: 1,
			},
		},
		"continuations by result": {
			args: []string{"-max-attempts", "1"},
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{session: "a"}, carryontest.Text(plan), edit())
				s.ask(t, conversation{session: "b"}, carryontest.Text(plan), carryontest.Text("Soon:"))
				s.ask(t, conversation{session: "c"}, carryontest.Text(plan), carryontest.Pause(goodReason))
				s.ask(t, conversation{session: "d", stream: true}, carryontest.Text(plan), refused)
			},
			want: map[string]float64{
				`carryon_continuations_total{carryon_result="tool_call"}`:  1,
				`carryon_continuations_total{carryon_result="text"}`:       1,
				`carryon_continuations_total{carryon_result="paused"}`:     1,
				`carryon_continuations_total{carryon_result="failed"}`:     1,
				`carryon_failures_total{carryon_operation="continuation"}`: 1,
				`carryon_exhausted_total{carryon_reason="max_attempts"}`:   1,
				`carryon_pauses_total`:          1,
				`carryon_pauses_rejected_total`: 0,
				`carryon_calls_total{carryon_continued="true",carryon_reason="failed"}`: 1,
			},
		},
		"the token budget": {
			args: []string{"-token-budget", "50"},
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{session: "a"}, carryontest.Text(plan), carryontest.Text("Soon:").Usage(60, 10))
				s.ask(t, conversation{session: "b"}, carryontest.Text(plan), carryontest.Text("Soon:").Usage(20, 10), edit())
			},
			want: map[string]float64{
				`carryon_exhausted_total{carryon_reason="token_budget"}`:  1,
				`carryon_continuations_total{carryon_result="text"}`:      2,
				`carryon_continuations_total{carryon_result="tool_call"}`: 1,
			},
		},
		"what continuations were worth": {
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{session: "a"}, carryontest.Text(plan), edit().Usage(100, 10))
				s.ask(t, conversation{session: "a", call: "c1", todos: `{"todos":[{"id":"1","content":"Write the parser","status":"completed"}]}`}, carryontest.Text("Done."))
				s.ask(t, conversation{session: "b"}, carryontest.Text(plan), carryontest.Pause(goodReason))
			},
			want: map[string]float64{
				`carryon_stalls_resumed_total`:                                       1,
				`carryon_todos_finished_total`:                                       1,
				`carryon_pauses_total`:                                               1,
				`carryon_continuations_unwanted_total{carryon_result="repeated"}`:    0,
				`carryon_continuation_tokens_total{gen_ai_token_type="cached"}`:      0,
				`carryon_continuations_unsent_total`:                                 0,
				`carryon_continuations_unreported_total`:                             0,
				`carryon_continuations_unwanted_total{carryon_result="no_progress"}`: 0,
			},
		},
		"what a dry run would have sent": {
			args: []string{"-dry-run"},
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{session: "a"}, carryontest.Text(plan).Usage(100, 10))
			},
			want: map[string]float64{
				`carryon_continuations_unsent_total`:                           1,
				`carryon_continuations_unreported_total`:                       0,
				`carryon_unsent_tokens_total{gen_ai_token_type="output"}`:      10,
				`carryon_continuation_tokens_total{gen_ai_token_type="input"}`: 0,
			},
		},
		"closing questions, beside other continuations": {
			args: []string{"-ask"},
			do: func(t *testing.T, s *scene) {
				t.Helper()
				report := carryontest.Text("The parser is written.")
				s.ask(t, conversation{session: "a", noList: true, call: "c1"}, report, edit().Usage(100, 10))
				s.ask(t, conversation{session: "a", noList: true, call: "c2", stream: true}, report, carryontest.Text("Nothing is open.").Usage(120, 4))
				s.ask(t, conversation{session: "b", noList: true, call: "c1", stream: true}, report, carryontest.Text("A test is missing.").Usage(7, 5))
				s.ask(t, conversation{session: "c"}, carryontest.Text(plan), edit().Usage(1000, 200))
			},
			want: map[string]float64{
				`carryon_questions_total{carryon_result="tool_call"}`:           1,
				`carryon_questions_total{carryon_result="nothing_open"}`:        1,
				`carryon_questions_total{carryon_result="text"}`:                1,
				`carryon_questions_total{carryon_result="failed"}`:              0,
				`carryon_question_tokens_total{gen_ai_token_type="input"}`:      227,
				`carryon_question_tokens_total{gen_ai_token_type="cached"}`:     0,
				`carryon_question_tokens_total{gen_ai_token_type="output"}`:     19,
				`carryon_continuations_total{carryon_result="tool_call"}`:       2,
				`carryon_continuations_total{carryon_result="nothing_open"}`:    1,
				`carryon_continuations_total{carryon_result="text"}`:            1,
				`carryon_continuation_tokens_total{gen_ai_token_type="input"}`:  1227,
				`carryon_continuation_tokens_total{gen_ai_token_type="output"}`: 219,
			},
		},
		"pauses that were rejected": {
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{}, carryontest.Text(plan), carryontest.Pause("stuck"), edit())
			},
			want: map[string]float64{`carryon_pauses_rejected_total`: 1, `carryon_pauses_total`: 0},
		},
		"tokens, by kind of turn and model": {
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{}, carryontest.Text(plan).Usage(100, 10), edit().Usage(120, 20))
				s.ask(t, conversation{model: "other-model", stream: true}, carryontest.Text(plan).Usage(7, 3), edit().Usage(8, 4))
			},
			want: map[string]float64{
				`carryon_tokens_total{carryon_turn_kind="own",gen_ai_request_model="test-model",gen_ai_token_type="input"}`:            100,
				`carryon_tokens_total{carryon_turn_kind="own",gen_ai_request_model="test-model",gen_ai_token_type="output"}`:           10,
				`carryon_tokens_total{carryon_turn_kind="continuation",gen_ai_request_model="test-model",gen_ai_token_type="input"}`:   120,
				`carryon_tokens_total{carryon_turn_kind="continuation",gen_ai_request_model="test-model",gen_ai_token_type="output"}`:  20,
				`carryon_tokens_total{carryon_turn_kind="own",gen_ai_request_model="other-model",gen_ai_token_type="input"}`:           7,
				`carryon_tokens_total{carryon_turn_kind="continuation",gen_ai_request_model="other-model",gen_ai_token_type="output"}`: 4,
			},
		},
		"the join of streams, and waits": {
			args: []string{"-min-interval", "500ms"},
			do: func(t *testing.T, s *scene) {
				t.Helper()
				s.ask(t, conversation{stream: true}, carryontest.Text(plan), carryontest.Text("Soon:"), edit())
				s.ask(t, conversation{user: "Unary."}, carryontest.Text(plan), edit())
			},
			want: map[string]float64{`carryon_join_duration_seconds_count`: 2, `carryon_wait_duration_seconds_count`: 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, append([]string{"-metrics"}, test.args...)...)
			test.do(t, s)
			got := s.samples(t)
			for series, value := range test.want {
				assert.Contains(t, got, series)
				assert.InDelta(t, value, got[series], 0, series)
			}
		})
	}
}

func TestMetricsOfTheSharedState(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	s := newScene(t, "-metrics", "-state", "redis://"+redis.Addr())
	s.ask(t, conversation{session: "a"}, carryontest.Text(plan), edit())
	const answered, failed = `carryon_store_duration_seconds_count`, `carryon_store_duration_seconds_count{error_type="_OTHER"}`
	before := s.samples(t)
	assert.Positive(t, before[answered])
	assert.NotContains(t, before, failed)

	redis.SetError("LOADING the data set")
	s.ask(t, conversation{session: "b"}, carryontest.Text(plan))
	after := s.samples(t)
	assert.InDelta(t, before[answered], after[answered], 0)
	assert.Positive(t, after[failed])
}

func TestMetricsOfOpenCalls(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-metrics")
		arrived := make(chan struct{})
		s.upstream.Append(carryontest.Text(plan), carryontest.Func(func(carryontest.Request) carryontest.Turn {
			close(arrived)
			return edit().Hang()
		}))
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		answered, request := make(chan reply), post(t, s.base, conversation{stream: stream}).WithContext(ctx)
		go func() { answered <- s.send(request) }()
		<-arrived
		open, others := fmt.Sprintf(`carryon_calls_open{gen_ai_request_stream="%t"}`, stream), fmt.Sprintf(`carryon_calls_open{gen_ai_request_stream="%t"}`, !stream)
		during := s.samples(t)
		assert.InDelta(t, 1, during[open], 0)
		assert.InDelta(t, 0, during[others], 0)

		leave()
		<-answered
		s.served.wait()
		after := s.samples(t)
		assert.InDelta(t, 0, after[open], 0)
		assert.InDelta(t, 1, after[`carryon_continuations_total{carryon_result="interrupted"}`], 0)
	})
}

// Prometheus sorts metrics by name and shows each alone, so no help refers to another metric.
func TestHelpOfMetricsStandsAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-metrics")
	help := regexp.MustCompile(`(?m)^# HELP carryon_.*$`).FindAllString(s.get(t, metricsPath).body, -1)
	require.Greater(t, len(help), 15)
	for _, line := range help {
		assert.NotRegexp(t, `\b(them|they|those|these)\b|\.$`, line)
	}
}

// Clients cannot make up labels: not by the names of models, and not by sessions,
// paths, methods or texts.
func TestMetricsAreBounded(t *testing.T) {
	const maxModels = 100 // of package otel
	t.Parallel()
	s := newScene(t, "-metrics")
	s.ask(t, conversation{}, carryontest.Text(plan), edit())
	before := s.series(t)
	for i := range 2 * maxModels {
		c := conversation{session: fmt.Sprint("session-", i), user: fmt.Sprint("text-", i), header: map[string]string{"User-Agent": fmt.Sprint("agent-", i)}}
		s.ask(t, c, carryontest.Text(plan), edit())
		s.send(newRequest(t, fmt.Sprint("METHOD", i), s.base+fmt.Sprint("/path-", i), ""))
	}
	added := without(s.series(t), before)
	assert.LessOrEqual(t, len(added), 2, "statuses: %v", added)

	hostile := func(i int) conversation {
		return conversation{model: fmt.Sprintf("model-%d \"}\n\x00\U0001f600 %s", i, strings.Repeat("x", 10_000)), todos: `{"todos":[]}`}
	}
	for i := range 3 * maxModels {
		s.upstream.Append(carryontest.Status(http.StatusNotFound, `{"error":{"message":"no such model"}}`))
		s.send(post(t, s.base, hostile(i)))
	}
	s.served.wait()
	for _, series := range s.series(t) {
		assert.NotContains(t, series, "model-", "what the upstream does not know is no label")
	}

	for i := range 3 * maxModels {
		s.ask(t, hostile(i), carryontest.Text("Hello.").Usage(1, 1))
	}
	names, tokens := 0, 0.0
	for series, value := range s.samples(t) {
		assert.Less(t, len(series), 1000)
		if strings.HasPrefix(series, "carryon_tokens_total") && strings.Contains(series, `carryon_turn_kind="own"`) && strings.Contains(series, `gen_ai_token_type="output"`) {
			names++
			tokens += value
		}
	}
	assert.Equal(t, maxModels+1, names)
	assert.InDelta(t, 3*maxModels, tokens-5*(2*maxModels+1), 0, "none is lost")
}

// without returns the elements of list that are not among others.
func without(list, others []string) []string {
	return slices.DeleteFunc(list, func(element string) bool { return slices.Contains(others, element) })
}

// Every label has few values, which the code knows; a model has its own bound.
func TestMetricsHaveKnownLabels(t *testing.T) {
	t.Parallel()
	var reasons []string
	for i := range 256 {
		reasons = append(reasons, continuation.Reason(i).Code())
	}
	yes := []string{"true", "false"}
	known := map[string][]string{
		"carryon_reason": reasons, "carryon_continued": yes, "gen_ai_request_stream": yes, "gen_ai_request_model": {"test-model"},
		"carryon_result":    {"tool_call", "text", "nothing_open", "paused", "failed", "interrupted", "repeated", "no_progress"},
		"carryon_turn_kind": {"own", "continuation"}, "gen_ai_token_type": {"input", "cached", "output"}, "status": {"200"},
		"carryon_operation": {"continuation"}, "type": {"input", "cached", "output"},
		"arm": {"continued", "held_out"}, "list": {"finished", "open"},
	}
	s := newScene(t, "-metrics", "-max-attempts", "1")
	s.ask(t, conversation{}, carryontest.Text(plan), carryontest.Text("Soon:"))
	s.ask(t, conversation{stream: true}, carryontest.Text(plan), carryontest.Status(http.StatusBadRequest, `{}`))
	for _, series := range s.series(t) {
		name, labels, ok := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		if !ok || strings.HasSuffix(name, "_bucket") {
			continue
		}
		for pair := range strings.SplitSeq(labels, ",") {
			label, value, _ := strings.Cut(pair, "=")
			assert.Contains(t, known[label], strings.Trim(value, `"`), series)
		}
	}
}

func TestMetricsAreThereIfAskedFor(t *testing.T) {
	t.Parallel()
	got := newScene(t).get(t, metricsPath)
	require.NoError(t, got.err)
	assert.Equal(t, http.StatusNotFound, got.status)
}
