package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/prompt"
)

func TestTemplatesBuiltInAreValid(t *testing.T) {
	t.Parallel()
	for _, texts := range []continuation.Templates{{}, continuation.LongTemplates(), continuation.OneLineTemplates()} {
		_, err := prompt.New(texts)
		assert.NoError(t, err)
	}
}

func TestTemplatesBuiltInAreComplete(t *testing.T) {
	t.Parallel()
	long, short := continuation.LongTemplates(), continuation.OneLineTemplates()
	for _, texts := range []continuation.Templates{long, short} {
		for _, text := range []string{
			texts.Standard.Base, texts.Standard.Retry, texts.YOLO.Base, texts.YOLO.Retry, texts.YOLO.Urgent,
		} {
			assert.NotEmpty(t, text)
			assert.Equal(t, strings.TrimSpace(text), text)
		}
		assert.Contains(t, texts.Standard.Base, "'{taskDescription}'")
		assert.Contains(t, texts.YOLO.Base, "'{taskDescription}'")
	}
	assert.NotContains(t, short.Standard.Base, "\n")
	assert.NotContains(t, short.YOLO.Base, "\n")

	long.Standard.Base, long.YOLO.Base = short.Standard.Base, short.YOLO.Base
	assert.Equal(t, short, long, "the forms differ in their bodies only")
}

func TestTemplatesZeroIsLong(t *testing.T) {
	t.Parallel()
	zero := newPrompter(t, continuation.Templates{})
	long := newPrompter(t, continuation.LongTemplates())
	for attempt := 1; attempt <= 3; attempt++ {
		for _, yolo := range []bool{false, true} {
			in := prompt.Input{Task: "Fix it", Attempt: attempt, Mode: mode(yolo)}
			assert.Equal(t, long.Prompt(in), zero.Prompt(in))
		}
	}
}

func TestNewRefusesTemplates(t *testing.T) {
	t.Parallel()
	const base = "{taskDescription}"
	cases := []struct {
		texts       continuation.Templates
		message     string
		template    string
		placeholder string
	}{
		{
			continuation.Templates{Standard: continuation.StandardTemplates{Base: base + " {foo}"}},
			"continuation: template Standard.Base: unknown placeholder {foo}", "Standard.Base", "foo",
		},
		{
			continuation.Templates{Standard: continuation.StandardTemplates{Base: "Carry on."}},
			"continuation: template Standard.Base: needs {taskDescription}", "Standard.Base", "taskDescription",
		},
		{
			continuation.Templates{Standard: continuation.StandardTemplates{Base: " \n"}},
			"continuation: template Standard.Base: needs {taskDescription}", "Standard.Base", "taskDescription",
		},
		{
			continuation.Templates{Standard: continuation.StandardTemplates{Base: "{attemptCount}"}},
			"continuation: template Standard.Base: needs {taskDescription}", "Standard.Base", "taskDescription",
		},
		{
			continuation.Templates{Standard: continuation.StandardTemplates{Retry: "{AttemptCount}"}},
			"continuation: template Standard.Retry: unknown placeholder {AttemptCount}", "Standard.Retry", "AttemptCount",
		},
		{
			continuation.Templates{YOLO: continuation.YOLOTemplates{Base: "{task_description}"}},
			"continuation: template YOLO.Base: unknown placeholder {task_description}", "YOLO.Base", "task_description",
		},
		{
			continuation.Templates{YOLO: continuation.YOLOTemplates{Retry: "{{1}}"}},
			"continuation: template YOLO.Retry: unknown placeholder {1}", "YOLO.Retry", "1",
		},
		{
			continuation.Templates{YOLO: continuation.YOLOTemplates{Urgent: "{äöü}"}},
			"continuation: template YOLO.Urgent: unknown placeholder {äöü}", "YOLO.Urgent", "äöü",
		},
		{
			continuation.Templates{YOLO: continuation.YOLOTemplates{Urgent: "now\xff"}},
			"continuation: template YOLO.Urgent: not valid UTF-8", "YOLO.Urgent", "",
		},
	}
	for _, c := range cases {
		p, err := prompt.New(c.texts)
		require.EqualError(t, err, c.message)
		assert.Nil(t, p)
		var fault *continuation.TemplateError
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, c.template, fault.Template)
		assert.Equal(t, c.placeholder, fault.Placeholder)
		assert.Equal(t, c.message, "continuation: template "+fault.Template+": "+fault.Problem)
	}
}

func TestNewReportsEveryRefusedTemplate(t *testing.T) {
	t.Parallel()
	_, err := prompt.New(continuation.Templates{
		Standard: continuation.StandardTemplates{Base: "a", Retry: "{b}"},
		YOLO:     continuation.YOLOTemplates{Base: "c", Retry: "{d}", Urgent: "{e} {f}"},
	})
	assert.EqualError(t, err, `continuation: template Standard.Base: needs {taskDescription}
continuation: template Standard.Retry: unknown placeholder {b}
continuation: template YOLO.Base: needs {taskDescription}
continuation: template YOLO.Retry: unknown placeholder {d}
continuation: template YOLO.Urgent: unknown placeholder {e}`)
}

func TestTemplatesAllowOtherBraces(t *testing.T) {
	t.Parallel()
	for _, braces := range []string{
		`{"a":1}`, `{}`, `{ }`, `{`, `}`, `}{`, `{{}}`, `{"todos":[{"id":"1"}]}`, `{task description}`,
		`{task-description}`, `{taskDescription`, `{a{b`, `{a.b}`, "{a\n}",
	} {
		p := newPrompter(t, continuation.Templates{
			Standard: continuation.StandardTemplates{Base: braces + "'{taskDescription}'" + braces, Retry: braces},
		})
		got := p.Prompt(prompt.Input{Task: "Fix it", Attempt: 2})
		assert.Equal(t, continuation.PromptPreamble+"\n\n"+braces+"'Fix it'"+braces+"\n\n"+braces, got)
	}
}

func TestTemplatesBracesAroundPlaceholder(t *testing.T) {
	t.Parallel()
	p := newPrompter(t, continuation.Templates{
		Standard: continuation.StandardTemplates{Base: `${{taskDescription}} {"n":{attemptCount}}`},
	})
	got := p.Prompt(prompt.Input{Task: "Fix it", Attempt: 1})
	assert.Equal(t, continuation.PromptPreamble+"\n\n"+`${Fix it} {"n":1}`, got)
}

func FuzzTemplates(f *testing.F) {
	f.Add("'{taskDescription}' {attemptCount}")
	f.Add("{x} {{taskDescription}} {\"a\":1}")
	f.Fuzz(func(t *testing.T, base string) {
		p, err := prompt.New(continuation.Templates{
			Standard: continuation.StandardTemplates{Base: base},
		})
		if err != nil {
			var fault *continuation.TemplateError
			require.ErrorAs(t, err, &fault)
			require.Nil(t, p)
			return
		}
		want := base
		if want == "" {
			want = continuation.LongTemplates().Standard.Base
		}
		want = strings.NewReplacer("{taskDescription}", "T", "{attemptCount}", "1").Replace(strings.TrimSpace(want))
		got := p.Prompt(prompt.Input{Task: "T", Attempt: 1})
		require.Equal(t, continuation.PromptPreamble+"\n\n"+want, got)
	})
}
