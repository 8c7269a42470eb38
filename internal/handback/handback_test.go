package handback_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// asking are ends that ask the user something.
var asking = []string{
	// English: questions
	"Shall I take the next one?",
	"Two of the six parts are finished. Shall I do the third?",
	"Which of the two do you want?",
	"I found two ways to do this.\n\nWhich one do you prefer?\n\n1. A table per tenant\n2. One table with a column\n3. Or something else?",
	"Which one?\n\n1. Keep the old route\n\n2. Redirect it\n\n3. Drop it",
	"Which one?\n\n1. Keep the old route\n\n2. Redirect it\n\nI would take B.",
	"Which one?\n\n- keep\n- drop\n\nI lean towards dropping it, since nobody calls it.",
	"Which first? (I recommend the parser.)",
	"I will add it. Any objections?",
	"I will now drop the tables. May I?",
	"Is B right? I will start once you have chosen.",
	"**May I?**",
	"(May I go on?)",
	"May I? 🚀",
	"Shall I apply this change?\n\n```diff\n-a\n+b\n```",
	"Shall I apply this change?\n```diff\n-a\n\n+b\n```",
	"## Do you want the long or the short form?",
	"| Topic | Question |\n|---|---|\n| Cache | Shared or per user? |",
	"This will delete these three branches for good:\n- old/a\n- old/b\n\nWant me to go ahead?",
	"Want me to go ahead with `rm -rf build/`? It frees 3 GB.",
	"Would you like me to continue with `parser.go`?",
	"Do we want https://example.org/a or https://example.org/b?",
	"Before I touch the schema: is the `users` table used by anyone else?\n\n> An earlier note",
	"Does that match what you meant? If so, I'll write the migration.",
	"Should I use Redis? Otherwise I'll keep the map.",
	"Sound good? I'd start with the model.",
	"Open points:\n- Is the key rotated?\n- Who owns the bucket",
	"How should errors be shown?\n\n**A** - as a toast\n\n**B** - inline\n\nBoth are easy to change later.",
	"Ready for part 2 of 5?",
	"Should I merge it?\r\n",
	"Do you want me to continue?\n\n---\n",
	"Which one should it be?\n\n1. I'll rewrite the loop\n2. I'll keep the loop and cache",
	"What do you think?!",
	"Proceed with the deletion (y/n)?",
	"Shall I commit?\n\nI'd recommend doing it before the rebase.",
	"Do you want tests for this too?\n\nLet me know if you have other wishes.",
	"Would you like me to proceed.",
	// English: statements
	"This removes the table for good. Please confirm.",
	"Put the key into .env and tell me when it is there.",
	"Type go to start part 4.",
	"Say the word and I start.",
	"Say \"continue\" and I'll do part 3.",
	"Reply with **yes** to proceed, or tell me what to change.",
	"Just reply `ok` to continue.",
	"If this outline looks right, I'll move on to the router.",
	"Please confirm, and I'll apply it.",
	"Ready for feedback before I begin with part 2.",
	"Once you approve, I'll open the pull request.",
	"I'll wait here until the token is set.",
	"I'm pausing here for your review.",
	"I cannot continue until the database is reachable from here.",
	"Waiting for your decision on the two layouts.",
	"Awaiting your go-ahead.",
	"Let me know which of these you want.",
	"Let me know whether to keep the old flag, and I'll finish the migration.",
	"Here are the options:\n\n1. Rebase\n2. Merge\n\nLet me know how you'd like to proceed.",
	"The plan has four steps. Please review it before I start with the code.",
	"I need your API key before I can test the upload.",
	"Your call.",
	"I'll stop here as you asked; tell me when I should go on.",
	"Pick one and I'll implement it.",
	"After your approval I will push the branch.",
	"I've stopped here for your review of the first two modules.",
	"Please choose one of these:\n\n- blue\n- green",
	"Give me the go-ahead and I'll run the migration.",
	"I won't push anything until you confirm.",
	// German
	"Soll ich weitermachen?",
	"Das löscht alle Daten. Bitte bestätige das.",
	"Teil 1 ist fertig. Sag mir, welche Variante du willst.",
	"Ich warte auf deine Freigabe.",
	"Sobald du zustimmst, kann ich die Migration starten.",
	// French
	"On continue avec le module 5 ?",
	"J'ai deux pistes. Laquelle préférez-vous ?\n\n- la file\n- le cache",
	"Cela supprime la table. Confirmez avant que je continue.",
	// Spanish
	"¿Lo incluyo o lo dejo?",
	"El esquema está listo. ¿Sigo con las rutas? Yo empezaría por la de usuarios.",
	"Esto borra la tabla. Por favor, confirma.",
	// Portuguese
	"Quer que eu continue com os testes?",
	"Isso apaga os dados. Aguardo sua confirmação.",
	// Russian
	"Продолжаем?",
	"Готово две части из пяти. Делать третью?",
	"Таблица будет удалена. Подтвердите, пожалуйста.",
	"Жду вашего решения по схеме.",
	"Какой вариант выбрать?\n\n1. Индекс\n2. Кэш\n\nЯ бы взял второй.",
	// Chinese
	"要我现在开始吗？",
	"是否继续下一步？",
	"（需要我先看看吗？）",
	"您想用哪种方案？\n\n1. 重写\n2. 修补",
	"（需要我先看看吗？）\n\n- 看日志\n- 看配置",
	"需要我继续吗",
	"第一部分已完成。请确认后我再继续。",
	"等待您的确认。",
	"两个方案都可以，你想要哪一个",
	// Japanese
	"どちらにしますか。",
	"次のステップに進んでもよろしいでしょうか",
	"テーブルを削除します。確認してください。",
	"どの方法がよいか教えてください。",
	// Korean
	"계속 진행할까요?",
	"다음 단계로 넘어갈까요",
	"두 가지 방법이 있습니다. 어느 쪽을 원하시나요.",
	"진행하기 전에 확인해 주세요.",
	// Other scripts
	"أي الخيارين تفضل؟",
	"هل أتابع؟ سأبدأ بعد موافقتك.",
	"क्या मैं आगे बढ़ूँ?",
	"Bạn muốn tôi tiếp tục không?",
	"Vui lòng xác nhận để tôi tiếp tục.",
	"ต้องการให้ทำต่อไหมครับ",
	"คุณต้องการแบบไหน",
	"Շարունակե՞մ։",
	"Ποιο από τα δύο θέλεις;",
	"Which one would you like？",
	"ይቀጥል፧",
	"Really⸮",
	strings.Repeat("The log is long and says the same. ", 9000) + "Shall I go on?",
}

// announcing are ends that announce a step, or break off.
var announcing = []string{
	"The form is ready. Now I will style it.",
	"Next, the form.",
	"Next: the tests",
	"Which one?\n\n1. Keep\n2. Drop\n3. Move\n\nI will take B now.",
	"Why was it slow? A missing index. I will add it.",
	"Any objections? I will add it now.",
	"Any questions? I will now write the exporter.",
	"Want me to commit?\n\nFirst, let me run the suite:",
	"Should we cache this?\n\nLet me look at the call sites.",
	"Let me look at the handler:",
	"Now I will add the second",
	"The button says \"Delete?\". I'll add it next.",
	"I've finished the model. Next I'll write the routes.",
	"Good, the tests pass. Moving on to the exporter.",
	"Step 2 is done. Proceeding with step 3.",
	"Now let me update `main.go`:\n\n```go\nx := 1",
	"I'm going to fix the failing test.",
	"Let's start with the parser.",
	"Great! I'll begin by reading the config.",
	"Reading the file now...",
	"I'll do the following:\n- write the model\n- write the routes",
	"The parser handles comments and the",
	"The first two handlers are written. The third one is in the same file as the router and uses",
	"What broke? The lock is taken twice.\n\nNow I'll release it earlier.",
	"> Is this right?\n\nI'll check it against the specification.",
	"Now I'll create the remaining files:\n\n",
	"I'll run the tests before I continue.",
	"Let me check why this fails…",
	"I found the cause,",
	"Jetzt schreibe ich die Tests:",
	"Was fehlt noch? Nur der Index. Ich ergänze ihn jetzt. Ich werde ihn anlegen.",
	"Als Nächstes kümmere ich mich um die Routen.",
	"Je vais maintenant écrire les tests.",
	"Ensuite, je passe au module suivant :",
	"Ahora voy a crear las rutas.",
	"El modelo está listo. Voy a escribir las pruebas.",
	"Agora vou ligar os dois:",
	"Vou criar o arquivo de configuração.",
	"Сейчас добавлю вторую форму.",
	"Почему падало? Не было индекса. Теперь я добавлю его.",
	"Перехожу к следующему пункту.",
	"现在补上测试：",
	"我现在开始写路由。",
	"为什么慢？缺少索引。我现在添加它。",
	"接下来实现登录接口。",
	"次にテストを書きます。",
	"これから設定ファイルを作成します。",
	"이제 테스트를 작성하겠습니다.",
	"다음으로 라우터를 구현하겠습니다.",
	"سأقوم الآن بكتابة الاختبارات.",
	"अब मैं परीक्षण लिखूँगा।",
	"Bây giờ tôi sẽ viết kiểm thử.",
	"ต่อไปผมจะเขียนการทดสอบ",
}

// unclear are reports, offers, and texts whose questions are none.
var unclear = []string{
	"",
	" \n\t\n",
	"🎉",
	"???",
	"Two of five are done.",
	"All tests pass",
	"All tests pass ✅",
	"Done!",
	"The parser is finished and has tests.",
	"Here is what changed:\n\n- the parser\n- the tests",
	"## Summary\n\n- Added the route\n- Fixed the lock",
	"**Status:** three of four items are complete",
	"Run it with:\n\n```sh\nmake run\n```",
	"Files changed: `a.go`, `b.go`",
	"Tell me if you want more.",
	"Let me know if you want anything changed.",
	"If you want, I can do the remaining two next.",
	"If you'd like, I can also add tests.",
	"The docs are at https://host/list?page=",
	"The docs are at <https://host/list?page=2>.",
	"It reads the flag.\n\n```js\nx ? y : z?\n```",
	"It reads the flag.\n\n```js\nconst s = \"really?",
	"It prints this.\n\n~~~\nare you sure?\n~~~",
	"> your question?\n\nThe answer is yes, since version 2.",
	"> your question?\nThe answer is yes, since version 2.",
	"The dialog now says «Удалить?» in bold.",
	"The dialog now says “Delete?” in bold.",
	"Der Knopf heißt jetzt „Löschen?“ und ist rot.",
	"按钮现在显示「删除？」。",
	"The call is `retry?`.",
	"The type is `string?` now.",
	"Why was it slow?\n\nThe index was missing. It is there now.",
	"The value (?) is unknown to the compiler.",
	"| file | lines |\n|---|---|\n| a.go | 12 |",
	"The pattern a?b matches both.",
	strings.Repeat("> is it?\n", 100_000),
	strings.Repeat("\"", 100_000),
	strings.Repeat("“", 100_000),
	"Die Tests laufen durch.",
	"Alles fertig. Wenn du willst, kann ich noch die Doku ergänzen.",
	"Tous les tests passent.",
	"Si vous voulez, je peux ajouter des tests.",
	"Todo está listo.",
	"Si quieres, puedo añadir pruebas.",
	"Tudo pronto. Se quiser, posso adicionar testes.",
	"Готово: все тесты проходят.",
	"Если хотите, могу добавить тесты.",
	"所有测试均已通过。",
	"如果需要，我可以继续添加测试。",
	"如需修改，请告知。",
	"すべてのテストが通りました。",
	"必要であれば、テストも追加できます。",
	"모든 테스트가 통과했습니다.",
	"تم الانتهاء من جميع الاختبارات.",
	"सभी परीक्षण सफल रहे।",
	"Tất cả kiểm thử đều đạt.",
	"การทดสอบผ่านทั้งหมด",
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for want, texts := range map[handback.End][]string{
		handback.Asks: asking, handback.Announces: announcing, handback.Unclear: unclear,
	} {
		for _, text := range texts {
			assert.Equal(t, want.String(), handback.Of(text).String(), "%.300q", text[max(0, len(text)-300):])
		}
	}
}

func TestAnswersOnly(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"yes", "continue", "  B please\n", "", "go on", "да, продолжай", "好的，继续", "the second; then the third",
		strings.Repeat("я", 60), "\n" + strings.Repeat("好", 60) + "\n",
	} {
		assert.True(t, handback.AnswersOnly(message), message)
	}
	for _, message := range []string{
		"what is the difference?", "why？", "لماذا؟", "ինչո՞ւ", "γιατί;", "γιατί\u037e", "ለምን፧", "why⸮", "what ‽", "¿por qué",
		strings.Repeat("я", 61), strings.Repeat("a", 1<<20),
	} {
		assert.False(t, handback.AnswersOnly(message), "%.40s", message)
	}
}

// What stands above changes nothing, and the time is linear, whatever the text.
func FuzzOf(f *testing.F) {
	for _, texts := range [][]string{asking, announcing, unclear} {
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
		assert.Equal(t, got, handback.Of(text+"\n\n> quoted\n"), "a quotation below: %q", text)
		handback.AnswersOnly(text)
	})
}

func TestOfIsLinearAndAllocatesNothing(t *testing.T) { // not parallel: it measures
	for _, part := range []string{
		"> is it?\n", "\"", "“ ", "„ ", "« ", "` ", "~~~ ", "``` ", "~~~\n", "``` x`\n", "- a\n\n", "1. a? I'll\n", "is it? ", "*_", "!!!\n\n",
		"https://", "if ", "let me know if ", "再", "ไหม", "|", "|-|\n", "\n", " ", "\x01", "\xE2", "ա՞", "i'll wait until you say so. ",
	} {
		short, long := strings.Repeat(part, 2_000), strings.Repeat(part, 2_000*measure.Longer)
		assert.Less(t, measure.Slowdown(func() { handback.Of(short) }, func() { handback.Of(long) }), float64(measure.Quadratic), "%q", part)
		assert.Zero(t, measure.Allocations(func() { handback.Of(short) }), "%q", part)
	}
}
