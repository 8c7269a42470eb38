package fakellm

import "strings"

// responseStream builds the events of an answer.
type responseStream struct{ events []event }

// add adds an event with its type and its number.
func (s *responseStream) add(kind string, members map[string]any) {
	members["type"], members["sequence_number"] = kind, len(s.events)
	s.events = append(s.events, event{kind, marshal(members)})
}

// item adds the events of an item.
func (s *responseStream) item(index int, item responseItem, a answer) {
	begun := item
	if begun.Status != "" {
		begun.Status = "in_progress"
	}
	about := func(members map[string]any) map[string]any {
		members["output_index"], members["item_id"] = index, item.ID
		return members
	}
	announce := func() { s.add("response.output_item.added", map[string]any{"output_index": index, "item": begun}) }
	switch item.Type {
	case "reasoning":
		begun.Summary, begun.EncryptedContent = &[]responsePart{}, ""
		announce()
		s.summary(about, (*item.Summary)[0])
	case "message":
		begun.Content = &[]responsePart{}
		announce()
		for i, part := range *item.Content {
			s.part(about, i, part, a)
		}
	case "function_call":
		none := ""
		begun.Arguments = &none
		announce()
		for _, piece := range a.argumentPieces(*item.Arguments) {
			s.add("response.function_call_arguments.delta", about(map[string]any{"delta": piece}))
		}
		s.add("response.function_call_arguments.done", about(map[string]any{"arguments": *item.Arguments, "name": item.Name}))
	}
	s.add("response.output_item.done", map[string]any{"output_index": index, "item": item})
}

// argumentPieces cuts the arguments of a call as a stream sends them.
func (a answer) argumentPieces(arguments string) []string {
	if a.quirks.has(WholeCalls) {
		return []string{arguments}
	}
	return cut(arguments)
}

func (s *responseStream) summary(about func(map[string]any) map[string]any, part responsePart) {
	empty := ""
	in := func(members map[string]any) map[string]any {
		members["summary_index"] = 0
		return about(members)
	}
	s.add("response.reasoning_summary_part.added", in(map[string]any{"part": responsePart{Type: part.Type, Text: &empty}}))
	for word := range strings.SplitAfterSeq(*part.Text, " ") {
		s.add("response.reasoning_summary_text.delta", in(map[string]any{"delta": word}))
	}
	s.add("response.reasoning_summary_text.done", in(map[string]any{"text": *part.Text}))
	s.add("response.reasoning_summary_part.done", in(map[string]any{"part": part}))
}

// part adds the events of a part of a message.
func (s *responseStream) part(about func(map[string]any) map[string]any, i int, part responsePart, a answer) {
	in := func(members map[string]any) map[string]any {
		members["content_index"] = i
		return about(members)
	}
	if part.Type == "refusal" {
		s.add("response.content_part.added", in(map[string]any{"part": responsePart{Type: "refusal"}}))
		s.add("response.refusal.delta", in(map[string]any{"delta": part.Refusal}))
		s.add("response.refusal.done", in(map[string]any{"refusal": part.Refusal}))
		s.add("response.content_part.done", in(map[string]any{"part": part}))
		return
	}
	s.add("response.content_part.added", in(map[string]any{"part": outputText("")}))
	for _, piece := range a.text {
		s.add("response.output_text.delta", in(map[string]any{"delta": piece, "logprobs": []string{}}))
	}
	s.add("response.output_text.done", in(map[string]any{"text": *part.Text, "logprobs": []string{}}))
	s.add("response.content_part.done", in(map[string]any{"part": part}))
}
