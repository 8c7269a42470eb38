package wire_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
)

// listOf returns a body with a list of so many numbers, and its List. Another value stands before it.
func listOf(n int) (wiretest.Body, *wire.List) {
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	b := wiretest.Body(`{"other": ["x"], "list": [ ` + strings.Join(numbers, " ,\n") + ` ] }`)
	return b, readList(b)
}

func readList(b wiretest.Body) *wire.List {
	var list wire.List
	s := rawjson.Over([]byte(b))
	for name := range s.Members() {
		if name == "list" {
			for range list.Elements(&s) {
				s.Skip()
			}
		}
	}
	return &list
}

// walk returns the elements that a walk through the list passes.
func walk(list *wire.List, b wiretest.Body) (elements []string) {
	list.Walk(b, nil, func(_ *wire.Walk, s rawjson.Scanner) bool {
		elements = append(elements, string(s.Raw()))
		return true
	})
	return elements
}

// lengths are those of short lists, of long ones, and of those that are too long to be remembered.
var lengths = []int{0, 1, 31, 32, 33, 500, 1<<16 - 1, 1 << 16, 1<<16 + 1}

func TestListIsReadBackward(t *testing.T) {
	t.Parallel()
	for _, n := range lengths {
		b, list := listOf(n)
		var want []string
		for i := range n {
			want = append(want, strconv.Itoa(n-1-i))
		}
		assert.True(t, slices.Equal(want, walk(list, b)), "of %d", n) // the difference may be long
	}
}

func TestWalkEndsEarly(t *testing.T) {
	t.Parallel()
	b, list := listOf(100)
	passed := 0
	list.Walk(b, nil, func(*wire.Walk, rawjson.Scanner) bool { passed++; return passed < 3 })
	assert.Equal(t, 3, passed)
}

func TestElementsOfAListAreAttachable(t *testing.T) {
	t.Parallel()
	for _, n := range lengths {
		b, list := listOf(n)
		textOf := list.Attachable(b, func(s rawjson.Scanner) (string, bool) { return string(s.Raw()), true })
		for _, i := range []int{0, n / 2, n - 1, n, n + 1} {
			text, ok := textOf(max(i, 0))
			assert.Equal(t, i < n && n > 0, ok, "%d of %d", i, n)
			if ok {
				assert.Equal(t, strconv.Itoa(i), text)
			}
		}
	}
}

func TestElementsAreAppendedToAList(t *testing.T) {
	t.Parallel()
	for _, n := range lengths {
		b, list := listOf(n)
		var got, want rawjson.Edits
		ours, plain := rawjson.Over([]byte(b)), rawjson.Over([]byte(b))
		for range ours.Members() {
			list.Append(&got, &ours, []byte(`"a"`), []byte(`"b"`))
		}
		for range plain.Members() {
			want.Append(&plain, []byte(`"a"`), []byte(`"b"`))
		}
		assert.Equal(t, string(want.Apply([]byte(b))), string(got.Apply([]byte(b))), "to %d", n)
		assert.Equal(t, plain.At(), ours.At(), "behind %d", n)
		assert.True(t, ours.OK())
	}
}

func TestListIsWhereTheLastOneIs(t *testing.T) {
	t.Parallel()
	long, _ := listOf(100)
	b := wiretest.Body(strings.TrimSuffix(string(long), "}") + `, "list": [7]}`)
	assert.Equal(t, []string{"7"}, walk(readList(b), b))
}

func TestStringIsAListOfItself(t *testing.T) {
	t.Parallel()
	b := wiretest.Body(`{"input": "hello"}`)
	var list wire.List
	s := rawjson.Over([]byte(b))
	for range s.Members() {
		list.Begin(&s)
	}
	text, ok := list.Attachable(b, func(s rawjson.Scanner) (string, bool) { return string(s.Raw()), true })(0)
	assert.True(t, ok)
	assert.Equal(t, `"hello"`, text)
}

func TestListIsEmptyWhereThereIsNone(t *testing.T) {
	t.Parallel()
	missing, long := readList(wiretest.Body(`{"other": 1}`)), readList(func() wiretest.Body { b, _ := listOf(100); return b }())
	assert.Empty(t, walk(missing, wiretest.Body(`{"other": 1}`)))
	assert.Empty(t, walk(long, wiretest.Body("")), "its request is gone")
	_, ok := long.Attachable(wiretest.Body(""), func(rawjson.Scanner) (string, bool) { return "", true })(0)
	assert.False(t, ok)
}
