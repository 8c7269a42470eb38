package handback

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// kinds says what the phrases of a sentence do.
type kinds uint32

const (
	step       kinds = 1 << iota // announces a step: "I will"
	start                        // names the next step, but cancels no question: "Next:"
	hang                         // makes a step hang on something: "until"
	later                        // makes it follow what was said before: "after that"
	consent                      // makes it hang on the user: "once you"
	request                      // hands the turn back, whatever else the sentence says
	tell                         // hands it back unless it is offered: "let me know which"
	offer                        // offers more: "let me know if you want"
	offerOnly                    // makes an offer of the rest of the sentence: "if needed"
	leaning                      // says what the model would choose
	can                          // with a condition, a step: "I can"
	imperative                   // at its beginning: asks for something
	andStep                      // behind an imperative: "and I'll"
	beforeI                      // behind an imperative: "before I"
	stuck                        // on a condition: "I cannot continue"
	without                      // is one: "without"
	soStep                       // a step that follows from the rest of the sentence: "so I'll"
	atOnce                       // makes a step of a start: "now" at the end
	work                         // names what an agent starts and what runs by itself: "the build"
	runs                         // says that it runs: "still running"
	awaits                       // waits for it: "waiting for"
	idle                         // waits, whatever for: "I'll wait"
	begun                        // says that it was started: "launched"
	done                         // speaks of its end: "once they report"
	nothing    kinds = 0         // hides a shorter phrase: "I'll be"
)

// A phrase is an entry of the lexicon, in small letters.
type phrase struct {
	head
	text   string
	kinds  kinds
	begins bool // only at the beginning of a clause
	prefix bool // the last word may go on
}

// A head is the first eight bytes of a phrase, and which of their bits it has.
type head struct{ bytes, mask uint64 }

// A lexicon finds the phrases by their first bytes.
type lexicon struct {
	phrases []phrase // by key, the longest first
	heads   []head   // theirs: most of what is compared is told apart by them
	from    [keys + 1]uint16
}

const (
	keyBits = 13
	keys    = 1 << keyBits
	minKey  = 3 // the length of the shortest phrase
)

// key returns the key of a phrase by its first bytes: four, or three if the third is a
// space, as in "if ".
func key(first uint64) uint32 {
	if first>>16&0xFF == ' ' {
		first &= 0xFFFFFF
	}
	return uint32(first) * 0x9E3779B1 >> (32 - keyBits) //nolint:gosec // the first four bytes are meant
}

// phrasebook is the lexicon of all languages, built once.
var phrasebook = sync.OnceValue(func() *lexicon { //nolint:gochecknoglobals // constant
	l := new(lexicon)
	for _, entry := range entries() {
		for text := range strings.FieldsFuncSeq(entry.phrases, isSeparator) {
			l.add(text, entry.kinds)
		}
	}
	slices.SortStableFunc(l.phrases, func(a, b phrase) int {
		if a.key() != b.key() {
			return int(a.key()) - int(b.key())
		}
		if len(a.text) != len(b.text) || a.begins == b.begins {
			return len(b.text) - len(a.text)
		}
		if a.begins {
			return -1
		}
		return 1
	})
	for i := range l.phrases {
		l.heads = append(l.heads, l.phrases[i].head)
		l.from[l.phrases[i].key()+1]++
	}
	for i := range keys {
		l.from[i+1] += l.from[i]
	}
	return l
})

// isSeparator reports whether r stands between the phrases of an entry.
func isSeparator(r rune) bool { return r == '|' || r == '\n' }

func (p *phrase) key() uint32 { return key(p.bytes) }

// add adds the phrases that a pattern stands for. {a|b} would end an entry, so
// alternatives are written {a/b}; ^ wants the beginning of a clause; * lets the last
// word go on; _ is a space at the end; @ is something that has been left out.
func (l *lexicon) add(pattern string, k kinds) {
	if before, rest, ok := strings.Cut(pattern, "{"); ok {
		choices, after, _ := strings.Cut(rest, "}")
		for choice := range strings.SplitSeq(choices, "/") {
			l.add(before+choice+after, k)
		}
		return
	}
	p := phrase{kinds: k}
	pattern, p.begins = strings.CutPrefix(pattern, "^")
	pattern, p.prefix = strings.CutSuffix(pattern, "*")
	p.text = strings.ReplaceAll(strings.ReplaceAll(pattern, "_", " "), "@", string(rune(omitted)))
	last, _ := utf8.DecodeLastRuneInString(p.text)
	p.prefix = p.prefix || last >= 0x0900 || last != '\'' && last < '0' // scripts without spaces; punctuation
	p.head = headOf(p.text)
	l.phrases = append(l.phrases, p)
}

// matches reports whether text begins with p.
func (p *phrase) matches(text []byte) bool {
	return len(text) >= len(p.text) && string(text[:len(p.text)]) == p.text && (p.prefix || !inWord(text[len(p.text):]))
}

// headOf returns the head of text.
func headOf[T string | []byte](text T) (h head) {
	for i := range min(len(text), 8) {
		h.bytes |= uint64(text[i]) << (8 * i)
		h.mask |= 0xFF << (8 * i)
	}
	return h
}

// inWord reports whether a word goes on with rest.
func inWord(rest []byte) bool {
	return len(rest) > 0 && (isAlnum(rest[0]) || rest[0] >= 0xC3 && rest[0] < 0xE2 || rest[0] == '\'')
}

// asksWithoutMark reports whether text ends in a word that makes it a question in
// languages that set no question mark.
func asksWithoutMark(text []byte) bool {
	text = bytes.TrimRight(text, ".!")
	text = bytes.TrimSuffix(text, []byte("。"))
	text = trimEnd(text)
	for _, polite := range politeEndings() {
		text = trimEnd(bytes.TrimSuffix(text, []byte(polite)))
	}
	for _, ending := range questionEndings() {
		if bytes.HasSuffix(text, []byte(ending)) {
			return true
		}
	}
	return false
}

// An entry is a list of phrases that do the same; lexicon.add explains the notation.
type entry struct {
	kinds   kinds
	phrases string
}

// english are the phrases of English.
func english() []entry {
	return slices.Concat(englishSteps(), englishConditions(), englishRequests(), englishOffers())
}

// englishSteps say what the model does now.
func englishSteps() []entry {
	return []entry{
		{step, "i'll|i will|i shall|let me|let's|let us|we'll|we will|i'm going to|i am going to|i'm gonna|we're going to"},
		{step, "^{next/now/first/then}, {i/we}|^{next/now/first} {i/we}|^{next/now}, {i'm/we're}|^now {i'm/we're}|i'm now|i am now"},
		{step, "^{moving on/proceeding/continuing} {to/with/now}|^{starting/beginning} {now/with}|^{checking/looking/searching/investigating/retrying/rerunning}{./!/...}|{i'm/i am} {proceeding/continuing/moving on/starting}"},
		{step, "{i'll/i will} keep {going/working}|{i'm/i am} about to|^{time/now} to|^on to|^onto the|^here goes"},
		{start, "i {need to/should/must/have to} |and {starting/moving on/proceeding/continuing} |^now that |^now {step/back}|^back to|^next {task/todo/item}:|^on it{./!/,/ -/ —}|^will do{./!}|{please/just} {hold on/wait}|one moment|{task/step} {1/2/3/4/5/6/7/8/9} next|^{starting/working on/proceeding/continuing/going to/gonna/will now/resuming/picking up}|^next:|^next,|^next up|^now:|^now for|^now the|^now,|^next step:|^next is|^next comes|^up next"},
		{start, "^{implementing/creating/adding/writing/running/updating/fixing/checking/reading/building/testing/looking at} {the/a/this/it/them/now}"},
		{start, "{i'm/i am} {implementing/creating/adding/writing/running/updating/fixing/checking/reading/building/testing/looking/working}"},
		{start, "^now {executing/onto/on to/moving/working/starting/continuing/proceeding/wiring/implementing/creating/adding/writing/running/updating/fixing/checking/reading/building/testing}"},
		{start | awaits, "{i'll/i will} wait for {the/it/this/that/all}"},
		{start, "{i'll/i will} wait for the {server/page/app/container/service/port/process to start}"},
		{soStep, "so {i'll/i will/let me/i'm going/let's}|; {i'll/i will/let me}"},
		{atOnce, "now{./!/:/...}|right away|right now"},
		// No steps, although they begin like one.
		{nothing, "{i'll/i will/we'll} {wait/be /need /let you/leave /defer /stand by/have to/never /happily /gladly /keep }"},
		{nothing, "{let me/i'll/i will} {summarize/summarise/recap/list/explain/show you/give you/walk you}|let me know|let us know|let's discuss|let's talk|let me {stop/pause/wait} here|let me ask you|let me clarify|let's {pause/stop} here|let me check with you"},
		{nothing, "next, {you/please}|now you|now, you|next steps:|^now the {tests/build/suite} pass"},
		{nothing, "no if "},
	}
}

// englishConditions are what a step hangs on.
func englishConditions() []entry {
	return []entry{
		{hang, "if |until|once|unless|otherwise|as soon as|before you|depending on|based on your|whichever|whatever you|either way|in that case|^then i'll|^then i will|assuming you"},
		{later, "after that|afterwards"},
		{hang, "your {answer/choice/decision/call/go-ahead/approval/confirmation/reply/response/preference/pick/ok/word}|by default"},
		{consent, "{once/after/when/until/as soon as/before/whenever} {you/you've/you're/you'd/we agree/your}|{once/when/if} {approved/confirmed/agreed/accepted}"},
		{consent, "{once/when/as soon as} {i have/i've got/i get/i hear} {your/that/this/an answer/confirmation/approval/it}"},
		{consent, "{after/upon/with/pending/without} your {approval/confirmation/go-ahead/ok/okay/permission/sign-off/blessing/signal/go/answer/decision}|on your {signal/approval/confirmation/go-ahead/ok/go}"},
		{consent, "if {this/that/it/everything/all/all this/all of this/the plan/this plan/that plan/the outline/this outline/the design/this design/the approach/this approach/the direction/this direction} {looks/sounds/seems/is/works/reads/matches}"},
		{consent, "if {that's/that is/this is/it's} {fine/ok/okay/good/right/alright/acceptable/correct}|if {so/yes/not/no/you agree/you approve/you confirm/you're happy/you are happy/you're ok/you're okay/you're good/you're fine}|unless you|^if there are no objections"},
		{consent, "if you {pick/choose/say/tell/give/prefer/confirm/send/share/go with}"},
		{can, "i can|we can|i could|i'd |i would|i'll be {ready/able}"},
	}
}

// englishRequests hand the turn back in a statement.
func englishRequests() []entry {
	return []entry{
		{request, "^{say/just say/type/just type/reply/just reply/respond/answer/please reply/please say/please type/simply reply/simply say} {go/continue/yes/ok/okay/the word/next/proceed/start/ready/when/resume/approve/approved/confirm/done}"},
		{request, "^{reply/respond/answer/just reply/please reply/please respond/please answer/simply reply/simply respond} {with/to/here/below/@/'/by/using/in}|^{say/just say/type/just type/please type/please say} {@/'} {to/and/when/if/or/once}"},
		{request, "^{say/just say/type/please type/please say} '|^{say/type} {so/it} and|{or/and} say {@/so and}|^{you can/you may} {say/reply/type}"},
		{request, "^give me {the/a/your} {go/go-ahead/green light/word/nod/ok/thumbs up}|say the word|give the {word/go-ahead/green light}"},
		{tell, "ready for {feedback/review/input/approval/your/instructions/further instructions/the next instruction/next instructions}"},
		{request, "{awaiting/await} {your/you/approval/confirmation/instructions/further/input/feedback/user/go-ahead/a decision/direction/guidance/permission}|waiting {for/on} {you/your/user confirmation/user approval/approval/confirmation/further instructions/instructions/input from you/feedback}"},
		{request, "standing by {for/.}|^standing by|i'll stand by|i'm standing by|^your {call/move/turn/choice}|ready when you are|whenever you're ready|{when/whenever} you are{./!}|to {continue/proceed}, i{/'ll} need|you need to {approve/confirm/decide/choose}|before i can {continue/proceed/start}|it's your call|that's your call|is your call|{is/it's} up to you|over to you|i leave it to you|i'll leave {that/it/the decision/this} to you|ball is in your court|the choice is yours|you decide|only you can {decide/answer/say/do/know}|^go ahead and {try/test/open/check/run/click/restart/reload/send}"},
		{request, "please {confirm/approve/choose/pick/select/decide/advise/clarify/specify/provide/share/paste/upload/answer/respond/reply/review/verify/tell me/grant/indicate/say}|please {send/give} me|please let me know {when/which/whether/how/what/where/who/your/once}"},
		{request, "{need/needs/require/requires/want/need to get/need to have} your|i {need/require} {you to/a decision/an answer/approval/confirmation/permission/input/clarification/guidance/direction}|{i'll/i will/i'd/i would} need {your/you to/a decision/an answer/approval/confirmation/permission}|need from you|from you {to/before}|would {like/love/appreciate} your|i'd {like/love/appreciate} your|i want your|pending your"},
		{request, "{check/confirm} {with you/this with you/a few things/one thing/two things}|i'd like to {check/confirm}|i need to know"},
		{request, "{waiting/paused/pausing/holding/stopped/stopping} {for you/until you/for your}|{i'll/i will/let me/and/i'd} {wait/pause/hold/stop} {for you/until you/for your}|{i'll/i will/let me} {wait/pause/hold/stop} here|{i'm/i am} {waiting/pausing/holding/stopping} here|{i've/i have} {paused/stopped} here"},
		{request, "^{stopping/pausing/holding/waiting/paused/stopped} {here./here,/here for/here as/here so/here until/here to/for you/until you/for your}|{hold off/holding off} {until/for/on}"},
		{stuck, "{cannot/can't/unable to/not able to} {continue/proceed/go on/go further/move on/complete/finish/start/begin/test/do}"},
		{without, "without"},
		{stuck, "i won't|{i'll/i will} not |i haven't {started/pushed/touched/changed/applied/run/committed}|i have not {started/pushed/touched/changed/applied/run/committed}"},
		{request, "^{shall/may} {i/we}|^would you {like/prefer/rather}|^do you {want/prefer/have a preference/approve/agree}|^want me to|^should {i/we} {proceed/continue/go/start/use/keep/add/do/make/move/take}|^which {one/option/approach/of these} {do/would/should}|^how {would you like/do you want/should i/should we}|^what would you like|^{could/can} you {provide/share/send/confirm/clarify/tell/paste/run/check/please}|i have {two/three/four/a few/some/a couple of/several} questions|from your side|to go on{/,} i need|^are you {ok/okay/happy/fine}|^ready to {proceed/continue}"},
		{request, "{tell me/let me know} {when/which/whether/how you/how you'd/how you're/what you'd/how to/how i/what you/what to/where/who/your/once/the/if i should/if you approve/if you agree/if you'd rather/if you would rather/if you prefer/if you'd prefer/what i/so i can/with}"},
		{tell, "{let me know/tell me}{./!}|{let me know/tell me} and {i'll/i will/i can/we'll/then}"},
		{request, "let me know how{./!}|{let me know/tell me} if {that's/this is/it's/that/this/the plan/it} {ok/okay/what you/the right/works/looks good/looks right/sounds good}"},
		{request, "^{your thoughts/thoughts/feedback} {welcome/appreciated}.|before i {continue/proceed/start/begin}, {please/tell/confirm}|happy to go {either way/with either}|{looking forward to/interested in/curious about} your"},
		{request, "{tell me/let me know} how {it/that} {looks/goes} and|^what's needed from you|^needed from you|^blocked on you|{blocked/stuck} {until you/on your/without your}|^decision needed|^your options|^pick one|^choose one|^pick {a/b/c/1/2} or|^choose {a/b/c/1/2/between}"},
		{tell, "tell me how|let me know how"},
		{imperative, "^{confirm/approve/pick/choose/select/give/send/paste/share/provide/grant/drop/tell/run /restart/check/review/take a look/have a look/look it over/verify/test/try /put /set /add /start/open/log in/install/export/please/just/point/read/push/merge/answer/upload/enable/create/decide/ok this/feedback/any }"},
		{andStep, "and {tell me/report back/let me know/give me/send me}|and paste |then tell me|then let me know|{and/then} {i'll/i will/i can/we can/we'll/i'd}"},
		{beforeI, "before i {continue/proceed/start/begin/go/move/implement/commit/push/touch/make/write/delete/merge/build/apply/change/run/do/take/deploy/send/remove}"},
		{request, "^{i'd like/i would like/i want} {you to/feedback/a review/a decision}"},
	}
}

// englishOffers offer more, or say what the model would choose.
func englishOffers() []entry {
	return []entry{
		{offer, "{let me know/tell me/just say/shout/say so/just ask} if|feel free|happy to {help/adjust/change/tweak/explain/elaborate/expand/add/walk/iterate}"},
		{offerOnly, "if {you want/you'd like/you like/you would like/you wish/needed/desired/necessary/you need/anything/something/there's/there is/you have/you spot/you see/you notice/you run into/any of/you'd prefer me/helpful/useful}|should you {want/need/wish}|whenever you like|if you ever"},
		{leaning, "{i'd/i would} {recommend/suggest/go with/go for/lean/take/pick/choose/vote/prefer/start with/say}|i {recommend/suggest/lean/prefer/favor/favour/think}|my {recommendation/suggestion/preference/lean/vote/pick/default/take/inclination}|i'm {leaning/inclined}|^recommended|^recommendation"},
		{leaning, "no {rush/strong preference/preference}|either {way works/works/is fine/way is fine}|^{default/defaults} {is/to/are}|^for {context/reference}|^{note/fyi,/fyi:/tip:/side note/p.s/ps:}|would look like|^{a/b/c} is|^option {a/b/c/1/2/3} is|everything else is"},
	}
}

// dangles reports whether a sentence cannot end in word.
func dangles(word []byte) bool {
	switch string(word) {
	case "the", "a", "an", "and", "or", "but", "to", "of", "in", "for", "with", "by", "from", "that", "which", "is", "are", "was",
		"will", "be", "my", "your", "its", "this", "as", "at", "on", "if", "then", "so", "not", "into", "because", "while", "when",
		"und", "oder", "der", "die", "das", "den", "ein", "eine", "mit", "für", "zu", "von", "im", "dass", "ist",
		"y", "o", "el", "la", "los", "las", "un", "una", "de", "del", "para", "con", "que", "en", "es",
		"et", "ou", "le", "les", "une", "des", "du", "pour", "avec", "dans", "est", "e", "os", "um", "uma", "do", "da", "com", "em", "é",
		"и", "или", "в", "на", "с", "к", "для", "что", "не", "по", "из", "от", "а", "но", "чтобы":
		return true
	}
	return false
}

// entries returns the phrases of all languages.
func entries() []entry {
	return slices.Concat(english(), german(), french(), spanish(), portuguese(), russian(), chinese(), japanese(), korean(), others(), waiting())
}

func german() []entry {
	return []entry{
		{step | later, "{danach/anschließend} {werde/schreibe/mache/füge/baue/erstelle/prüfe/beginne/starte/lese/ergänze/implementiere/teste/kümmere/gehe/setze/sehe/schaue/passe/behebe/nehme/lege/fasse} ich"},
		{step, "{jetzt/nun/als nächstes/zunächst/zuerst} {werde/schreibe/mache/füge/baue/erstelle/prüfe/beginne/starte/lese/ergänze/implementiere/teste/kümmere/gehe/setze/sehe/schaue/passe/behebe/nehme/lege} ich|ich {werde/mache/schreibe/beginne/starte/prüfe/fange/füge/baue/erstelle/gehe/nehme/lege/setze/schaue} {jetzt/nun/als nächstes/zunächst/zuerst}|^ich {schreibe/ergänze/mache/baue/erstelle/prüfe/beginne/starte/lese/füge/implementiere/behebe/korrigiere/passe/schaue/setze/lege/teste/kümmere} |ich werde|ich mache mich|lass mich|lassen sie mich"},
		{start, "^als nächstes|^nun zu|^weiter {mit/geht}|^schauen wir|^ich fange |{baue/schreibe/mache/prüfe} ich jetzt"},
		{hang, "dann |wenn |sobald|falls |bis du|bis sie|bevor|sonst"},
		{consent, "{sobald/wenn/falls/nachdem/bis} {du/sie} |nach {deiner/ihrer} {freigabe/bestätigung/zustimmung}|wenn das {so passt/passt/in ordnung/okay/gut}|falls das passt"},
		{can, "ich kann|kann ich|mache ich|lege ich|beginne ich|fange ich|starte ich|gehe ich|ich würde|werde ich|lösche ich"},
		{request, "bitte {bestätige/bestätigen/gib mir/geben sie/sag mir/sagen sie/wähle/wählen sie/entscheide/entscheiden sie/teile mir/teilen sie mir/prüfe/prüfen sie/antworte}|{warte/warten} {/weiter /noch /hier }auf {deine/ihre/dein/ihr/dich/sie/eine antwort/bestätigung/freigabe}|{gib/geben sie} {mir/mir kurz} bescheid, {wenn/sobald/ob/welche/wie}|sag mir{,/ bitte,/ kurz,} {ob/welche/welches/welchen/wie/wann/was/wenn}|{brauche/benötige} {/dafür /dazu }{/noch }{deine/ihre/dein/ihr} |^{wähle/wählen sie/entscheide dich/entscheide du/bitte einmal/bitte kurz/bitte selbst}|ich warte hier|ich halte hier an|kann ich nicht {weitermachen/fortfahren}|{deine/ihre} entscheidung."},
		{request, "^{soll/sollen/darf} {ich/wir}|^möchtest du|^möchten sie|^willst du"},
		{nothing, "^bitte {einmal/kurz} {warten/geduld/um geduld/gedulden/einen moment}"},
		{request, "^{sag/sage/antworte/antworte mit} @|{und/dann} {sag/sage} @"},
		{tell, "bescheid, {wenn/sobald} {der/die/das/es/er/alles/du fertig/du soweit/du so weit}|{sag/sage/sagen sie/gib/geben sie} {/mir }{/nur /einfach /kurz /dann }bescheid|{erzähl/erzähle/schick/schicke/zeig/zeige/beschreib/beschreibe} mir"},
		{offer, "bei {fragen/rückfragen/problemen/unklarheiten} {sag/sagen sie/gib/geben sie}|bescheid, {wenn/falls} ich {noch/etwas}"},
		{offerOnly, "{wenn/falls} {/du /sie }{noch/weitere/etwas/sonst/irgend/fragen/probleme/änderung/anpassung/hilfe}*|wenn du {willst/möchtest/magst}|wenn sie {wollen/möchten}|falls du {willst/möchtest}|falls sie {wünschen/möchten}|bei bedarf|gerne kann ich"},
		{leaning, "ich {würde/empfehle/tendiere}|meine empfehlung|mein vorschlag|^{hinweis/tipp/anmerkung/übrigens/nebenbei/side-hinweis}"},
	}
}

func french() []entry {
	return []entry{
		{step, "^je {vérifie/corrige/ajoute/crée/lance/teste/lis/regarde} |je vais|je m'en vais|je passe {maintenant/à/au}|{maintenant/ensuite/à présent/d'abord}, je|je {commence/continue/poursuis/procède} {maintenant/par/avec/à}|nous allons|passons {à/au/maintenant}|laissez-moi|laisse-moi|commençons"},
		{start, "^ensuite|^maintenant,|^prochaine étape :|^étape suivante|^regardons|^voyons"},
		{hang, "si |dès que|une fois que|avant que|jusqu'à|sinon|selon "},
		{consent, "{dès que/une fois que/quand/après que} {tu/vous}|{après/avec/sans} {ta/votre/ton} {validation/accord/confirmation/feu vert}|si {cela/ça} {te/vous} {convient/va}|si {c'est/tout est} {bon/ok}|si {tu confirmes/vous confirmez/tu es d'accord/vous êtes d'accord}"},
		{can, "je peux|je pourrai|je passe|je continue|je commence|je lance|je m'en occupe"},
		{request, "{confirmez/confirme}{-moi/ que/ si/ et/ pour/ avant/ moi/./,}|merci de {confirmer/me dire/valider/choisir/préciser}|veuillez {confirmer/choisir/valider/préciser/indiquer/fournir}|{dites-moi/dis-moi} {si je/quand/quel/quelle/lequel/laquelle/ce que/comment/où/lesquels}|{j'attends/en attente de} {ta/votre/ton/vos/tes}|j'ai besoin de {ton/ta/votre/vos}|je ne peux pas {continuer/poursuivre} {sans/avant/tant}|^{dois-je/puis-je/veux-tu/voulez-vous/souhaites-tu/souhaitez-vous}|à {toi/vous} de {choisir/décider}"},
		{tell, "{dis-moi/dites-moi/fais-moi signe/faites-moi signe/préviens-moi/prévenez-moi}"},
		{offer, "{dis-moi/dites-moi/fais-moi signe/faites-moi signe/préviens-moi/prévenez-moi} {s'il y a/en cas de}"},
		{offerOnly, "si {quelque chose/jamais/tu as/vous avez/un problème/autre chose/tu rencontres/vous rencontrez}|si {tu veux/vous voulez/tu le souhaites/vous le souhaitez/besoin/tu souhaites/vous souhaitez}|n'hésitez pas|n'hésite pas"},
		{leaning, "je {recommande/conseille/penche/préfère/pencherais/préférerais/recommanderais}|ma {recommandation/préférence}"},
	}
}

func spanish() []entry {
	return []entry{
		{step, "voy a|vamos a|{ahora/a continuación/luego/primero/después}{,/} {voy/paso/añado/creo/escribo/empiezo/reviso/agrego/implemento/ejecuto/continúo/procedo}|{empiezo/comienzo/continúo/procedo/sigo} {con/a/ahora/por}|déjame|permíteme|empecemos|ahora me"},
		{start, "^ahora,|^a continuación|^{revisemos/veamos}|^{seguiré/continuaré} |^siguiente paso:"},
		{hang, "si |cuando |en cuanto|una vez que|antes de que|hasta que|de lo contrario|según "},
		{consent, "{cuando/en cuanto/una vez que/hasta que} {me/lo/confirmes/apruebes/decidas/elijas/digas/confirme/apruebe}|si {te parece/le parece/estás de acuerdo/está de acuerdo/todo está bien/confirmas/esto te}|con tu {aprobación/confirmación/visto bueno/ok}"},
		{can, "puedo|podría|empiezo|sigo|continúo|paso a|procedo|lo hago"},
		{request, "por favor,_{confirma/confirme/elige/indica/dime}|por favor {confirma/confirme/confírmame/elige/elija/indica/indícame/dime/proporciona}|^{confirma/confírmame/confirme}|dime si {sigo/continúo/procedo/empiezo/lo /debo/avanzo/te }|^{elige/elija} |{dime/avísame/dígame/indícame} {cuál/cuando/cuándo/qué/si lo/si debo/si procedo/si continúo/cómo/si prefieres}|{espero/esperando/a la espera de} {tu/su/tus} |{necesito/requiero} {tu/su/que me/que confirmes} |no puedo {continuar/seguir} {sin/hasta}|{quedo/me quedo} {a la espera/esperando}|tú decides|depende de ti"},
		{tell, "{dime/avísame/dígame/avíseme/cuéntame}"},
		{offer, "{dime/avísame/dígame/avíseme} {en caso de/de cualquier/cualquier/si hace falta algo/si hace falta más}|cualquier {cosa/duda/problema/pregunta}, {/me /solo }{dime/avísame/dígame/avíseme/dices/avisas}"},
		{offerOnly, "si {tienes/tiene/hay/surge/encuentras/algo/ves}|si {quieres/lo deseas/quiere/necesitas/deseas/gustas}|no dudes en"},
		{leaning, "{yo elegiría/recomiendo/sugiero/yo optaría/me inclino/yo iría/prefiero}|mi {recomendación/sugerencia/preferencia}"},
	}
}

func portuguese() []entry {
	return []entry{
		{step, "vou |vamos |{agora/a seguir/em seguida/depois/primeiro}{,/} {vou/passo/crio/escrevo/começo/adiciono/implemento}|{começo/continuo/prossigo/sigo} {com/agora/para}|deixe-me|deixa eu|irei"},
		{start, "^agora,|^{continuando/prosseguindo} |^a seguir|^em seguida|^próximo passo:"},
		{hang, "se |quando |assim que|depois que|antes que|até que|caso "},
		{consent, "{assim que/quando/depois que} {você/confirmar/me /aprovar}|se {estiver de acordo/concordar/estiver tudo bem/você confirmar/você concordar/estiver bom}|com {sua/a sua} {aprovação/confirmação}"},
		{can, "posso|poderia|começo|continuo|sigo|prossigo"},
		{request, "por favor, {confirme/confirma/escolha/informe/me diga/indique}|por favor {confirme/confirma/escolha/informe/indique}|^{confirme/confirma}|{me diga/diga-me/me avise/avise-me} {qual/quando/se devo/se posso/como/o que/quais}|{aguardo/aguardando/esperando/à espera de} {sua/seu/a sua/o seu} |{preciso/necessito} {da sua/do seu/de sua/que você}|não posso {continuar/prosseguir} {sem/até}|você decide"},
		{nothing, "vou {aguardar/esperar}"},
		{request, "vou {aguardar/esperar} {sua/seu/a sua/o seu/você}"},
		{tell, "{me avise/me avisa/avise-me/me diga/diga-me/me conte/me conta}|me autorizar"},
		{offer, "{me avise/me avisa/avise-me/me diga/diga-me} {em caso de/de qualquer/qualquer/se gostaria}|qualquer {coisa/dúvida/problema/pergunta}, {/é só /só }{me avise/me avisa/me avisar/avise-me/me diga/diga-me}"},
		{offerOnly, "se {tiver/houver/surgir/encontrar/algo}|se {quiser/você quiser/desejar/precisar}|caso {queira/precise/deseje}"},
		{leaning, "{eu escolheria/recomendo/sugiro/eu optaria/eu iria/prefiro}|minha {recomendação/sugestão/preferência}"},
	}
}

func russian() []entry {
	return []entry{
		{step, "{сейчас/теперь/далее/дальше/затем/сначала/следующим шагом} {я /займусь/добавлю/сделаю/напишу/создам/проверю/исправлю/перейду/запущу/посмотрю/перехожу/начну/начинаю/реализую/обновлю/подключу/пишу/делаю/допишу/прочитаю/изучу}|я {сейчас/теперь/сделаю/добавлю/напишу/создам/проверю/исправлю/начну/запущу/займусь/перейду/посмотрю/буду}|{перехожу/приступаю/продолжаю/начинаю} |{давайте/давай} {я /посмотрим/проверим/начнём/начнем}|^{продолжаю/приступаю/начинаю/исправляю/проверяю/запускаю/делаю/смотрю/изучаю}|позвольте мне|дайте мне посмотреть|{добавлю/напишу/займусь/проверю/запущу/исправлю/создам} {теперь/сейчас}"},
		{start, "теперь {нужно/надо/пора/осталось/можно}|мне {нужно/надо} |^сейчас|^далее|^дальше|^следующий шаг:|^{добавляю/создаю/пишу/вношу/обновляю/перехожу/сделаю/исправлю/обновлю/напишу/создам/буду/займусь/проверю/проверим/добавлю/посмотрю/посмотрим}"},
		{atOnce, "{сейчас/прямо сейчас}{./!}"},
		{hang, "после |^тогда |если |как только|когда вы|когда ты|после того|пока вы|пока ты|прежде чем|иначе|в противном"},
		{consent, "{как только/когда/после того как/если/пока} {вы/ты} |после {вашего/твоего/подтверждения/одобрения/согласования/ответа}|если {всё/все} {верно/устраивает/хорошо/ок}|если {согласны/согласен/да/так}"},
		{can, "могу|начну|сделаю|продолжу|приступлю|перейду|я бы"},
		{nothing, "я буду {рад/ждать}|сейчас {всё/все} "},
		{request, "{подтвердите/подтверди}*|{жду/ожидаю} {ваш/вас/твоег/твой/подтвержд/ответ/решени/указани/команды/одобрени}*|{нужно/требуется/необходимо/нужен} {ваше/твоё/твое/ваш/твой/ваша} |{выберите/выбери/уточните/уточни/укажите}{ /,} |не могу {продолжать/продолжить} {без/пока}|{продолжить/продолжать} не могу|^выбира{й/йте}|{выберите/выбери} {вариант/один}|^пришли|{пришлите/предоставьте}|решать {вам/тебе}|решение за {вами/тобой}|на ваше усмотрение|{напишите/напиши/ответьте/скажите} {@/да/продолж/ок/дальше/поехали}*|останавливаюсь здесь|остановлюсь здесь"},
		{tell, "{скажите/скажи/сообщите/сообщи/напишите/напиши}|{дайте/дай} знать"},
		{offerOnly, "если {хотите/хочешь/нужно/потребуется/понадобится/захотите/что-то}|при необходимости|при желании|если {что/есть/возникнут}|обращайтесь"},
		{leaning, "я бы|{рекомендую/предлагаю/советую/склоняюсь}|моя рекомендация|мой выбор"},
	}
}

func chinese() []entry {
	return []entry{
		{step, "我现在|我将|我会|我来|让我|我先|我这就|我要|我们现在|现在我|接下来|下面我|然后我|下一步我|马上|现在开始|现在{补/写/做/来/去/添/更/创/修/实/运/检/进/处/测/编/将/让}|開始|我接着|我继续|继续{实/处/完/写/进/做/执}|首先，我|讓我|我現在|接著|首先让我"},
		{start, "我需要先|^继续|^开始{执/编/实/处/任/第/写}|现在可以开始{编/实/写}|^下一步|^下面|^随后"},
		{nothing, "接下来{你/您/可以/建议/需要您/需要你/的工作}|我会{等/在您/在你}|我将等|我先等|下一步{可以/建议/您/你}|开始前|开始之前|现在{可以/已/所有/您/你/支持}"},
		{hang, "如果|若{您/你/需/有/要}|再继续|后再|^那我|^那么我|之后再|等待|否则|根据您|根据你"},
		{consent, "{您/你}{确认/同意/决定/选择/回复/批准/选好/准备好/提供/告诉}|{确认/同意/批准/审批}{后/之后}|如果{没问题/没有问题/可以/同意/确认/您同意/你同意}|若{无异议/没问题/同意}|没问题的话|可以的话"},
		{can, "我就|我可以|便开始|即可开始|我再|就开始|将继续|立即"},
		{request, "请{确认/您确认/你确认/选择/您选择/回复/批准/指示/审批/审阅/决定/提供/先确认/答复}|请告诉我{是/哪/您/你/要/该/怎/如何/想/选/什么/下一}|等待{您/你}|等{您/你}{的/确认/回复/决定/指示/选择}|等待{用户/确认/批准/指示/回复/进一步}|待{您/你}|{回复/输入/发送/说}{@/一声/继续/数字}|需要{您/你}{确认/决定/提供/选择/来决定/先/的确认/的决定/授权/批准}|由{您/你}{决定/来定}|{您/你}来决定|听{您/你}的|无法继续|不能继续|暂停，等|請{確認/選擇/告訴我}|等候{您/你}"},
		{tell, "告诉我|请告知|告知我|跟我说"},
		{offerOnly, "如果{需要/你想/您想/想/有/你需要/您需要/还/要}|如{需/有}|需要的话|若{需要/有/需}|随时|有任何|任何问题|还有什么需要"},
		{leaning, "我{建议/推荐/倾向/更倾向/觉得/会选}|建议{选/采/用}|推荐|个人倾向"},
	}
}

func japanese() []entry {
	return []entry{
		{step, "^{これから/次に/それでは/では、/続いて/まず/今から/引き続き/次は}"},
		{start, "^現在、|最後に|^続けて|{作成/実行/確認/実装/修正/追加/更新/調査/開始/着手}します"},
		{nothing, "次に{何/どれ/どの/進む/必要}|これからも|次は{何/どれ/どう}|まずは{ご/どちら}"},
		{hang, "たら|場合|次第|まで|あとで|後に|前に"},
		{consent, "よろしければ|問題なければ|ご確認後|承認{後/いただけ/され}|ご承認|確認{いただけ/でき次第}|良ければ|よければ"},
		{can, "進めます|開始します|始めます|実装します|続けます|着手します|進みます"},
		{request, "{確認/ご確認/承認/ご承認/選択/お選び/ご指示/指示/判断/ご判断/回答/ご回答/返信/ご返信/決定}{してください/ください/をお願い/お願い/いただけ/をください}|お待ちし*|ご指示を|ご判断を|選んでください|決めてください|ご確認のほど"},
		{offer, "{必要/ご希望/何か/もし/ご質問/修正}{であれば/があれば/があり/な場合/なら/でしたら/ご不明}"},
		{tell, "声をかけて{ください/いただけ/下さい}|教えて{ください/いただけ/下さい}|お知らせください|知らせてください"},
		{offerOnly, "必要{であれば/なら/に応じ}|ご希望{であれば/なら/でしたら}|何か{あれば/ありまし}|もし{必要/何か/ご}|ご不明|ご質問があれば|お気軽に"},
		{leaning, "{おすすめ/お勧め/推奨}|個人的には|私なら"},
	}
}

func korean() []entry {
	return []entry{
		{step, "이제 |지금 |다음으로|다음은|그럼 |먼저 |계속해서|이어서|바로 "},
		{nothing, "이제 {모든/모두}|지금 {까지/바로 확인}|다음은 {어떤/무엇}"},
		{start, "겠습니다"},
		{hang, "하면|되면|시면|전에|까지|경우|면 "},
		{consent, "{확인/승인/결정/선택/말씀}{해 주시면/해주시면/하시면/후/되면}|괜찮으{시면/면}|동의하시면|답변 주시면"},
		{can, "진행하겠|시작하겠|계속하겠|이어가겠"},
		{request, "{확인/승인/선택/결정/답변/검토/회신/지시}{해 주세요/해주세요/ 부탁/ 바랍니다/해 주십시오/해주십시오/을 부탁/ 주세요/주세요/해 주시기}"},
		{tell, "알려 주{세요/십시오/시기}|알려주{세요/십시오}|말씀해 주{세요/십시오}|말씀해주{세요/십시오}|말씀 주세요"},
		{offerOnly, "필요{하시면/하면/한 경우}|있으면|있으시면|원하{시면/신다면}|궁금한|언제든"},
		{leaning, "추천{합니다/드립니다/은}|권장|제 생각"},
	}
}

// others are the phrases of Arabic, Hindi, Vietnamese and Thai.
func others() []entry {
	return []entry{
		{step, "سأ*|وسأ*|الآن س*|سوف |دعني|لنبدأ|سنقوم|الآن أ*|هيا "},
		{hang, "إذا |عندما |بمجرد|بعد أن|قبل أن|حتى "},
		{consent, "{بعد/بمجرد} {موافقتك/تأكيدك/أن تختار/أن تؤكد}|عند موافقتك"},
		{request, "يرجى {التأكيد/تأكيد/الاختيار/اختيار/إخباري/الموافقة}|{أخبرني/أعلمني} {أي/متى/كيف/ماذا/بما/هل/عندما}*|{بانتظار/في انتظار/أنتظر} {ردك/تأكيدك/موافقتك/قرارك}|أكد لي|الرجاء {التأكيد/تأكيد/الاختيار}"},
		{offerOnly, "إذا {أردت/رغبت/كنت تريد/احتجت}|إن أردت|لا تتردد"},
		{step, "अब मैं|मैं अब|चलिए|चलो |आगे मैं|मुझे {देखने/जांचने} दें|पहले मैं"},
		{hang, "अगर |यदि |जब आप|जैसे ही"},
		{request, "कृपया {पुष्टि/बताएं/बताइए/चुनें/पुष्टि करें/अनुमति}|मुझे {बताएं/बताइए} {कि/कौन/कब/क्या}|आपकी {पुष्टि/अनुमति/प्रतिक्रिया} {का/की} "},
		{offerOnly, "{अगर/यदि} आप {चाहें/चाहते/चाहे}|ज़रूरत हो तो"},
		{step, "tôi sẽ|bây giờ tôi|tiếp theo tôi|tiếp theo, tôi|để tôi|mình sẽ|em sẽ|giờ tôi"},
		{start, "^tiếp theo|^bây giờ"},
		{hang, "nếu |khi bạn|sau khi|trước khi|cho đến"},
		{consent, "{khi/sau khi/nếu} bạn {xác nhận/đồng ý/chọn/phê duyệt/duyệt}"},
		{request, "{vui lòng/hãy/xin} {xác nhận/chọn/cho tôi biết/cho biết/phản hồi/duyệt}|đang chờ {bạn/phản hồi/xác nhận/ý kiến}|chờ {bạn xác nhận/phản hồi của bạn/xác nhận của bạn/ý kiến của bạn}|{bạn/cho tôi} biết {bạn chọn/bạn muốn}"},
		{offerOnly, "nếu bạn {muốn/cần}|nếu cần"},
		{step, "ตอนนี้ฉัน|ตอนนี้ผม|ต่อไปฉัน|ต่อไปผม|ผมจะ|ฉันจะ|เดี๋ยวผม|ต่อไปจะ|ดิฉันจะ"},
		{start, "^ต่อไป"},
		{hang, "ถ้า|หาก|เมื่อคุณ|หลังจาก|ก่อนที่"},
		{consent, "เมื่อคุณ{ยืนยัน/เลือก/อนุมัติ}|หลังจากคุณ"},
		{request, "{กรุณา/โปรด}{ยืนยัน/เลือก/แจ้ง/บอก/ตอบ}|รอ{การยืนยัน/คำตอบ/คุณ}|บอกผม{ว่า/เมื่อ/ได้เลย}"},
		{offerOnly, "ถ้าต้องการ|หากต้องการ|ถ้าคุณต้องการ|หากคุณต้องการ"},
	}
}

// questionEndings are the endings that make a question where no mark is usual.
func questionEndings() []string {
	return []string{
		"ですか", "ますか", "でしょうか", "ましょうか", "ませんか",
		"까요", "나요", "습니까", "입니까", "합니까", "됩니까", "할까", "을까",
		"吗", "嗎", "呢", "哪个", "哪一个", "哪個", "哪一個",
		"ไหม", "มั้ย", "หรือไม่", "หรือเปล่า", "แบบไหน", "อันไหน",
	}
}

// politeEndings are words that may follow questionEndings.
func politeEndings() []string {
	return []string{"ครับ", "ค่ะ", "คะ"}
}
