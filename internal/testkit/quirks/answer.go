package quirks

import (
	"errors"
	"fmt"
	"reflect"
)

// judgeAnswer checks a joined answer that came in one piece.
func (q Quirk) judgeAnswer(joined string) error {
	got, err := readChunk(joined)
	if err != nil {
		return err
	}
	first, err := readChunk(q.First.Body())
	if err != nil {
		return err
	}
	second, err := readChunk(q.Second.Body())
	if err != nil {
		return err
	}
	if got.envelope() != first.envelope() {
		return fmt.Errorf("envelope is %+v, want %+v", got.envelope(), first.envelope())
	}
	return errors.Join(
		q.checkAnswerUsage(got),
		q.checkAnswerChoice(got, second),
		sameMembers("answer", verbatimMembers(second.members), verbatimMembers(got.members)),
	)
}

func (q Quirk) checkAnswerUsage(got chunk) error {
	if q.First.Usage == "" && q.Second.Usage == "" {
		if present(got.members, "usage") {
			return fmt.Errorf("usage %s, though no turn had any", got.members["usage"])
		}
		return nil
	}
	return checkUsage(q.First.Usage, q.Second.Usage, string(got.members["usage"]))
}

func (q Quirk) checkAnswerChoice(got, second chunk) error {
	is, ok := got.firstChoice()
	was, had := second.firstChoice()
	if !ok || !had {
		return errors.New("there is no choice")
	}
	means := q.Means()
	switch {
	case is.text() != means.Text:
		return fmt.Errorf("the text is %q, want %q", is.text(), means.Text)
	case is.finish() != means.Finish:
		return fmt.Errorf("the finish is %q, want %q", is.finish(), means.Finish)
	case len(is.fragments()) != len(means.Calls):
		return fmt.Errorf("the calls are %s, want %v", is.delta["tool_calls"], means.Calls)
	}
	for i, call := range is.fragments() {
		if name := fragment(call).name(); name != means.Calls[i].Name {
			return fmt.Errorf("call %d is to %q, want %q", i, name, means.Calls[i].Name)
		}
	}
	own := []string{"content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details"}
	return errors.Join(
		sameMembers("choice", verbatimMembers(was.members, "message", "finish_reason"), verbatimMembers(is.members, "message", "finish_reason")),
		sameMembers("message", verbatimMembers(was.delta, own...), verbatimMembers(is.delta, own...)),
	)
}

// sameMembers checks that members are those of the later turn.
func sameMembers(of string, want, got map[string]string) error {
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("members of the %s are %v, want %v", of, got, want)
	}
	return nil
}
