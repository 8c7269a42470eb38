package middleware_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/reasons"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ended is the finish of a turn.
func ended(chunks ...sdkChunk) []sdkChunk { return append(chunks, stop()) }

// What is held because it may repeat the answer before it is shown, unchanged, as soon as it turns out to be something else.
func TestHeldTextIsShownUnlessItRepeatsTheAnswerBefore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		again []sdkChunk
		shown string
	}{
		"the same":                {ended(pieces("One ", "two:")...), ""},
		"in capitals":             {ended(pieces("ONE", " TWO!")...), ""},
		"more":                    {ended(pieces("One ", "two: ", "three.")...), "\n\nOne two: three."},
		"more with the finish":    {[]sdkChunk{{Text: "One two: "}, {Text: "three.", Stop: "stop"}}, "\n\nOne two: three."},
		"the same with it":        {[]sdkChunk{{Text: "One "}, {Text: "two:", Stop: "stop"}}, ""},
		"more after the finish":   {append(ended(pieces("One ", "two:")...), pieces(" Three.")...), "\n\nOne two: Three."},
		"less":                    {ended(pieces("One")...), "\n\nOne"},
		"other":                   {ended(pieces("One ", "too:")...), "\n\nOne too:"},
		"what looks like a pause": {ended(pieces("One two: ", "todo_pause('")...), "\n\nOne two: todo_pause('"},
		"signs":                   {ended(pieces("...")...), "\n\n..."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(nil, onceMore())
			stream := joined(t.Context(), s, newChunks(), &list{chunks: ended(pieces("One ", "two:")...)}, &list{chunks: test.again})
			got := drain(t, stream)
			require.NoError(t, got.err)
			assert.Equal(t, "One two:"+test.shown, got.answer.Text)
			assert.Equal(t, "stop", got.answer.Stop)
			outcome := stream.Outcome()
			assert.Equal(t, 1, outcome.Attempts)
			require.NoError(t, outcome.Err)
			stops := slices.DeleteFunc(slices.Clone(got.chunks), func(c sdkChunk) bool { return c.Stop == "" })
			assert.Len(t, stops, 1, "one finish")
		})
	}
}

// A continuation that fails while its text is held has shown nothing, and is tried again. What it held was shown before.
func TestContinuationThatFailsWhileItIsHeldIsTriedAgain(t *testing.T) {
	t.Parallel()
	down := errors.New("sdk: connection lost")
	one := func() *list { return &list{chunks: ended(pieces("One ", "two:")...)} }
	failing := func(texts ...string) *list { return &list{chunks: pieces(texts...), err: down} }

	stream := joined(t.Context(), newSetup(nil, onceMore()), newChunks(), one(), failing("One "), &list{chunks: ended(pieces("Three.")...)})
	got := drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, "One two:\n\nThree.", got.answer.Text)
	assert.Equal(t, 2, stream.Outcome().Attempts)

	stream = joined(t.Context(), newSetup(nil, onceMore()), newChunks(), one(), failing("One "), failing("One ", "two:"), failing("ONE"))
	got = drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, "One two:", got.answer.Text)
	assert.Equal(t, "stop", got.answer.Stop)
	require.ErrorIs(t, stream.Outcome().Err, down)
	assert.Equal(t, reasons.Failed, stream.Outcome().Reason)
}

// Text is held up to a bound, in bytes and in chunks.
func TestRepeatedTextIsHeldUpToABound(t *testing.T) {
	t.Parallel()
	for name, again := range map[string][]string{
		"bytes":  {strings.Repeat("All work and little play. ", 60_000) + "End."},
		"chunks": strings.SplitAfter(strings.Repeat("All work and little play. ", 2000)+"End.", " "),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Join(again, "")
			stream := joined(t.Context(), newSetup(nil, onceMore()), newChunks(),
				&list{chunks: ended(pieces(text)...)}, &list{chunks: ended(pieces(again...)...)})
			got := drain(t, stream)
			require.NoError(t, got.err)
			require.Len(t, got.answer.Text, len(text+"\n\n"+text), "what is too long to be held is shown")
			assert.Equal(t, 2, strings.Count(got.answer.Text, text))
		})
	}
}

// A callback is not shown the same answer again either.
func TestCallbackIsNotShownTheSameAnswerAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		again []sdkChunk
		shown string
		calls int
	}{
		"the same":            {pieces("One", " two."), "", 0},
		"more":                {pieces("One", " two.", " Three."), "\n\nOne two. Three.", 0},
		"the same and a call": {append(pieces("One", " two."), fragment(edit("c1"))), "\n\nOne two.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &piecewise{turns: [][]sdkChunk{pieces("One", " two."), test.again}}
			answer, err := p.run(begin(t.Context(), newSetup(nil, onceMore()).mw, describe(fixTheBuild)))
			require.NoError(t, err)
			assert.Equal(t, "One two."+test.shown, answer.Text)
			assert.Equal(t, "One two."+test.shown, strings.Join(p.texts(), ""))
			assert.Len(t, answer.Calls, test.calls)
		})
	}
}
