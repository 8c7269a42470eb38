package quirks

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// fragment is a tool call of a chunk, or a part of one.
type fragment map[string]json.RawMessage

func fragmentsOf(chunks []chunk) []fragment {
	var all []fragment
	for _, c := range chunks {
		if one, ok := c.firstChoice(); ok {
			for _, f := range one.fragments() {
				all = append(all, f)
			}
		}
	}
	return all
}

// checkFragments checks the tool calls of the later turn: they are unchanged,
// unless a call of todo_pause was removed.
func (q Quirk) checkFragments(chunks []chunk) error {
	got, sent := fragmentsOf(chunks), fragmentsOf(chunksOf(q.Second.Body()))
	switch {
	case q.Effect == Dropped:
		sent = nil
	case len(withoutPause(q.Second.Means.Calls)) < len(q.Second.Means.Calls):
		return checkDense(got, sent)
	}
	if !reflect.DeepEqual(got, sent) {
		return fmt.Errorf("fragments of calls are %s, want them unchanged: %s", got, sent)
	}
	return nil
}

// checkDense checks fragments of which some were removed: the indexes begin at
// 0 without gaps, only the first fragment of a call has a type, and no fragment
// is empty. Fragments before the first removed one are unchanged.
func checkDense(fragments, sent []fragment) error {
	began := []string{} // the indexes of the calls so far
	for i, f := range fragments {
		if i < len(sent) && reflect.DeepEqual(f, sent[i]) {
			if index := f.index(len(began)); !slices.Contains(began, index) {
				began = append(began, index)
			}
			continue
		}
		index := string(f["index"])
		first := !slices.Contains(began, index)
		_, hasType := f["type"]
		switch {
		case first && index != strconv.Itoa(len(began)):
			return fmt.Errorf("call with index %s, want %d", index, len(began))
		case first && string(f["type"]) != `"function"`:
			return fmt.Errorf("the first fragment of call %s has type %s", index, f["type"])
		case !first && hasType:
			return fmt.Errorf("a later fragment of call %s has a type", index)
		case f.empty():
			return fmt.Errorf("an empty fragment of call %s", index)
		}
		if first {
			began = append(began, index)
		}
	}
	return nil
}

// index returns the index of the fragment, or the next if it has none.
func (f fragment) index(next int) string {
	if !present(f, "index") {
		return strconv.Itoa(next)
	}
	return string(f["index"])
}

// empty reports whether the fragment adds nothing to its call.
func (f fragment) empty() bool {
	function := map[string]json.RawMessage{}
	if json.Unmarshal(f["function"], &function) != nil {
		return false
	}
	for name := range f {
		switch name {
		case "index", "id", "type", "function":
		default:
			return false
		}
	}
	return str(f, "id") == "" && str(function, "name") == "" && str(function, "arguments") == ""
}

// name returns the name of what is called, or "".
func (f fragment) name() string {
	var function map[string]json.RawMessage
	if json.Unmarshal(f["function"], &function) != nil {
		return ""
	}
	return str(function, "name")
}

// String returns the fragment as JSON.
func (f fragment) String() string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
