package protocols_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// part is a part of an answer, in the terms that all protocols share.
type part struct{ kind, text string }

// The kinds of parts.
const (
	says    = "says"
	thinks  = "thinks"
	calls   = "calls"   // a tool of the program's, in two pieces
	runs    = "runs"    // a tool that the provider runs, and of which no result comes
	refuses = "refuses" // in words
)

// How an answer ends.
const (
	stops    = "stops"
	filtered = "filtered" // a filter or the model says no
	blocked  = "blocked"  // the provider reads no more than the prompt
)

// speaker is a wire protocol as a model speaks it.
type speaker struct {
	path, unaryPath string
	request         func(stream bool) string
	// events returns the parts as events of a stream, with the beginning of an answer.
	events func(turn int, parts ...part) []string
	// end returns the events that end an answer with these parts.
	end func(turn int, how string, parts ...part) []string
	// document returns an answer in one piece; "" if there is none that ends so.
	document func(turn int, how string, parts ...part) string
	// failure returns the event that reports an error of a kind that the protocol has.
	failure func(kind string) string
	// marks finds a part of the kind in an answer.
	marks map[string]string
	read  func(r *reading, event map[string]any)
}

// stream returns a whole answer.
func (s *speaker) stream(turn int, how string, parts ...part) string {
	return strings.Join(append(s.events(turn, parts...), s.end(turn, how, parts...)...), "")
}

// reading is what a client reads of a stream, if it looks at nothing but what all
// clients look at.
type reading struct {
	text    string
	begun   map[string]bool // the calls that have begun, by their place
	ended   map[string]bool // those that have ended
	isWhole bool            // the answer has its end
}

// readStream reads a stream to where it ends.
func (s *speaker) readStream(t *testing.T, stream string) reading {
	t.Helper()
	r := reading{begun: map[string]bool{}, ended: map[string]bool{}}
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var event map[string]any
		require.NoError(t, json.Unmarshal([]byte(data), &event), "a client reads each event")
		s.read(&r, event)
	}
	if r.isWhole { // what has begun counts as a call then
		for place := range r.begun {
			r.end(place)
		}
	}
	return r
}

// end notes the end of what stands at a place, if that is a call.
func (r *reading) end(place string) {
	if r.begun[place] {
		r.ended[place] = true
	}
}

// isHalf reports whether a call has begun and not ended.
func (r *reading) isHalf() bool { return len(r.begun) > len(r.ended) }

// exchanged is what became of a call.
type exchanged struct {
	shown    string
	err      error
	requests int
	outcome  middleware.Outcome
	turns    []middleware.TurnEnded
}

// exchange has the model answer a call with one answer after the other. The last one
// answers all that follow.
func (s *speaker) exchange(t *testing.T, stream bool, answers ...answerFunc) exchanged {
	t.Helper()
	base := &answering{t: t, answers: answers, kind: "text/event-stream"}
	path := s.path
	if !stream {
		base.kind, path = "application/json", s.unaryPath
	}
	return s.ask(t, base, path, s.request(stream))
}

// ask sends a request to a path.
func (s *speaker) ask(t *testing.T, base *answering, path, body string) exchanged {
	t.Helper()
	ctx, outcomes := middleware.Capture(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test"+path, strings.NewReader(body))
	require.NoError(t, err)
	recorder := carryontest.NewRecorder()
	mw := middleware.New(wiretest.TwoTodos, wiretest.Continuations(1), wiretest.Unattended, testclock.Option[middleware.Option](testclock.New()),
		middleware.WithObserver(recorder.Observer()))
	response, err := transport.New(base, mw).RoundTrip(r)
	require.NoError(t, err)
	shown, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	return exchanged{string(shown), err, base.asked, outcomes.Last(), carryontest.Recorded[middleware.TurnEnded](recorder)}
}

// answering answers requests.
type answering struct {
	t       *testing.T
	answers []answerFunc
	kind    string
	asked   int
}

// RoundTrip implements [http.RoundTripper].
func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, r.Body)
	require.NoError(a.t, err)
	answer := a.answers[min(a.asked, len(a.answers)-1)]()
	a.asked++
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(answer), ContentLength: -1, Request: r,
	}, nil
}

// answerFunc begins an answer.
type answerFunc func() io.Reader

// whole is an answer that comes whole.
func whole(answer string) answerFunc {
	return func() io.Reader { return strings.NewReader(answer) }
}

// cut is an answer whose connection breaks off.
func cut(answer string) answerFunc {
	return func() io.Reader {
		return io.MultiReader(strings.NewReader(answer), iotest.ErrReader(wiretest.ErrLost))
	}
}

// speakers are all protocols.
var speakers = map[string]*speaker{
	"Chat Completions": chatSpeaker, "Messages": messagesSpeaker, "Responses": responsesSpeaker, "Gemini": geminiSpeaker,
}

func inEveryProtocol(t *testing.T, test func(t *testing.T, s *speaker)) {
	t.Helper()
	for name, s := range speakers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

func eventOf(data string) string { return "data: " + data + "\n\n" }

func typed(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return "event: " + kind + "\n" + eventOf(`{"type":"`+kind+`"`+members+`}`)
}

// member returns a member of nested objects and arrays, or nil.
func member(value any, path ...any) any {
	for _, key := range path {
		switch at := key.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[at]
		case int:
			list, _ := value.([]any)
			if at >= len(list) {
				return nil
			}
			value = list[at]
		}
	}
	return value
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

var chatSpeaker = &speaker{
	path: "/v1/chat/completions", unaryPath: "/v1/chat/completions",
	request: func(stream bool) string { return wiretest.ChatBody(stream) },
	events: func(turn int, parts ...part) (all []string) {
		for _, p := range parts {
			switch p.kind {
			case says:
				all = append(all, chatChunk(turn, fmt.Sprintf(`{"content":%q}`, p.text), "null"))
			case thinks:
				all = append(all, chatChunk(turn, fmt.Sprintf(`{"reasoning_content":%q}`, p.text), "null"))
			case refuses:
				all = append(all, chatChunk(turn, fmt.Sprintf(`{"refusal":%q}`, p.text), "null"))
			case calls:
				all = append(all,
					chatChunk(turn, `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"edit_file","arguments":""}}]}`, "null"),
					chatChunk(turn, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}`, "null"),
					chatChunk(turn, `{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}`, "null"))
			}
		}
		return all
	},
	end: func(turn int, how string, parts ...part) []string {
		if how == blocked {
			how = filtered
		}
		return []string{chatChunk(turn, "{}", `"`+chatFinish(how, parts)+`"`), eventOf("[DONE]")}
	},
	document: func(turn int, how string, parts ...part) string {
		message := `"content":null`
		for _, p := range parts {
			switch p.kind {
			case says:
				message = fmt.Sprintf(`"content":%q`, p.text)
			case refuses:
				message += fmt.Sprintf(`,"refusal":%q`, p.text)
			case calls:
				message += `,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"a\"}"}}]`
			}
		}
		if how == blocked {
			how = filtered
		}
		return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",%s},`+
			`"finish_reason":%q}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`, turn, message, chatFinish(how, parts))
	},
	failure: func(kind string) string {
		if isStatus(kind) {
			return eventOf(`{"error":{"message":"No.","code":` + kind + `}}`)
		}
		return eventOf(fmt.Sprintf(`{"error":{"message":"No.","type":%q,"code":%q}}`, kind, kind))
	},
	marks: map[string]string{thinks: `"reasoning_content":"`, says: `two"`},
	read: func(r *reading, event map[string]any) {
		if index := member(event, "choices", 0, "index"); index != 0.0 && index != nil {
			return
		}
		delta := member(event, "choices", 0, "delta")
		r.text += text(member(delta, "content"))
		if member(delta, "tool_calls", 0) != nil {
			r.begun["0"] = true
		}
		r.isWhole = r.isWhole || text(member(event, "choices", 0, "finish_reason")) != ""
	},
}

func chatFinish(how string, parts []part) string {
	switch {
	case how == filtered:
		return "content_filter"
	case strings.Contains(fmt.Sprint(parts), calls):
		return "tool_calls"
	}
	return "stop"
}

func chatChunk(turn int, delta, finish string) string {
	return eventOf(fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`,
		turn, delta, finish))
}

var messagesSpeaker = &speaker{
	path: "/v1/messages", unaryPath: "/v1/messages",
	request: func(stream bool) string {
		return fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":9,"stream":%t,"messages":[{"role":"user","content":"Go."}],`+
			`"tools":[{"name":"edit_file","input_schema":{"type":"object"}}]}`, stream)
	},
	events: func(turn int, parts ...part) []string {
		all := []string{typed("message_start", fmt.Sprintf(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[],`+
			`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}`, turn))}
		for i, p := range parts {
			block, deltas := messagesBlock(p)
			if block == "" {
				continue
			}
			all = append(all, typed("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, i, block)))
			for _, delta := range deltas {
				all = append(all, typed("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, i, delta)))
			}
			all = append(all, typed("content_block_stop", fmt.Sprintf(`"index":%d`, i)))
		}
		return all
	},
	end: func(_ int, how string, parts ...part) []string {
		return []string{
			typed("message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":2}`, messagesStop(how, parts))),
			typed("message_stop", ""),
		}
	},
	document: func(turn int, how string, parts ...part) string {
		var content []string
		for _, p := range parts {
			switch p.kind {
			case says:
				content = append(content, fmt.Sprintf(`{"type":"text","text":%q}`, p.text))
			case calls:
				content = append(content, `{"type":"tool_use","id":"toolu_1","name":"edit_file","input":{"path":"a"}}`)
			}
		}
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%q,"stop_sequence":null,`+
			`"usage":{"input_tokens":9,"output_tokens":2}}`, turn, strings.Join(content, ","), messagesStop(how, parts))
	},
	failure: func(kind string) string {
		return typed("error", fmt.Sprintf(`"error":{"type":%q,"message":"No."}`, kind))
	},
	marks: map[string]string{runs: `"server_tool_use"`, says: `two"`, thinks: `"thinking_delta"`},
	read: func(r *reading, event map[string]any) {
		place := fmt.Sprint(event["index"])
		switch event["type"] {
		case "content_block_start":
			if member(event, "content_block", "type") == "tool_use" {
				r.begun[place] = true
			}
		case "content_block_delta":
			r.text += text(member(event, "delta", "text"))
		case "content_block_stop":
			r.end(place)
		case "message_delta", "message_stop":
			r.isWhole = true
		}
	},
}

func messagesStop(how string, parts []part) string {
	switch {
	case how != stops || strings.Contains(fmt.Sprint(parts), refuses):
		return "refusal"
	case strings.Contains(fmt.Sprint(parts), calls):
		return "tool_use"
	}
	return "end_turn"
}

func messagesBlock(p part) (block string, deltas []string) {
	switch p.kind {
	case says:
		return `{"type":"text","text":""}`, []string{fmt.Sprintf(`{"type":"text_delta","text":%q}`, p.text)}
	case thinks:
		return `{"type":"thinking","thinking":""}`, []string{fmt.Sprintf(`{"type":"thinking_delta","thinking":%q}`, p.text)}
	case runs:
		return `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, nil
	case calls:
		return `{"type":"tool_use","id":"toolu_1","name":"edit_file","input":{}}`, []string{
			`{"type":"input_json_delta","partial_json":"{\"path\":"}`, `{"type":"input_json_delta","partial_json":"\"a\"}"}`,
		}
	}
	return "", nil
}

var responsesSpeaker = &speaker{
	path: "/v1/responses", unaryPath: "/v1/responses",
	request: func(stream bool) string {
		return fmt.Sprintf(`{"model":"test-model","stream":%t,"store":false,"input":[{"role":"user","content":"Go."}],`+
			`"tools":[{"type":"function","name":"edit_file","parameters":{"type":"object","properties":{}}},{"type":"shell"}]}`, stream)
	},
	events: func(turn int, parts ...part) []string {
		all := []string{typed("response.created", `"sequence_number":0,"response":`+responseObject(turn, "in_progress", "null"))}
		for i, p := range parts {
			all = append(all, responsesItem(turn, i, p)...)
		}
		return all
	},
	end: func(turn int, how string, parts ...part) []string {
		if how == stops {
			return []string{typed("response.completed", `"sequence_number":99,"response":`+responseObject(turn, "completed", "null", parts...))}
		}
		return []string{typed("response.incomplete", `"sequence_number":99,"response":`+responseObject(turn, "incomplete", `{"reason":"content_filter"}`, parts...))}
	},
	document: func(turn int, how string, parts ...part) string {
		if how == stops {
			return responseObject(turn, "completed", "null", parts...)
		}
		return responseObject(turn, "incomplete", `{"reason":"content_filter"}`, parts...)
	},
	failure: func(kind string) string {
		if isStatus(kind) {
			return typed("error", `"sequence_number":98,"code":`+kind+`,"message":"No."`)
		}
		return typed("error", fmt.Sprintf(`"sequence_number":98,"code":%q,"message":"No."`, kind))
	},
	marks: map[string]string{runs: `"response.output_item.added","sequence_number":2,"output_index":1,"item":{"id":"item_2_0","type":"web`, says: `"delta":"two"`},
	read: func(r *reading, event map[string]any) {
		place := fmt.Sprint(event["output_index"])
		switch event["type"] {
		case "response.output_item.added":
			if member(event, "item", "type") == "function_call" {
				r.begun[place] = true
			}
		case "response.output_text.delta":
			r.text += text(event["delta"])
		case "response.function_call_arguments.done":
			r.end(place)
		case "response.output_item.done":
			r.end(place)
		case "response.completed", "response.incomplete":
			r.isWhole = true
		}
	},
}

func responseObject(turn int, status, details string, parts ...part) string {
	var output []string
	for i, p := range parts {
		output = append(output, responsesOutput(turn, i, p, "completed"))
	}
	return fmt.Sprintf(`{"id":"resp_%d","object":"response","created_at":1,"status":%q,"model":"m","output":[%s],"incomplete_details":%s,`+
		`"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`, turn, status, strings.Join(output, ","), details)
}

// responsesOutput returns an item as it is in progress or completed.
func responsesOutput(turn, i int, p part, status string) string {
	id := fmt.Sprintf(`"id":"item_%d_%d"`, turn, i)
	done := status == "completed"
	content := ""
	switch p.kind {
	case says:
		if done {
			content = fmt.Sprintf(`{"type":"output_text","text":%q,"annotations":[]}`, p.text)
		}
		return fmt.Sprintf(`{%s,"type":"message","status":%q,"role":"assistant","content":[%s]}`, id, status, content)
	case refuses:
		if done {
			content = fmt.Sprintf(`{"type":"refusal","refusal":%q}`, p.text)
		}
		return fmt.Sprintf(`{%s,"type":"message","status":%q,"role":"assistant","content":[%s]}`, id, status, content)
	case thinks:
		return fmt.Sprintf(`{%s,"type":"reasoning","summary":[]}`, id)
	case runs:
		return fmt.Sprintf(`{%s,"type":"web_search_call","status":%q}`, id, status)
	}
	arguments := ""
	if done {
		arguments = `{\"path\":\"a\"}`
	}
	return fmt.Sprintf(`{%s,"type":"function_call","status":%q,"call_id":"call_1","name":"edit_file","arguments":"%s"}`, id, status, arguments)
}

func responsesItem(turn, i int, p part) []string {
	at := fmt.Sprintf(`"sequence_number":%d,"output_index":%d`, 1+i, i)
	of := at + fmt.Sprintf(`,"item_id":"item_%d_%d"`, turn, i)
	all := []string{typed("response.output_item.added", at+`,"item":`+responsesOutput(turn, i, p, "in_progress"))}
	switch p.kind {
	case says:
		all = append(all,
			typed("response.content_part.added", of+`,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`),
			typed("response.output_text.delta", of+fmt.Sprintf(`,"content_index":0,"delta":%q`, p.text)),
			typed("response.output_text.done", of+fmt.Sprintf(`,"content_index":0,"text":%q`, p.text)),
			typed("response.content_part.done", of+fmt.Sprintf(`,"content_index":0,"part":{"type":"output_text","text":%q,"annotations":[]}`, p.text)))
	case refuses:
		all = append(all, typed("response.refusal.delta", of+fmt.Sprintf(`,"content_index":0,"delta":%q`, p.text)))
	case calls:
		all = append(all,
			typed("response.function_call_arguments.delta", of+`,"delta":"{\"path\":"`),
			typed("response.function_call_arguments.delta", of+`,"delta":"\"a\"}"`),
			typed("response.function_call_arguments.done", of+`,"arguments":"{\"path\":\"a\"}"`))
	case runs:
		return append(all, typed("response.web_search_call.in_progress", of))
	}
	return append(all, typed("response.output_item.done", at+`,"item":`+responsesOutput(turn, i, p, "completed")))
}

var geminiSpeaker = &speaker{
	path: "/v1beta/models/m:streamGenerateContent?alt=sse", unaryPath: "/v1beta/models/m:generateContent",
	request: func(bool) string {
		return `{"contents":[{"role":"user","parts":[{"text":"Go."}]}],` +
			`"tools":[{"functionDeclarations":[{"name":"edit_file","parameters":{"type":"OBJECT","properties":{}}}]}]}`
	},
	events: func(turn int, parts ...part) (all []string) {
		for _, p := range parts {
			for _, raw := range geminiParts(p) {
				all = append(all, eventOf(geminiChunk(turn, raw, "")))
			}
		}
		return all
	},
	end: func(turn int, how string, _ ...part) []string {
		switch how {
		case filtered:
			return []string{eventOf(fmt.Sprintf(`{"candidates":[{"finishReason":"SAFETY","index":0}],"usageMetadata":{"promptTokenCount":9},"responseId":"r%d"}`, turn))}
		case blocked:
			return []string{eventOf(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`)}
		}
		return []string{eventOf(geminiChunk(turn, `{"text":""}`, "STOP"))}
	},
	document: func(turn int, how string, parts ...part) string {
		switch how {
		case filtered:
			return `{"candidates":[{"finishReason":"SAFETY","index":0}],"usageMetadata":{"promptTokenCount":9}}`
		case blocked:
			return `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`
		}
		var all []string
		for _, p := range parts {
			if p.kind == calls {
				all = append(all, `{"functionCall":{"name":"edit_file","args":{"path":"a"}}}`)
				continue
			}
			all = append(all, geminiParts(p)...)
		}
		return geminiChunk(turn, strings.Join(all, ","), "STOP")
	},
	failure: func(kind string) string {
		if isStatus(kind) {
			return eventOf(`{"error":{"code":` + kind + `,"message":"No."}}`)
		}
		return eventOf(fmt.Sprintf(`{"error":{"code":0,"message":"No.","status":%q}}`, kind))
	},
	marks: map[string]string{runs: `"executableCode"`, thinks: `"thought":true`, says: `two"`},
	read: func(r *reading, event map[string]any) {
		for _, raw := range listOf(member(event, "candidates", 0, "content", "parts")) {
			r.text += text(member(raw, "text"))
			if call := member(raw, "functionCall"); call != nil {
				r.begun["0"] = true
				if member(call, "willContinue") != true {
					r.end("0")
				}
			}
		}
		r.isWhole = r.isWhole || member(event, "candidates", 0, "finishReason") != nil
	},
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func geminiParts(p part) []string {
	switch p.kind {
	case says:
		return []string{fmt.Sprintf(`{"text":%q}`, p.text)}
	case thinks:
		return []string{fmt.Sprintf(`{"text":%q,"thought":true}`, p.text)}
	case runs:
		return []string{`{"executableCode":{"code":"print(1)","language":"PYTHON"}}`}
	case calls:
		return []string{
			`{"functionCall":{"name":"edit_file","willContinue":true}}`,
			`{"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"a","willContinue":true}],"willContinue":true}}`,
			`{"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"b"}]}}`,
		}
	}
	return nil
}

func geminiChunk(turn int, parts, finish string) string {
	if finish != "" {
		finish = `"finishReason":"` + finish + `",`
	}
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[%s],"role":"model"},%s"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,`+
		`"totalTokenCount":11},"modelVersion":"m","responseId":"r%d"}`, parts, finish, turn)
}

// isStatus reports whether the kind of an error is an HTTP status, which gateways write
// as a number.
func isStatus(kind string) bool {
	_, err := strconv.Atoi(kind)
	return err == nil
}
