import { above, type ReplyCase, whole } from './reply-case.ts';

/** Replies as mail programs, webmail and help desks quote, written before any of them was read. */
export const WORLD_REPLIES: readonly ReplyCase[] = [
  above('Zoho', 'Works for me.', '---- On Tue, 06 Jan 2026 10:11:12 +0530 ann@x.test wrote ----\n\nShall we meet?'),
  above(
    'Zoho, German',
    'Passt.',
    '---- Am Di., 06 Jan. 2026 10:11:12 +0100 schrieb Ann <ann@x.test> ----\n\nTreffen wir uns?',
  ),
  above(
    'Zoho, Spanish',
    'De acuerdo.',
    '---- El mar, 06 ene 2026 10:11:12 +0100, Ann <ann@x.test> escribió ----\n\n¿Nos vemos?',
  ),
  above(
    'Samsung, all fields in the line of the title',
    'This is pretty awesome, nice work!',
    'Sent from my Verizon, Samsung Galaxy smartphone\n-------- Original message --------From: noreply@x.test Date: 1/13/26  3:52 PM  (GMT-06:00) To: bob@x.test Cc: support@x.test Subject: Status Updated\n    \n      \nThe status was updated.',
  ),
  above(
    'Samsung, Danish',
    'Tak for det.',
    '-------- Oprindelig besked --------\nFra: A B C <abc@x.test>\nDato: 04.07.2026  17.45  (GMT+01:00)\nTil: bob@x.test\nEmne: Abc has sent you a message!\n\nHer er beskeden.',
  ),
  above(
    'Windows Mail, no recipient',
    'Outlook message reply test',
    'Sent from Mail<https://go.dest.test/fwlink/?LinkId=550986> for Windows 10\n\nFrom: Support<mailto:support@x.test>\nSent: 10 July 2026 09:46\nSubject: Support - test ticket no. 3\n\n\nAlan has created the ticket.',
  ),
  above(
    'Thunderbird, Polish, brackets',
    'Potwierdzam.',
    'W dniu 06.01.2026 o 10:11, Anna Nowak [ann@x.test] pisze:\n> Czy to pasuje?\n> Anna',
  ),
  above(
    'Roundcube, Polish',
    'Tak, proszę.',
    'W dniu 2026-01-06 10:11, Pomoc napisał(a):\n\n> Dzień dobry,\n> czy możemy zamknąć zgłoszenie?',
  ),
  above(
    'FreeScout, German line',
    'Danke, es geht wieder.',
    '-- Bitte oberhalb dieser Linie antworten --\n\nHallo Anna,\n\nbitte starten Sie neu.\n\nIhr Helpdesk',
  ),
  above(
    'FreeScout, Polish line',
    'Dziękuję, działa.',
    '-- Proszę odpowiadać powyżej tej linii --\n\nDzień dobry,\n\nproszę uruchomić ponownie.',
  ),
  above(
    'Missive',
    'Yes.',
    'On January 6, 2026 at 10:11 AM, Ann Smith (ann@x.test) wrote:\n\nIs this still open?\n\nAnn',
  ),
  above('Front', 'Confirmed.', 'On January 6, 2026, 10:11 AM GMT+1 ann@x.test wrote:\n\nPlease confirm.'),
  above(
    'Superhuman',
    'On it.',
    'On TUE, JAN 06, 2026 at 10:11 AM, Ann Smith <ann@x.test> wrote:\n\nCan you look into this?',
  ),
  above('Spark', 'Great!', 'On 6 Jan 2026 at 10:11 +0100, Ann Smith <ann@x.test>, wrote:\n> We have a date.'),
  above('HEY', 'Sure.', 'On January 6, 2026, Ann Smith <ann@x.test> wrote:\n> Could you send the file?'),
  above(
    'Help Scout',
    'It still fails.',
    'On Tue, Jan 6, 2026 at 10:11am, Support wrote:\n\nHi Bob,\n\nplease try again.\n\n{#HS:123456789-4711#}',
  ),
  above(
    'Proton Mail, with title',
    'All good.',
    'Sent with Proton Mail secure email.\n\n-------- Original Message --------\nOn Tuesday, 01/06/26 at 10:11 Ann Smith <ann@x.test> wrote:\n\nAll good?',
  ),
  above(
    'Tuta, English',
    'Fine.',
    '--\nSent with Tuta; enjoy secure & ad-free emails.\n\n6 Jan 2026, 10:11 by ann@x.test:\n\n> How are you?',
  ),
  above('Tuta, German', 'Gut.', '6. Jan. 2026, 10:11 von ann@x.test:\n\n> Wie geht es?'),
  above('KMail, zone', 'Yes.', 'On Tuesday, January 6, 2026 10:11:12 AM CET Ann Smith wrote:\n> Is it merged?'),
  above('Vivaldi', 'Done.', 'On Tuesday, 6 January 2026 10:11:12 UTC Ann Smith wrote:\n\n> Please release.'),
  above(
    'eM Client, fields without colons',
    'I agree.',
    '------ Original Message ------\nFrom "Ann Smith" <ann@x.test>\nTo "Bob" <bob@x.test>\nDate 1/6/2026 10:11:12 AM\nSubject Budget\n\nDo you agree?',
  ),
  above(
    'eM Client, German, fields without colons',
    'Einverstanden.',
    '------ Originalnachricht ------\nVon "Anna Schmidt" <ann@x.test>\nAn "Bob" <bob@x.test>\nDatum 06.01.2026 10:11:12\nBetreff Budget\n\nEinverstanden?',
  ),
  above(
    'The Bat!, English',
    'Hello Ann,\n\nIt is done.',
    'Tuesday, January 6, 2026, 10:11:12 AM, you wrote:\n\n> Is it done?\n\n> Ann',
  ),
  above(
    'The Bat!, Russian',
    'Здравствуйте, Анна.\n\nВсё готово.',
    'Вы писали 6 января 2026 г., 10:11:12:\n\n> Готово?',
  ),
  above(
    'Yandex, recipients and subject above the date',
    'Хорошо.',
    '----------------\nКому: Боб (bob@x.test);\nТема: Встреча;\n06.01.2026, 10:11, "Анна" <ann@x.test>:\n\nВстретимся?',
  ),
  above(
    'Mail.ru, mobile',
    'Да.',
    '--\nОтправлено из мобильной Почты Mail вторник, 06 января 2026, 10:11 +03:00 от Анна ann@x.test:\n\nВстретимся?',
  ),
  above(
    'Naver',
    '네, 좋습니다.',
    '-----Original Message-----\nFrom: "안나"<ann@x.test>\nTo: "밥"<bob@x.test>;\nCc:\nSent: 2026-01-06 (화) 10:11:12 (GMT+09:00)\nSubject: 회의\n\n내일 만날까요?',
  ),
  above(
    'Daum',
    '확인했습니다.',
    '--------- 원본 메일 ---------\n보낸사람: 안나 <ann@x.test>\n받는사람: 밥 <bob@x.test>\n날짜: 26.01.06 10:11 GMT +0900\n제목: 회의\n\n확인 부탁드립니다.',
  ),
  above(
    'QQ, telephone',
    '好的。',
    '---Original---\nFrom: "Ann"<ann@x.test>\nDate: Tue, Jan 6, 2026 10:11 AM\nTo: "bob"<bob@x.test>;\nSubject: 会议\n\n明天见？',
  ),
  above(
    'Alimail, ideographic space in a field',
    '收到，谢谢。',
    '------------------------------------------------------------------\n发件人：安娜 <ann@x.test>\n发送时间：2026年1月6日(星期二) 10:11\n收件人：bob <bob@x.test>\n主　题：会议\n\n请确认。',
  ),
  above(
    'Alimail, English',
    'Received.',
    '------------------------------------------------------------------\nFrom:Ann <ann@x.test>\nSend Time:2026 Jan. 6 (Tue.) 10:11\nTo:bob <bob@x.test>\nSubject:Meeting\n\nPlease confirm.',
  ),
  above(
    '139, spaces within names of fields',
    '好。',
    '----邮件原文----\n发件人:安娜 <ann@x.test>\n收 件 人:bob <bob@x.test>\n抄 送: (无)\n发送时间:2026-01-06 10:11:12\n主题:会议\n\n请回复。',
  ),
  above(
    'Sina',
    '已处理。',
    '----- 原始邮件 -----\n发件人：安娜 <ann@x.test>\n收件人：bob <bob@x.test>\n主题：会议\n日期：2026年01月06日 10点11分\n\n请处理。',
  ),
  above('Lark', '可以。', '安娜 <ann@x.test>在 2026年1月6日 周二 10:11 写道：\n\n明天可以吗？'),
  above(
    'Yahoo, French, unmarked',
    'Parfait.',
    'Le mardi 6 janvier 2026 à 10:11:12 UTC+1, Anne Petit <ann@x.test> a écrit :\n\n\nOn se voit demain ?',
  ),
  above(
    'Yahoo, Spanish, unmarked',
    'Perfecto.',
    'El martes, 6 de enero de 2026, 10:11:12 CET, Ana <ann@x.test> escribió:\n\n\n¿Nos vemos mañana?',
  ),
  above(
    'AOL',
    'Thanks!',
    '-----Original Message-----\nFrom: Ann Smith <ann@x.test>\nTo: bob@x.test\nSent: Tue, Jan 6, 2026 10:11 am\nSubject: Photos\n\nHere they are.',
  ),
  above(
    'Xfinity',
    'Yes, I will.',
    '> On 01/06/2026 10:11 AM EST Ann Smith <ann@x.test> wrote:\n> \n>  \n> Will you come?',
  ),
  above(
    'Open-Xchange, German',
    'Ja.',
    '> Anna Schmidt <ann@x.test> hat am 06.01.2026 10:11 CET geschrieben:\n> \n>  \n> Kommst du?',
  ),
  above(
    'Open-Xchange, German, unmarked',
    'Ja, gern.',
    'Anna Schmidt <ann@x.test> hat am 06.01.2026 10:11 CET geschrieben:\n\n\nKommst du?',
  ),
  above(
    'GMX',
    'Bis morgen.',
    'Gesendet: Dienstag, 06. Januar 2026 um 10:11 Uhr\nVon: "Anna Schmidt" <ann@x.test>\nAn: "Bob" <bob@x.test>\nBetreff: Treffen\n\nBis morgen?',
  ),
  above(
    'mail.com',
    'See you.',
    'Sent: Tuesday, January 06, 2026 at 10:11 AM\nFrom: "Ann Smith" <ann@x.test>\nTo: "Bob" <bob@x.test>\nSubject: Meeting\n\nSee you?',
  ),
  above(
    'Zimbra, French',
    'Bien reçu.',
    '----- Mail original -----\nDe: "Anne" <ann@x.test>\nÀ: "bob" <bob@x.test>\nEnvoyé: Mardi 6 Janvier 2026 10:11:12\nObjet: Facture\n\nVoici la facture.',
  ),
  above(
    'Zimbra, German',
    'Erhalten.',
    '----- Ursprüngliche Mail -----\nVon: "Anna" <ann@x.test>\nAn: "bob" <bob@x.test>\nGesendet: Dienstag, 6. Januar 2026 10:11:12\nBetreff: Rechnung\n\nAnbei die Rechnung.',
  ),
  above(
    'Zimbra, German, one line',
    'Erhalten, danke.',
    '----- Am 6. Jan 2026 um 10:11 schrieb Anna Schmidt ann@x.test:\n\n> Anbei die Rechnung.',
  ),
  above(
    'Zimbra, English, one line, unmarked',
    'Got it.',
    '----- On Jan 6, 2026, at 10:11 AM, Ann Smith ann@x.test wrote:\n\nHere is the invoice.',
  ),
  above(
    'Libero',
    'Va bene.',
    '----Messaggio originale----\nDa: ann@x.test\nData: 06/01/2026 10.11\nA: <bob@x.test>\nOgg: Riunione\n\nVa bene domani?',
  ),
  above(
    'Libero, new',
    'Confermo.',
    'Da: "Anna" ann@x.test\nA: "bob@x.test" bob@x.test\nCc:\nData: Tue, 06 Jan 2026 10:11:12 +0100\nOggetto: Riunione\n\nConfermi?',
  ),
  above('UOL, spaces in the address', 'Ok.', 'Em 06/01/2026 10:11, Ana < ann@x.test > escreveu:\n\nPode ser amanhã?'),
  above('Terra', 'Pode.', 'On Ter 06/01/26 10:11 , Ana ann@x.test sent:\n\nPode ser amanhã?'),
  above('WP', 'Dobrze.', 'Dnia 6 stycznia 2026 10:11 Anna Nowak <ann@x.test> napisał(a):\n\nCzy jutro?'),
  above('Onet', 'Może być.', 'W dniu 2026-01-06 10:11:12 użytkownik Anna Nowak <ann@x.test> napisał:\n\nCzy jutro?'),
  above(
    'Interia, time first',
    'Zgoda.',
    'Od: "Anna Nowak" <ann@x.test>\nDo: "Bob" <bob@x.test>;\nWysłane: 10:11 Wtorek 2026-01-06\nTemat: Spotkanie\n\nJutro?',
  ),
  above('Postbox', 'Yes.', 'Ann Smith wrote on 1/6/26 10:11 AM:\n> Shall we?'),
  above('Postbox, unmarked', 'Yes, please.', 'Ann Smith <ann@x.test> wrote on 1/6/26 10:11 AM:\n\nShall we order?'),
  above(
    'Gmail, Norwegian, no verb',
    'Ja.',
    'tir. 6. jan. 2026 kl. 10:11 skrev Anne Hansen <ann@x.test>:\n\n> Kommer du?',
  ),
  above('Gmail, Lithuanian', 'Gerai.', '2026-01-06, an, 10:11 Ona <ann@x.test> rašė:\n\n> Ar ateisi?'),
  above('Gmail, Georgian', 'კარგი.', 'სამ, 6 იან. 2026, 10:11-ზე, Ana <ann@x.test>-მა დაწერა:\n\n> მოდიხარ?'),
  above('Gmail, Swahili', 'Sawa.', 'Mnamo Jum, 6 Jan 2026 saa 10:11 Ana <ann@x.test> aliandika:\n\n> Unakuja?'),
  above('Gmail, Tamil', 'சரி.', 'செவ்., 6 ஜன., 2026, முற்பகல் 10:11 அன்று, Ana <ann@x.test> எழுதியது:\n\n> வருகிறாயா?'),
  above('Gmail, Marathi', 'ठीक आहे.', 'मंगळ, 6 जाने, 2026, रोजी 10:11 AM वाजता Ana <ann@x.test> ने लिहिले:\n\n> येतोस का?'),
  above('Gmail, Urdu', 'ٹھیک ہے۔', 'منگل، 6 جنوری 2026 کو 10:11 بجے Ana <ann@x.test> نے تحریر کیا:\n\n> آ رہے ہو؟'),
  above(
    'Outlook, Welsh',
    'Iawn.',
    'Oddi wrth: Ann <ann@x.test>\nAnfonwyd: 06 Ionawr 2026 10:11\nAt: Bob <bob@x.test>\nPwnc: Cyfarfod\n\nYdy hyn yn iawn?',
  ),
  above(
    'Outlook, Kazakh',
    'Жақсы.',
    'Кімнен: Ann <ann@x.test>\nЖіберілген күні: 2026 ж. 6 қаңтар 10:11\nКімге: Bob <bob@x.test>\nТақырыбы: Кездесу\n\nКездесеміз бе?',
  ),
  above(
    'Outlook, Macedonian',
    'Добро.',
    'Од: Ана <ann@x.test>\nИспратено: вторник, 6 јануари 2026 10:11\nДо: Боб <bob@x.test>\nНаслов: Состанок\n\nДали може утре?',
  ),
  above(
    'Outlook, short fields of a telephone in Swedish',
    'Tack!',
    'Skaffa Outlook för Android\n\nFrån: Anna\nSkickat: den 6 januari 2026 10:11\nTill: Bob\nÄmne: Möte\n\nFunkar det?',
  ),
  above(
    'Zendesk, Finnish line',
    'Kiitos, se auttoi.',
    '##- Kirjoita vastauksesi tämän rivin yläpuolelle -##\n\nPyyntösi (4711) on päivitetty.\n\nTuki',
  ),
  above(
    'Zendesk, Czech line',
    'Děkuji, pomohlo to.',
    '##- Odpověď napište nad tento řádek -##\n\nVáš požadavek (4711) byl aktualizován.',
  ),
  above(
    'Zendesk, Hungarian line',
    'Köszönöm, működik.',
    '##- Kérjük, a válaszát e sor fölé írja -##\n\nA kérése (4711) frissült.',
  ),
  above(
    'Zendesk, Greek line',
    'Ευχαριστώ.',
    '##- Πληκτρολογήστε την απάντησή σας πάνω από αυτή τη γραμμή -##\n\nΤο αίτημά σας ενημερώθηκε.',
  ),
  above('Zendesk, Hebrew line', 'תודה.', '##- אנא הקלד את תשובתך מעל שורה זו -##\n\nהבקשה שלך עודכנה.'),
  above(
    'Zendesk, Romanian line',
    'Mulțumesc.',
    '##- Vă rugăm să scrieți răspunsul deasupra acestui rând -##\n\nSolicitarea a fost actualizată.',
  ),
  above(
    'help desk, line of equals signs in English',
    'It works now.',
    '=== Please reply above this line ===\n\nTicket 4711 was updated.',
  ),
  above(
    'help desk, do not write below',
    'Thanks, closed.',
    '--- write your reply above, everything below this line is ignored ---\n\nTicket 4711 was updated.',
  ),
  above(
    'fields in bold with mailto in brackets',
    'Approved.',
    '*Von:* Anna [mailto:ann@x.test]\n*Gesendet:* Dienstag, 6. Januar 2026 10:11\n*An:* Bob\n*Betreff:* Urlaub\n\nGenehmigt?',
  ),
  above(
    'fields indented by a webmail',
    'Merci.',
    '  De : Anne <ann@x.test>\n  Envoyé : mardi 6 janvier 2026 10:11\n  À : Bob <bob@x.test>\n  Objet : Devis\n\n  Voici le devis.',
  ),
  above(
    'attribution wrapped after the date',
    'Yes.',
    'On Tue, Jan 6, 2026 at 10:11 AM\nAnn Smith of the long department name <ann.smith@department.x.test>\nwrote:\n\n> Is it ready?',
  ),
  above(
    'attribution in two languages',
    'Oui / Yes',
    'Le mar. 6 janv. 2026 à 10:11, Anne <ann@x.test> a écrit / wrote:\n\n> Prêt ? / Ready?',
  ),
  above(
    'device line of a carrier between text and fields',
    'Call me.',
    'Sent via the Samsung Galaxy S24, an AT&T 5G smartphone\n________________________________\nFrom: Ann <ann@x.test>\nSent: Tuesday, January 6, 2026 10:11:12 AM\nTo: Bob <bob@x.test>\nSubject: Call\n\nWhen?',
  ),
  {
    name: 'answer below a quotation with its introduction',
    text: 'On 06.01.26 10:11, Ann Smith wrote:\n> Which size do you need?\n> Ann\n\nSize 42, please.\n\nBob\n',
    own: 'Size 42, please.\n\nBob',
  },
  {
    name: 'answer below a quotation in Czech',
    text: 'Dne 06. 01. 26 v 10:11 Anna napsal(a):\n> Kterou velikost?\n\nVelikost 42.\n',
    own: 'Velikost 42.',
  },
  {
    name: 'signature of a company above the fields',
    text: 'Please send two.\n\nBob Miller\nSales | X GmbH\nTel. +49 30 1234567\n\nVon: Anna <ann@x.test>\nGesendet: Dienstag, 6. Januar 2026 10:11\nAn: Bob <bob@x.test>\nBetreff: Bestellung\n\nWie viele?\n',
    own: 'Please send two.\n\nBob Miller\nSales | X GmbH\nTel. +49 30 1234567',
  },

  // Texts of which all is the author's.
  whole('a comparison with signs', 'The carriers:\n\n> 100 kg go by truck\n< 100 kg go by post\n\nPlease choose one.'),
  whole(
    'a report of a journey',
    'From: Berlin\nTo: Paris\nDate: 6 January 2026\n\nPlease book two seats by the window.',
  ),
  whole(
    'a sentence about what someone wrote',
    'Ann wrote on Monday that the budget is fine:\n\nwe may spend 500 EUR.\n\nSo I ordered.',
  ),
  whole(
    'an agenda that begins with a day',
    'On Tuesday, January 6, 2026 at 10:11 AM we meet in room 4:\n\n- budget\n- plans\n\nPlease be on time.',
  ),
  whole(
    'a rule between two parts',
    'First part of the text.\n\n---\n\nSecond part, which is as long as the first one and goes on.',
  ),
  whole('words about sending', 'The parcel is on its way.\n\nSent from our warehouse in Hamburg, it takes two days.'),
  whole(
    'a title between dashes',
    '----- Offer 4711 -----\n\nTwo chairs: 120 EUR\nOne table: 300 EUR\n\nThe offer is valid until Friday.',
  ),
  whole('a proverb', 'As Goethe wrote:\n\nEs irrt der Mensch, solang er strebt.\n\nI like that.'),
  whole('times of a shop', 'Opening hours in January 2026:\n\nMo 10:00 - 18:00\nTu 10:00 - 18:00\n\nAnn <ann@x.test>'),
  whole(
    'a note about where replies go',
    'The tool asks for replies above this line, but our customers never read it.\n\nCan we change the wording?',
  ),

  // Further languages and programs, written while the others were cured.
  above(
    'more: mail.ru android stuck',
    'Да.',
    'Отправлено из Mail для Android четверг, 08 января 2026, 09:00 +03:00 от Пётр petr@x.test:\n\nСогласны?',
  ),
  above('more: mail.ru, name only', 'Да.', 'Четверг, 8 января 2026, 9:00 +03:00 от Пётр <petr@x.test>:\n\nСогласны?'),
  above(
    'help desk, Czech line in dashes',
    'Díky.',
    '--- Odpovězte prosím nad tento řádek ---\n\nPožadavek byl změněn.',
  ),
  above('Atmail without seconds', 'Yes.', 'On Tue 06/01/26 10:11 AM , Ann Smith ann@x.test sent:\n\nShall we meet?'),
  above(
    'Mail.ru in English',
    'Yes.',
    'Sent from Mail for iOS Tuesday, 6 January 2026, 10:11 +03:00 from Ann ann@x.test:\n\nShall we meet?',
  ),
  above('Yandex log of one', 'Yes.', '06.01.2026, 10:11, Ann Smith (ann@x.test):\n\n> Shall we meet?'),
  above('more: yandex mobile', 'Ок', '08.01.2026, 09:00, Пётр Иванов (petr@x.test):\nСогласны?'),
  above(
    'more: Outlook AF',
    'Ja.',
    'Van: Piet <piet@x.test>\nGestuur: Dinsdag 06 Januarie 2026 10:11\nAan: Bob <bob@x.test>\nOnderwerp: Vergadering\n\nPas dit?',
  ),
  above(
    'more: Outlook IS',
    'Já.',
    'Frá: Jón <jon@x.test>\nSent: þriðjudagur, 6. janúar 2026 10:11\nTil: Bob\nEfni: Fundur\n\nGengur það?',
  ),
  above(
    'more: Outlook EU',
    'Bai.',
    'Nork: Ane <ane@x.test>\nBidalia: asteartea, 2026(e)ko urtarrilak 6 10:11\nNori: Bob <bob@x.test>\nGaia: Bilera\n\nOndo?',
  ),
  above(
    'more: Outlook GA',
    'Tá.',
    'Ó: Aoife <a@x.test>\nSeolta: 06 Eanáir 2026 10:11\nChuig: Bob <b@x.test>\nÁbhar: Cruinniú\n\nMaith go leor?',
  ),
  above(
    'more: Outlook MT',
    'Iva.',
    'Minn: Marija <m@x.test>\nMibgħut: 06 Jannar 2026 10:11\nLil: Bob <b@x.test>\nSuġġett: Laqgħa\n\nTajjeb?',
  ),
  above(
    'more: Outlook HY',
    'Այո.',
    'Ումից՝ Անի <a@x.test>\nՈւղարկված՝ 6 հունվարի 2026 թ. 10:11\nՈւմ՝ Bob <b@x.test>\nԹեմա՝ Հանդիպում\n\nԼա՞վ է',
  ),
  above(
    'more: Outlook AZ',
    'Bəli.',
    'Kimdən: Anar <a@x.test>\nGöndərilib: 6 yanvar 2026 10:11\nKimə: Bob <b@x.test>\nMövzu: Görüş\n\nOlar?',
  ),
  above(
    'more: Outlook TL',
    'Oo.',
    'Mula kay: Ana <a@x.test>\nIpinadala: Martes, Enero 6, 2026 10:11 AM\nKay: Bob <b@x.test>\nPaksa: Pulong\n\nPuwede ba?',
  ),
  above(
    'more: Outlook SW',
    'Ndiyo.',
    'Kutoka: Ana <a@x.test>\nImetumwa: Jumanne, 6 Januari 2026 10:11\nKwa: Bob <b@x.test>\nMada: Mkutano\n\nSawa?',
  ),
  above(
    'more: Outlook BN',
    'হ্যাঁ।',
    'থেকে: Ana <a@x.test>\nপ্রেরিত: মঙ্গলবার, 6 জানুয়ারী 2026 10:11\nপ্রতি: Bob <b@x.test>\nবিষয়: সভা\n\nঠিক আছে?',
  ),
  above(
    'more: Outlook KA',
    'კი.',
    'გამგზავნი: Ana <a@x.test>\nგაგზავნილია: სამშაბათი, 6 იანვარი 2026 10:11\nადრესატი: Bob <b@x.test>\nთემა: შეხვედრა\n\nკარგი?',
  ),
  above(
    'more: Outlook internal names DE no address',
    'Ja.',
    'Von: Anna Schmidt\nGesendet: Dienstag, 6. Januar 2026 10:11\nAn: Bob Miller\nBetreff: Urlaub\n\nGenehmigt?',
  ),
  above(
    'more: Outlook internal MT',
    'Iva.',
    '________________________________\nMinn: Marija Borg\nMibgħut: It-Tlieta, 6 Jannar 2026 10:11\nLil: Bob Miller\nSuġġett: Laqgħa\n\nTajjeb?',
  ),
  above('more: Gmail ID', 'Ya.', 'Pada Sel, 6 Jan 2026 pukul 10.11 Ana <a@x.test> menulis:\n\n> Datang?'),
  above('more: Gmail IS', 'Já.', 'Þann þri., 6. jan. 2026 kl. 10:11 skrifaði Jón <jon@x.test>:\n\nKemur þú?'),
  above('more: Gmail HY', 'Այո', 'Երք, հնվ 6, 2026 թ., 10:11-ին Ani <a@x.test>-ը գրել է.\n\n> Գալի՞ս ես'),
  above('more: Gmail KN', 'ಹೌದು', 'ಮಂಗಳ, ಜನ 6, 2026 ರಂದು 10:11 ಪೂರ್ವಾಹ್ನ ಸಮಯಕ್ಕೆ Ana <a@x.test> ಅವರು ಬರೆದಿದ್ದಾರೆ:\n\n> ಬರುತ್ತೀರಾ?'),
  above('more: Gmail ML', 'അതെ', '2026, ജനു 6 ചൊവ്വ 10:11 AM-ന്, Ana <a@x.test> എഴുതി:\n\n> വരുമോ?'),
  above('more: Gmail TE', 'అవును', 'మంగళ, జన 6, 2026 10:11 AMకి, Ana <a@x.test> ఇలా వ్రాసారు:\n\n> వస్తావా?'),
  above('more: Gmail AM', 'አዎ', 'ማክሰ፣ 6 ጃን 2026 በ 10:11 ኤኤም ላይ Ana <a@x.test> ጽፏል፦\n\n> ትመጣለህ?'),
  above('more: Gmail GU', 'હા', 'મંગળ, 6 જાન્યુ, 2026 એ 10:11 AM વાગ્યે Ana <a@x.test>એ લખ્યું:\n\n> આવો છો?'),
  above('more: Gmail MN', 'Тийм', '2026 оны 1-р сарын 6, Мяг 10:11 цагт Ana <a@x.test> бичсэн:\n\n> Ирэх үү?'),
  above(
    'more: Gmail HY unmarked IS unquoted TE',
    'అవును',
    'మంగళ, జన 6, 2026 10:11 AMకి, Ana <a@x.test> ఇలా వ్రాసారు:\n\nవస్తావా?',
  ),
  above(
    'more: Thunderbird Forward-like title GL',
    'Si.',
    '-------- Mensaxe orixinal --------\nAsunto: \tReunión\nData: \tTue, 6 Jan 2026 10:11:12 +0100\nDe: \tAna <a@x.test>\nPara: \tBob <b@x.test>\n\nVale?',
  ),
  above('more: KMail de', 'Ja.', 'Am Dienstag, 6. Januar 2026, 10:11:12 CET schrieb Anna Schmidt:\n> Kommst du?'),
  above('more: Evolution fr', 'Oui.', 'Le mardi 06 janvier 2026 à 10:11 +0100, Anne Petit a écrit :\n> Tu viens ?'),
  above('more: Claws', 'Yes.', 'On Tue, 6 Jan 2026 10:11:12 +0100\nAnn Smith <ann@x.test> wrote:\n\n> Coming?'),
  above('more: Pine', 'Yes.', 'On Tue, 6 Jan 2026, Ann Smith wrote:\n\n> Coming?'),
  above(
    'more: Notion Mail / Shortwave',
    'Yes.',
    'On Tue Jan 6, 2026, 10:11 AM GMT, Ann Smith <ann@x.test> wrote:\n> Coming?',
  ),
  above('more: Outlook new, bullet', 'Yes.', 'On 1/6/2026 10:11 AM, Ann Smith wrote:\n\nComing?'),
  above(
    'more: HubSpot',
    'Thanks.',
    'On Tue, Jan 6, 2026 at 10:11 AM, Support Team <support@x.test> wrote:\n\nHi Bob,\n\nwe fixed it.\n\nAnn',
  ),
  above(
    'more: Gorgias de',
    'Danke.',
    'Am 6. Januar 2026 um 10:11 schrieb Support (support@x.test):\n\nWir haben es behoben.',
  ),
  above('more: Crisp', 'Ok', 'Ann from X (X) wrote:\n\n> hello'),
  above(
    'more: Apple Watch / dictated',
    'Yes please',
    'Sent from my Apple Watch\n\n> On Jan 6, 2026, at 10:11 AM, Ann <ann@x.test> wrote:\n> \n> Coffee?',
  ),
  above(
    'more: original message nl samsung',
    'Prima',
    'Verzonden vanaf mijn Galaxy\n\n\n-------- Oorspronkelijk bericht --------\nVan: Ann <ann@x.test>\nDatum: 06-01-2026 10:11 (GMT+01:00)\nAan: bob@x.test\nOnderwerp: Koffie\n\nKoffie?',
  ),
  above(
    'more: samsung one line de',
    'Gut',
    '-------- Ursprüngliche Nachricht --------Von: Ann <ann@x.test> Datum: 06.01.26  10:11  (GMT+01:00) An: bob@x.test Betreff: Kaffee\n\nKaffee?',
  ),
  above(
    'more: help desk ja',
    'ありがとうございます。',
    '##- この行より上に返信を入力してください -##\n\nお問い合わせを更新しました。',
  ),
  above('more: help desk sv', 'Tack.', '##- Skriv ditt svar ovanför den här raden -##\n\nÄrendet har uppdaterats.'),
  above(
    'more: help desk vi',
    'Cảm ơn.',
    '##- Vui lòng nhập câu trả lời của bạn phía trên dòng này -##\n\nYêu cầu đã cập nhật.',
  ),
  above(
    'more: help desk tr unframed',
    'Teşekkürler.',
    'Lütfen yanıtınızı bu satırın üzerine yazın\n\nTalebiniz güncellendi.',
  ),
  above('more: dashes only + en', 'Thanks', '--------------- Reply above this line ---------------\n\nUpdated.'),
  above('further: Thunderbird fi', 'Ok.', 'Ann kirjoitti 6.1.2026 klo 10.11:\n> Käykö?'),
  above(
    'further: Outlook fi mobile',
    'Ok.',
    'Hanki Outlook for iOS\n________________________________\nLähettäjä: Ann <ann@x.test>\nLähetetty: tiistaina, tammikuuta 6, 2026 10:11\nVastaanottaja: Bob <bob@x.test>\nAihe: Kokous\n\nKäykö?',
  ),
  above(
    'further: Gmail de mobile',
    'Ja',
    'Ann Smith <ann@x.test> schrieb am Di., 6. Jan. 2026, 10:11:\n\n> Kommst du?',
  ),
  above('further: Gmail fr unquoted', 'Oui', 'Le mar. 6 janv. 2026, 10:11, Anne <ann@x.test> a écrit :\n\nTu viens ?'),
  above(
    'further: Apple it',
    'Sì',
    'Inviato da iPhone\n\n> Il giorno 6 gen 2026, alle ore 10:11, Anna <ann@x.test> ha scritto:\n> \n> Vieni?',
  ),
  above('further: Apple ja', 'はい', 'iPhoneから送信\n\n2026/01/06 10:11、Ann <ann@x.test>のメール:\n\n> 来ますか'),
  above('further: iCloud zh', '好', '从我的 iPhone 发送\n\n在 2026年1月6日，10:11，Ann <ann@x.test> 写道：\n\n来吗？'),
  above('further: Mailspring', 'Yes', 'On Jan 6 2026, at 10:11 am, Ann Smith <ann@x.test> wrote:\n> Coming?'),
  above(
    'further: Outlook cs',
    'Ano',
    'Od: Anna <ann@x.test>\nOdesláno: úterý 6. ledna 2026 10:11\nKomu: Bob\nPředmět: RE: Schůzka\n\nMůžeme?',
  ),
  above(
    'further: Outlook sk',
    'Áno',
    'Od: Anna\nOdoslané: utorok 6. januára 2026 10:11\nKomu: Bob\nPredmet: Stretnutie\n\nMôžeme?',
  ),
  above(
    'further: Outlook he',
    'כן',
    'מאת: Ann <ann@x.test>\nנשלח: יום שלישי 06 ינואר 2026 10:11\nאל: Bob <bob@x.test>\nנושא: פגישה\n\nמתאים?',
  ),
  above(
    'further: Outlook ar',
    'نعم',
    'من: Ann <ann@x.test>\nتم الإرسال: الثلاثاء 6 يناير 2026 10:11\nإلى: Bob <bob@x.test>\nالموضوع: اجتماع\n\nمناسب؟',
  ),
  above(
    'further: Lotus de',
    'Ja',
    'Von:\tAnna Schmidt/HQ/Firma\nAn:\tBob Miller/HQ/Firma@FIRMA\nDatum:\t06.01.2026 10:11\nBetreff:\tUrlaub\n\nGenehmigt?',
  ),
  above('further: Spike', 'Yes', 'On January 6, 2026 at 10:11 GMT, Ann Smith <ann@x.test> wrote:\n\nComing?'),
  above('further: Airmail', 'Yes', 'On 6 January 2026 at 10:11:12, Ann Smith (ann@x.test) wrote:\n\nComing?'),
  above('further: Canary', 'Yes', 'On Tuesday, Jan 06, 2026 at 10:11 AM, Ann <ann@x.test> wrote:\nComing?'),
  above('further: Teamwork', 'Done', '--- Reply above this line to respond ---\n\nTask updated'),
  above('further: Basecamp', 'Yes', 'Write ABOVE THIS LINE to post a reply or view this on Basecamp\n\nAnn posted.'),
  above('further: LinkedIn-like quote', 'Hi, interested.', 'Ann Smith wrote:\n\n> Are you interested?'),
  above(
    'further: forward intro',
    'FYI, see below.',
    'Begin forwarded message:\n\nFrom: Ann <ann@x.test>\nSubject: Plan\nDate: 6 January 2026 at 10:11:12 CET\nTo: Bob <bob@x.test>\n\nThe plan.',
  ),
  whole('more: heading', '== Comments on the lines above ==\n\nThe first one is wrong.\n\nPlease change it.'),
  whole('more: table', 'Plan:\n\n| Line | Above |\n|---|---|\n| 1 | reply |\n\nFine?'),
  whole(
    'more: order form',
    'Name: Bob Miller\nDate: 6 January 2026\nTo: Warehouse\nSubject: Chairs\n\nPlease send 20 chairs.',
  ),
  whole('more: minutes', 'Minutes of 6 January 2026, 10:11:\n\nAnn wrote the plan.\nBob reads it.'),
  whole('more: code', 'Run this:\n\n  echo "from: a" > file\n  cat file\n\nand tell me.'),
  whole('more: sent sentence', 'On 6 January 2026 at 10:11 I sent:\n\ntwo chairs to ann@x.test\n\nDid they arrive?'),
];

/** Replies in HTML, and the text that their authors typed. */
export const WORLD_HTML_REPLIES: readonly { name: string; html: string; own: string }[] = [
  {
    name: 'Zimbra, divider',
    html: '<html><body><div style="font-family: arial"><div>Agreed.</div><div><br></div><hr id="zwchr" data-marker="__DIVIDER__"><div data-marker="__HEADERS__"><b>From: </b>"Ann" &lt;ann@x.test&gt;<br><b>To: </b>"bob" &lt;bob@x.test&gt;<br><b>Sent: </b>Tuesday, 6 January, 2026 10:11:12<br><b>Subject: </b>Plan<br></div><br><div data-marker="__QUOTED_TEXT__">Agreed?</div></div></body></html>',
    own: 'Agreed.',
  },
  {
    name: 'Samsung, comment and title',
    html: '<html><head></head><body dir="auto"><div dir="auto">Yes, tomorrow.</div><div dir="auto"><br></div><div id="composer_signature" dir="auto"><div style="font-size:12px;color:#575757" dir="auto">Sent from my Galaxy</div></div><div><br></div><div style="font-size:100%;color:#000000"><!-- originalMessage --><div>-------- Original message --------</div><div>From: Ann &lt;ann@x.test&gt; </div><div>Date: 1/6/26  10:11  (GMT+01:00) </div><div>To: bob@x.test </div><div>Subject: Meeting </div><div><br></div></div><div>Tomorrow?</div></body></html>',
    own: 'Yes, tomorrow.',
  },
  {
    name: 'Foxmail, rule and table of fields',
    html: '<html><body><div>好的。</div><div><br></div><hr style="width: 210px; height: 1px;" color="#b5c4df" size="1" align="left"><blockquote style="margin-Top: 0px; margin-Bottom: 0px; margin-Left: 0.5em"><div>&nbsp;</div><div style="border:none;border-top:solid #B5C4DF 1.0pt;padding:3.0pt 0cm 0cm 0cm"><div style="PADDING-RIGHT: 8px; FONT-SIZE: 12px;BACKGROUND: #efefef"><div><b>发件人：</b>&nbsp;<a href="mailto:ann@x.test">Ann</a></div><div><b>发送时间：</b>&nbsp;2026-01-06&nbsp;10:11</div><div><b>收件人：</b>&nbsp;<a href="mailto:bob@x.test">bob</a></div><div><b>主题：</b>&nbsp;会议</div></div></div><div>明天见？</div></blockquote></body></html>',
    own: '好的。',
  },
  {
    name: 'Lark, wrapper',
    html: '<div>Fine with me.</div><div class="history-quote-wrapper" id="lark-mail-quote-1"><div class="history-quote-gap-tag"><br></div><div style="list-style-position: inside;"><div class="adit-html-block adit-html-block--collapsed" style="border-left: none; padding-left: 0px;"><div><div class="lme-line-signal">From: <span>"Ann"&lt;ann@x.test&gt;</span></div><div>Date: Tue, Jan 6, 2026, 10:11</div><div>Subject: Plan</div><div>To: "Bob"&lt;bob@x.test&gt;</div></div><div>Is it fine?</div></div></div></div>',
    own: 'Fine with me.',
  },
  {
    name: 'Front, block',
    html: '<div>Shipped today.<br></div><br><div class="front-signature"><div>Bob</div></div><br><div class="front-blockquote-container"><blockquote type="cite" class="front-blockquote">On January 6, 2026, 10:11 AM GMT+1 <a href="mailto:ann@x.test">ann@x.test</a> wrote:<br><br><div>When do you ship?</div></blockquote></div>',
    own: 'Shipped today.',
  },
  {
    name: 'Yandex, blockquote below its line',
    html: '<div>Согласен.</div><div> </div><div>06.01.2026, 10:11, "Анна" &lt;ann@x.test&gt;:</div><blockquote><p>Согласны?</p></blockquote>',
    own: 'Согласен.',
  },
  {
    name: 'Outlook for Mac, border',
    html: '<html><body><div class="WordSection1"><p class="MsoNormal">Will do.</p><p class="MsoNormal">&nbsp;</p><div id="mail-editor-reference-message-container"><div><div><div style="border:none;border-top:solid #B5C4DF 1.0pt;padding:3.0pt 0in 0in 0in"><p class="MsoNormal"><b>From: </b>Ann &lt;ann@x.test&gt;<br><b>Date: </b>Tuesday, January 6, 2026 at 10:11 AM<br><b>To: </b>Bob &lt;bob@x.test&gt;<br><b>Subject: </b>Task<o:p></o:p></p></div><p class="MsoNormal">Please do it.</p></div></div></div></div></body></html>',
    own: 'Will do.',
  },
  {
    name: 'eM Client, title and fields',
    html: '<html><head></head><body><div>Received.</div><div><br></div><div id="signature_old"><div>Bob</div></div><div><br></div><div>------ Original Message ------</div><div>From "Ann" &lt;<a href="mailto:ann@x.test">ann@x.test</a>&gt;</div><div>To "Bob" &lt;<a href="mailto:bob@x.test">bob@x.test</a>&gt;</div><div>Date 1/6/2026 10:11:12 AM</div><div>Subject Invoice</div><div><br></div><div id="x1"><blockquote cite="m1@x.test" type="cite" class="cite2"><div>Did you get it?</div></blockquote></div></body></html>',
    own: 'Received.\n\nBob',
  },
  {
    name: 'Naver, paragraph of fields',
    html: '<html><body><p>네, 알겠습니다.</p><p><br></p><p>-----Original Message-----<br><b>From:</b> "안나"&lt;ann@x.test&gt;<br><b>To:</b> "밥"&lt;bob@x.test&gt;;<br><b>Cc:</b> <br><b>Sent:</b> 2026-01-06 (화) 10:11:12 (GMT+09:00)<br><b>Subject:</b> 회의<br></p><p>내일 볼까요?</p></body></html>',
    own: '네, 알겠습니다.',
  },
  {
    name: 'Mail.ru, blockquote with a border',
    html: '<HTML><BODY><div>Да, подходит.</div><div>&nbsp;</div><div data-signature-widget="container"><div>--<br>Отправлено из Mail для Android</div></div><blockquote style="border-left:1px solid #0857A6; margin:10px; padding:0 0 0 10px;">вторник, 6 января 2026 г., 10:11 +03:00 от Анна &lt;ann@x.test&gt;:<br>&nbsp;<div>Подходит?</div></blockquote></BODY></HTML>',
    own: 'Да, подходит.',
  },
  {
    name: 'Gmail, telephone, right to left',
    html: '<div dir="auto">כן, מתאים.</div><br><div class="gmail_quote gmail_quote_container"><div dir="rtl" class="gmail_attr">‫בתאריך יום ג׳, 6 בינו׳ 2026, 10:11, מאת ‪Ann‬‏ &lt;‪<a href="mailto:ann@x.test">ann@x.test</a>‬‏&gt;:‬<br></div><blockquote class="gmail_quote" style="margin:0 .8ex 0 0;border-right:1px #ccc solid;padding-right:1ex"><div>מתאים?</div></blockquote></div>',
    own: 'כן, מתאים.',
  },
  {
    name: 'Proton Mail, block',
    html: '<div style="font-family: Arial">Done.<br></div><div style="font-family: Arial"><br></div><div class="protonmail_signature_block protonmail_signature_block-empty"></div><div class="protonmail_quote">On Tuesday, January 6th, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<br><blockquote class="protonmail_quote" type="cite">Is it done?</blockquote></div>',
    own: 'Done.',
  },
];
