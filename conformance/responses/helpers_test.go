package responses_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// handmade is the folder of streams that the protocol's own tests read too.
const handmade = "../../internal/wire/responses/testdata/streams"

var recordings = flag.String("recordings", "", "a directory with recorded streams: *.chunks.txt, one event's JSON per line")

// eachRecording runs a test with each recorded stream. A file may hold several.
func eachRecording(t *testing.T, test func(t *testing.T, stream string)) {
	t.Helper()
	dirs := []string{handmade}
	if *recordings == "" {
		t.Log("no -recordings: only those made by hand")
	} else {
		dirs = append(dirs, *recordings)
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.chunks.txt"))
		require.NoError(t, err)
		require.NotEmpty(t, files, dir)
		count := 0
		for _, file := range files {
			lines, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, stream := range streamsIn(t, string(lines)) {
				count++
				t.Run(filepath.Base(file), func(t *testing.T) { test(t, stream) })
			}
		}
		t.Log(count, "streams in", dir)
	}
}

// streamsIn returns the streams that lines hold.
func streamsIn(t *testing.T, lines string) []string {
	t.Helper()
	var streams []string
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		kind := rawjson.TextOf(rawjson.Member([]byte(line), "type"))
		if kind == "response.created" {
			streams = append(streams, "")
		}
		require.NotEmpty(t, streams, "%s before response.created", kind)
		streams[len(streams)-1] += "event: " + kind + "\ndata: " + line + "\n\n"
	}
	return streams
}

// carryOnce returns a middleware that adds one turn.
func carryOnce() *middleware.Middleware {
	return middleware.New(todo.Static(todo.Todo{Content: "Write the parser", Status: todo.InProgress}),
		middleware.WithApprovalMode(continuation.ApprovalYOLO), // recorded answers are reports, and what is tested is joining
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
}

// nothingToDo returns a middleware whose list is empty.
func nothingToDo() *middleware.Middleware { return middleware.New(todo.Static()) }

// serve starts a server that answers with streams, one after the other, and
// returns its address.
func serve(t *testing.T, streams []string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		if assert.NotEmpty(t, streams, "one more request than there are answers") {
			_, _ = io.WriteString(w, streams[0])
			streams = streams[1:]
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// through returns an HTTP client with a middleware in it.
func through(t *testing.T, mw *middleware.Middleware) *http.Client {
	t.Helper()
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return &http.Client{Transport: transport.New(base, mw)}
}

// reading is what the SDK has read from an answer.
type reading struct {
	events    []string // as they came, in JSON
	announced []string // the ids of responses that have begun
	numbers   []int64  // the sequence numbers
	indexes   []int64  // of the items, as they begin
	ids       []string // of the items and of calls, as they begin
	end       string   // the type of the last event, and its response
	response  responses.Response
	err       error // of the stream, or of accumulating it

	// The items as the SDK assembles them: from the pieces alone, from all events but the last, and from the response
	// in the last event.
	pieces, parts, final items
}

type items []responses.ResponseAccumulatedOutput

// read asks with the SDK for an answer, whose turns are streams.
func read(t *testing.T, mw *middleware.Middleware, streams ...string) *reading {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(serve(t, streams)), option.WithAPIKey("none"), option.WithMaxRetries(0),
		option.WithHTTPClient(through(t, mw)))
	stream := client.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{
		Model: "any-model",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Write and test the parser.")},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
			Name: "edit_file", Parameters: map[string]any{"type": "object", "properties": map[string]any{}},
		}}},
	})
	defer stream.Close()
	r := reading{events: []string{}}
	var pieces, parts, final responses.ResponseAccumulator
	for stream.Next() {
		e := stream.Current()
		r.note(e)
		switch {
		case r.end != "":
			r.accumulate(&final, e)
		case strings.HasSuffix(e.Type, ".done"):
			r.accumulate(&parts, e)
		default:
			r.accumulate(&parts, e)
			r.accumulate(&pieces, e)
		}
	}
	r.err = errors.Join(r.err, stream.Err())
	r.pieces, r.parts, r.final = pieces.Snapshot().Output, parts.Snapshot().Output, final.Snapshot().Output
	return &r
}

// note records an event's numbers and ids.
func (r *reading) note(e responses.ResponseStreamEventUnion) {
	r.events = append(r.events, e.RawJSON())
	if e.JSON.SequenceNumber.Valid() {
		r.numbers = append(r.numbers, e.SequenceNumber)
	}
	switch e.Type {
	case "response.created":
		r.announced = append(r.announced, e.Response.ID)
	case "response.completed", "response.incomplete", "response.failed":
		r.end, r.response = e.Type, e.Response
	case "response.output_item.added":
		r.indexes = append(r.indexes, e.OutputIndex)
		if e.Item.ID != "" {
			r.ids = append(r.ids, e.Item.ID)
		}
		if e.Item.CallID != "" && strings.HasSuffix(e.Item.Type, "_call") { // others refer to a call
			r.ids = append(r.ids, e.Item.CallID)
		}
	}
}

// accumulate adds an event to the SDK's accumulator. That accumulator is for the API's WebSocket, whose events are the
// same.
func (r *reading) accumulate(a *responses.ResponseAccumulator, e responses.ResponseStreamEventUnion) {
	var same responses.ResponsesServerEventUnion
	if err := json.Unmarshal([]byte(e.RawJSON()), &same); err != nil {
		r.err = errors.Join(r.err, err)
	} else if err := a.AddEvent(same); err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("%s: %w", e.Type, err))
	}
}
