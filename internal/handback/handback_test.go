package handback_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// ends returns the texts of testdata/ends.txt, by how they end, and long ones.
func ends(tb testing.TB) map[handback.End][]string {
	tb.Helper()
	all := map[handback.End][]string{
		handback.Blank:   {"", " \n\t\n"},
		handback.Asks:    {strings.Repeat("The log is long and says the same. ", 9000) + "Shall I go on?"},
		handback.Unclear: {strings.Repeat("> is it?\n", 100_000), strings.Repeat("\"", 100_000), strings.Repeat("“", 100_000)},
	}
	var end handback.End
	for _, line := range linesOf(tb, "ends.txt") {
		switch name, isName := strings.CutPrefix(line, "== "); {
		case isName:
			end = named(tb, name)
		case line != "" && !strings.HasPrefix(line, "// "):
			text, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
			require.NoError(tb, err, line)
			all[end] = append(all[end], text)
		}
	}
	return all
}

// named returns the end of a name.
func named(tb testing.TB, name string) handback.End {
	tb.Helper()
	for end := handback.Blank; end <= handback.Leaves; end++ {
		if end.String() == name {
			return end
		}
	}
	require.Fail(tb, "no end has the name", name)
	return 0
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for want, texts := range ends(t) {
		assert.NotEmpty(t, texts, want)
		for _, text := range texts {
			assert.Equal(t, want.String(), handback.Of(text).String(), "%.300q", text[max(0, len(text)-300):])
		}
	}
}

func TestAnswersOnly(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"继续吧", "続けて", "계속해", "yes", "continue", "  B please\n", "", "go on", "да, продолжай", "好的，继续", "the second; then the third",
		"?", "？？", "...?", "!",
		strings.Repeat("я", 60), "\n" + strings.Repeat("好", 60) + "\n",
	} {
		assert.True(t, handback.AnswersOnly(message), message)
	}
	for _, message := range []string{
		"这样可以吗", "次は何ですか。", "다음은 뭘 할까요", "อันไหน", "what is the difference?", "why？", "لماذا؟", "ինչո՞ւ", "γιατί;", "γιατί\u037e", "ለምን፧", "why⸮", "what ‽", "¿por qué",
		strings.Repeat("я", 61), strings.Repeat("a", 1<<20),
	} {
		assert.False(t, handback.AnswersOnly(message), "%.40s", message)
	}
}

func TestSaysGoOn(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"?": true, " … ": true, " ": false,
		"continue": true, " Continue. ": true, "Please, go on!": true, "继续": true, "続けてください。": true, "Продолжай!": true, "ok, continue...": true,
		" ...": true, "？！": true, "procedi": true, "Lanjutkan!": true, "Devam edin.": true, "تابع": true, "1": false,
		"": false, "continue with the parser": false, "Should we go on?  With what?": false, "weiterhin": false, strings.Repeat("continue ", 50): false,
	} {
		assert.Equal(t, want, handback.SaysGoOn(message), message)
	}
}

// What stands above changes nothing, and the time is linear, whatever the text.
func FuzzOf(f *testing.F) {
	for _, texts := range ends(f) {
		for _, text := range texts {
			f.Add(text[max(0, len(text)-4096):])
		}
	}
	f.Add("~~~ ``` ~~~\n```\n“ „ « ` \" https:// ((*_")
	f.Fuzz(func(t *testing.T, text string) {
		got := handback.Of(text)
		if strings.TrimSpace(text) != "" {
			assert.Equal(t, got, handback.Of("> quoted\n\n"+text), "a quotation above")
		}
		if strings.TrimSpace(text) == "" {
			require.Equal(t, handback.Blank, got)
			got = handback.Unclear
		}
		assert.Equal(t, got, handback.Of(text+"\n\n> quoted\n"), "a quotation below: %q", text)
		handback.AnswersOnly(text)
	})
}

// laboriousParts are texts that make long messages expensive to read.
var laboriousParts = []string{
	"> is it?\n", "\"", "“ ", "„ ", "« ", "` ", "~~~ ", "``` ", "~~~\n", "``` x`\n", "- a\n\n", "1. a? I'll\n", "is it? ", "*_", "!!!\n\n",
	"https://", "if ", "let me know if ", "再", "ไหม", "|", "|-|\n", "\n", " ", "\x01", "\xE2", "ա՞", "i'll wait until you say so. ",
}

func TestOfAllocatesNothing(t *testing.T) { // not parallel: it measures
	for _, part := range laboriousParts {
		text := strings.Repeat(part, 2_000)
		assert.Zero(t, measure.Allocations(func() { handback.Of(text) }), "%q", part)
	}
}

func BenchmarkOfIsLinear(b *testing.B) {
	for _, part := range laboriousParts {
		short, long := strings.Repeat(part, 2_000), strings.Repeat(part, 2_000*measure.Longer)
		measure.Linear(b, strconv.Quote(part), func() { handback.Of(short) }, func() { handback.Of(long) })
	}
}

func TestIsPlainStop(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"stop", "STOP", "Stop", "end_turn", "END_TURN", "end-turn", "endTurn", "eos", "eos_token", "stop_sequence",
		"COMPLETE", "complete", "FINISH_REASON_STOP", "FinishReasonStop", " stop ", "\"stop\"",
	} {
		assert.True(t, handback.IsPlainStop(reason), reason)
	}
	for _, reason := range []string{
		"", " ", "length", "MAX_TOKENS", "max_tokens", "tool_calls", "function_call", "tool_use", "content_filter",
		"SAFETY", "RECITATION", "error", "ERROR_TOXIC", "insufficient_system_resource", "refusal", "pause_turn",
		"FINISH_REASON_UNSPECIFIED", "FINISH_REASON_", "FINISH_REASON_MAX_TOKENS", "null", "stopped", "nonstop", "incomplete",
		"stop_content_filter", "STOP_FINISH_REASON", "malformed_function_call", "model_context_window_exceeded",
	} {
		assert.False(t, handback.IsPlainStop(reason), reason)
	}
}

func TestIsPlainStopCostsNothingInTheCommonCase(t *testing.T) {
	reason := "stop"
	assert.Zero(t, measure.Allocations(func() { _ = handback.IsPlainStop(reason) }))
}

// What follows the options of a question is a remark only if it is short.
func TestRemarksAreShort(t *testing.T) {
	t.Parallel()
	const question, remark = "Which one first?\n\n1. the exporter\n2. the importer\n\n", "The exporter writes one file per table and closes it. "
	assert.Equal(t, handback.Asks, handback.Of(question+remark))
	assert.NotEqual(t, handback.Asks, handback.Of(question+strings.Repeat(remark, 9)))
}
