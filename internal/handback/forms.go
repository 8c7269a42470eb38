package handback

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// instructs reports whether the sentence that begins at start tells somebody to do
// something, as the form of its first words shows.
func (r *paragraph) instructs(start int) bool {
	text := bytes.TrimLeft(r.text[start:], " \n,-'")
	n := wordLength(text)
	if n == 0 {
		return false
	}
	if r.book.ends(text[:n])&imperative != 0 {
		return true
	}
	word, rest, _ := bytes.Cut(text, []byte(" "))
	if len(word) <= maxVerb && leadsIn(string(word)) {
		word, rest, _ = bytes.Cut(rest, []byte(" "))
	}
	next, rest, _ := bytes.Cut(rest, []byte(" "))
	if len(word) > maxVerb || len(next) > maxVerb {
		return false
	}
	return isBareVerb(string(word)) && (beginsObject(string(next)) || isCount(string(next)) && !continuesSubject(rest))
}

// maxVerb is how many bytes a verb has at most.
const maxVerb = 24

// isCount reports whether an English word counts what a noun names: "trigger one event",
// but also "verse one is done".
func isCount(word string) bool { return word == "one" || word == "two" || word == "three" }

// continuesSubject reports whether the words before text are the subject of a sentence.
func continuesSubject(text []byte) bool {
	word, _, _ := bytes.Cut(text, []byte(" "))
	switch string(word) {
	case "is", "are", "was", "were", "has", "have", "of", "now":
		return true
	}
	return false
}

// wordLength returns the length of the word that text begins with.
func wordLength(text []byte) int {
	n := 0
	for n < len(text) && (classes[text[n]] == letterByte || text[n] >= utf8.RuneSelf && !isMark(text[n:])) {
		n++
	}
	return n
}

// leadsIn reports whether an English word may stand before an imperative.
func leadsIn(word string) bool {
	switch strings.TrimRight(word, ",:") {
	case "then", "now", "next", "first", "finally", "please", "just", "simply", "also", "afterwards":
		return true
	}
	return false
}

// isBareVerb reports whether an English word that begins a sentence is a verb without an
// ending, if an object follows it: no other word can stand there but those of closed
// classes, and verbs whose past has no ending either.
func isBareVerb(word string) bool {
	if len(word) < len("tap") || word[len(word)-1] == 's' && !strings.HasSuffix(word, "ss") {
		return false
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	for _, ending := range [...]string{"ing", "ed", "ly"} {
		if strings.HasSuffix(word, ending) {
			return false
		}
	}
	switch word {
	case "with", "for", "from", "but", "and", "nor", "yet", "when", "while", "that", "this", "these", "those", "all", "both", "each", "only", "also", "then", "now",
		"next", "here", "there", "not", "after", "before", "until", "about", "over", "under", "into", "onto", "per", "via", "like", "plus", "than", "though", "although",
		"are", "was", "were", "has", "have", "had", "does", "did", "will", "can", "could", "would", "should", "may", "might", "must", "what", "which", "who", "how", "why",
		"where", "without", "within", "behind", "beside", "below", "above", "between", "through", "during", "once", "unless", "because", "whereas", "despite", "even",
		"just", "still", "such", "half", "most", "many", "some", "none", "out", "off", "let", "wrote", "built", "made", "ran", "found", "got", "gave", "took", "left",
		"kept", "sent", "chose", "rewrote", "rebuilt", "broke", "brought", "drew", "held", "hid", "knew", "led", "lost", "met", "said", "saw", "spent", "told",
		"thought", "come", "comes", "won", "caught", "taught", "began", "went", "split", "set", "put", "cut", "read", "apart", "given", "around", "across", "against", "along", "except", "done":
		return false
	}
	return true
}

// beginsObject reports whether an object begins with an English word, or with code.
func beginsObject(word string) bool {
	if word != "" && word[0] == omitted {
		return true
	}
	switch strings.TrimRight(word, ".,;:!") {
	case "the", "a", "an", "your", "it", "this", "that", "these", "those", "both", "all", "each", "any", "them":
		return true
	}
	return false
}

// isYesOrNo reports whether a word answers a question with nothing more.
func isYesOrNo(word string) bool {
	switch word {
	case "yes", "no", "ja", "nein", "oui", "non", "sí", "si", "sì", "sim", "não", "да", "нет", "evet", "hayır", "ya", "tidak", "tak", "nie", "nee",
		"是", "不是", "否", "はい", "いいえ", "네", "아니요":
		return true
	}
	return false
}
