package handback

import "slices"

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
		{step, "^{moving on/proceeding/continuing} {to/with/now}|^{starting/beginning} {now/with}|{i'm/i am} {proceeding/continuing/moving on/starting}"},
		{step, "{i'll/i will} keep {going/working}|{i'm/i am} about to|^{time/now} to|^on to|^onto the|^here goes"},
		{start, "i {need to/should/must/have to} |and {starting/moving on/proceeding/continuing} |^now that |^now {step/back}|^back to|^next {task/todo/item}:|^on it{./!/,/ -/ —}|^will do{./!}|{please/just} {hold on/wait}|one moment|{i'll/i will} wait for {the/it/this/that/all}|{task/step} {1/2/3/4/5/6/7/8/9} next|^{starting/working on/proceeding/continuing/going to/gonna/will now/resuming/picking up}|^next:|^next,|^next up|^now:|^now for|^now the|^now,|^next step:|^next is|^next comes|^up next"},
		{start, "^{implementing/creating/adding/writing/running/updating/fixing/checking/reading/building/testing/looking at} {the/a/this/it/them/now}"},
		{start, "{i'm/i am} {implementing/creating/adding/writing/running/updating/fixing/checking/reading/building/testing/looking/working}"},
		{start, "^now {executing/onto/on to/moving/working/starting/continuing/proceeding/wiring/implementing/creating/adding/writing/running/updating/fixing/checking/reading/building/testing}"},
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
		{request, "standing by {for/.}|^standing by|i'll stand by|i'm standing by|^your {call/move/turn/choice}|ready when you are|whenever you're ready|{when/whenever} you are{./!}|to {continue/proceed}, i{/'ll} need|you need to {approve/confirm/decide/choose}|before i can {continue/proceed/start}|it's your call|that's your call|is your call|{is/it's} up to you|over to you|i leave it to you|i'll leave {that/it/the decision/this} to you|ball is in your court|the choice is yours|you decide"},
		{request, "please {confirm/approve/choose/pick/select/decide/advise/clarify/specify/provide/share/paste/upload/answer/respond/reply/review/verify/tell me/grant/indicate/say}|please {send/give} me|please let me know {when/which/whether/how/what/where/who/your/once}"},
		{request, "{need/needs/require/requires/want/need to get/need to have} your|i {need/require} {you to/a decision/an answer/approval/confirmation/permission/input/clarification/guidance/direction}|{i'll/i will/i'd/i would} need {your/you to/a decision/an answer/approval/confirmation/permission}|need from you|from you {to/before}|would {like/love/appreciate} your|i'd {like/love/appreciate} your|i want your|pending your"},
		{request, "{check/confirm} {with you/this with you/a few things/one thing/two things}|i'd like to {check/confirm}|i need to know"},
		{request, "{waiting/paused/pausing/holding/stopped/stopping} {for you/until you/for your}|{i'll/i will/let me/and/i'd} {wait/pause/hold/stop} {for you/until you/for your}|{i'll/i will/let me} {wait/pause/hold/stop} here|{i'm/i am} {waiting/pausing/holding/stopping} here|{i've/i have} {paused/stopped} here"},
		{request, "^{stopping/pausing/holding/waiting/paused/stopped} {here./here,/here for/here as/here so/here until/here to/for you/until you/for your}|{hold off/holding off} {until/for/on}"},
		{stuck, "{cannot/can't/unable to/not able to} {continue/proceed/go on/go further/move on/complete/finish/start/begin/test/do}"},
		{without, "without"},
		{stuck, "i won't|{i'll/i will} not |i haven't {started/pushed/touched/changed/applied/run/committed}|i have not {started/pushed/touched/changed/applied/run/committed}"},
		{request, "^{shall/may} {i/we}|^would you {like/prefer/rather}|^do you {want/prefer/have a preference/approve/agree}|^want me to|^should {i/we} {proceed/continue/go/start/use/keep/add/do/make/move/take}|^which {one/option/approach/of these} {do/would/should}|^how {would you like/do you want/should i/should we}|^what would you like|^{could/can} you {provide/share/send/confirm/clarify/tell/paste/run/check/please}|i have {two/three/four/a few/some/a couple of/several} questions|from your side|to go on{/,} i need|^are you {ok/okay/happy/fine}|^ready to {proceed/continue}"},
		{request, "{tell me/let me know} {when/which/whether/how you/how you'd/how you're/what you'd/how to/how i/what you/what to/where/who/your/once/and i'll/and i will/and i can/and we'll/and then/the/if i should/if you approve/if you agree/if you'd rather/if you would rather/if you prefer/if you'd prefer/what i/so i can/with}"},
		{tell, "{let me know/tell me}{./!}"},
		{request, "let me know how{./!}|{let me know/tell me} if {that's/this is/it's/that/this/the plan/it} {ok/okay/what you/the right/works/looks good/looks right/sounds good}"},
		{request, "^{your thoughts/thoughts/feedback} {welcome/appreciated}.|before i {continue/proceed/start/begin}, {please/tell/confirm}|happy to go {either way/with either}|{looking forward to/interested in/curious about} your"},
		{request, "{tell me/let me know} how {it/that} {looks/goes} and|^what's needed from you|^needed from you|^blocked on you|{blocked/stuck} {until you/on your/without your}|^decision needed|^your options|^pick one|^choose one|^pick {a/b/c/1/2} or|^choose {a/b/c/1/2/between}"},
		{tell, "tell me how|let me know how"},
		{imperative, "^{confirm/approve/pick/choose/select/give/send/paste/share/provide/grant/drop/tell/run /restart/check/review/take a look/have a look/look it over/verify/test/try /put /set /add /start/open/log in/install/export/please/just/point/read/push/merge/answer/upload/enable/create/decide/ok this/feedback/any }"},
		{andStep, "and {tell me/report back/let me know}|then tell me|then let me know|{and/then} {i'll/i will/i can/we can/we'll/i'd}"},
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
		{leaning, "no {rush/strong preference/preference}|either {way works/works/is fine/way is fine}|^{default/defaults} {is/to/are}|^for {context/reference}|^{note/fyi,/fyi:}"},
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
