package httprr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// Tool is the declaration of a tool, for [Chat.WithTool].
const Tool = `{"type":"function","function":{"name":"edit_file","parameters":{"type":"object","properties":{}}}}`

// Pair is a row of the quirk table made of two recorded calls: the second's answer continues the first's.
type Pair struct {
	quirks.Quirk

	Asked Chat // the call that is continued, with a tool
}

// Pairs returns pairs of these calls, either both streamed or both in one piece. Recordings of one kind have the same
// provider, the same outcome and the same members. One recording of each kind is paired with one of every kind, its own
// included. Each further recording is the first of one pair and the second of another. No pair has the same text twice,
// which is shown once.
func Pairs(chats []Chat) []Pair {
	pairs := make([]Pair, 0, 2*len(chats))
	for _, streamed := range []bool{true, false} {
		firsts, seconds := newKinds(), newKinds()
		for _, chat := range chats {
			if chat.Streamed != streamed {
				continue
			}
			seconds.add(chat)
			if chat.Continuable() {
				firsts.add(chat)
			}
		}
		pairs = append(pairs, pairUp(firsts, seconds)...)
	}
	return slices.DeleteFunc(pairs, Pair.repeats)
}

// repeats reports whether the second answer is the text of the first again.
func (p Pair) repeats() bool {
	return len(p.Second.Means.Calls) == 0 && p.First.Means.Text == p.Second.Means.Text
}

func pairUp(firsts, seconds kinds) []Pair {
	pairs := make([]Pair, 0, len(firsts.heads)*len(seconds.heads)+len(firsts.others)+len(seconds.others))
	for _, first := range firsts.heads {
		for _, second := range seconds.heads {
			pairs = append(pairs, newPair(first, second))
		}
	}
	for i, first := range firsts.others {
		pairs = append(pairs, newPair(first, seconds.heads[i%len(seconds.heads)]))
	}
	for i, second := range seconds.others {
		pairs = append(pairs, newPair(firsts.heads[i%len(firsts.heads)], second))
	}
	return pairs
}

// Continuable reports whether carryon would continue the call if it offered a tool: its answer ends in text, and its
// request asks for nothing that rules out a continuation.
func (c Chat) Continuable() bool {
	var request struct {
		Functions      json.RawMessage `json:"functions"`
		ResponseFormat json.RawMessage `json:"response_format"`
	}
	return c.EndsInText() && json.Unmarshal(c.Body, &request) == nil &&
		request.Functions == nil && request.ResponseFormat == nil
}

func newPair(first, second Chat) Pair {
	pair := Pair{
		Asked: first.WithTool(Tool),
		Quirk: quirks.Quirk{
			Name: first.Name + " and " + second.Name, Why: first.Provider + " and " + second.Provider,
			Unary: !first.Streamed, First: first.Turn, Second: second.Turn, Misreads: first.misreads(),
		},
	}
	if second.Turn.Status != http.StatusOK {
		pair.Effect = quirks.Dropped
	}
	maps.Copy(pair.Misreads, second.misreads())
	return pair
}

// misreads says, by the client's name, what a client gets wrong when it reads the recording.
func (c Chat) misreads() map[string]string {
	found := map[string]string{}
	if strings.Contains(c.Turn.Tail, `"finish_reason":null`) {
		const why = "it takes the last finish reason, which is null"
		found[quirks.LangChainGo], found[quirks.OpenAIGo] = why, why
	}
	if c.Streamed && strings.Contains(strings.ReplaceAll(c.Turn.Head, " ", ""), `"usage":{`) {
		found[quirks.OpenAIGo] = "it adds up usages that are running totals"
	}
	if c.Turn.Means.Finish == "function_call" {
		found[quirks.LangChainGo] = "it does not count a legacy call among the calls"
	}
	return found
}

// kinds sorts recordings: one of each kind, and the others.
type kinds struct {
	seen   map[string]bool
	heads  []Chat
	others []Chat
}

func newKinds() kinds { return kinds{seen: map[string]bool{}} }

func (k *kinds) add(chat Chat) {
	kind := chat.kind()
	if k.seen[kind] {
		k.others = append(k.others, chat)
		return
	}
	k.seen[kind] = true
	k.heads = append(k.heads, chat)
}

func (c Chat) kind() string {
	members := map[string]bool{}
	answer := [][]byte{c.Answer}
	if c.Streamed {
		answer = bytes.Split(c.Answer, []byte("\n"))
	}
	for _, part := range answer {
		var value any
		if json.Unmarshal(bytes.TrimPrefix(part, []byte("data:")), &value) == nil {
			collect(members, "", value)
		}
	}
	means := c.Turn.Means
	return fmt.Sprint(c.Provider, c.Turn.Status, means.Finish, len(means.Calls), slices.Sorted(maps.Keys(members)))
}

// collect adds the path of each member in a JSON value, and whether it is null.
func collect(members map[string]bool, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			collect(members, path+"."+name, member)
		}
	case []any:
		for _, element := range value {
			collect(members, path+"[]", element)
		}
	default:
		members[fmt.Sprintf("%s %v", path, value == nil)] = true
	}
}
