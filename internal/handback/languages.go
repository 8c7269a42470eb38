package handback

import "slices"

// entries returns the phrases of all languages.
func entries() []entry {
	return slices.Concat(english(), german(), french(), spanish(), portuguese(), russian(), chinese(), japanese(), korean(), others())
}

func german() []entry {
	return []entry{
		{step, "{jetzt/nun/als nächstes/zunächst/zuerst/danach/anschließend} {werde/schreibe/mache/füge/baue/erstelle/prüfe/beginne/starte/lese/ergänze/implementiere/teste/kümmere/gehe/setze/sehe/schaue/passe/behebe/nehme/lege} ich|ich {werde/mache/schreibe/beginne/starte/prüfe/fange/füge/baue/erstelle/gehe/nehme/lege/setze/schaue} {jetzt/nun/als nächstes/zunächst/zuerst}|^ich {schreibe/ergänze/mache/baue/erstelle/prüfe/beginne/starte/lese/füge/implementiere/behebe/korrigiere/passe/schaue/setze/lege/teste/kümmere} |ich werde|ich mache mich|lass mich|lassen sie mich"},
		{start, "^als nächstes|^nun zu|^weiter {mit/geht}|^schauen wir|^ich fange |{baue/schreibe/mache/prüfe} ich jetzt"},
		{hang, "dann |wenn |sobald|falls |bis du|bis sie|bevor|sonst"},
		{consent, "{sobald/wenn/falls/nachdem/bis} {du/sie} |nach {deiner/ihrer} {freigabe/bestätigung/zustimmung}|wenn das {so passt/passt/in ordnung/okay/gut}|falls das passt"},
		{can, "ich kann|kann ich|mache ich|lege ich|beginne ich|fange ich|starte ich|gehe ich|ich würde|werde ich|lösche ich"},
		{request, "bitte {bestätige/bestätigen/gib mir/geben sie/sag mir/sagen sie/wähle/wählen sie/entscheide/entscheiden sie/teile mir/teilen sie mir/prüfe/prüfen sie/antworte}|{warte/warten} auf {deine/ihre/dein/ihr/dich/sie/eine antwort/bestätigung/freigabe}|{gib/geben sie} {mir/mir kurz} bescheid, {wenn/sobald/ob/welche/wie}|sag mir{,/ bitte,/ kurz,} {ob/welche/welches/welchen/wie/wann/was/wenn}|{brauche/benötige} {/noch }{deine/ihre/dein/ihr} |^{wähle/wählen sie/entscheide dich}|ich warte hier|ich halte hier an|kann ich nicht {weitermachen/fortfahren}|{deine/ihre} entscheidung."},
		{request, "^{soll/sollen/darf} {ich/wir}|^möchtest du|^möchten sie|^willst du"},
		{tell, "bescheid, {wenn/sobald} {der/die/das/es/er/alles/du fertig/du soweit/du so weit}"},
		{offerOnly, "wenn du {willst/möchtest/magst}|wenn sie {wollen/möchten}|falls du {willst/möchtest}|falls sie {wünschen/möchten}|bei bedarf|gerne kann ich"},
		{leaning, "ich {würde/empfehle/tendiere}|meine empfehlung|mein vorschlag|ich würde"},
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
		{offerOnly, "si {tu veux/vous voulez/tu le souhaites/vous le souhaitez/besoin/tu souhaites/vous souhaitez}|n'hésitez pas|n'hésite pas"},
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
		{offerOnly, "si {quieres/lo deseas/quiere/necesitas/deseas/gustas}|no dudes en"},
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
		{offerOnly, "se {quiser/você quiser/desejar/precisar}|caso {queira/precise/deseje}"},
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
		{request, "{подтвердите/подтверди}*|{жду/ожидаю} {ваш/вас/твоег/твой/подтвержд/ответ/решени/указани/команды/одобрени}*|{нужно/требуется/необходимо/нужен} {ваше/твоё/твое/ваш/твой/ваша} |{выберите/выбери/уточните/уточни/укажите}{ /,} |не могу {продолжать/продолжить} {без/пока}|{продолжить/продолжать} не могу|^выбира{й/йте}|{выберите/выбери} {вариант/один}|^{пришлите/пришли/предоставьте}|решать {вам/тебе}|решение за {вами/тобой}|на ваше усмотрение|{напишите/напиши/ответьте/скажите} {@/да/продолж/ок/дальше/поехали}*|останавливаюсь здесь|остановлюсь здесь"},
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
		{request, "{確認/ご確認/承認/ご承認/選択/お選び/ご指示/指示/判断/ご判断/回答/ご回答/返信/ご返信/決定}{してください/ください/をお願い/お願い/いただけ/をください}|お待ちし*|待っています|待ちます|ご指示を|ご判断を|選んでください|ご確認のほど"},
		{offer, "{必要/ご希望/何か/もし/ご質問/修正}{であれば/があれば/があり/な場合/なら/でしたら/ご不明}"},
		{tell, "教えて{ください/いただけ/下さい}|お知らせください|知らせてください"},
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
		{request, "{확인/승인/선택/결정/답변/검토/회신/지시}{해 주세요/해주세요/ 부탁/ 바랍니다/해 주십시오/해주십시오/을 부탁/ 주세요/주세요/해 주시기}|기다리{겠/고 있}"},
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
		{request, "कृपया {पुष्टि/बताएं/बताइए/चुनें/पुष्टि करें/अनुमति}|मुझे {बताएं/बताइए} {कि/कौन/कब/क्या}|आपकी {पुष्टि/अनुमति/प्रतिक्रिया} {का/की} |{प्रतीक्षा/इंतज़ार/इंतजार} {कर रहा/कर रही/है/में}"},
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
