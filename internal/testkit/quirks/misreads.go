package quirks

import "strings"

// misreading is a mistake of a client in reading an answer alone. The names of
// the rows may lack their suffixes, such as ", turn 1".
type misreading struct {
	what string
	rows []string
}

// misreadings returns what each client gets wrong.
func misreadings() map[string][]misreading {
	return map[string][]misreading{
		GoOpenAI: goOpenAIMisreads(), LangChainGo: langChainGoMisreads(), OpenAIGo: openAIGoMisreads(),
	}
}

// addMisreads adds the misreadings to the rows, and returns the names that
// match no row.
func addMisreads(rows []Quirk) (unknown []string) {
	byName := map[string][]int{}
	for i := range rows {
		rows[i].Misreads = map[string]string{}
		name := rows[i].Name
		byName[name] = append(byName[name], i)
		for _, suffix := range []string{", unary turn 1", ", unary turn 2", ", turn 1", ", turn 2", thenAFinish} {
			if base, ok := strings.CutSuffix(name, suffix); ok {
				name = base
				byName[name] = append(byName[name], i)
			}
		}
	}
	for client, list := range misreadings() {
		for _, m := range list {
			for _, name := range m.rows {
				for _, i := range byName[name] {
					rows[i].Misreads[client] = m.what
				}
				if byName[name] == nil {
					unknown = append(unknown, client+": "+name)
				}
			}
		}
	}
	return unknown
}

// silentFailures are the failed answers for which no client returns an error.
func silentFailures() []string {
	return []string{
		"Q31 no finish, only DONE", "Q31 no finish and no DONE", "Q31 finish null", "Q31 a call, and no finish",
		"Q74 DONE before the finish", "Q79 truncated within an event", "Q77 error as vLLM words it",
		"Q77 error event without an error",
	}
}

// answersOfAnotherKind are the answers that are not the stream that was asked for.
func answersOfAnotherKind() []string {
	return []string{
		"Q78 completion in JSON", "Q78 completion in JSON, called a stream",
		"Q78 page, turn 1", "Q78 page, turn 2", "Q78 nothing, turn 1", "Q78 nothing, turn 2", "Q80 gzip, turn 1", "Q80 gzip, turn 2",
	}
}

// falseHeaders are the answers whose header does not describe the body.
func falseHeaders() []string { return []string{"Q80 said to be gzip", "Q78 stream called JSON"} }

// brokenEndings are the answers that were complete before they broke off.
func brokenEndings() []string { return []string{"Q79 cut after the finish", "Q79 cut after the usage"} }

// callsWithoutType are the calls that come without a type.
func callsWithoutType() []string {
	return []string{
		"Q01 index and type missing", "Q10 type missing", "Q10 type null", "Q10 type empty", "Q10 a call without a type",
		"Q10 pause without a type", "Q10 pause before a call without a type", "Q01 pause without index, id and type",
	}
}

// callsOfOneIndex are the calls that share an index, or have none.
func callsOfOneIndex() []string {
	return []string{
		"Q01 index missing", "Q02 index 0 for all calls", "Q03 second call under the first one's index",
		"Q01 pause before another call, without indexes", "Q01 pause after another call, without indexes",
		"Q02 pause before another call, all at index 0", "Q02 pause after another call, all at index 0",
	}
}

func goOpenAIMisreads() []misreading {
	return []misreading{
		{"an answer that broke off is whole to it", append(silentFailures(),
			"Q77 error beside choices", "Q77 error on a line without data, then a finish")},
		{"it looks at the status only, and finds no data", answersOfAnotherKind()},
		{"it does not look at the header", falseHeaders()},
		{"it takes the mark for a part of the first line", []string{"Q76 byte order mark"}},
		{"an error, or nothing at all, is an answer to it", []string{
			"Q78 error with status 200, unary turn 1", "Q78 error with status 200, unary turn 2", "Q78 no choices",
		}},
		{"it fails, though the answer was whole", append(brokenEndings(), "Q77 error object after the finish")},
		{"programs leave the type empty", callsWithoutType()},
		{"programs put calls together by their index", callsOfOneIndex()},
		{"programs put the names together", []string{"Q14 name in every fragment", "Q14 pause with its name in every fragment"}},
		{"programs take the last finish", []string{"Q33 other finish after the finish"}},
		{"it fails on a type that it does not expect", []string{
			"Q20 arguments as an object", "Q20 pause with arguments that are an object", "Q44 usage with counts as fractions", "Q52 id a number",
			"Q53 created a fraction", "Q53 created as a power of ten", "Q57 content as a list, turn 1", "Q57 content as a list, turn 2",
		}},
		{"it fails on data that is no JSON", []string{
			"Q75 empty data", "Q75 data that is no JSON", "Q70 one chunk on several lines",
		}},
		{"it reads no line that does not end in LF", []string{
			"Q67 lines end in CR", "Q71 one CR between events", "Q73 no newline after the last event, and no DONE",
			"Q73 no newline after the finish",
		}},
		{"it gives up after 300 lines without data", []string{"Q66 comments without end"}},
	}
}

func langChainGoMisreads() []misreading {
	return []misreading{
		{"an answer that broke off is whole to it", append(silentFailures(),
			"Q75 broken JSON, turn 1", "Q75 broken JSON, turn 2")},
		{"it does not look for errors", []string{
			"Q77 error object", "Q77 error object at once", "Q77 error on a line without data",
			"Q77 error event", "Q77 error that is a string", "Q77 error beside choices", "Q77 error object within a call",
		}},
		{"it looks at the status only, and finds no data", append(answersOfAnotherKind(), "Q78 error in JSON, with status 200")},
		{"it does not look at the header", falseHeaders()},
		{"it takes the mark for a part of the first line", []string{"Q76 byte order mark"}},
		{"it fails, though the answer was whole", brokenEndings()},
		{"it leaves the type empty, or drops the call", callsWithoutType()},
		{"a fragment that has a type, or is empty, is a call of its own to it, and any other belongs to the last", []string{
			"Q03 second call under the first one's index", "Q09 type in every fragment", "Q13 empty fragments", "Q14 name in two parts",
			"Q15 name empty at first", "Q17 calls by turns", "Q22 members of the provider's own in a fragment of their own",
			"Q22 pause before a call with members in a fragment of their own",
			"Q09 pause before a call with its type in every fragment", "Q13 pause with empty fragments",
			"Q13 pause before a call with empty fragments", "Q14 pause with its name in two parts",
			"Q14 pause with its name in many parts", "Q14 another call while the name of a pause is open",
			"Q15 pause with its name in the second fragment", "Q15 pause with its name after the arguments",
			"Q17 pause and another call by turns",
		}},
		{"it takes the name and the id from the first fragment only", []string{"Q08 id in the second fragment", "Q15 name comes last"}},
		{"it skips what has a type that it does not expect, or fails on it", []string{
			"Q20 arguments as an object", "Q20 pause with arguments that are an object", "Q44 usage with counts as fractions",
			"Q52 id a number", "Q57 content as a list",
			"Q53 created a fraction, unary turn 1", "Q53 created a fraction, unary turn 2",
		}},
		{"it panics", []string{"Q23 function_call"}},
		{"it takes the finish from the last chunk with choices", []string{
			"Q33 null after the finish, with the usage", "Q33 no finish on a chunk after the finish", "Q33 other finish after the finish",
			"Q33 text after the finish", "Q33 a call after the finish", "Q49 chunk without id and delta after the finish",
		}},
		{"all choices are one to it", []string{"Q25 a call in another choice", "Q61 a second choice, turn 1", "Q61 a second choice, turn 2"}},
		{"it skips lines that are no JSON by themselves", []string{
			"Q67 lines end in CR", "Q70 one chunk on several lines", "Q71 one CR between events",
		}},
		{"it fails on lines of more than 64 KiB", []string{"Q84 a line of 69 KiB", "Q84 a call of 69 KiB"}},
	}
}

func openAIGoMisreads() []misreading {
	return []misreading{
		{"an answer that broke off is whole to it", append(silentFailures(), "Q77 error on a line without data")},
		{"it looks at the status only, and finds no data", append(answersOfAnotherKind(), "Q78 error in JSON, with status 200")},
		{"it does not look at the header", falseHeaders()},
		{"it takes the mark for a part of the first line", []string{"Q76 byte order mark"}},
		{"an error, or nothing at all, is an answer to it", []string{
			"Q78 error with status 200, unary turn 1", "Q78 error with status 200, unary turn 2", "Q78 no choices",
		}},
		{"it fails, though the answer was whole", append(brokenEndings(), "Q77 error object after the finish")},
		{"it leaves the type empty", callsWithoutType()},
		{"it puts calls together by their index", callsOfOneIndex()},
		{"it makes up a call for every index that is left out", []string{
			"Q04 index from 1", "Q04 indexes with gaps", "Q04 pause at index 5", "Q04 pause before another call, from index 1",
		}},
		{"it puts the names together", []string{"Q14 name in every fragment", "Q14 pause with its name in every fragment"}},
		{"it does not know the calls of old in streams", []string{"Q23 function_call, turn 1", "Q23 function_call, turn 2"}},
		{"it takes the finish from the last chunk with choices", []string{
			"Q33 null after the finish, with the usage", "Q33 no finish on a chunk after the finish", "Q33 other finish after the finish",
			"Q33 text after the finish", "Q33 a call after the finish",
		}},
		{"it adds up the usage of all chunks", []string{
			"Q40 usage with the finish and again", "Q41 usage on every chunk, growing", "Q41 usage on every chunk, and at the end",
			"Q41 pause with usage on every chunk", "Q47 usage in turn 1 only, on every chunk",
		}},
		{"it drops chunks with another id", []string{"Q51 id changes after the first chunk", "Q51 another id on every chunk"}},
		{"the JSON of a list is text to it", []string{"Q57 content as a list"}},
		{"the member is an error to it, whatever its value", []string{"Q65 error null, turn 1", "Q65 error null, turn 2"}},
		{"it fails on data that is no JSON", []string{
			"Q68 two spaces after the colon", "Q74 DONE with spaces around it", "Q75 empty data", "Q75 data that is no JSON",
		}},
		{"it reads no event that does not end in a blank line", []string{
			"Q67 lines end in CR", "Q71 one newline between events", "Q71 one CRLF between events", "Q71 one CR between events",
			"Q73 no newline after the last event, and no DONE", "Q73 no newline after the finish",
		}},
	}
}
