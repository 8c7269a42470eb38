package proxy

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// Proxies with the same -state are one.
func TestProxiesShareTheirState(t *testing.T) {
	t.Parallel()
	address := "redis://" + miniredis.RunT(t).Addr()
	upstream := carryontest.NewServer(t)
	var scenes []*scene
	for range 2 {
		s := sceneAt(t, upstream.URL(), "-max-attempts", "1", "-state", address)
		s.upstream = upstream
		scenes = append(scenes, s)
	}
	before := 0
	scenes[0].ask(t, conversation{session: "a"}, stalls()...)
	assert.Equal(t, 2, scenes[0].asked(&before))
	scenes[1].ask(t, conversation{session: "a"}, carryontest.Text(plan))
	assert.Equal(t, 1, scenes[0].asked(&before), "the budget is used up")
}

func TestStateThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"mongo://secret@host":               "-state: mongo:// is not supported: use redis:// or postgres://",
		"redis://:secret%zz@host":           "-state: not a URL",
		"redis://:secret@" + nobody(t):      "-state: no answer: ",
		"postgres://u:secret@" + nobody(t):  "-state: ",
		"redis://:secret@host/not-a-number": "-state: ",
	} {
		_, err := openState(t.Context(), address)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
}
