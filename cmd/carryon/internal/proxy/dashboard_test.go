package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
)

// dashboard is what Grafana reads of cmd/carryon/dashboard.json.
type dashboard struct {
	UID           string `json:"uid"`
	Title         string `json:"title"`
	SchemaVersion int    `json:"schemaVersion"`
	Templating    struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

type panel struct {
	ID          int        `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	DataSource  dataSource `json:"datasource"`
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct {
		RefID      string     `json:"refId"`
		DataSource dataSource `json:"datasource"`
		Expr       string     `json:"expr"`
	} `json:"targets"`
}

type dataSource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile("../../dashboard.json")
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// The dashboard can be imported, and shows each panel once and in its own place.
func TestDashboardIsWellFormed(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	assert.Equal(t, "carryon", d.UID)
	assert.NotEmpty(t, d.Title)
	assert.Positive(t, d.SchemaVersion)
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name+": "+v.Type)
	}
	assert.Equal(t, []string{"datasource: datasource", "job: query", "instance: query"}, variables)

	ids, taken := make(map[int]bool), make(map[[2]int]string)
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "%s has the id of another panel", p.Title)
		ids[p.ID] = true
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				assert.Empty(t, taken[cell], "%s lies on another panel", p.Title)
				taken[cell] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			assert.NotEmpty(t, target.RefID, p.Title)
			assert.Equal(t, dataSource{"prometheus", "${datasource}"}, target.DataSource, p.Title)
			assert.Equal(t, p.DataSource, target.DataSource, p.Title)
		}
	}
}

// Whatever the dashboard shows is counted, and whatever is counted is shown.
func TestDashboardShowsEveryMetric(t *testing.T) {
	t.Parallel()
	shown := make(map[string]bool)
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`(carryon_\w+)\{`).FindAllStringSubmatch(target.Expr, -1) {
				shown[strings.TrimSuffix(name[1], "_bucket")] = true
			}
		}
	}
	for name := range documented(t) {
		if name == "carryon_tasks_delivered_total" {
			continue // the proxy has no tasks
		}
		assert.True(t, shown[name], "%s is on no panel", name)
		delete(shown, name)
	}
	assert.Empty(t, shown, "no such metrics")
}

// script has the turns of one call. What a call leaves over, because the store was too slow for a continuation on a busy
// machine, answers no later call.
type script struct {
	mu    sync.Mutex
	turns []func() carryontest.Turn
}

// next returns the call's next turn.
func (s *script) next(carryontest.Request) carryontest.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 {
		return edit()
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return turn()
}

// answer has the upstream answer the next call with the turns.
func (s *script) answer(upstream *carryontest.Server, turns ...func() carryontest.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = turns
	for range turns {
		upstream.Append(carryontest.Func(s.next))
	}
}

// says returns the turns as an answer takes them.
func says(turns ...carryontest.Turn) (all []func() carryontest.Turn) {
	for _, turn := range turns {
		all = append(all, func() carryontest.Turn { return turn })
	}
	return all
}

// traffic makes calls of every kind, in sessions of their own.
func (s *scene) traffic(t *testing.T, turns *script, round int) {
	t.Helper()
	kinds := [][]carryontest.Turn{
		{carryontest.Text(plan), edit()},
		{carryontest.Text(plan), carryontest.Text("Next, I will write the lexer."), carryontest.Text("Next, I will write the tests.")}, // the budget is used up
		{carryontest.Text(plan), carryontest.Pause(goodReason)},
		{carryontest.Text(plan), carryontest.Pause("stuck"), edit()},
		{carryontest.Text(plan), carryontest.Status(http.StatusBadRequest, `{"error":{"message":"no"}}`)},
		{edit()},
	}
	for i, kind := range kinds {
		for _, stream := range []bool{false, true} {
			turns.answer(s.upstream, says(kind...)...)
			s.ask(t, conversation{session: fmt.Sprint(round, i, stream), stream: stream})
		}
	}
	turns.answer(s.upstream, says(carryontest.Text("Hello."))...)
	s.ask(t, conversation{session: strconv.Itoa(round), todos: `{"todos":[]}`})
	s.leave(t, turns, fmt.Sprint(round, "left"))
}

// leave makes a call whose client leaves during the continuation.
func (s *scene) leave(t *testing.T, turns *script, session string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	turns.answer(s.upstream, append(says(carryontest.Text(plan)), func() carryontest.Turn {
		cancel()
		return edit().Hang()
	})...)
	s.send(post(t, s.base, conversation{session: session, stream: true}).WithContext(ctx))
	s.served.wait()
}

// An answer of Prometheus to a query.
type queried struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Result []struct {
			Value [2]any `json:"value"` // time and value
		} `json:"result"`
	} `json:"data"`
}

// query asks a Prometheus, and says what is wrong with the answer, "" if there is
// data.
func (s *scene) query(t *testing.T, prometheus, expr string) string {
	t.Helper()
	got := s.send(newRequest(t, http.MethodGet, prometheus+"/api/v1/query?query="+url.QueryEscape(expr), ""))
	require.NoError(t, got.err)
	var answer queried
	require.NoError(t, json.Unmarshal([]byte(got.body), &answer))
	require.Equal(t, "success", answer.Status, "%s: %s", expr, answer.Error)
	if len(answer.Data.Result) == 0 {
		return "no data"
	}
	for _, series := range answer.Data.Result {
		text, ok := series.Value[1].(string)
		require.True(t, ok)
		value, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		if math.IsNaN(value) {
			return "no number"
		}
	}
	return ""
}

// alerts returns the expressions of alerts.yml over two minutes, without those of a store that fails and of a proxy that
// is switched off.
func alerts(t *testing.T) (queries []string) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	content, err := os.ReadFile("../../alerts.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, &file))
	require.Len(t, file.Groups, 1)
	for _, rule := range file.Groups[0].Rules {
		if rule.Alert != "CarryonStoreFails" && rule.Alert != "CarryonIsSwitchedOff" {
			queries = append(queries, regexp.MustCompile(`\[\d+[hm]\]`).ReplaceAllString(rule.Expr, "[2m]"))
		}
	}
	require.Len(t, queries, 3)
	return queries
}

// A real Prometheus scrapes the proxy, has data for every query of the dashboard, and fires the alerts.
func TestDashboardHasData(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-metrics", "-max-attempts", "2", "-min-interval", "100ms", "-state", "redis://"+miniredis.RunT(t).Addr())
	root, err := url.Parse(s.base)
	require.NoError(t, err)
	prometheus := servertest.StartPrometheus(t, root.Host)
	variables := strings.NewReplacer("$__rate_interval", "2m", "$__range", "2m", "$job", "test", "$instance", ".+")
	open := make(map[string]string) // queries without data, and why
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			expr := variables.Replace(target.Expr)
			require.NotContains(t, expr, "$", "an unknown variable in %s", p.Title)
			open[expr] = "not asked yet"
		}
	}
	for _, v := range readDashboard(t).Templating.List {
		if values := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(v.Definition); values != nil {
			open[fmt.Sprintf("count by (%s) (%s)", values[2], variables.Replace(values[1]))] = "not asked yet"
		} else {
			require.Equal(t, "datasource", v.Type, v.Name)
		}
	}

	for _, expr := range alerts(t) {
		open[expr] = "not asked yet"
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	scrapes := time.NewTicker(time.Second)
	defer scrapes.Stop()
	turns := new(script)
	for round := 0; len(open) > 0; round++ {
		s.traffic(t, turns, round)
		select {
		case <-scrapes.C:
		case <-ctx.Done():
			require.Empty(t, open, "queries without data")
		}
		for expr := range open {
			if open[expr] = s.query(t, prometheus.URL, expr); open[expr] == "" {
				delete(open, expr)
			}
		}
	}
}
