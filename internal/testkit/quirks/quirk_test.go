package quirks_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

var table = sync.OnceValue(quirks.All)

// row returns the row of that name.
func row(t *testing.T, name string) quirks.Quirk {
	t.Helper()
	for _, q := range table() {
		if q.Name == name {
			return q
		}
	}
	require.FailNow(t, "no such row", name)
	return quirks.Quirk{}
}

func TestEveryQuirkHasARow(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, q := range quirks.All() {
		rows[q.Name[:3]]++
	}
	for number := 1; number <= 85; number++ {
		assert.NotZero(t, rows[fmt.Sprintf("Q%02d", number)], "Q%02d", number)
	}
}

func TestRowsAreNamedAndExplained(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^Q\d\d [[:alnum:]].*[[:alnum:]]$`)
	slugs := map[string]string{}
	for _, q := range quirks.All() {
		assert.Regexp(t, name, q.Name)
		assert.Regexp(t, `^\S.*\.$`, q.Why, q.Name)
		assert.Empty(t, slugs[q.Slug()], "%q has the file name of another row", q.Name)
		slugs[q.Slug()] = q.Name
	}
	assert.Empty(t, quirks.UnknownMisreads())
}

func TestRowsSayWhatTheyMean(t *testing.T) {
	t.Parallel()
	for _, q := range quirks.All() {
		assert.NotEmpty(t, q.First.Means.Err+q.First.Means.Finish, "%s: the first answer ends neither way", q.Name)
		switch q.Effect {
		case quirks.Joined:
			assert.Empty(t, q.First.Means.Err+q.Second.Means.Err, "%s: answers that failed are not joined", q.Name)
		case quirks.Dropped, quirks.Broken:
			assert.True(t, q.Second.Refused || q.Second.Means.Err != "", "%s: the second answer did not fail", q.Name)
		case quirks.Relayed:
		}
		if !q.Unary && q.Effect != quirks.Relayed {
			assert.NotEmpty(t, q.First.Tail, "%s: the first answer has no ending", q.Name)
			assert.NotContains(t, q.First.Head, `"finish_reason":"`+q.First.Means.Finish+`"`, q.Name)
		}
	}
}

func TestMeaningOfARow(t *testing.T) {
	t.Parallel()
	first := quirks.Turn{Means: quirks.Reading{Text: "One:", Finish: "stop", Usage: quirks.Usage{Prompt: 1, Total: 1}}}
	edit, pause := quirks.Call{Name: "edit_file"}, quirks.Call{Name: "Todo_Pause"}
	second := func(means quirks.Reading) quirks.Turn { return quirks.Turn{Means: means} }
	shown := "Tw"
	for name, c := range map[string]struct {
		row  quirks.Quirk
		want quirks.Reading
	}{
		"joined": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Text: "Two:", Finish: "length", Usage: quirks.Usage{Prompt: 2, Total: 2}})},
			quirks.Reading{Text: "One:\n\nTwo:", Finish: "length", Usage: quirks.Usage{Prompt: 1, Total: 1}},
		},
		"joined, without text": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Calls: []quirks.Call{edit}, Finish: "tool_calls"})},
			quirks.Reading{Text: "One:", Calls: []quirks.Call{edit}, Finish: "tool_calls", Usage: first.Means.Usage},
		},
		"a pause": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Calls: []quirks.Call{pause}, Finish: "tool_calls"}), Notice: "Paused."},
			quirks.Reading{Text: "One:\n\nPaused.", Finish: "stop", Usage: first.Means.Usage},
		},
		"a pause beside another call": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Calls: []quirks.Call{pause, edit}, Finish: "tool_calls"}), Notice: "Paused."},
			quirks.Reading{Text: "One:\n\nPaused.", Calls: []quirks.Call{edit}, Finish: "tool_calls", Usage: first.Means.Usage},
		},
		"a part is shown": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Text: "Two:", Finish: "stop"}), Shown: &shown},
			quirks.Reading{Text: "One:\n\nTw", Finish: "stop", Usage: first.Means.Usage},
		},
		"relayed": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Text: "Two:"}), Effect: quirks.Relayed}, first.Means,
		},
		"dropped": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Text: "Two:", Err: "cut"}), Effect: quirks.Dropped},
			quirks.Reading{Text: "One:\n\nTwo:", Finish: "stop", Usage: first.Means.Usage},
		},
		"broken": {
			quirks.Quirk{First: first, Second: second(quirks.Reading{Calls: []quirks.Call{edit}, Err: "cut"}), Effect: quirks.Broken},
			quirks.Reading{Text: "One:", Calls: []quirks.Call{edit}, Err: "cut"},
		},
	} {
		assert.Equal(t, c.want, c.row.Means(), name)
	}
}

func TestSlugIsAFileName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "q64-members-of-the-provider-s-own-turn-2", row(t, "Q64 members of the provider's own, turn 2").Slug())
}

func TestReadingsAreWrittenInLines(t *testing.T) {
	t.Parallel()
	r := quirks.Reading{
		Text: "One:\nTwo:", Reasoning: "Hm.", Finish: "stop", Err: "unexpected EOF",
		Calls: []quirks.Call{{ID: "a", Type: "function", Name: "edit_file", Arguments: `{"path":"a"}`}, {}},
		Usage: quirks.Usage{Prompt: 1, Completion: 2, Total: 3, Cached: 4, Reasoning: 5},
	}
	want := "  text       \"One:\\nTwo:\"\n" +
		"  reasoning  `Hm.`\n" +
		"  call       a function edit_file `{\"path\":\"a\"}`\n" +
		"  call       - - - -\n" +
		"  finish     stop\n" +
		"  usage      1 prompt, 2 completion, 3 total, 4 cached, 5 reasoning\n" +
		"  error      `unexpected EOF`\n"
	assert.Equal(t, want, r.String())
	assert.Equal(t, "  nothing\n", quirks.Reading{}.String())
	long := quirks.Reading{Text: strings.Repeat("x", 3000)}
	assert.Equal(t, "  text       \""+strings.Repeat("x", 40)+"\" and 2960 bytes more\n", long.String())
}
