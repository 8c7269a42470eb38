package todo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/todo"
)

// ab is the list most shapes of TestParseListShapes stand for.
var ab = []todo.Todo{
	{ID: "1", Content: "a", Status: todo.Completed},
	{ID: "2", Content: "b", Status: todo.Pending},
}

const abJSON = `[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"pending"}]`

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

func TestParseListShapes(t *testing.T) {
	t.Parallel()
	object := `{"todos":` + abJSON + `}`
	for name, arguments := range map[string]string{
		"object":                object,
		"array":                 abJSON,
		"space around":          " \n" + object + "\t\r\n",
		"list in a string":      `{"todos":` + quoted(abJSON) + `}`,
		"object in a string":    `{"todos":` + quoted(object) + `}`,
		"encoded twice":         quoted(object),
		"array encoded twice":   quoted(abJSON),
		"encoded three times":   quoted(quoted(object)),
		"everything in strings": quoted(`{"todos":` + quoted(abJSON) + `}`),
		"another key":           `{"items":` + abJSON + `}`,
		"todo_list":             `{"todo_list":` + abJSON + `}`,
		"todoList":              `{"todoList":` + abJSON + `}`,
		"task_list":             `{"task_list":` + abJSON + `}`,
		"plan":                  `{"explanation":"why","plan":[{"step":"a","status":"completed"},{"step":"b","status":"pending"}]}`,
		"key in another case":   `{"Todos":` + abJSON + `}`,
		"todos go first":        `{"items":[],"todos":` + abJSON + `}`,
		"null is absent":        `{"todos":null,"tasks":` + abJSON + `}`,
		"one argument":          `{"__arg1":` + quoted(object) + `}`,
		"wrapped":               `{"input":` + object + `}`,
		"unknown keys":          `{"merge":false,"todos":[{"id":"1","content":"a","status":"completed","activeForm":"doing a","x":{}},{"id":"2","content":"b","deps":[1]}]}`,
		"duplicate keys":        `{"todos":3,"todos":[{"content":"z","content":"a","status":"completed"},{"content":"b"}]}`,
		"items in strings":      `["{\"content\":\"a\",\"status\":\"completed\"}","b"]`,
		"check boxes":           `[{"task":"a","done":true},{"task":"b","done":false}]`,
		"boolean status":        `[{"task":"a","status":true},{"task":"b","status":false}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := todo.ParseList(arguments)
			require.NoError(t, err)
			assert.Equal(t, ab, list)
		})
	}
}

func TestParseListOfASingleItem(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{
		`{"id":1,"content":"a","status":"done"}`, `{"todos":{"id":1,"content":"a","status":"done"}}`,
		`{"todos":"{\"content\":\"a\",\"status\":\"done\"}"}`, `{"__arg1":"{\"task\":\"a\",\"done\":true}"}`,
		`{"Todo":"a","done":true,"priority":null}`, `{"todos":{"content":"a","state":"done"}}`, `{"step":"a","status":"done"}`, `{"title":"t","content":"a","status":"x","todos":null}`,
	} {
		list, err := todo.ParseList(arguments)
		require.NoError(t, err, arguments)
		assert.Equal(t, ab[:1], list, arguments)
	}
}

func TestParseListOfASingleItemWithoutStatus(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{`{"id":"1","content":"b"}`, `{"todos":{"content":"b"}}`, `{"items":{"step":"b"}}`} {
		list, err := todo.ParseList(arguments)
		require.NoError(t, err, arguments)
		assert.Equal(t, []todo.Todo{{ID: "1", Content: "b", Status: todo.Pending}}, list, arguments)
	}
}

func TestParseListEmptyIsAList(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{`[]`, `{"todos":[]}`, `{"todos":"[]"}`, `"[]"`} {
		list, err := todo.ParseList(arguments)
		require.NoError(t, err, arguments)
		assert.NotNil(t, list, arguments)
		assert.Empty(t, list, arguments)
	}
}

func TestParseListContent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"content", "task", "title", "description", "text", "step", "todo", "name", "Content", "TITLE"} {
		list, err := todo.ParseList(`[{"` + name + `":" a\n"}]`)
		require.NoError(t, err, name)
		assert.Equal(t, []todo.Todo{{ID: "1", Content: "a", Status: todo.Pending}}, list, name)
	}
	for arguments, want := range map[string]string{
		`["plain"]`: "plain",
		`[{"description":"long","title":"short"}]`:        "short",
		`[{"content":"","title":"t"}]`:                    "t",
		`[{"content":null,"task":" ","description":"d"}]`: "d",
		`[{"CONTENT":"upper","Content":"mixed"}]`:         "upper",
		`[{"content":"GET /users/{id} & <b>"}]`:           "GET /users/{id} & <b>",
		`[{"content":"{\"content\":\"inner\"}"}]`:         `{"content":"inner"}`,
		`["{curly} start"]`:                               "{curly} start",
		`["line\nline"]`:                                  "line\nline",
		"[\"bad \xff\xfe byte\"]":                         "bad \uFFFD\uFFFD byte",
		`["lone \ud800 surrogate"]`:                       "lone \uFFFD surrogate",
	} {
		list, err := todo.ParseList(arguments)
		require.NoError(t, err, arguments)
		require.Len(t, list, 1, arguments)
		assert.Equal(t, want, list[0].Content, arguments)
	}
}

func TestParseListIDs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ids  string
		want []string
	}{
		"strings":              {`"a","b"`, []string{"a", "b"}},
		"numbers":              {`1,2`, []string{"1", "2"}},
		"big numbers":          {`9007199254740993,1.50`, []string{"9007199254740993", "1.50"}},
		"missing":              {`null,null,null`, []string{"1", "2", "3"}},
		"blank":                {`""," "`, []string{"1", "2"}},
		"space":                {`" a ","b"`, []string{"a", "b"}},
		"missing beside given": {`"2",null,null`, []string{"2", "2-2", "3"}},
		"given later":          {`null,"1"`, []string{"1-2", "1"}},
		"duplicates":           {`"a","b","a"`, []string{"a", "b"}},
		"number and string":    {`1,"1"`, []string{"1"}},
		"suffix is given too":  {`"2","2-2",null,null`, []string{"2", "2-2", "3", "4"}},
		"suffixes are taken":   {`"2-2",null,"2"`, []string{"2-2", "2-3", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var items []string
			for id := range strings.SplitSeq(test.ids, ",") {
				items = append(items, `{"id":`+id+`,"content":"x"}`)
			}
			list, err := todo.ParseList("[" + strings.Join(items, ",") + "]")
			require.NoError(t, err)
			var ids []string
			for _, item := range list {
				ids = append(ids, item.ID)
			}
			assert.Equal(t, test.want, ids)
		})
	}
}

// Models write an item again instead of correcting it.
func TestParseListLastOfOneIDCounts(t *testing.T) {
	t.Parallel()
	list, err := todo.ParseList(`{"todos":[{"id":"1","content":"A","status":"pending"},
		{"id":1,"content":"A, again","status":"completed"},{"id":"2","content":"B","status":"pending"}]}`)
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{{ID: "1", Content: "A, again", Status: todo.Completed}, {ID: "2", Content: "B", Status: todo.Pending}}, list)
}

func TestParseListManyDuplicatesAreCheap(t *testing.T) {
	t.Parallel()
	const n = 100_000
	list, err := todo.ParseList("[" + strings.Repeat(`{"id":1,"content":"x"},{"content":"y"},`, n-1) + `{"id":1,"content":"z"}]`)
	require.NoError(t, err)
	require.Len(t, list, n)
	assert.Equal(t, "z", list[0].Content)
}

func TestParseListStatus(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[todo.Status][]string{
		todo.Pending: {
			`null`, `""`, `" "`, `"pending"`, `"PENDING"`, `"todo"`, `"to-do"`, `"TO DO"`, `"not_started"`,
			`"Not Started"`, `"open"`, `"[ ]"`, `"queued"`, `"blocked"`,
		},
		todo.InProgress: {
			`"in_progress"`, `"in-progress"`, `"In Progress"`, `"inprogress"`, `"InProgress"`, `" IN_PROGRESS "`,
			`"doing"`, `"started"`, `"active"`, `"wip"`,
		},
		todo.Completed: {
			`"completed"`, `"complete"`, `"Done"`, `"finished"`, `"closed"`, `"[x]"`, `"X"`, `true`,
		},
		todo.Cancelled: {
			`"cancelled"`, `"canceled"`, `"CANCELED"`, `"skipped"`, `"won't do"`, `"obsolete"`,
		},
		"100%": {`"100%"`}, "?": {`" ? "`}, "häßlich": {`"häßlich"`}, // kept, and not active
	} {
		for _, spelling := range spellings {
			list, err := todo.ParseList(`[{"content":"x","status":` + spelling + `}]`)
			require.NoError(t, err, spelling)
			assert.Equal(t, want, list[0].Status, spelling)
		}
	}
}

func TestParseListKeepsTheLastInProgress(t *testing.T) {
	t.Parallel()
	list, err := todo.ParseList(`[
		{"content":"a","status":"in_progress"},
		{"content":"b","status":"completed"},
		{"content":"c","status":"doing"},
		{"content":"d","status":"in progress"},
		{"content":"e"}]`)
	require.NoError(t, err)
	var statuses []todo.Status
	for _, item := range list {
		statuses = append(statuses, item.Status)
	}
	assert.Equal(t, []todo.Status{todo.Pending, todo.Completed, todo.Pending, todo.InProgress, todo.Pending}, statuses)
}

func TestParseListPriority(t *testing.T) {
	t.Parallel()
	for priority, want := range map[string]string{`"high"`: "high", `2`: "2", `null`: "", `" low "`: "low"} {
		list, err := todo.ParseList(`[{"content":"x","priority":` + priority + `}]`)
		require.NoError(t, err, priority)
		assert.Equal(t, want, list[0].Priority, priority)
	}
}

func TestParseListRefuses(t *testing.T) {
	t.Parallel()
	const (
		sendList = `; send the whole list as {"todos":[{"id":"1","content":"what has to be done","status":"pending"}]}`
		sendItem = `; send it as {"id":"1","content":"what has to be done","status":"pending"}`
		sendText = `; send what has to be done as a string that is not blank`
	)
	for name, test := range map[string]struct {
		arguments string
		item      int
		want      string
	}{
		"nothing":           {``, 0, `the arguments are empty` + sendList},
		"space":             {" \n", 0, `the arguments are empty` + sendList},
		"null":              {`null`, 0, `the arguments should be an array and are null` + sendList},
		"a number":          {`3`, 0, `the arguments should be an array and are a number` + sendList},
		"prose":             {`buy milk`, 0, `the arguments are not valid JSON: invalid character 'b' looking for beginning of value` + sendList},
		"cut off":           {`{"todos":[{"content":"a"`, 0, `the arguments are not valid JSON: it ends too early` + sendList},
		"two values":        {`[] []`, 0, `the arguments are not valid JSON: there is something after its end` + sendList},
		"rubbish after":     {`[]]`, 0, `the arguments are not valid JSON: there is something after its end` + sendList},
		"no list":           {`{}`, 0, `the arguments have no array of todos` + sendList},
		"null list":         {`{"todos":null}`, 0, `the arguments have no array of todos` + sendList},
		"one blank item":    {`{"content":" ","status":"pending"}`, 0, `the arguments have no array of todos` + sendList},
		"one bare content":  {`{"content":"a"}`, 0, `the arguments have no array of todos` + sendList},
		"a title alone":     {`{"title":"a","todos":null}`, 0, `the arguments have no array of todos` + sendList},
		"blank list of one": {`{"todos":{"content":""}}`, 0, `the todos have no array of todos` + sendList},
		"one bad status":    {`{"content":"a","status":3}`, 1, `status is a number; send one of pending, in_progress, completed, cancelled`},
		"list is a boolean": {`{"todos":false}`, 0, `the todos should be an array and are a boolean` + sendList},
		"list is prose":     {`{"todos":"- a"}`, 0, `the todos should be an array and are a string that is not valid JSON: invalid character ' ' in numeric literal` + sendList},
		"list is blank":     {`{"todos":""}`, 0, `the todos should be an array and are a string that is not valid JSON: it ends too early` + sendList},
		"wrapped for ever":  {strings.Repeat(`{"input":`, 9) + `[]` + strings.Repeat(`}`, 9), 0, `the arguments are wrapped too often` + sendList},

		"null item":        {`["a",null]`, 2, `it is null` + sendItem},
		"item is a number": {`[3]`, 1, `it is a number` + sendItem},
		"item is an array": {`[["a"]]`, 1, `it is an array` + sendItem},
		"blank text":       {`["a","b"," "]`, 3, `content is missing or blank` + sendText},
		"blank content":    {`{"todos":[{"content":"a"},{"id":"9","content":"\t"}]}`, 2, `content is missing or blank` + sendText},
		"no content":       {`[{"id":"1","status":"pending"}]`, 1, `content is missing or blank` + sendText},
		"content number":   {`[{"content":3}]`, 1, `content is a number` + sendText},
		"title object":     {`[{"title":{}}]`, 1, `title is an object` + sendText},
		"id object":        {`["a",{"id":{},"content":"a"}]`, 2, `id is an object; send it as a string`},
		"id boolean":       {`[{"id":true,"content":"a"}]`, 1, `id is a boolean; send it as a string`},
		"priority array":   {`[{"priority":[],"content":"a"}]`, 1, `priority is an array; send it as a string`},
		"status number":    {`[{"status":1,"content":"a"}]`, 1, `status is a number; send one of pending, in_progress, completed, cancelled`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := todo.ParseList(test.arguments)
			assert.Nil(t, list)
			require.ErrorAs(t, err, new(*todo.ArgumentsError))
			var refused *todo.ArgumentsError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, test.item, refused.Item)
			want := test.want
			if test.item > 0 {
				want = fmt.Sprintf("item %d: %s", test.item, want)
			}
			assert.EqualError(t, err, "todo: "+want)
		})
	}
}

func TestParseListSurvivesDepthAndSize(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"arrays":  strings.Repeat("[", 1_000_000),
		"objects": strings.Repeat(`{"todos":`, 1_000_000),
		"closed":  strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
		"quotes":  strings.Repeat(`"\"`, 100_000),
	} {
		_, err := todo.ParseList(arguments)
		require.ErrorAs(t, err, new(*todo.ArgumentsError), name)
		assert.Less(t, len(err.Error()), 300, name)
	}
	big := strings.Repeat("x", 8<<20)
	list, err := todo.ParseList(`{"todos":["` + big + `"]}`)
	require.NoError(t, err)
	assert.Len(t, list[0].Content, len(big))
}

func TestParseListIsDeterministic(t *testing.T) {
	t.Parallel()
	const arguments = `{"TASKS":["a"],"Tasks":["b"],"tAsks":["c"]}`
	for range 50 {
		list, err := todo.ParseList(arguments)
		require.NoError(t, err)
		require.Equal(t, "a", list[0].Content)
	}
}

func FuzzParseList(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `{}`, `{"todos":[]}`, abJSON, quoted(abJSON), `{"todos":` + quoted(abJSON) + `}`,
		`{"__arg1":"{\"todos\":[\"a\"]}"}`, `[{"id":1,"content":"a"},{"id":"1","task":"b"},{"step":"c"}]`,
		`[{"content":"a","status":"In-Progress"},{"content":"b","status":"doing","priority":2}]`,
		`["a","{\"content\":\"b\",\"done\":true}"]`, "[\"\xff\"]", `["\ud800"]`, `[{"content":{}}]`, `{"todos":"x"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		list, err := todo.ParseList(arguments)
		if err != nil {
			require.ErrorAs(t, err, new(*todo.ArgumentsError))
			require.Nil(t, list)
			return
		}
		checkInvariants(t, list)
		encoded, err := json.Marshal(map[string]any{"todos": list})
		require.NoError(t, err)
		again, err := todo.ParseList(string(encoded))
		require.NoError(t, err)
		require.Equal(t, list, again)
	})
}

// checkInvariants checks what holds for every list that was parsed.
func checkInvariants(t *testing.T, list []todo.Todo) {
	t.Helper()
	ids := map[string]bool{}
	inProgress := 0
	for _, item := range list {
		require.NotEmpty(t, item.ID)
		require.False(t, ids[item.ID], "id %q twice", item.ID)
		ids[item.ID] = true
		require.NotEmpty(t, strings.TrimSpace(item.Content))
		require.Contains(t, []todo.Status{todo.Pending, todo.InProgress, todo.Completed, todo.Cancelled}, item.Status)
		if item.Status == todo.InProgress {
			inProgress++
		}
	}
	require.LessOrEqual(t, inProgress, 1)
}

func BenchmarkParseList(b *testing.B) {
	item := `{"id":"%d","content":"step number %d of the plan","status":"pending"}`
	var items []string
	for i := range 100 {
		items = append(items, fmt.Sprintf(item, i, i))
	}
	arguments := `{"todos":[` + strings.Join(items, ",") + `]}`
	b.SetBytes(int64(len(arguments)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := todo.ParseList(arguments); err != nil {
			b.Fatal(err)
		}
	}
}

func TestParseListReadsChecklists(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":           "[x] a\n[ ] b",
		"bullets":         "- [x] a\n- [ ] b",
		"other bullets":   "* [X] a\n+ [ ] b",
		"numbers":         "1. [x] a\n2) [ ] b",
		"words":           "[completed] a\n[pending] b",
		"signs":           "- [✓] a\n- [?] b",
		"headings, notes": "# Plan\n\nFirst things first:\n- [x] a\n  - see [1] and [the docs](https://go.dev)\n- [ ] b\n",
		"nested":          "- [x] a\n\t- [ ] b",
		"Windows":         "- [x] a\r\n- [ ] b\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, arguments := range []string{
				text, quoted(text), `{"todos":` + quoted(text) + `}`, `{"checklist":` + quoted(text) + `}`,
				`{"content":` + quoted(text) + `}`, `{"__arg1":` + quoted(text) + `}`,
				`{"__arg1":` + quoted(`{"todos":`+quoted(text)+`}`) + `}`,
			} {
				list, err := todo.ParseList(arguments)
				require.NoError(t, err, arguments)
				assert.Equal(t, ab, list, arguments)
			}
		})
	}
}

func TestChecklistMarks(t *testing.T) {
	t.Parallel()
	for want, marks := range map[todo.Status][]string{
		todo.Pending:    {" ", "  ", "?", "!", "⏳", "todo", "Not started"},
		todo.InProgress: {"-", " - ", "~", "/", ">", "*", "in progress", " in_progress "},
		todo.Completed:  {"x", "X", " x ", "✓", "✔", "✅", "done"},
		todo.Cancelled:  {"cancelled", "skipped"},
	} {
		for _, mark := range marks {
			list, err := todo.ParseList("- [" + mark + "] Fix the bug")
			require.NoError(t, err, mark)
			assert.Equal(t, []todo.Todo{{ID: "1", Content: "Fix the bug", Status: want}}, list, mark)
		}
	}
}

func TestTextWithoutACheckBoxIsNoList(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "Fix the bug", "- a\n- b", "1. a\n2. b", "[docs](https://go.dev)", "[1] a", "[2026-10-06] a", "[x]", "[x]a",
		"[x", "x] a", "[] a", "[x] ", "---", "[wait] a", "12 [x] a", ") [x] a", strings.Repeat("[", 1000),
	} {
		for _, arguments := range []string{text, `{"todos":` + quoted(text) + `}`, `{"content":` + quoted(text) + `}`} {
			_, err := todo.ParseList(arguments)
			require.ErrorAs(t, err, new(*todo.ArgumentsError), arguments)
		}
	}
}

func TestContentOfAnItemIsNotAChecklist(t *testing.T) {
	t.Parallel()
	list, err := todo.ParseList(`{"todos":[{"content":"- [x] a","status":"pending"},"[x] b"]}`)
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{
		{ID: "1", Content: "- [x] a", Status: todo.Pending},
		{ID: "2", Content: "[x] b", Status: todo.Pending},
	}, list)
}
