package script

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/todo"
)

// hear answers the new message of the user.
func (m moment) hear() carryontest.Turn {
	words := strings.Fields(m.said)
	open := m.step.Content != ""
	switch {
	case wantsWork(m.said):
		list := plan(m.said)
		return write(list).AndText(fmt.Sprintf("I will do that in %d steps.", len(list)))
	case open && m.is("Sign") && !strings.Contains(m.step.Content, " as ") && len(words) <= 5 && !goesOn(m.said):
		list := slices.Clone(m.list)
		list[slices.Index(list, m.step)].Content = strings.TrimSuffix(m.step.Content, nameless) + " as " + nameIn(words)
		return write(list)
	case open && goesOn(m.said):
		return m.work()
	case open:
		return carryontest.Text(fmt.Sprintf("I see. Next, I will %s.", lowerFirst(m.step.Content)))
	}
	return carryontest.Text("I am a small script and can only write texts. Ask me for one, like this: " + Example)
}

// nameless ends the step to sign a file while the author is unknown.
const nameless = " for the author"

// plan returns the list for what the user asks for.
func plan(said string) []todo.Todo {
	files := namedFile.FindAllString(said, 4)
	folder := folderFor(said)
	if len(files) == 0 {
		kind := "text"
		if match := noun.FindStringSubmatch(said); match != nil {
			kind = strings.ToLower(match[1])
		}
		files = []string{folder + "/outline.md", folder + "/" + kind + ".md"}
	}
	sign := files[len(files)-1] + nameless
	if match := author.FindStringSubmatch(said); match != nil {
		sign = files[len(files)-1] + " as " + match[1]
	}
	steps := make([]string, 0, len(files)+2)
	for _, file := range files {
		steps = append(steps, "Write "+file)
	}
	steps = append(steps, "Check the files in "+path.Dir(files[0]), "Sign "+sign)
	list := make([]todo.Todo, len(steps))
	for i, step := range steps {
		list[i] = todo.Todo{ID: strconv.Itoa(i + 1), Content: step, Status: todo.Pending}
	}
	list[0].Status = todo.InProgress
	return list
}

var (
	namedFile = regexp.MustCompile(`[\pL\d][\pL\d_/-]*\.[a-z]{2,4}\b`)
	author    = regexp.MustCompile(`\bby (\p{Lu}[\pL'-]*(?: \p{Lu}[\pL'-]*)*)`)
	subject   = regexp.MustCompile(`(?i)\b(?:about|on|for|of) (?:the |a |an |my )?([^.,;:!?]+)`)
	noun      = regexp.MustCompile(`(?i)(\pL+) (?:about|on|for|of) `)
	workWord  = regexp.MustCompile(`(?i)\b(?:write|build|make|create|draft|prepare|compose)\b`)
	goWord    = regexp.MustCompile(`(?i)^(?:go|continue|carry|yes|ok|okay|proceed|resume)\b`)
	notName   = regexp.MustCompile(`(?i)^(?:my name is|her name is|his name is|it is|it's|i am|by|as|use)$`)
)

func wantsWork(said string) bool {
	return workWord.MatchString(said) && len(strings.Fields(said)) > 1 || namedFile.MatchString(said)
}

func goesOn(said string) bool { return goWord.MatchString(said) }

// nameIn returns the name in an answer such as "It is Ada".
func nameIn(words []string) string {
	for n := min(3, len(words)-1); n > 0; n-- {
		if notName.MatchString(strings.Join(words[:n], " ")) {
			words = words[n:]
			break
		}
	}
	return strings.TrimRight(strings.Join(words, " "), ".!")
}

// folderFor returns a folder named after the subject of the text.
func folderFor(said string) string {
	about := said
	if match := subject.FindStringSubmatch(said); match != nil {
		about = match[1]
	} else if at := workWord.FindStringIndex(said); at != nil {
		about = said[at[1]:]
	}
	about, _, _ = strings.Cut(about, " by ")
	var name []string
	for _, word := range strings.FieldsFunc(strings.ToLower(about), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(name) < 3 && len(word) < 30 && word != "a" && word != "an" && word != "the" && word != "me" {
			name = append(name, word)
		}
	}
	if len(name) == 0 {
		return "text"
	}
	return strings.Join(name, "-")
}

func folderOf(target string) string { return strings.TrimPrefix(target, "the files in ") }

// contentOf returns what the model writes into a file.
func contentOf(file string) string {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	about := strings.ReplaceAll(path.Dir(file), "-", " ")
	if about == "." {
		about = name
	}
	return fmt.Sprintf("# On %s: %s\n\n1. What is known of %s\n2. What is said of %s\n3. What is left to say\n",
		about, name, about, about)
}
