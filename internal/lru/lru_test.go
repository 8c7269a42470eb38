package lru_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/carryon-go/carryon/internal/lru"
)

// model is a simple Table to compare with: pairs, most recently used first.
type model []pair

type pair struct {
	key   string
	value int
}

func (m *model) find(key string) int {
	return slices.IndexFunc(*m, func(p pair) bool { return p.key == key })
}

func (m *model) use(at int) *pair {
	p := (*m)[at]
	*m = slices.Insert(slices.Delete(*m, at, at+1), 0, p)
	return &(*m)[0]
}

func TestTableIsLikeItsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, want := lru.New[int](), model{}
		key := rapid.Custom(func(t *rapid.T) string { return strconv.Itoa(rapid.IntRange(0, 5).Draw(t, "n")) })
		t.Repeat(map[string]func(*rapid.T){
			"get": func(t *rapid.T) {
				k := key.Draw(t, "key")
				got := table.Get(k)
				if at := want.find(k); at < 0 {
					assert.Nil(t, got)
				} else {
					assert.Equal(t, want.use(at).value, *got)
				}
			},
			"put": func(t *rapid.T) {
				k, value := key.Draw(t, "key"), rapid.Int().Draw(t, "value")
				*table.Put(k) = value
				at := want.find(k)
				if at < 0 {
					want, at = append(want, pair{key: k}), len(want)
				}
				want.use(at).value = value
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				at := want.find(k)
				assert.Equal(t, at >= 0, table.Remove(k))
				if at >= 0 {
					want = slices.Delete(want, at, at+1)
				}
			},
			"oldest": func(t *rapid.T) {
				key, value := table.Oldest()
				if len(want) == 0 {
					assert.Nil(t, value)
					return
				}
				assert.Equal(t, pair{key, *value}, want[len(want)-1])
			},
			"trim": func(t *rapid.T) {
				limit := rapid.IntRange(0, 6).Draw(t, "limit")
				table.Trim(limit)
				want = want[:min(len(want), limit)]
			},
			"": func(t *rapid.T) { assert.Equal(t, len(want), table.Len()) },
		})
	})
}
