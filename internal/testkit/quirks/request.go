package quirks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// maxTries is how often carryon sends a continuation of which nothing can be shown.
const maxTries = 3

// tries returns how often the continuation is sent.
func (q Quirk) tries() int {
	switch {
	case q.Effect == Relayed:
		return 0
	case q.Effect == Dropped && !q.Second.refuses() && (q.Unary || q.Means().Text == q.First.Means.Text):
		return maxTries
	}
	return 1
}

// refuses reports whether the provider would answer the same request in the same way.
func (t Turn) refuses() bool {
	return t.Refused || t.status() >= 400 && t.status() < 500 && t.status() != http.StatusTooManyRequests
}

// JudgeRequest checks the requests that the row's upstream got. The
// continuation must be the caller's own request with two more messages and one
// more tool, and its prompt must name the task. It is sent again, unchanged, if
// nothing of it was shown.
func (q Quirk) JudgeRequest(asked []string, task string) error {
	if want := 1 + q.tries(); len(asked) != want {
		return fmt.Errorf("%s: %d requests were sent, want %d", q.Name, len(asked), want)
	}
	if len(asked) == 1 {
		return nil
	}
	for _, again := range asked[2:] {
		if again != asked[1] {
			return fmt.Errorf("%s: the continuation has changed: %s", q.Name, again)
		}
	}
	names, own, err := membersOf(asked[0])
	if err != nil {
		return err
	}
	laterNames, later, err := membersOf(asked[1])
	switch {
	case err != nil:
		return err
	case !slices.Equal(names, laterNames):
		return fmt.Errorf("%s: the continuation has the members %q, want %q", q.Name, laterNames, names)
	}
	for _, name := range names {
		switch name {
		case "messages":
			err = q.checkMessages(own[name], later[name], task)
		case "tools":
			err = checkTools(own[name], later[name])
		default:
			if own[name] != later[name] {
				err = fmt.Errorf("%s is %s, want %s", name, later[name], own[name])
			}
		}
		if err != nil {
			return fmt.Errorf("%s: the continuation's %s: %w", q.Name, name, err)
		}
	}
	return nil
}

func (q Quirk) checkMessages(own, later, task string) error {
	added, err := appended(own, later, 2)
	if err != nil {
		return err
	}
	answer, prompt := added[0], added[1]
	said := strings.TrimSpace(q.First.Means.Text)
	if said == "" {
		said = "(no answer)" // providers refuse an empty one
	}
	switch {
	case answer["role"] != "assistant" || prompt["role"] != "user" || len(answer) != 2 || len(prompt) != 2:
		return fmt.Errorf("appended are %v", added)
	case answer["content"] != said:
		return fmt.Errorf("the answer so far is %q, want %q", answer["content"], said)
	}
	if text, ok := prompt["content"].(string); !ok || !strings.Contains(text, task) {
		return fmt.Errorf("the prompt does not name the task %q: %v", task, prompt["content"])
	}
	return nil
}

func checkTools(own, later string) error {
	added, err := appended(own, later, 1)
	if err != nil {
		return err
	}
	if function, ok := added[0]["function"].(map[string]any); !ok || function["name"] != "todo_pause" {
		return fmt.Errorf("appended is %v", added[0])
	}
	return nil
}

// appended returns the elements that a JSON list has after the bytes of
// another. It is an error unless there are count of them.
func appended(own, later string, count int) ([]map[string]any, error) {
	head := strings.TrimRight(strings.TrimSuffix(own, "]"), " \n\t\r")
	rest, ok := strings.CutPrefix(later, head)
	if !ok {
		return nil, fmt.Errorf("%s does not begin with %s", later, head)
	}
	_, rest, ok = strings.Cut(rest, ",")
	if !ok {
		return nil, errors.New("nothing was appended")
	}
	var added []map[string]any
	if err := json.Unmarshal([]byte("["+rest), &added); err != nil {
		return nil, err
	}
	if len(added) != count {
		return nil, fmt.Errorf("%d elements were appended, want %d", len(added), count)
	}
	return added, nil
}

// membersOf returns the names of an object's members in their order, and their
// values as raw JSON.
func membersOf(text string) (names []string, members map[string]string, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, nil, fmt.Errorf("not an object: %s", text)
	}
	members = map[string]string{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, nil, err
		}
		var raw json.RawMessage
		err = decoder.Decode(&raw)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, fmt.Sprint(name))
		members[fmt.Sprint(name)] = string(raw)
	}
	return names, members, nil
}
