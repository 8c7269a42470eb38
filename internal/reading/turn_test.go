package reading

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
)

// borrowed returns a text in memory that reuse overwrites, as its owner would.
func borrowed(text string) (loan string, reuse func()) {
	memory := []byte(text)
	return unsafe.String(&memory[0], len(memory)), func() {
		for i := range memory {
			memory[i] = '#'
		}
	}
}

func TestTurnReaderCopiesWhatItKeeps(t *testing.T) {
	t.Parallel()
	var reuse []func()
	lend := func(text string) string {
		loan, back := borrowed(text)
		reuse = append(reuse, back)
		return loan
	}
	r := Turn{Shown: ShownText{printable: true, printed: new(printedText)}}
	r.Text(lend("todo_pause('a"))
	r.Call(0, lend("p"), lend("todo_"), lend(`{"a":`))
	r.Finish(lend("end_turn"))
	own := Turn{First: true, Calls: Calls{Unwatched: true}}
	own.Text(lend("shown"))
	kept := own.Chunk.Clone()
	for _, back := range reuse {
		back()
	}
	assert.Equal(t, "shown", kept.Text)
	assert.Equal(t, "end_turn", r.FinishReason)
	call := r.Calls.calls[0]
	assert.Equal(t, []string{"p", "todo_", `{"a":`}, []string{call.ID, call.Name, string(call.Arguments)})
	assert.Equal(t, "todo_pause('a", r.Shown.printed.Release())
}

func TestTurnReaderAddsUpWhatAChunkHolds(t *testing.T) {
	t.Parallel()
	r := Turn{First: true, Calls: Calls{Unwatched: true}}
	r.Text("One, ")
	r.Text("")
	r.Text("two.")
	assert.Equal(t, "One, two.", r.Chunk.Text)
	assert.Equal(t, len("One, two."), r.Chunk.Size)
	r.NextChunk()
	r.Text("")
	assert.False(t, r.Chunk.OwnText)
	assert.False(t, r.Chunk.Adds())
	r.Call(0, "id", "name", "arguments")
	r.Reasoning("why")
	r.Size(100)
	assert.Equal(t, len("id"+"name"+"arguments"+"why")+100, r.Chunk.Size)
}

func TestTurnReaderKnowsWhatAReaderWouldMiss(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(*Turn){
		"text":                 func(r *Turn) { r.Text("One:") },
		"reasoning":            func(r *Turn) { r.Reasoning("why") },
		"a call":               func(r *Turn) { r.Call(0, "", "", "") },
		"a call of other form": (*Turn).OtherCall,
		"a refusal":            (*Turn).Refusal,
		"another choice":       (*Turn).OtherChoice,
	} {
		r := Turn{First: true, Calls: Calls{Unwatched: true}}
		r.Usage(adapter.Usage{Prompt: 1})
		r.Finish("stop")
		r.Done()
		assert.False(t, r.Chunk.Adds(), "usage and the end are expected")
		r.NextChunk()
		report(&r)
		assert.True(t, r.Chunk.Adds(), name)
	}
}

// fragmentOf reads "index id name arguments", with _ for a missing part.
func fragmentOf(t *testing.T, s string) (index int, id, name, arguments string) {
	t.Helper()
	part := strings.SplitN(s, " ", 4)
	require.Len(t, part, 4, s)
	for i := range part {
		if part[i] == "_" {
			part[i] = ""
		}
	}
	index = adapter.NoIndex
	if part[0] != "" {
		_, err := fmt.Sscan(part[0], &index)
		require.NoError(t, err)
	}
	return index, part[1], part[2], part[3]
}

// track makes a Calls read the fragments, each in a chunk of its own, and returns
// how each is shown after all of them: "-" for dropped, "=" for unchanged, a number
// for the new index, with a + for the first fragment.
func track(t *testing.T, fragments []string) (*Calls, []string) {
	t.Helper()
	var calls Calls
	entries := make([]Fragment, 0, len(fragments))
	for _, f := range fragments {
		index, id, name, arguments := fragmentOf(t, f)
		at := calls.add(index, id, name, arguments)
		entries = append(entries, Fragment{call: at, empty: id == "" && name == "" && arguments == ""})
	}
	calls.DecideOpen()
	shown := make([]string, 0, len(entries))
	for _, e := range entries {
		shown = append(shown, showEdit(calls.place(e)))
	}
	return &calls, shown
}

func showEdit(e adapter.CallEdit) string {
	switch {
	case e.Drop:
		return "-"
	case !e.Rewrite:
		return "="
	case e.First:
		return fmt.Sprintf("%d+", e.Index)
	}
	return strconv.Itoa(e.Index)
}

// showSlots describes the calls that the Calls has made of the fragments: each
// call's kind, name and arguments, as far as they are kept.
func showSlots(c *Calls) []string {
	list := make([]string, 0, len(c.calls))
	for _, s := range c.calls {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s", [...]string{"open", "paused", "other"}[s.kind], s.Name)))
	}
	return list
}

func TestTrackerPutsFragmentsTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fragments []string
		calls     []string
		shown     []string
	}{
		"by index": {
			fragments: []string{"0 p todo_pause _", "1 a edit_file _", "0 _ _ {", "1 _ _ {", "0 _ _ }", "1 _ _ }"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "0+", "-", "0", "-", "0"},
		},
		"by id, without indexes": {
			fragments: []string{"_ p todo_pause _", "_ a edit_file _", "_ p _ {", "_ a _ {", "_ p _ }", "_ a _ }"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "0+", "-", "0", "-", "0"},
		},
		"by id, all with one index": {
			fragments: []string{"0 p todo_pause _", "0 a edit_file _", "0 p _ {", "0 a _ {", "0 p _ }", "0 a _ }"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "0+", "-", "0", "-", "0"},
		},
		"by id, with an index from the second Fragment on": {
			fragments: []string{"_ p todo_pause {", "0 p _ }"},
			calls:     []string{"paused todo_pause"},
			shown:     []string{"-", "-"},
		},
		"by id, with an index in the first Fragment only": {
			fragments: []string{"0 p todo_pause {", "1 a edit_file {", "_ p _ }", "_ a _ }"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "0+", "-", "0"},
		},
		"by index, with an id from the second Fragment on": {
			fragments: []string{"0 _ todo_pause {", "0 p _ }", "1 a edit_file {}"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "-", "0+"},
		},
		"the latest, without index and id": {
			fragments: []string{"_ _ todo_pause _", "_ _ _ {", "_ _ _ }"},
			calls:     []string{"paused todo_pause"},
			shown:     []string{"-", "-", "-"},
		},
		"the latest of an index, without ids": {
			fragments: []string{"0 p todo_pause _", "0 a edit_file _", "0 _ _ {}"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "0+", "0"},
		},
		"another name begins a call once the latest is whole": {
			fragments: []string{"_ _ todo_pause {}", "_ _ edit_file {}", "_ _ run_tests {}"},
			calls:     []string{"paused todo_pause", "other edit_file", "other run_tests"},
			shown:     []string{"-", "0+", "1+"},
		},
		"another name begins a call after a pause without arguments": {
			fragments: []string{"_ _ todo_pause _", "_ _ edit_file {}"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "0+"},
		},
		"a name repeated in every Fragment is one call": {
			fragments: []string{"_ _ todo_pause {", "_ _ todo_pause }"},
			calls:     []string{"paused todo_pause"},
			shown:     []string{"-", "-"},
		},
		"a name repeated in every Fragment of another call": {
			fragments: []string{"_ _ edit_file {", "_ _ edit_file }", "_ _ todo_pause {}"},
			calls:     []string{"other edit_file", "paused todo_pause"},
			shown:     []string{"0+", "0", "-"},
		},
		"another id begins a call although the latest is not whole": {
			fragments: []string{"_ a edit_file {", "_ p todo_pause {}"},
			calls:     []string{"other edit_file", "paused todo_pause"},
			shown:     []string{"0+", "-"},
		},
		"another index begins a call although it has no name yet": {
			fragments: []string{"0 a edit_file {}", "1 _ _ {", "1 _ todo_pause }"},
			calls:     []string{"other edit_file", "paused todo_pause"},
			shown:     []string{"0+", "-", "-"},
		},
		"another name with an index begins a call after one without": {
			fragments: []string{"_ a edit_file {}", "1 _ todo_pause {}"},
			calls:     []string{"other edit_file", "paused todo_pause"},
			shown:     []string{"0+", "-"},
		},
		"a name repeated in another case is one call": {
			fragments: []string{"_ _ todo_pause {", "_ _ Todo_Pause }"},
			calls:     []string{"paused todo_pause"},
			shown:     []string{"-", "-"},
		},
		"by an index that came late": {
			fragments: []string{"_ p todo_pause _", "0 p _ {", "1 a edit_file {}", "0 _ _ }"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "-", "0+", "-"},
		},
		"a Fragment that adds nothing is left out": {
			fragments: []string{"0 p todo_pause {}", "1 a edit_file {}", "1 _ _ _"},
			calls:     []string{"paused todo_pause", "other edit_file"},
			shown:     []string{"-", "0+", "-"},
		},
		"another id at a taken index begins a call": {
			fragments: []string{"0 a edit_file {}", "0 p todo_pause {}", "0 b run_tests {}"},
			calls:     []string{"other edit_file", "paused todo_pause", "other run_tests"},
			shown:     []string{"0+", "-", "1+"},
		},
		"index -1 is the first": {
			fragments: []string{"-1 p todo_pause {", "-1 _ _ }"},
			calls:     []string{"paused todo_pause"},
			shown:     []string{"-", "-"},
		},
		"indexes that begin later": {
			fragments: []string{"5 p todo_pause {}", "6 a edit_file {}", "9 b run_tests {}"},
			calls:     []string{"paused todo_pause", "other edit_file", "other run_tests"},
			shown:     []string{"-", "0+", "1+"},
		},
		"nothing pauseRemoved, nothing rewritten": {
			fragments: []string{"7 a edit_file _", "7 _ _ {}", "3 b todo _", "3 _ _list {}", "_ _ _ _"},
			calls:     []string{"other edit_file", "other todo_list"},
			shown:     []string{"=", "=", "=", "=", "="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, shown := track(t, c.fragments)
			assert.Equal(t, c.calls, showSlots(calls))
			assert.Equal(t, c.shown, shown)
			assert.Zero(t, calls.Undecided)
		})
	}
}

func TestTrackerReadsNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		call   string
	}{
		"whole":               {[]string{"todo_pause"}, "paused todo_pause"},
		"another":             {[]string{"edit_file"}, "other edit_file"},
		"in capitals":         {[]string{"TODO_Pause"}, "paused TODO_Pause"},
		"in two halves":       {[]string{"todo_", "pause"}, "paused todo_pause"},
		"in many pieces":      {[]string{"t", "o", "do", "_p", "au", "se"}, "paused todo_pause"},
		"repeated":            {[]string{"todo_pause", "todo_pause"}, "paused todo_pause"},
		"half, repeated":      {[]string{"todo_", "todo_", "pause"}, "paused todo_pause"},
		"whole, after a half": {[]string{"todo_", "todo_pause"}, "paused todo_pause"},
		"late":                {[]string{"", "", "todo_pause"}, "paused todo_pause"},
		"empty afterwards":    {[]string{"todo_pause", "", ""}, "paused todo_pause"},
		"of another, halved":  {[]string{"todo_", "list"}, "other todo_list"},
		"longer":              {[]string{"todo_pause_all"}, "other todo_pause_all"},
		"with a prefix":       {[]string{"default_api:todo_pause"}, "other default_api:todo_pause"},
		"shorter":             {[]string{"todo_paus"}, "other todo_paus"},
		"none":                {[]string{"", ""}, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fragments := make([]string, 0, len(c.pieces))
			for _, piece := range c.pieces {
				fragments = append(fragments, "0 c "+orUnderscore(piece)+" _")
			}
			calls, _ := track(t, fragments)
			assert.Equal(t, []string{c.call}, showSlots(calls))
			assert.Equal(t, strings.HasPrefix(c.call, "paused"), calls.PauseRemoved)
		})
	}
}

func orUnderscore(s string) string {
	if s == "" {
		return "_"
	}
	return s
}

func TestTrackerKnowsAsSoonAsItCan(t *testing.T) {
	t.Parallel()
	var calls Calls
	calls.add(0, "a", "todo", "")
	assert.EqualValues(t, 1, calls.Undecided)
	calls.add(1, "b", "edit_file", "")
	assert.EqualValues(t, 1, calls.Undecided, "another call does not decide the first")
	assert.EqualValues(t, 1, calls.ProgramCalls)
	calls.add(0, "", "_l", "")
	assert.EqualValues(t, 0, calls.Undecided)
	assert.EqualValues(t, 2, calls.ProgramCalls)
	assert.False(t, calls.PauseRemoved)
}

func TestTrackerKeepsTheArgumentsOfPauses(t *testing.T) {
	t.Parallel()
	for name, fragments := range map[string][]string{
		"in order":             {`0 p todo_pause {"a":`, `0 _ _ 1}`},
		"before the name":      {`0 p _ {"a":`, `0 _ todo_pause 1}`},
		"among other calls":    {`0 p todo_pause {"a":`, `1 a edit_file {"b":`, `0 _ _ 1}`, `1 _ _ 2}`},
		"without index and id": {`_ _ todo_pause {"a":`, `_ _ _ 1}`},
		"of the first of two":  {`0 p todo_pause {"a":1}`, `1 q todo_pause {"a":2}`},
		"with an id at one index": {
			`0 p todo_pause {"a":`, `0 a edit_file {"b":`, `0 p _ 1}`, `0 a _ 2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, _ := track(t, fragments)
			require.NotNil(t, calls.Pause())
			assert.JSONEq(t, `{"a":1}`, string(calls.Pause().Arguments))
			assert.Equal(t, "p", orP(calls.Pause().ID))
		})
	}
}

func orP(id string) string {
	if id == "" {
		return "p"
	}
	return id
}

func TestTrackerIsBounded(t *testing.T) {
	t.Parallel()
	var calls Calls
	first := calls.add(0, "p", "todo_pause", "")
	for range 100 {
		calls.add(0, "", "", strings.Repeat("x", 1000))
	}
	assert.Len(t, calls.calls[first].Arguments, maxArguments+1, "one byte over the bound, so that overlong arguments show")
	for i := range 2 * maxCalls {
		calls.add(i+1, fmt.Sprint("call", i), "edit_file", "{}")
	}
	assert.Len(t, calls.calls, maxCalls)
	assert.EqualValues(t, 2*maxCalls, calls.ProgramCalls, "calls past the bound count too")
	assert.Equal(t, adapter.CallEdit{}, calls.place(Fragment{call: untracked}), "calls past the bound are shown as they came")

	calls.PauseRemoved = false
	pause := calls.add(3*maxCalls, "q", "todo_pause", "{}")
	assert.Equal(t, adapter.CallEdit{Drop: true}, calls.place(Fragment{call: pause}), "except todo_pause")
	assert.True(t, calls.PauseRemoved)

	own := Calls{Unwatched: true, calls: calls.calls}
	assert.Equal(t, untracked, own.add(3*maxCalls, "q", "todo_pause", "{}"), "unwatched, it may be the caller's own")
}

func TestCallsShownBeforeAPauseKeepTheirIndexes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after []string
		shown         []string // of all fragments but the pause's
	}{
		"dense":          {[]string{"0 a edit_file {}"}, []string{"2 b run_tests {}"}, []string{"=", "1+"}},
		"from 5":         {[]string{"5 a edit_file {}"}, []string{"7 b run_tests {}"}, []string{"=", "6+"}},
		"without":        {[]string{"_ a edit_file {}"}, []string{"_ b run_tests {}"}, []string{"=", "1+"}},
		"all with 0":     {[]string{"0 a edit_file {}"}, []string{"0 b run_tests {}"}, []string{"=", "1+"}},
		"goes on":        {[]string{"0 a edit_file {"}, []string{"0 a _ }", "2 b run_tests {}"}, []string{"=", "=", "1+"}},
		"two before":     {[]string{"0 a edit_file {}", "1 b run_tests {}"}, []string{"3 c edit_file {}"}, []string{"=", "=", "2+"}},
		"out of order":   {[]string{"7 a edit_file {}", "3 b run_tests {}"}, []string{"9 c edit_file {}"}, []string{"=", "=", "9+"}},
		"nothing after":  {[]string{"0 a edit_file {}"}, nil, []string{"="}},
		"nothing before": {nil, []string{"1 b run_tests {}"}, []string{"0+"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls Calls
			var shown []string
			show := func(fragments []string) {
				for _, f := range fragments {
					index, id, name, arguments := fragmentOf(t, f)
					e := Fragment{call: calls.add(index, id, name, arguments)}
					shown = append(shown, showEdit(calls.place(e)))
				}
			}
			show(c.before)
			pause := Fragment{call: calls.add(len(c.before), "p", "todo_pause", "{}")}
			assert.Equal(t, "-", showEdit(calls.place(pause)))
			show(c.after)
			assert.Equal(t, c.shown, shown)
		})
	}
}
