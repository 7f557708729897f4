import { above, type ReplyCase, whole } from './reply-case.ts';

/** Replies after the templates of mail programs in their languages and of services, written before any of them was read. */
export const TEMPLATE_REPLIES: readonly ReplyCase[] = [
  // Outlook in its languages, new, classic, mobile and for Mac.
  above(
    'Outlook, Icelandic',
    'Já, það passar.',
    '________________________________\nFrá: Anna Jónsdóttir <anna@x.test>\nSent: þriðjudagur, 6. janúar 2026 10:11\nTil: Jón <jon@y.test>\nEfni: Fundur\n\nHittumst við á morgun?',
  ),
  above(
    'Outlook, Estonian',
    'Sobib hästi.',
    '________________________________\nSaatja: Anna Tamm <anna@x.test>\nSaadetud: teisipäev, 6. jaanuar 2026 10:11\nAdressaat: Jaan <jaan@y.test>\nTeema: Koosolek\n\nKas homme sobib?',
  ),
  above(
    'Outlook, Latvian',
    'Jā, der.',
    '________________________________\nNo: Anna Ozola <anna@x.test>\nNosūtīts: otrdiena, 2026. gada 6. janvāris 10:11\nKam: Jānis <janis@y.test>\nTēma: Sapulce\n\nVai rīt der?',
  ),
  above(
    'Outlook, Lithuanian',
    'Tinka.',
    '________________________________\nNuo: Ona Petraitė <ona@x.test>\nIšsiųsta: 2026 m. sausio 6 d., antradienis 10:11\nKam: Jonas <jonas@y.test>\nTema: Susitikimas\n\nAr rytoj tinka?',
  ),
  above(
    'Outlook, Croatian, Mac',
    'Može.',
    'Šalje: Ana Horvat <ana@x.test>\nDatum: utorak, 6. siječnja 2026. u 10:11\nPrima: Ivan <ivan@y.test>\nPredmet: Sastanak\n\nMože li sutra?',
  ),
  above(
    'Outlook, Slovenian',
    'Se strinjam.',
    '________________________________\nOd: Ana Novak <ana@x.test>\nPoslano: torek, 06. januar 2026 10:11\nZa: Janez <janez@y.test>\nZadeva: Sestanek\n\nJutri?',
  ),
  above(
    'Outlook, Serbian in Latin letters',
    'Odgovara mi.',
    '________________________________\nOd: Ana Jovanović <ana@x.test>\nPoslato: utorak, 06. januar 2026. 10:11\nZa: Jovan <jovan@y.test>\nTema: Sastanak\n\nSutra?',
  ),
  above(
    'Outlook, Bulgarian',
    'Да, става.',
    '________________________________\nОт: Анна Иванова <anna@x.test>\nИзпратено: вторник, 6 януари 2026 г. 10:11\nДо: Иван <ivan@y.test>\nОтносно: Среща\n\nУтре става ли?',
  ),
  above(
    'Outlook, Hindi',
    'ठीक है।',
    '________________________________\nद्वारा: आशा <asha@x.test>\nभेजा गया: 06 जनवरी 2026 10:11\nप्रति: राम <ram@y.test>\nविषय: बैठक\n\nक्या कल मिलें?',
  ),
  above(
    'Outlook, Thai',
    'ได้ครับ',
    '________________________________\nจาก: อรุณ <arun@x.test>\nส่ง: 6 มกราคม 2026 10:11\nถึง: สมชาย <som@y.test>\nเรื่อง: ประชุม\n\nพรุ่งนี้ได้ไหม',
  ),
  above(
    'Outlook, Vietnamese, mobile',
    'Được nhé.',
    'Tải Outlook cho iOS\n________________________________\nTừ: Lan <lan@x.test>\nĐã gửi: Thứ Ba, 6 tháng 1, 2026 10:11\nĐến: Minh <minh@y.test>\nChủ đề: Họp\n\nMai họp nhé?',
  ),
  above(
    'Outlook, Indonesian, mobile',
    'Setuju.',
    'Dapatkan Outlook untuk Android\n________________________________\nDari: Ayu <ayu@x.test>\nDikirim: Selasa, 06 Januari 2026 10:11\nKepada: Budi <budi@y.test>\nPerihal: Rapat\n\nBesok rapat?',
  ),
  above(
    'Outlook, Hungarian, mobile',
    'Rendben.',
    'Az Outlook beszerzése iOS-re\n________________________________\nFeladó: Anna Kovács <anna@x.test>\nElküldve: 2026. január 6., kedd 10:11\nCímzett: János <janos@y.test>\nTárgy: Megbeszélés\n\nHolnap jó?',
  ),
  above(
    'Outlook, Czech, mobile',
    'Souhlasím.',
    'Získat Outlook pro iOS\n________________________________\nOd: Anna Nováková <anna@x.test>\nOdesláno: úterý 6. ledna 2026 10:11\nKomu: Jan <jan@y.test>\nPředmět: Schůzka\n\nZítra?',
  ),
  above(
    'Outlook, Turkish, mobile',
    'Tamamdır.',
    "Android için Outlook'u edinin\n________________________________\nKimden: Ayşe <ayse@x.test>\nGönderildi: Salı, Ocak 6, 2026 10:11\nKime: Mehmet <mehmet@y.test>\nKonu: Toplantı\n\nYarın olur mu?",
  ),
  above(
    'Outlook, Japanese, mobile',
    '了解しました。',
    'iOS 版 Outlook の入手\n________________________________\n差出人: 田中 <tanaka@x.test>\n送信日時: 2026年1月6日火曜日 10:11\n宛先: 鈴木 <suzuki@y.test>\n件名: 会議\n\n明日はいかがですか。',
  ),
  above(
    'Outlook, Korean, mobile',
    '네, 좋습니다.',
    'iOS용 Outlook 다운로드\n________________________________\n보낸 사람: 김지은 <kim@x.test>\n보낸 날짜: 2026년 1월 6일 화요일 10:11\n받는 사람: 박민수 <park@y.test>\n제목: 회의\n\n내일 괜찮으세요?',
  ),
  above(
    'Outlook, Chinese, mobile',
    '好的。',
    '获取适用于 iOS 的 Outlook\n________________________________\n发件人: 王芳 <wang@x.test>\n发送时间: 2026年1月6日 10:11\n收件人: 李明 <li@y.test>\n主题: 会议\n\n明天可以吗？',
  ),
  above(
    'Outlook, Hebrew, mobile',
    'מעולה, תודה.',
    'קבל את Outlook עבור iOS\n________________________________\nמאת: דנה <dana@x.test>\nנשלח: יום שלישי 6 ינואר 2026 10:11\nאל: יוסי <yossi@y.test>\nנושא: פגישה\n\nמחר מתאים?',
  ),
  above(
    'Outlook, Arabic, mobile',
    'موافق.',
    'الحصول على Outlook لـ iOS\n________________________________\nمن: ليلى <layla@x.test>\n‏‏تم الإرسال: الثلاثاء، 6 يناير 2026 10:11\nإلى: سامي <sami@y.test>\nالموضوع: اجتماع\n\nهل يناسبك الغد؟',
  ),
  above(
    'Outlook for Mac, French, no rule',
    'Parfait, merci.',
    'De : Anne Petit <anne@x.test>\nDate : mardi, 6 janvier 2026 à 10:11\nÀ : Jean Martin <jean@y.test>\nCc : Paul <paul@y.test>\nObjet : Réunion\nDemain à midi ?',
  ),
  above(
    'Outlook on the web, new, bold fields in stars',
    'Fine with me.',
    '*From:* Ann Smith <ann@x.test>\n*Date:* Tuesday, 6 January 2026 at 10:11\n*To:* Joe <joe@y.test>\n*Subject:* Lunch\n\nTomorrow at noon?',
  ),
  above(
    'Outlook, importance and attachments among the fields',
    'Signed.',
    'From: Ann Smith <ann@x.test>\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: Joe <joe@y.test>\nSubject: Contract\nImportance: High\nAttachments: contract.pdf\n\nPlease sign.',
  ),
  above(
    'Outlook, external banner above the original',
    'Looks right.',
    'From: Ann Smith <ann@x.test>\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: Joe <joe@y.test>\nSubject: [EXTERNAL] Invoice\n\nCAUTION: This email originated from outside of the organization.\n\nIs the amount right?',
  ),
  above(
    'Windows 10 Mail, Italian',
    'Va bene.',
    'Inviato da Posta per Windows\n\nDa: Anna Rossi\nInviato: martedì 6 gennaio 2026 10:11\nA: Gianni\nOggetto: Riunione\n\nDomani?',
  ),
  // Apple Mail in its languages.
  above('Apple Mail, Greek', 'Εντάξει.', 'Στις 6 Ιαν 2026, στις 10:11, ο χρήστης Άννα <anna@x.test> έγραψε:\n\nΑύριο;'),
  above(
    'Apple Mail, Hungarian',
    'Jó lesz.',
    '2026. jan. 6. dátummal, 10:11 időpontban Anna <anna@x.test> írta:\n\nHolnap?',
  ),
  above('Apple Mail, Ukrainian', 'Так.', '6 січ. 2026 р. о 10:11 Анна <anna@x.test> пише:\n\nЗавтра?'),
  above('Apple Mail, Vietnamese', 'Được.', 'Vào 10:11, 6 thg 1, 2026, Lan <lan@x.test> đã viết:\n\nNgày mai?'),
  above('Apple Mail, Malay', 'Boleh.', 'Pada 6 Jan 2026, pada 10:11 PG, Siti <siti@x.test> menulis:\n\nEsok?'),
  above(
    'Apple Mail, Dutch, forwarded within',
    'Zie onder.',
    'Begin doorgestuurd bericht:\n\nVan: Anna <anna@x.test>\nOnderwerp: Factuur\nDatum: 6 januari 2026 om 10:11:12 CET\nAan: Jan <jan@y.test>\n\nHierbij de factuur.',
  ),
  above(
    'Apple Mail, Danish, iPad',
    'Det er fint.',
    'Sendt fra min iPad\n\n> Den 6. jan. 2026 kl. 10.11 skrev Anna <anna@x.test>:\n> \n> ﻿I morgen?',
  ),
  above('Apple Mail, Hindi', 'हाँ।', '6 जन॰ 2026 को 10:11 पूर्वाह्न बजे, आशा <asha@x.test> ने लिखा:\n\nकल?'),
  // Gmail in further languages and forms.
  above('Gmail, Icelandic', 'Já.', 'þri., 6. jan. 2026 kl. 10:11 skrifaði Anna <anna@x.test>:\n\n> Á morgun?'),
  above('Gmail, Filipino', 'Sige.', 'Noong Mar, Ene 6, 2026 nang 10:11 AM, sumulat si Ana <ana@x.test>:\n\n> Bukas?'),
  above('Gmail, Persian', 'باشد.', 'در تاریخ سه‌شنبه ۶ ژانویهٔ ۲۰۲۶،‏ ۱۰:۱۱ آنا <anna@x.test> نوشت:\n\n> فردا؟'),
  above(
    'Gmail, Basque',
    'Bai.',
    '2026(e)ko urt. 6(a), ar. (10:11), Ane erabiltzaileak (<ane@x.test>) hau idatzi du:\n\n> Bihar?',
  ),
  above(
    'Gmail, Arabic, unmarked',
    'نعم.',
    'في الثلاثاء، 6 يناير 2026 في 10:11 ص تمت كتابة ما يلي بواسطة ليلى <layla@x.test>:\n\nغدا؟',
  ),
  above(
    'Gmail, Hebrew, date first',
    'כן.',
    '\u202bבתאריך יום ג׳, 6 בינו׳ 2026 ב-10:11 מאת דנה <\u202adana@x.test\u202c>:\u202c\n\n> מחר?',
  ),
  above(
    'Gmail mobile, English, wrapped',
    'Sure thing.',
    'On Tue, Jan 6, 2026, 10:11 AM Annabelle Smith-Wellington, Head of Operations <\nannabelle.smith.wellington@x.test> wrote:\n\n> Could you?',
  ),
  above(
    'Gmail, name that is an address',
    'Done.',
    'On Tue, Jan 6, 2026 at 10:11 AM ann@x.test <ann@x.test> wrote:\n\nCan you do it?',
  ),
  above(
    'Gmail, via a group',
    'Thanks.',
    "On Tue, Jan 6, 2026 at 10:11 AM 'Ann Smith' via Team <team@x.test> wrote:\n\n> The file is there.",
  ),
  // Other webmail.
  above(
    'Yahoo, Spanish',
    'Listo.',
    'Enviado desde Yahoo Mail para iPhone\n\nEl martes, 6 de enero de 2026, 10:11, Ana <ana@x.test> escribió:\n\n¿Está listo?',
  ),
  above(
    'Yahoo, Italian',
    'Fatto.',
    'Il martedì 6 gennaio 2026 alle ore 10:11:12 CET, Anna Rossi <anna@x.test> ha scritto:\n\nÈ fatto?',
  ),
  above(
    'Yahoo, German, Android',
    'Erledigt.',
    'Von Yahoo Mail auf Android gesendet\n\nAm Di., Jan. 6, 2026 at 10:11 schrieb Anna\n<anna@x.test>:   Erledigt?',
  ),
  above(
    'AOL, title below',
    'Got it.',
    '-----Original Message-----\nFrom: Ann Smith <ann@x.test>\nTo: joe <joe@y.test>\nSent: Tue, Jan 6, 2026 10:11 am\nSubject: File\n\nDid you get it?',
  ),
  above(
    'WEB.DE',
    'Passt.',
    'Gesendet mit der WEB.DE Mail App\nAm 06.01.26, 10:11, Anna <anna@x.test> schrieb:\n\nPasst es?',
  ),
  above(
    'GMX, web',
    'Ja, gern.',
    'Gesendet: Dienstag, 06. Januar 2026 um 10:11 Uhr\nVon: "Anna Maier" <anna@x.test>\nAn: jan@y.test\nBetreff: Treffen\n\nMorgen?',
  ),
  above(
    'T-Online',
    'Danke.',
    '-----Original-Nachricht-----\nBetreff: Rechnung\nDatum: 2026-01-06T10:11:12+0100\nVon: "Anna" <anna@x.test>\nAn: "jan@y.test" <jan@y.test>\n\nAnbei.',
  ),
  above(
    'Orange, French',
    'Merci.',
    '> Message du 06/01/26 10:11\n> De : "Anne" <anne@x.test>\n> A : jean@y.test\n> Copie à :\n> Objet : Devis\n>\n> Voici le devis.',
  ),
  above(
    'Mail.ru web, Russian',
    'Хорошо.',
    'Вторник, 6 января 2026, 10:11 +03:00 от Анна Иванова <anna@x.test>:\n\nЗавтра?',
  ),
  above(
    'QQ Mail',
    '收到。',
    '------------------ 原始邮件 ------------------\n发件人: "王芳" <wang@x.test>;\n发送时间: 2026年1月6日(星期二) 上午10:11\n收件人: "李明" <li@y.test>;\n主题: 会议\n\n明天？',
  ),
  above(
    'QQ Mail, English interface',
    'Received.',
    '---Original---\nFrom: "Wang Fang"<wang@x.test>\nDate: Tue, Jan 6, 2026 10:11 AM\nTo: "li"<li@y.test>;\nSubject: Meeting\n\nTomorrow?',
  ),
  above(
    'WeCom mail',
    '可以。',
    '发自我的企业微信\n\n---------- 回复的原邮件 ----------\n发件人：王芳<wang@x.test>\n时间：2026年1月6日（周二） 10:11\n收件人：李明<li@y.test>\n主题：会议\n\n明天？',
  ),
  above(
    'Naver',
    '네.',
    '-----Original Message-----\nFrom: "김지은"<kim@x.test>\nTo: <park@y.test>;\nCc:\nSent: 2026-01-06 (화) 10:11:12 (GMT+09:00)\nSubject: 회의\n\n내일?',
  ),
  above(
    'Daum',
    '알겠습니다.',
    '--------- 원본 메일 ---------\n보낸이 : 김지은 <kim@x.test>\n받는이 : 박민수 <park@y.test>\n날짜 : 2026년 1월 06일(화) 10:11:12\n제목 : 회의\n\n내일?',
  ),
  above('Fastmail', 'Agreed.', 'On Tue, 6 Jan 2026, at 10:11 AM, Ann Smith wrote:\n> Shall we?'),
  above(
    'SOGo, German',
    'Gut.',
    'Am Dienstag, Januar 06, 2026 10:11 CET, schrieb Anna Maier <anna@x.test>:\n \nMorgen?',
  ),
  above('Horde, German', 'Ja.', 'Zitat von Anna Maier <anna@x.test>:\n\n> Morgen?'),
  above(
    'Zimbra, English',
    'OK.',
    'From: "Ann Smith" <ann@x.test>\nTo: "joe" <joe@y.test>\nSent: Tuesday, January 6, 2026 10:11:12 AM\nSubject: Lunch\n\nNoon?',
  ),
  above('Roundcube, Spanish', 'De acuerdo.', 'El 2026-01-06 10:11, Ana escribió:\n> ¿Mañana?'),
  // Desktop programs.
  above('Thunderbird, Czech', 'Ano.', 'Dne 06. 01. 26 v 10:11 Anna napsal(a):\n> Zítra?'),
  above('Thunderbird, Hungarian', 'Igen.', '2026. 01. 06. 10:11 keltezéssel, Anna írta:\n> Holnap?'),
  above('Thunderbird, Swedish', 'Ja.', 'Den 2026-01-06 kl. 10:11, skrev Anna:\n> I morgon?'),
  above(
    'Lotus Notes, classic',
    'Will do.',
    '\n\n\nAnn Smith/HQ/Example\n01/06/2026 10:11 AM\n\nTo\nJoe Miller/HQ/Example@Example\ncc\n\nSubject\nReport\n\nPlease send the report.',
  ),
  above(
    'HCL Verse',
    'Sure.',
    '"Ann Smith" ---01/06/2026 10:11:12 AM---Please send the report.\n\nFrom: "Ann Smith" <ann@x.test>\nTo: "Joe" <joe@y.test>\nDate: 01/06/2026 10:11 AM\nSubject: Report\n\nPlease send the report.',
  ),
  above(
    'Apple Notes of a reply on Spark, French',
    "C'est bon.",
    'Envoyé depuis Spark\nLe 6 janv. 2026 à 10:11 +0100, Anne <anne@x.test>, a écrit :\n\nOn se voit ?',
  ),
  above(
    'K-9, French',
    'Oui.',
    'Le 6 janvier 2026 10:11:12 GMT+01:00, Anne <anne@x.test> a écrit :\n>Demain ?\n\n-- \nEnvoyé de mon appareil Android avec Courriel K-9 Mail. Veuillez excuser ma brièveté.',
  ),
  above(
    'Samsung, German',
    'Ja, mache ich.',
    'Von meinem Samsung Galaxy Smartphone gesendet.\n\n-------- Ursprüngliche Nachricht --------\nVon: Anna <anna@x.test>\nDatum: 06.01.26 10:11 (GMT+01:00)\nAn: jan@y.test\nBetreff: Bitte\n\nMachst du das?',
  ),
  above(
    'Superhuman, no colon',
    'Done!',
    'Sent via Superhuman iOS\n\nOn Tue, Jan 6 2026 at 10:11 AM, Ann Smith <ann@x.test> wrote:\n\n> Please do it.',
  ),
  above('Tutanota, French', 'Oui.', '6 janv. 2026, 10:11 de anne@x.test:\n\n> Demain ?'),
  // Structures.
  {
    name: 'inline answers keep the questions between them',
    text: 'Hi Ann,\n\n> Is Monday fine?\n\nYes.\n\n> And where?\n\nAt your place.\n',
    own: 'Hi Ann,\n\n> Is Monday fine?\n\nYes.\n\n> And where?\n\nAt your place.',
  },
  {
    name: 'bottom posting below an attribution',
    text: 'On 06/01/2026 10:11, Ann Smith wrote:\n> Is Monday fine?\n> Ann\n\nMonday is perfect.\n\nJoe\n',
    own: 'Monday is perfect.\n\nJoe',
  },
  above(
    'signature and disclaimer above the quotation',
    'The offer is fine.',
    '--\nJoe Miller\nDest Ltd.\n\nThis e-mail and any attachments are confidential and intended only for the addressee. If you are not the intended recipient, please delete it and notify the sender. Any unauthorised disclosure is prohibited.\n\nOn 06/01/2026 10:11, Ann Smith wrote:\n> The offer.',
  ),
  above(
    'a second older message below the first',
    'Agreed by me, too.',
    'On 7 Jan 2026 at 09:00, Bob <bob@x.test> wrote:\n\nAgreed.\n\nFrom: Ann <ann@x.test>\nSent: 6 January 2026 10:11\nTo: Bob\nSubject: Plan\n\nWhat do you think?',
  ),
  above(
    'Polish phone without a mark',
    'Tak, pasuje.',
    'Wysłane z iPhone’a\n\nWiadomość napisana przez Anna Nowak <anna@x.test> w dniu 6 sty 2026, o godz. 10:11:\n\nCzy pasuje?',
  ),
  whole('a reply without any quotation', 'Thanks, that helps.\n\nJoe'),
];

/** Replies in HTML alone, whose original is marked by its program in its own way. */
export const TEMPLATE_HTML_REPLIES: readonly { name: string; html: string; own: string }[] = [
  {
    name: 'Outlook on the web, new',
    html: '<html><body><div style="font-family: Aptos">Fine with me.</div><div id="ms-outlook-mobile-signature"><div></div></div><hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr"><font face="Calibri"><b>From:</b> Ann &lt;ann@x.test&gt;<br><b>Sent:</b> Tuesday, January 6, 2026 10:11 AM<br><b>To:</b> Joe<br><b>Subject:</b> Lunch</font></div><div>Noon?</div></body></html>',
    own: 'Fine with me.',
  },
  {
    name: 'Outlook classic, border above the fields, Norwegian',
    html: '<html><body><div class="WordSection1"><p class="MsoNormal">Det passer.</p><div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p class="MsoNormal"><b>Fra:</b> Anna &lt;anna@x.test&gt;<br><b>Sendt:</b> tirsdag 6. januar 2026 10:11<br><b>Til:</b> Jan<br><b>Emne:</b> Lunsj</p></div></div><p class="MsoNormal">I morgen?</p></div></body></html>',
    own: 'Det passer.',
  },
  {
    name: 'Gmail',
    html: '<div dir="ltr">Sure.</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Tue, Jan 6, 2026 at 10:11 AM Ann &lt;<a href="mailto:ann@x.test">ann@x.test</a>&gt; wrote:<br></div><blockquote class="gmail_quote" style="margin:0"><div>Noon?</div></blockquote></div>',
    own: 'Sure.',
  },
  {
    name: 'Apple Mail, cite',
    html: '<html><body>Yes, gladly.<br id="lineBreakAtBeginningOfMessage"><div><br><blockquote type="cite"><div>On 6 Jan 2026, at 10:11, Ann &lt;ann@x.test&gt; wrote:</div><br class="Apple-interchange-newline"><div>Noon?</div></blockquote></div></body></html>',
    own: 'Yes, gladly.',
  },
  {
    name: 'Proton',
    html: '<div style="font-family: Arial">Agreed.</div><div class="protonmail_signature_block"></div><div class="protonmail_quote">On Tuesday, January 6th, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<br><blockquote class="protonmail_quote" type="cite">Noon?</blockquote></div>',
    own: 'Agreed.',
  },
  {
    name: 'Yahoo',
    html: '<div class="ydp1yahoo-style-wrap"><div dir="ltr">Done.</div></div><div id="ydp2yahoo_quoted_1" class="ydp2yahoo_quoted"><div>On Tuesday, January 6, 2026 at 10:11:12 AM GMT+1, Ann &lt;ann@x.test&gt; wrote:</div><div>Please do it.</div></div>',
    own: 'Done.',
  },
  {
    name: 'Thunderbird, cite prefix',
    html: '<html><body><p>Yes.</p><div class="moz-cite-prefix">On 06/01/2026 10:11, Ann wrote:<br></div><blockquote type="cite" cite="mid:1@x.test"><p>Noon?</p></blockquote></body></html>',
    own: 'Yes.',
  },
  {
    name: 'Zoho, HTML',
    html: '<div style="font-family: Verdana">Works.</div><div class="zmail_extra" style="font-family: Verdana"><div id="Zm-_Id_-Sgn1">---- On Tue, 06 Jan 2026 10:11:12 +0530 <b>Ann &lt;ann@x.test&gt;</b> wrote ---</div><blockquote id="blockquote_zmail">Noon?</blockquote></div>',
    own: 'Works.',
  },
  {
    name: 'Yandex, HTML',
    html: '<div>Да.</div><div>06.01.2026, 10:11, "Анна" &lt;anna@x.test&gt;:</div><blockquote><div>Завтра?</div></blockquote>',
    own: 'Да.',
  },
  {
    name: 'Superhuman, HTML',
    html: '<html><body><div>On it.</div><br><div class="gmail_signature"><div>Sent via <a href="https://sprh.test">Superhuman</a></div></div><br><div><div class="gmail_quote">On Tue, Jan 06, 2026 at 10:11 AM, Ann <span>&lt;ann@x.test&gt;</span> wrote:<br><blockquote class="gmail_quote sh-color-black">Please.</blockquote></div></div></body></html>',
    own: 'On it.',
  },
  {
    name: 'Hebrew, right to left, Gmail',
    html: '<div dir="rtl">כן, מצוין.</div><br><div class="gmail_quote"><div dir="rtl" class="gmail_attr">\u202bבתאריך יום ג׳, 6 בינו׳ 2026 ב-10:11 מאת \u202aDana\u202c \u200f&lt;\u202a<a href="mailto:dana@x.test">dana@x.test</a>\u202c\u200f&gt;:\u202c<br></div><blockquote class="gmail_quote">מחר?</blockquote></div>',
    own: 'כן, מצוין.',
  },
  {
    name: 'NetEase Mail Master',
    html: '<div>可以。</div><div class="ne-quoted-Message-Fragment"><div class="J-reply" style="background-color:#f2f2f2"><div>---- 回复的原邮件 ----</div><table><tr><td>发件人</td><td>王芳&lt;wang@x.test&gt;</td></tr><tr><td>日期</td><td>2026年01月06日 10:11</td></tr><tr><td>收件人</td><td>李明&lt;li@y.test&gt;</td></tr><tr><td>主题</td><td>会议</td></tr></table></div><div>明天？</div></div>',
    own: '可以。',
  },
];
