package handback

import "slices"

// waiting are the phrases of texts that say what the agent waits for. One kind names
// work that an agent starts and that goes on by itself. The others say that it still
// runs, that the agent waits for it, that it was begun, and that something happens when
// it is done.
func waiting() []entry {
	return slices.Concat(waitingEnglish(), waitingRomance(), waitingOthers())
}

func waitingEnglish() []entry {
	return []entry{
		{work, `build|builds|compilation|compiler|test suite|suite|tests|test run|e2e|ci_|pipeline*|job|jobs|batch job*|background {task/process/work/command}*
{sub-/sub}agent*|agent|agents|worker|workers|reviewer*|explorer*|researcher*|workflow*|deployment*|deploy|rollout|download*|upload*
install|installation|npm {install/ci}|training|fine-tun*|benchmark*|indexing|crawl*|scan|render|rendering|simulation|evaluation|checks|run|runs
bash process|migration job|backup job|docker build|image build|data load|batch|fuzz*`},
		{runs, `still {running/working/building/compiling/in progress/going/executing/processing/installing/downloading/uploading/training}
still {pending/underway/under way/in flight/queued/at work/busy/churning/cooking/ongoing/being processed}
{is/are} {running/executing/compiling/underway/under way/in progress/in flight/at work/ongoing/being built}|{is/are} {now/currently} {running/working/executing/building/compiling}
running now|running in {the background/parallel}|in the background|in progress|currently {running/building/compiling/executing/at}
{hasn't/haven't/has not/have not} {finished/returned/reported/completed/come back/responded}|not {done/finished/back/complete/through} yet
{isn't/aren't} {done/finished/back/complete/through}|yet to {finish/report/return/complete}`},
		{awaits, `waiting {for/on/until/till}|{let me/i'll/i will/need to/have to/must} wait {for/on/until/till}|{i'll/i will} be {notified/alerted/told/informed}`},
		{runs | work, "waiting {for/on} @|waiting for {both/all/the other/the remaining/the rest} {/of them /of these /reports /results }to"},
		{begun, `{i've/i have/have/has/were/was} {/been }{launched/started/kicked off/dispatched/spawned/delegated/queued/submitted/triggered}|launched|dispatched|spawned`},
		{done, `{once/when/as soon as/until} {it/that/everything}'s {done/finished/through/complete/back/in/up/ready}
{once/when/as soon as/after/until} {it/they/that/this/both/all/each/the rest/these/those/everything/the last} {/of them /one }{finish/complete/is/are/return/report/come/has/have/pass/land}*
{once/when/as soon as/after/until} {the/its/their} {build/job/agent/test/run/result/suite/report/scan/download/training/pipeline/deploy/install}*`},
		{hang, "{when/after} {it/they}|{once/when/after} {it/that/everything}'s |{when/after} {both/all/each/everything} |when {the/its/their} {build/job/agent/test/run/result/suite/report/scan/download/training/pipeline}*"},
	}
}

// waitingRomance are those of German and the Romance languages.
func waitingRomance() []entry {
	return []entry{
		{work, `build|kompilier*|übersetzungslauf|test|tests|testlauf|testsuite|agent|agenten|unteragent*|subagent*|job|jobs|pipeline|deployment|download|installation
training|lauf|ci_|import|export|prozess|migration|hintergrund*|skript|scan|analyse|benchmark*`},
		{runs, `{läuft/laufen/arbeitet/arbeiten/rechnet/baut} {noch/derzeit/gerade/weiter/weiterhin/aktuell/immer noch/momentan/im hintergrund}
{ist/sind} {noch/immer noch} {nicht/im gange/in arbeit/am laufen/dabei}|noch nicht {fertig/durch/zurück/abgeschlossen/beendet}|im hintergrund|{steht/stehen} noch aus`},
		{awaits, "{warte/warten} {/ich }{/noch /jetzt /nun /gerade }{auf den/auf die/auf das/auf alle/auf beide/bis}"},
		{begun, "{gestartet/angestoßen/losgeschickt/beauftragt}"},
		{done, "{sobald/wenn/bis} {er/es/das/der/die/alle/beide/alles}"},

		// French
		{work, `build|compilation|test|tests|agent|agents|sous-agent*|déploiement|pipeline|ci_|job|jobs|téléchargement|installation|entraînement
exécution|script|import|export|suite|tâche {de fond/en arrière}*|tâches {de fond/en arrière}*|intégration continue`},
		{runs, `{toujours/encore/actuellement} en {cours/train}|{est/sont} en {cours/train}|en cours d*|en arrière-plan|{tourne/tournent/travaille/travaillent} {encore/toujours/en}
{n'a/n'ont/n'est/ne sont} pas encore|pas encore {terminé/fini}*|sont encore au travail`},
		{awaits, "{j'attends/en attente/j'attendrai/attendre/attendons} {que/qu'/le_/la_/les_/l'/du_/de la_/de l'/des_/la fin}*"},
		{done, "{dès/une fois/lorsque/quand/lorsqu} {que/qu'/il/ils/elle/elles}*"},
		{hang, "dès {que/qu'}*|lorsqu*|quand "},

		// Spanish and Portuguese
		{work, `compilación|build|prueba*|tests|test|agente*|subagente*|despliegue|descarga|instalación|pipeline|ci_|job|jobs|entrenamiento|suite|script
ejecución|importación|exportación|{trabajo/tarea/proceso}* en segundo plano|trabajo*
compilação|teste*|implantação|deploy|instalação|treinamento|execução|importação|exportação|{tarefa/processo}* em segundo plano|download|workflow`},
		{runs, `{sigue/siguen/continúa/continúan/está/están} {/aún /todavía }{en ejecución/ejecutándose/corriendo/en curso/en marcha/en proceso/en progreso/trabajando}
{sigue/siguen/continúa/continúan/está/están} {/aún /todavía }{en segundo plano/compilando/descargando}|en segundo plano
{aún/todavía} {en curso/en ejecución/en marcha/en progreso/no ha/no han/no termina/no acaba/no está/no están}*
{está/estão/continua/continuam/segue/seguem} {/ainda }{rodando/em execução/em andamento/em progresso/em curso/executando/compilando/processando/trabalhando/a correr/sendo}
ainda {rodando/em execução/em andamento/não terminou/não terminaram/não acabou/não concluiu/não retornou/não retornaram/não respondeu}|em segundo plano`},
		{awaits, `{espero/esperando/esperaré/esperar} {a que}|{esperando/esperaré/esperar/a la espera de} {que/el/la/los/las/al}
{aguardando/aguardo/aguardar/esperando/à espera} {/de }{o/a/os/as/que/até/pelo/pela/os dois/as duas/do/da}`},
		{done, `{cuando/en cuanto/apenas/hasta que} {termin/acab/finalic/complet/esté/lleg/respond}*
{assim que/quando/depois que/até que} {termin/acab/finaliz/conclu/estiver/cheg/ele/ela}*`},
	}
}

func waitingOthers() []entry {
	return []entry{
		// Italian, Indonesian and Turkish
		{work, `build|compilazione|test|agente|agenti|sottoagent*|subagent*|distribuzione|deploy|download|installazione|pipeline|ci_|job|addestramento
esecuzione|script|suite|processo|{attività/task} in background|importazione|scansione
kompilasi|pengujian|tes|agen|sub-agen|subagen|unduhan|instalasi|pelatihan|{proses/tugas} latar|proses build|skrip|impor|deployment
derleme*|test*|ajan*|alt ajan*|dağıtım*|indirme*|kurulum*|eğitim*|iş hattı*|betik*|arka plan {görev/iş}*|işlem*`},
		{runs, `{è/sono} {/ancora /tuttora /attualmente }in {corso/esecuzione}|ancora in {corso/esecuzione/elaborazione}|in {background/secondo piano}|{gira/girano} ancora
{sta/stanno} ancora|non {è/sono} ancora {terminat/finit/complet/concl}*|non {ha/hanno} ancora {terminato/finito/risposto/concluso}
{masih/sedang} {/dalam proses }{berjalan/berlangsung/diproses/bekerja/dijalankan/dikompilasi/dikerjakan/mengerjakan}|di latar belakang|belum {selesai/rampung/kembali/melapor}
{hâlâ/hala/halen/şu an/şu anda} {sürüyor/devam ediyor/çalışıyor/çalışıyorlar/derleniyor/sürmekte/indiriliyor}|arka planda|{devam ediyor/sürüyor/çalışmaya devam ediyor}
henüz {bitmedi/tamamlanmadı/dönmedi/sonuçlanmadı}`},
		{awaits, `{aspetto/aspettando/attendo/attendendo/attendere/aspettare/in attesa} {che/la fine/il/i_/gli/le/la_/del/dei/della/delle/dell'/l'}*
{menunggu/tunggu/nunggu} {/kedua /ketiga /semua /hasil /sampai }{build/kompilasi/pengujian/tes/agen/deployment/unduhan/instalasi/proses/pelatihan/job/ci/hasil/selesai}*
{bitmesini/tamamlanmasını/tamamlamasını/sonuçlanmasını/dönmesini/bitirmesini} {bekl}*`},
		{done, `{appena/quando/non appena/una volta che} {termin/finis/è_/sono/complet/arriv/tutti/avr}*
{begitu/setelah/saat/ketika/jika sudah} {selesai/semua/build/rampung/tuntas/prosesnya/keduanya/tes/agen}*
{bitince/tamamlanınca/bittiğinde/tamamlandığında/döndüğünde/sonuçlanınca/biter bitmez/bittikten sonra}`},

		// Russian and its neighbours
		{work, `{сборк/тест/агент/субагент/подагент/задани/джоб/пайплайн/деплой/развёртывани/развертывани/загрузк/скачивани/установк/обучени}*
{процесс/скрипт/прогон/компиляци/импорт/экспорт/миграци/фонов/билд/збірк/компіляц/розгортанн/завантаженн}*|ci_
{kompilacj/build/test/agent/wdrożeni/pobierani/instalacj/zadani}*`},
		{runs, `{ещё/еще/всё ещё/все ещё/все еще/пока ещё/пока/по-прежнему} {идёт/идет/идут/работа/выполня/собира/запущен/не заверш/не законч/не верну/в процессе/продолжа/крут}*
{идёт/идет/идут} {ещё/еще/сейчас}|{выполняется/выполняются/работает/работают/запущен/запущена/запущены} в фон*|в фон{е/овом}*|{выполняется/выполняются/продолжается/продолжаются}
{ще/досі/все ще} {трива/викону/працю/не заверш/йде}*|{wciąż/nadal/jeszcze} {trwa/działa/pracuj/się/nie}*|w tle`},
		{awaits, `{жду/ожидаю/дождусь/подожду/ждём/ждем/дожидаюсь} {пока/заверш/оконч/результат/когда/сборк/тест/агент/отчёт/отчет/билд/деплой/загрузк/установк}*|{жду/подожду/ждём},_{пока/когда}
{чекаю/очікую} {поки/заверш/результат}*|чекаю,_поки|{czekam/poczekam} {na zako/na wynik/aż}*|{czekam/poczekam},_aż`},
		{done, `{когда/как только/после того как} {он/она/они/оба/обе/все/заверш/законч/сборк/тест/агент/верн/всё/прогон}*
{после/по} {завершени/окончани}*|{коли/щойно} {заверш/вона/він/вони/закін}*|{gdy/kiedy/jak tylko} {się/skończ/zakończ}*`},
		{hang, "{когда/как только} |{после/по} {завершени/окончани}*|{коли/щойно} |{gdy/kiedy/jak tylko} "},

		// Chinese
		{work, `构建|编译|测试|代理|智能体|后台任务|异步任务|部署|下载|安装|流水线|训练|作业|脚本|进程|扫描|导入|导出|审查|构建任务|打包|構建|編譯|測試|部署|下載|安裝`},
		{runs, `{仍/还/仍然/正/依然/目前/還}{在进行/在运行/在跑/在执行/在后台/在构建/在编译/在处理/在工作/在下载/在安装/在训练/在分析/在打包/在進行/在執行}
{仍/尚/还/還}{未完成/未结束/未返回/没有完成/没完成/没跑完/没返回/没有返回/没有结束/没结束/沒完成}|{运行/执行/编译/构建/下载/安装}中|正在{后台/进行中}|{在后台/后台}{运行/执行/进行/跑/继续}`},
		{awaits, `等待{构建/编译/测试/代理/子代理/部署/下载/安装/任务完成/结果/它/他们/所有/全部/两个/三个/这/其/后台/流水线/训练}|等{构建/编译/测试/代理/子代理/它/他们/所有/两个/三个/全部/后台}|正在等待`},
		{done | hang, "{完成/结束/返回/跑完/构建完/编译完/下载完/通过}{后/之后/时/以后}|等它|等他们"},

		// Japanese and Korean
		{work, `ビルド|コンパイル|テスト|エージェント|ジョブ|デプロイ|ダウンロード|インストール|パイプライン|バックグラウンド|スクリプト|学習|バッチ|インポート
빌드|컴파일|테스트|에이전트|배포|다운로드|설치|파이프라인|학습|백그라운드|스크립트|프로세스`},
		{runs, `{まだ/引き続き/現在も/現在/今も}{実行中/進行中/動作中/動いて/稼働中/処理中/作業中/続いて/走って/作業を続け/完了していま/終わっていま/戻っていま}|{実行/進行/稼働/処理}中です|バックグラウンドで{実行/動/走/進}
{아직/여전히/계속/현재} {진행/실행/동작/작업/처리/설치/빌드} 중|{진행/실행} 중{입니다/이며/이고/이에요/이므로}|아직 {끝나지/완료되지/돌아오지/실행되고}|백그라운드에서|{돌아가고/실행되고} 있`},
		{idle, "待っています|待ちます|待機{します/しています/中}|기다리{겠/고 있/는 중}|대기{하겠/하고/ 중}"},
		{done | hang, "{完了/終了/終わ/戻}{したら/次第/後/ったら/り次第/してから}|{끝나/완료되/돌아오}{면/는 대로}"},

		// Arabic and Hindi
		{work, `{ال/}{بناء/اختبار/وكيل/وكلا/تنزيل/تثبيت/نشر/تدريب/عملية/مهمة/مهام/تجميع}*|बिल्ड|टेस्ट*|एजेंट*|डिप्लॉय*|डाउनलोड|इंस्टॉल*|पाइपलाइन|जॉब|ट्रेनिंग|प्रक्रिया|कंपाइल*`},
		{runs, `{ما زال/لا يزال/ما يزال/ما زالت/لا تزال/لا يزالان/لا يزالون/ما زالوا}|قيد {التنفيذ/التشغيل/التقدم}|في الخلفية|لم {ينته/تنته/يكتمل/تكتمل/يعد}*
{अभी/अब भी/अभी भी} {चल/जारी/काम}|{बैकग्राउंड/पृष्ठभूमि} में|{पूरा/पूरे/पूरी} नहीं {हुआ/हुए/हुई}|{चल/जारी} {रहा/रही/रहे} है*`},
		{awaits, "{أنتظر/بانتظار/في انتظار/ننتظر/سأنتظر} {انتهاء/اكتمال/نتائج/نتيجة/حتى}*"},
		{idle, "{प्रतीक्षा/इंतज़ार/इंतजार} {कर रहा/कर रही/है/में/करूँगा/करूंगा}"},
		{done | hang, "عند {انتهائ/اكتمال}*|{بمجرد/فور} {انتهائ/اكتمال}*|{पूरा/पूरे/समाप्त/खत्म} होते ही|होने पर"},

		// Dutch, Swedish and Vietnamese
		{work, "build|tests|agent|agents|agenten|bygget|testerna|agenterna|bản dựng|kiểm thử|tác vụ nền|tác tử|quá trình"},
		{runs, "{loopt/lopen/draait/draaien} nog|nog niet klaar|op de achtergrond|{körs/pågår} fortfarande|i bakgrunden|{vẫn/vẫn còn} đang|đang chạy|chưa {xong/hoàn thành}"},
		{awaits, "ik wacht {op de/op het/tot}|{väntar/väntar på} att|{đang chờ/đợi/chờ} {bản dựng/kiểm thử/các tác/quá trình}"},
		{done | hang, "zodra {hij/ze/het/de}|så snart|{khi/ngay khi} {xong/hoàn/nó}*"},
	}
}
