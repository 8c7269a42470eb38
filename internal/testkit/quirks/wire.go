package quirks

import (
	"errors"
	"fmt"
	"strings"
)

// JudgeWire checks the bytes of the joined answer.
func (q Quirk) JudgeWire(joined string) error {
	var err error
	switch {
	case q.equalsFirst():
		if joined != q.First.Body() {
			err = errors.New("it is not the first answer byte for byte")
		}
	case q.Unary:
		err = q.judgeAnswer(joined)
	default:
		err = q.judgeStream(joined)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\njoined:\n%s", q.Name, err, joined)
	}
	return nil
}

// equalsFirst reports whether the joined answer must be the first one byte for
// byte. It must be if nothing of a second was shown, and no text of the first
// had to be shown before the decision to continue.
func (q Quirk) equalsFirst() bool {
	switch q.Effect {
	case Relayed:
		return true
	case Dropped:
		return q.Unary || q.Means().Text == q.First.Means.Text && !q.First.finishHasText()
	}
	return false
}

// finishHasText reports whether the chunk with the finish reason has text, too.
func (t Turn) finishHasText() bool {
	chunks := chunksOf(t.Tail)
	if len(chunks) == 0 {
		return false
	}
	one, _ := chunks[0].firstChoice()
	return one.text() != ""
}

// lineEnd returns what ends the lines of the head.
func (t Turn) lineEnd() string {
	for _, end := range []string{"\r\n", "\r"} {
		if strings.HasSuffix(t.Head, end) {
			return end
		}
	}
	return "\n"
}

// missingBlankLine returns the bytes that complete the blank line after the
// last event of the head.
func (t Turn) missingBlankLine() string {
	before, ended := strings.CutSuffix(t.Head, t.lineEnd())
	switch {
	case t.Head == "", ended && strings.HasSuffix(before, "\n"), ended && strings.HasSuffix(before, "\r"):
		return ""
	case ended:
		return t.lineEnd()
	}
	return "\n\n"
}

// judgeStream judges a stream that was joined.
func (q Quirk) judgeStream(joined string) error {
	rest, ok := strings.CutPrefix(joined, q.First.Head)
	if !ok {
		return fmt.Errorf("it does not begin as the first answer does: %q", q.First.Head)
	}
	rest, ok = strings.CutPrefix(rest, q.First.missingBlankLine())
	if !ok {
		return fmt.Errorf("no blank line follows the first answer: %q", rest)
	}
	verbatim := false // it ends in the tail of the first answer
	if q.Effect == Dropped && !q.First.finishHasText() {
		rest, verbatim = strings.CutSuffix(rest, q.First.Tail)
		if !verbatim {
			return fmt.Errorf("it does not end as the first answer does: %q", q.First.Tail)
		}
	}
	chunks, done, err := joinedChunks(rest, q.First.lineEnd())
	if err != nil {
		return err
	}
	wantDone := strings.Contains(q.First.Body(), "[DONE]") || q.Effect == Joined && strings.Contains(q.Second.Body(), "[DONE]")
	if done != (wantDone && !verbatim && q.Effect != Broken) {
		return fmt.Errorf("ends in [DONE]: %v", done)
	}
	chunks, err = q.withoutReport(chunks)
	if err != nil {
		return err
	}
	open := verbatim || q.Effect == Broken // the chunks of turn 2 have no ending of their own
	return errors.Join(
		checkEnvelopes(envelopeOf(chunksOf(q.First.Body())), chunks),
		q.checkMembers(chunks),
		q.checkEnding(endingOf(chunks), open),
		q.checkText(chunks),
		q.checkFragments(chunks),
		q.checkVerbatim(chunks),
	)
}

// withoutReport returns the chunks without the provider's report of an error. It is
// shown in a broken answer that has one, as the last chunk, and in no other.
func (q Quirk) withoutReport(chunks []chunk) ([]chunk, error) {
	reports := q.Effect == Broken && strings.Contains(q.Second.Body(), `"error"`)
	switch last := len(chunks) - 1; {
	case !reports:
		return chunks, nil
	case last < 0 || !present(chunks[last].members, "error"):
		return nil, errors.New("the provider's error is lost")
	default:
		return chunks[:last], nil
	}
}

// checkMembers checks that the chunks have no members that they must not have.
func (q Quirk) checkMembers(chunks []chunk) error {
	for i, c := range chunks {
		for _, name := range []string{"error", "obfuscation", "prompt_filter_results", "prompt_annotations"} {
			if _, ok := c.members[name]; ok {
				return fmt.Errorf("chunk %d of turn 2 has a member %q", i, name)
			}
		}
		own := i == 0 && q.First.finishHasText()
		for _, one := range c.choices {
			if _, ok := one.delta["role"]; ok && !own {
				return fmt.Errorf("chunk %d of turn 2 has a role", i)
			}
		}
		if len(c.choices) == 0 && !present(c.members, "usage") {
			return fmt.Errorf("chunk %d of turn 2 has neither choices nor usage", i)
		}
	}
	return nil
}

// checkText checks the text of the whole stream.
func (q Quirk) checkText(chunks []chunk) error {
	var text strings.Builder
	for _, c := range append(chunksOf(q.First.Head), chunks...) {
		if one, ok := c.firstChoice(); ok {
			text.WriteString(one.text())
		}
	}
	if want := q.Means().Text; text.String() != want {
		return fmt.Errorf("the text is %q, want %q", text.String(), want)
	}
	return nil
}

// checkVerbatim checks that members which carryon must not change are still there.
func (q Quirk) checkVerbatim(chunks []chunk) error {
	found := map[string]bool{}
	for _, c := range chunks {
		addMembers(found, "chunk", verbatimMembers(c.members))
		for _, one := range c.choices {
			addMembers(found, "choice", verbatimMembers(one.members, "index", "delta", "finish_reason"))
			addMembers(found, "delta", verbatimMembers(one.delta, "role", "content", "tool_calls"))
		}
	}
	want := map[string]bool{}
	for _, c := range chunksOf(q.Second.Body()) {
		one, ok := c.firstChoice()
		if !ok || one.finish() != "" || one.text() == "" || q.Shown != nil {
			continue
		}
		addMembers(want, "chunk", verbatimMembers(c.members))
		addMembers(want, "choice", verbatimMembers(one.members, "index", "delta", "finish_reason"))
		addMembers(want, "delta", verbatimMembers(one.delta, "role", "content", "tool_calls"))
	}
	for member := range want {
		if !found[member] {
			return fmt.Errorf("lost: %s", member)
		}
	}
	return nil
}

// addMembers adds the members to those found.
func addMembers(found map[string]bool, where string, members map[string]string) {
	for name, raw := range members {
		found[fmt.Sprintf("%s %q: %s", where, name, raw)] = true
	}
}
