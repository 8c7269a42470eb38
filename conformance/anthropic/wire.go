package anthropic

import (
	"encoding/json"

	"github.com/tidwall/sjson"
)

// The types of events, and of blocks.
const (
	messageStart = "message_start"
	messageDelta = "message_delta"
	messageStop  = "message_stop"
	blockStart   = "content_block_start"
	blockDelta   = "content_block_delta"
	blockStop    = "content_block_stop"

	typeText     = "text"
	typeThinking = "thinking"
	typeCall     = "tool_use"
)

// The SDK's values keep the JSON that they were read from, and its methods read
// that. So changes are made in the JSON, and new values are parsed from JSON.

func set(raw, path string, value any) string {
	changed, err := sjson.Set(raw, path, value)
	if err != nil {
		return raw // happens with none of the paths here
	}
	return changed
}

func remove(raw, path string) string {
	changed, err := sjson.Delete(raw, path)
	if err != nil {
		return raw
	}
	return changed
}

// parse makes a value of the SDK from JSON.
func parse[T any](raw string) *T {
	var value T
	_ = json.Unmarshal([]byte(raw), &value) // the JSON comes from the SDK or from this package
	return &value
}
