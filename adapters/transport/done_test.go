package transport_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// Parts of a turn in which something is held back: a call that may become a pause, and the usage after it.
const (
	halfCallEvent = `data: {"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"todo","arguments":""}}]}}]}` + "\n\n"
	usageEvent    = `data: {"id":"a","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}` + "\n\n"
)

// A turn that does not end with a finish reason is not continued, and all of it is shown, in its order.
func TestTurnWithoutAFinishIsShownWhole(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"[DONE]": doneMark, "nothing": "", "an error": "data: " + wiretest.SaysError + "\n\n", "garbage": "data: {\"choices\":[\n\n",
	} {
		for _, parts := range []string{textEvent, textEvent + halfCallEvent, textEvent + usageEvent, textEvent + halfCallEvent + usageEvent} {
			got := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(parts+end, "", wiretest.Whole(), middleware.WithPauseTool(middleware.PauseToolAlways))
			assert.Equal(t, parts+end, got.Body, name)
			assert.Len(t, got.Requests, 1, name)
		}
	}
}

// Some readers stop at [DONE], and never close the answer.
func TestAnswerHasEndedWhenItsDoneWasRead(t *testing.T) {
	inBubble(t, func(b *bubble) {
		call := `data: {"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"edit_file","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"
		go func() { b.base.body(1).pieces <- textEvent + call + doneMark }()
		b.take(textEvent + call + doneMark)
		assert.True(b.t, b.out.Last().Ended)
	})
}

// Read does not wait for an upstream that keeps the connection open after [DONE].
func TestDoneIsWaitedBehindForAMoment(t *testing.T) {
	inBubble(t, func(b *bubble) {
		r := b.read(1 << 10)
		b.base.body(1).pieces <- textEvent + finishEvent + doneMark
		<-time.After(49 * time.Millisecond)
		synctest.Wait()
		assert.Equal(b.t, 1, b.base.asked())
		<-time.After(2 * time.Millisecond)
		synctest.Wait()
		assert.Equal(b.t, 2, b.base.asked())
		b.base.body(2).pieces <- strings.Replace(finishEvent, "stop", "length", 1) + doneMark
		<-time.After(51 * time.Millisecond)
		text, _ := r.now()
		require.Contains(b.t, text, doneMark)
	})
}
