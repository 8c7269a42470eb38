package responses

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func nobody(func(string)) {}

func TestChainsForgetTheOldest(t *testing.T) {
	t.Parallel()
	c := newChains(2)
	assert.True(t, c.isEmpty())
	c.put(nobody, "a", "a2")
	c.put(nobody, "b", "b2")
	last, ok := c.get(nobody, "a") // used, and so newer than b
	assert.True(t, ok)
	assert.Equal(t, "a2", last)
	c.put(nobody, "c", "c2")
	_, ok = c.get(nobody, "b")
	assert.False(t, ok)
	c.put(nobody, "a", "a3")
	last, _ = c.get(nobody, "a")
	assert.Equal(t, "a3", last)
	assert.Equal(t, 2, c.order.Len())
}

// An id is small, or it is not remembered.
func TestChainsKeepNoLargeIDs(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", maxID+1)
	for _, ids := range [][2]string{{large, "b"}, {"a", large}} {
		r := request{chains: newChains(2), caller: nobody, stored: true}
		for range 2 {
			r.keep(ids[0], &turnRead{id: []byte(`"` + ids[1] + `"`)})
		}
		assert.True(t, r.chains.isEmpty())
	}
}

func TestChainsTranslateThatOneToken(t *testing.T) {
	t.Parallel()
	c := newChains(2)
	c.put(nobody, "resp_1", "resp_2")
	for body, want := range map[string]string{
		`{ "a":1.0, "previous_response_id" : "resp_1" ,"b":[ ]}`: `{ "a":1.0, "previous_response_id" : "resp_2" ,"b":[ ]}`,
		`{"previous_response_id":"resp_9"}`:                      "",
		`{"previous_response_id":null}`:                          "",
		`{"x":{"previous_response_id":"resp_1"}}`:                "",
		`{"previous_response_id":"resp_1",`:                      "",
		``:                                                       "",
	} {
		assert.Equal(t, want, string(c.translate(nobody, []byte(body))), body)
	}
}

func TestChainsAreSharedByGoroutines(t *testing.T) {
	t.Parallel()
	c := newChains(10)
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for n := range 100 {
				c.put(nobody, strconv.Itoa(n), strconv.Itoa(i))
				c.get(nobody, strconv.Itoa(n))
			}
		})
	}
	running.Wait()
	assert.Equal(t, 10, c.order.Len())
	assert.Len(t, c.byID, 10)
}
