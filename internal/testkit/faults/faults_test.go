package faults_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/faults"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drill returns the drill with a name.
func drill(t *testing.T, name string) faults.Drill {
	t.Helper()
	for _, framing := range append(faults.Streams(), faults.Wholes()...) {
		for _, d := range faults.Drills(framing) {
			if d.Name == name {
				return d
			}
		}
	}
	require.FailNow(t, "no such drill", name)
	return faults.Drill{}
}

// ask returns an answer of an upstream, and the error that ended it.
func ask(t *testing.T, u *faults.Upstream) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://upstream.test", strings.NewReader("{}"))
	require.NoError(t, err)
	response, err := u.RoundTrip(r)
	require.NoError(t, err)
	assert.Equal(t, 1, u.Open())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func TestAnswerFailsAsItsDrillSays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		ends string
		err  error
	}{
		"cut in turn 1, draft, LF":                      {`data: {"id`, nil},
		"reset in turn 1, draft, LF":                    {`data: {"id`, io.ErrUnexpectedEOF},
		"stall in turn 1, draft, LF":                    {`data: {"id`, io.ErrUnexpectedEOF},
		"report in turn 1, draft, LF":                   {`"param":null,"code":null}}` + "\n\n", nil},
		"garbage in turn 1, draft, LF":                  {"</html>\n", nil},
		"cut in turn 1, draft, whole with its length":   {`{"id":"cha`, io.ErrUnexpectedEOF},
		"stall in turn 1, draft, whole with its length": {`{"id":"cha`, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := drill(t, name).Upstream(10)
				body, err := ask(t, u)
				require.ErrorIs(t, err, want.err)
				assert.True(t, strings.HasSuffix(body, want.ends), body)
				assert.Equal(t, 1, u.Asked())
				assert.Zero(t, u.Open())

				_, err = ask(t, u)
				require.NoError(t, err, "turn 2 is whole")
			})
		})
	}
}

func TestStallEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://upstream.test", strings.NewReader("{}"))
	require.NoError(t, err)
	response, err := drill(t, "stall in turn 1, draft, LF").Upstream(0).RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	cancel()
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAnswerMayFailAtEveryByte(t *testing.T) {
	t.Parallel()
	d := drill(t, "cut in turn 2, calls, LF")
	whole, err := ask(t, d.Untouched())
	require.NoError(t, err)
	offsets := d.Offsets(1)
	require.Len(t, offsets, len(whole)+1)
	assert.Equal(t, []int{0, len(whole)}, []int{offsets[0], offsets[len(whole)]})
	assert.Len(t, drill(t, "garbage in turn 2, calls, LF").Offsets(1), len(whole))
	sampled := d.Offsets(8)
	assert.NotEmpty(t, sampled)
	assert.Less(t, len(sampled), len(whole)/8)
}

// A drill fails in the middle of a call, and after its finish reason.
func TestJudgeKnowsRightFromWrong(t *testing.T) {
	t.Parallel()
	const draft, both = "I will edit the file next.", "I will edit the file next.\n\nI edit it."
	d := drill(t, "reset in turn 2, calls, LF")
	whole := d.Means()
	joined := quirks.Reading{
		Text: both, Calls: whole.Calls, Finish: "tool_calls", Usage: quirks.Usage{Prompt: 11, Completion: 15, Total: 26},
	}
	alone := quirks.Usage{Prompt: 11, Completion: 5, Total: 16}
	end := d.Offsets(1)[len(d.Offsets(1))-1]
	for name, tt := range map[string]struct {
		at    int
		asked int
		got   quirks.Reading
		right bool
	}{
		"whole":                 {end, 2, joined, true},
		"whole without usage":   {end, 2, quirks.Reading{Text: both, Calls: whole.Calls, Finish: "tool_calls", Usage: alone}, false},
		"whole without a call":  {end, 2, quirks.Reading{Text: both, Calls: whole.Calls[:1], Finish: "tool_calls", Usage: joined.Usage}, false},
		"whole and an error":    {end, 2, quirks.Reading{Err: "unexpected EOF"}, false},
		"nothing":               {0, 4, quirks.Reading{Text: draft, Finish: "stop", Usage: alone}, true},
		"nothing, two asked":    {0, 2, quirks.Reading{Text: draft, Finish: "stop", Usage: alone}, false},
		"nothing, three asked":  {0, 3, quirks.Reading{Text: draft, Finish: "stop", Usage: alone}, false},
		"nothing, five asked":   {0, 5, quirks.Reading{Text: draft, Finish: "stop", Usage: alone}, false},
		"half a call, again":    {700, 4, quirks.Reading{Text: both, Err: "unexpected EOF"}, false},
		"nothing, no usage":     {0, 4, quirks.Reading{Text: draft, Finish: "stop"}, false},
		"nothing, no finish":    {0, 4, quirks.Reading{Text: draft, Usage: alone}, false},
		"nothing, and an error": {0, 4, quirks.Reading{Text: draft, Err: "unexpected EOF"}, false},
		"nothing, but a prompt": {0, 4, quirks.Reading{Text: draft + "\n\nGo on.", Finish: "stop", Usage: alone}, false},
		"half a call":           {700, 2, quirks.Reading{Text: both, Err: "unexpected EOF"}, true},
		"half a call, no text":  {700, 2, quirks.Reading{Err: "unexpected EOF"}, true},
		"half a call, whole":    {700, 2, quirks.Reading{Text: both, Calls: whole.Calls[:1], Finish: "stop", Usage: alone}, false},
		"half a call, finished": {700, 2, quirks.Reading{Text: both, Finish: "stop", Err: "unexpected EOF"}, false},
	} {
		err := d.Judge(faults.Try{At: tt.at, Asked: tt.asked, Got: tt.got, Understood: true})
		assert.Equal(t, tt.right, err == nil, "%s: %v", name, err)
	}
}

// A turn 1 that fails is read as without carryon, and continued only if its finish reason had arrived.
func TestJudgeOfTurn1(t *testing.T) {
	t.Parallel()
	bare := quirks.Reading{Text: "I will", Err: "unexpected EOF"}
	other := quirks.Reading{Text: "I will", Finish: "stop"}
	d := drill(t, "reset in turn 1, draft, LF")
	require.NoError(t, d.Judge(faults.Try{At: 300, Asked: 1, Got: bare, Without: bare, Understood: true}))
	require.Error(t, d.Judge(faults.Try{At: 300, Asked: 1, Got: other, Without: bare, Understood: true}))
	require.Error(t, d.Judge(faults.Try{At: 300, Asked: 2, Got: bare, Without: bare, Understood: true}))
	behind := d.Offsets(1)[len(d.Offsets(1))-30] // in front of the [DONE]
	require.Error(t, d.Judge(faults.Try{At: behind, Asked: 2, Got: bare, Without: bare}), "it broke off behind its finish")
	stalled := drill(t, "stall in turn 1, draft, LF")
	end := stalled.Offsets(1)[len(stalled.Offsets(1))-1]
	require.Error(t, stalled.Judge(faults.Try{At: end, Asked: 1, Got: other, Without: other, Understood: true}), "a continuation was due")
}

// If a client fails on an answer, carryon knows only that it failed.
func TestJudgeBelievesWhatAVeiledClientSays(t *testing.T) {
	t.Parallel()
	d := drill(t, "reset in turn 2, text, LF")
	behind := d.Offsets(1)[len(d.Offsets(1))-10] // behind the usage
	lost := quirks.Reading{
		Text: "I will edit the file next.\n\nThe file is edited.", Finish: "stop", Usage: quirks.Usage{Prompt: 11, Completion: 5, Total: 16},
	}
	try := faults.Try{At: behind, Asked: 2, Got: lost, Without: quirks.Reading{Err: "unexpected EOF"}, Understood: true}
	require.Error(t, d.Judge(try), "the usage was in")
	try.ThroughClient = true
	require.NoError(t, d.Judge(try))
	try.Without.Err = ""
	require.Error(t, d.Judge(try), "the client has it")

	first := drill(t, "report in turn 1, draft, LF")
	behind = first.Offsets(1)[len(first.Offsets(1))-10]
	goesOn := faults.Try{At: behind, Asked: 2, Understood: true, ThroughClient: true, Without: quirks.Reading{Err: "overloaded"}}
	require.ErrorContains(t, first.Judge(goesOn), "2 requests")
	goesOn.Without.Err = ""
	require.NotContains(t, first.Judge(goesOn).Error(), "2 requests", "the client kept the error to itself")
}

// A reset of the connection may lose the last bytes sent, and nothing else.
func TestJudgeOfAReset(t *testing.T) {
	t.Parallel()
	d := drill(t, "reset in turn 2, text, LF")
	got := quirks.Reading{Text: "I will edit the file next.", Finish: "stop", Usage: quirks.Usage{Prompt: 11, Completion: 5, Total: 16}}
	try := faults.Try{At: 800, Asked: 4, Got: got, Understood: true}
	require.Error(t, d.Judge(try))
	require.NoError(t, d.JudgeReset(try, nil))
	try.Got.Finish = ""
	require.Error(t, d.JudgeReset(try, nil))
}

func TestPatienceIsThatOfTheLongestTimeout(t *testing.T) {
	t.Parallel()
	assert.Equal(t, faults.Patience, max(continuation.DefaultLimits().FirstByteTimeout, continuation.DefaultLimits().ResponseTimeout)+10*time.Second)
}

func TestWhatIsLeftBehindIsJudgedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := drill(t, "cut in turn 1, draft, LF")
		upstream := d.Upstream(0)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://upstream.test", strings.NewReader("{}"))
		require.NoError(t, err)
		response, err := upstream.RoundTrip(r)
		require.NoError(t, err)
		require.ErrorContains(t, d.JudgeAll(faults.Try{}, upstream), "1 bodies are left open")
		require.NoError(t, response.Body.Close())
		require.NoError(t, d.JudgeAll(faults.Try{}, upstream))
		d.Turn = 2
		<-time.After(faults.Patience + 1)
		require.Error(t, d.JudgeAll(faults.Try{}, upstream))
	})
}
