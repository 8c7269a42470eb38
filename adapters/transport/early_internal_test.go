package transport

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/middleware"
)

type closeCounter struct{ closed int }

func (*closeCounter) Read([]byte) (int, error) { return 0, http.ErrBodyReadAfterClose }

func (c *closeCounter) Close() error {
	c.closed++
	return nil
}

// A panic on the other goroutine would end the program. It belongs to the
// goroutine of the caller, where a server recovers from it.
func TestPanicOfACallThatBeginsComesToItsCaller(t *testing.T) {
	t.Parallel()
	b := begun{over: make(chan struct{})}
	go b.run(func() *middleware.Call { panic("broken") })
	body := new(closeCounter)
	assert.PanicsWithValue(t, "broken", func() { b.wait(&http.Response{Body: body}) })
	assert.Equal(t, 1, body.closed)
	assert.PanicsWithValue(t, "broken", func() { b.wait(nil) })
}
