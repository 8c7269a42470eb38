package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// story is a stream of the soak: what the model does, and where it fails. Its number determines all of it.
type story struct {
	number int
	stalls bool // the model announces what it will do, and does it when asked again
	fault  fault
	turn   int // the turn that fails
	after  int // the number of its events before the failure
}

// fault is a way in which the model fails.
type fault string

const (
	none    fault = ""
	cut     fault = "cut"    // the answer ends as if all were well
	broken  fault = "broken" // the connection is closed in the middle
	reset   fault = "reset"
	failure fault = "reported" // in an error event
	status  fault = "status 500"
	silence fault = "left" // nothing more arrives until the client leaves
)

// storyOf returns the story with a number. One in ten fails, each in another way or at another place, and half of the
// others are continued.
func storyOf(number int) story {
	s := story{number: number, stalls: number%2 == 1}
	if number%20 == 7 || number%20 == 16 {
		n := number / 10
		faults := []fault{cut, broken, reset, failure, status, silence}
		s.fault = faults[n%len(faults)]
		n /= len(faults)
		s.turn, s.stalls = 1+n%2, true
		n /= 2
		if s.after = n % (len(s.events(s.turn)) - 3); s.fault == silence {
			s.after = 2 // so that the client receives something
		}
	}
	return s
}

// request returns the request of the agent.
func (s story) request() openai.ChatCompletionRequest {
	c := conversation{user: fmt.Sprint("Story ", s.number), stream: true}
	var r openai.ChatCompletionRequest
	if err := json.Unmarshal([]byte(c.body()), &r); err != nil {
		panic(err)
	}
	return r
}

// ask has a client ask.
func (s story) ask(ctx context.Context, client *openai.Client) told {
	until := ""
	if s.fault == silence {
		until = s.want().text
	}
	return hear(ctx, client, s.request(), until)
}

// words returns the words of a turn. They contain the number, so that no two stories are alike.
func (s story) words(turn int) []string {
	return []string{fmt.Sprintf("%d.%d:", s.number, turn), " so", " it", " goes."}
}

// events returns the payloads of a turn.
func (s story) events(turn int) []string {
	head := fmt.Sprintf(`{"id":"story-%d-%d","object":"chat.completion.chunk","created":1,"model":"m","choices":[`, s.number, turn)
	finish := "stop"
	var deltas []string
	for _, word := range s.words(turn) {
		deltas = append(deltas, fmt.Sprintf(`{"content":%q}`, word))
	}
	if turn == 2 || !s.stalls {
		finish = "tool_calls"
		deltas = append(deltas, `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"edit_file","arguments":""}}]}`)
		for _, part := range []string{`{"story":`, strconv.Itoa(s.number), `}`} {
			deltas = append(deltas, fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`, part))
		}
	}
	var events []string
	for _, delta := range deltas {
		events = append(events, head+`{"index":0,"delta":`+delta+`,"finish_reason":null}]}`)
	}
	return append(events, head+`{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`,
		head+`],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, "[DONE]")
}

// want returns what the client should receive.
func (s story) want() told {
	if s.turn == 1 {
		return s.failing(told{})
	}
	first := told{text: strings.Join(s.words(1), ""), finish: "stop", tokens: 15}
	if !s.stalls {
		first.finish, first.calls = "tool_calls", s.calls()
		return first
	}
	if s.turn == 2 {
		return s.failing(first)
	}
	first.text += "\n\n" + strings.Join(s.words(2), "")
	first.finish, first.calls, first.tokens = "tool_calls", s.calls(), 20
	return first
}

func (s story) calls() string { return fmt.Sprintf(`edit_file{"story":%d}`, s.number) }

// failing returns what the client should receive if the turn after before fails.
func (s story) failing(before told) told {
	words := s.words(s.turn)
	text := strings.Join(words[:min(s.after, len(words))], "")
	switch {
	case s.fault == status && s.turn == 1:
		return told{err: "status 500"}
	case s.fault == status:
		return before
	case s.turn == 1:
		return told{text: text, err: s.fault.heard()}
	}
	if text != "" {
		before.text += "\n\n" + text
	}
	switch {
	case s.fault == silence:
		return told{text: before.text, err: "left"}
	case s.after > len(words):
		calls, err := []string{"edit_file", `{"story":`, strconv.Itoa(s.number), `}`}, broken
		if s.fault == failure {
			err = failure // the client is told what the provider reported
		}
		return told{text: before.text, calls: strings.Join(calls[:s.after-len(words)], ""), err: string(err)} // half a call
	}
	return before
}

// heard returns what a client receives of a fault in turn 1, with or without carryon.
func (f fault) heard() string {
	switch f {
	case cut:
		return ""
	case reset:
		return "broken"
	}
	return string(f)
}

// fits reports whether a client received what it should. A reset may lose bytes that are on their way.
func (s story) fits(got told) bool {
	for s.fault == reset && s.after > 0 && got != s.want() {
		s.after--
	}
	return got == s.want()
}

// answer is the model: an [http.HandlerFunc].
func (s *soak) answer(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	var request openai.ChatCompletionRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	told, turn := storyOf(number(request)), turnOf(request)
	events := told.events(turn)
	if told.turn == turn {
		events = events[:told.after]
		if told.fault == status {
			refuse(w, r, http.StatusInternalServerError, "The server is overloaded")
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events {
		send(w, event)
	}
	if told.turn == turn {
		told.fault.strike(w, r)
	}
}

// turnOf returns which turn of a call a request is for: todo_pause is offered in turn 2.
func turnOf(r openai.ChatCompletionRequest) int {
	for _, tool := range r.Tools {
		if tool.Function.Name == "todo_pause" {
			return 2
		}
	}
	return 1
}

// number finds out which story a request is about.
func number(r openai.ChatCompletionRequest) (n int) {
	for _, message := range r.Messages {
		if _, err := fmt.Sscanf(message.Content, "Story %d", &n); err == nil {
			return n
		}
	}
	return -1
}

func send(w http.ResponseWriter, event string) {
	_, err := io.WriteString(w, "data: "+event+"\n\n")
	if err = errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
		panic(http.ErrAbortHandler) // the proxy has left
	}
}

// strike ends an answer with the fault.
func (f fault) strike(w http.ResponseWriter, r *http.Request) {
	switch f {
	case failure:
		send(w, `{"error":{"message":"The server is overloaded","type":"server_error"}}`)
	case silence:
		<-r.Context().Done()
	case broken:
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case reset:
		_ = http.NewResponseController(w).Flush()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}
