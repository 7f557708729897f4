import { above, type ReplyCase } from './reply-case.ts';

const RULE = '_'.repeat(32);

/** Replies with what mail programs and help desks write around quoted mail, by their sources and public examples; written before any was read. */
export const PUBLISHED_REPLIES: readonly ReplyCase[] = [
  // Outlook 2019 on a Mac, one line in each language.
  above('Outlook Mac, Czech', 'Díky, platí.', 'Dne 06.01.26 10:11, Ann Smith <ann@x.test> napsal(a):\n\nMůžeme zítra?'),
  above('Outlook Mac, Danish', 'Ja tak.', 'D. 06.01.2026 kl. 10.11 skrev "Ann Smith" <ann@x.test>:\n\nSkal vi spise?'),
  above(
    'Outlook Mac, German',
    'Passt mir.',
    'Am 06.01.26, 10:11 schrieb "Ann Smith" <ann@x.test>:\n\nGehen wir essen?',
  ),
  above('Outlook Mac, English', 'Fine by me.', 'On 1/6/26, 10:11 AM, "Ann Smith" <ann@x.test> wrote:\n\nShall we eat?'),
  above('Outlook Mac, Spanish', 'De acuerdo.', 'El 6/1/26 10:11, "Ann Smith" <ann@x.test> escribió:\n\n¿Comemos?'),
  above('Outlook Mac, French', 'Parfait.', 'Le 06/01/2026 10:11, « Ann Smith » <ann@x.test> a écrit :\n\nOn mange ?'),
  above('Outlook Mac, Finnish', 'Sopii.', 'Ann Smith <ann@x.test> kirjoitti 6.1.2026 kello 10.11:\n\nSyödäänkö?'),
  above(
    'Outlook Mac, Hungarian',
    'Rendben.',
    '2026. 01. 06. 10:11 időpontban Ann Smith <ann@x.test> ezt írta:\n\nEbédelünk?',
  ),
  above(
    'Outlook Mac, Italian',
    'Va bene.',
    'Il giorno 06/01/26, 10:11 "Ann Smith" <ann@x.test> ha scritto:\n\nMangiamo?',
  ),
  above(
    'Outlook Mac, Dutch',
    'Prima.',
    'Op 06-01-2026 10:11 heeft Ann Smith <ann@x.test> geschreven:\n\nZullen we eten?',
  ),
  above(
    'Outlook Mac, Norwegian',
    'Greit.',
    'Ann Smith <ann@x.test> skrev følgende den 06.01.2026 10:11:\n\nSkal vi spise?',
  ),
  above('Outlook Mac, Polish', 'Zgoda.', 'Dnia 6.01.2026, 10:11 „Ann Smith” <ann@x.test> napisał:\n\nZjemy coś?'),
  above(
    'Outlook Mac, Portuguese',
    'Combinado.',
    'Em 06/01/26, 10:11, "Ann Smith" <ann@x.test> escreveu:\n\nVamos almoçar?',
  ),
  above(
    'Outlook Mac, Russian',
    'Хорошо.',
    '06.01.2026, 10:11 пользователь "Ann Smith" <ann@x.test> написал:\n\nПообедаем?',
  ),
  above(
    'Outlook Mac, Slovak',
    'Súhlasím.',
    '6.1.2026, 10:11 používateľ Ann Smith (<ann@x.test>) napísal:\n\nNaobedujeme sa?',
  ),
  above(
    'Outlook Mac, Swedish',
    'Gärna.',
    'Den 2026-01-06 10:11 skrev "Ann Smith" <ann@x.test> följande:\n\nSka vi äta?',
  ),
  above(
    'Outlook Mac, Turkish',
    'Olur.',
    '"Ann Smith" <ann@x.test>, 6.01.2026 10:11 tarihinde şunu yazdı:\n\nYemek yiyelim mi?',
  ),
  // Forwards and replies of telephones and webmail.
  above(
    'Apple Mail, Croatian',
    'Pogledaj ovo.',
    'Započni proslijeđenu poruku:\n\nŠalje: Ann Smith <ann@x.test>\nPredmet: ručak\nDatum: 6. siječnja 2026. 10:11:12 GMT+1\nPrima: joe@x.test\n\nIdemo li?',
  ),
  above(
    'Apple Mail, Slovak',
    'Pozri toto.',
    'Začiatok preposlanej správy:\n\nOd: Ann Smith <ann@x.test>\nPredmet: obed\nDátum: 6. januára 2026, 10:11:12 SEČ\nPre: joe@x.test\n\nIdeme?',
  ),
  above(
    'Apple Mail, Turkish',
    'Şuna bak.',
    'İleti başlangıcı:\n\nKimden: Ann Smith <ann@x.test>\nKonu: yemek\nTarih: 6 Ocak 2026 10:11:12 GMT+3\nKime: joe@x.test\n\nGidelim mi?',
  ),
  above(
    'Apple Mail, Ukrainian',
    'Подивися.',
    'Початок листа, що пересилається:\n\nВід кого: Ann Smith <ann@x.test>\nТема: обід\nДата: 6 січня 2026 р., 10:11:12 GMT+2\nКому: joe@x.test\n\nЙдемо?',
  ),
  above(
    'Apple Mail, Finnish',
    'Katso tätä.',
    'Välitetty viesti alkaa:\n\nLähettäjä: Ann Smith <ann@x.test>\nAihe: lounas\nPäivämäärä: 6. tammikuuta 2026 klo 10.11.12 UTC+2\nVastaanottaja: joe@x.test\n\nMennäänkö?',
  ),
  above(
    'HubSpot, Japanese',
    '見てください。',
    '---------- メッセージを転送 ---------\n送信元：Ann Smith <ann@x.test>\n日付：2026年1月6日火曜日 10:11:44 -0400\n件名：昼食\n送信先：joe@x.test\n\n行きますか。',
  ),
  above(
    'IONOS',
    'Thanks, paid.',
    '> ---------- Original Message ----------\n> From: Ann Smith <ann@x.test>\n> To: "joe@x.test" <joe@x.test>\n> Date: 01/06/2026 10:11 AM EST\n> Subject: Invoice\n>  \n>  \n> Please pay.',
  ),
  above(
    'Missive',
    'Forwarding this.',
    '---------- Forwarded message ----------\nFrom: Ann Smith <ann@x.test>\nDate: January 6, 2026 at 10:11 AM\nTo: joe@x.test\nSubject: Invoice\n\n> Please pay.\n>',
  ),
  above(
    'Thunderbird, Slovak',
    'Posielam ďalej.',
    '-------- Preposlaná správa --- Forwarded Message --------\nPredmet: obed\nDátum: Tue, 6 Jan 2026 10:11:12 +0100\nOd: Ann Smith <ann@x.test>\nPre: joe@x.test\n\nIdeme?',
  ),
  above(
    'Thunderbird, Finnish',
    'Tässä.',
    '-------- Välitetty viesti / Fwd.Msg --------\nAihe: lounas\nPäiväys: Tue, 6 Jan 2026 10:11:12 +0200\nLähettäjä: Ann Smith <ann@x.test>\nVastaanottaja: joe@x.test\n\nMennäänkö?',
  ),
  above(
    'Tobit David',
    'Danke, erledigt.',
    'Original Message processed by david®\n\nMittagessen 06. Januar 2026, 10:11 Uhr\nVon Ann Smith\nAn Joe Doe\n\nGehen wir essen?',
  ),
  above(
    'Yahoo, one line of fields',
    'Yes.',
    '----- Forwarded Message ----- From: Ann Smith <ann@x.test>To: "joe@x.test" <joe@x.test>Sent: Tuesday, January 6, 2026, 10:11:12 AM GMT+1Subject: Lunch\nShall we?',
  ),
  above(
    'Outlook on the web',
    'Works for me.',
    `${RULE}\nFrom: Ann Smith <ann@x.test>\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: Joe <joe@x.test>\nSubject: Lunch\n\nShall we?`,
  ),
  above(
    'Outlook, Estonian',
    'Sobib.',
    `${RULE}\nSaatja: Ann Smith <ann@x.test>\nSaadetud: teisipäev, 6. jaanuar 2026 10:11\nAdressaat: Joe <joe@x.test>\nTeema: lõuna\n\nLäheme?`,
  ),
  above(
    'Outlook, Latvian',
    'Der.',
    `${RULE}\nNo: Ann Smith <ann@x.test>\nNosūtīts: otrdiena, 2026. gada 6. janvāris 10:11\nKam: Joe <joe@x.test>\nTēma: pusdienas\n\nEjam?`,
  ),
  above(
    'Outlook, Lithuanian',
    'Tinka.',
    `${RULE}\nNuo: Ann Smith <ann@x.test>\nIšsiųsta: 2026 m. sausio 6 d., antradienis 10:11\nKam: Joe <joe@x.test>\nTema: pietūs\n\nEinam?`,
  ),
  above(
    'Outlook, Thai',
    'ได้ครับ',
    `${RULE}\nจาก: Ann Smith <ann@x.test>\nส่ง: 6 มกราคม 2569 10:11\nถึง: Joe <joe@x.test>\nเรื่อง: อาหารกลางวัน\n\nไปไหม`,
  ),
  above(
    'Outlook, Vietnamese',
    'Được.',
    `${RULE}\nTừ: Ann Smith <ann@x.test>\nĐã gửi: Thứ Ba, 6 Tháng Giêng 2026 10:11\nTới: Joe <joe@x.test>\nChủ đề: ăn trưa\n\nĐi không?`,
  ),
  above(
    'Outlook, Arabic',
    'موافق.',
    `${RULE}\nمن: Ann Smith <ann@x.test>\nتم الإرسال: 06/يناير/2026 10:11\nإلى: Joe <joe@x.test>\nالموضوع: غداء\n\nهل نذهب؟`,
  ),
  above(
    'Outlook, Hebrew',
    'מתאים.',
    `${RULE}\nמאת: Ann Smith <ann@x.test>\nנשלח: יום שלישי 06 ינואר 2026 10:11\nאל: Joe <joe@x.test>\nנושא: צהריים\n\nהולכים?`,
  ),
  above(
    'Outlook, Bulgarian, with bold names',
    'Става.',
    '*От:* Ann Smith <ann@x.test>\n*Изпратено:* вторник, 6 януари 2026 10:11\n*До:* Joe <joe@x.test>\n*Относно:* обяд\n\nОтиваме ли?',
  ),
  above(
    'Outlook, Serbian',
    'Važi.',
    'Od: Ann Smith <ann@x.test>\nPoslato: utorak, 6. januar 2026. 10:11\nZa: Joe <joe@x.test>\nTema: ručak\n\nIdemo li?',
  ),
  above(
    'Outlook, Slovenian',
    'Velja.',
    'Od: Ann Smith <ann@x.test>\nPoslano: torek, 06. januar 2026 10:11\nZa: Joe <joe@x.test>\nZadeva: kosilo\n\nGremo?',
  ),
  above(
    'Outlook, Romanian',
    'De acord.',
    'De la: Ann Smith <ann@x.test>\nTrimis: marți, 6 ianuarie 2026 10:11\nCătre: Joe <joe@x.test>\nSubiect: prânz\n\nMergem?',
  ),
  above(
    'Outlook, Icelandic',
    'Já.',
    'Frá: Ann Smith <ann@x.test>\nSent: þriðjudagur, 6. janúar 2026 10:11\nTil: Joe <joe@x.test>\nEfni: hádegismatur\n\nFörum við?',
  ),
  above(
    'Outlook, Kazakh, an unknown language of fields',
    'Жарайды.',
    `${RULE}\nКімнен: Ann Smith <ann@x.test>\nЖіберілді: сейсенбі, 6 қаңтар 2026 ж. 10:11\nКімге: Joe <joe@x.test>\nТақырып: түскі ас\n\nБарамыз ба?`,
  ),
  above(
    'Outlook, Azerbaijani',
    'Oldu.',
    `${RULE}\nKimdən: Ann Smith <ann@x.test>\nGöndərildi: çərşənbə axşamı, 6 yanvar 2026 10:11\nKimə: Joe <joe@x.test>\nMövzu: nahar\n\nGedək?`,
  ),
  above(
    'Outlook, Albanian',
    'Në rregull.',
    `${RULE}\nNga: Ann Smith <ann@x.test>\nDërguar: e martë, 6 janar 2026 10:11\nPër: Joe <joe@x.test>\nSubjekti: dreka\n\nShkojmë?`,
  ),
  above(
    'Outlook, Georgian',
    'კარგი.',
    `${RULE}\nგამომგზავნი: Ann Smith <ann@x.test>\nგაგზავნის დრო: 6 იანვარი 2026 10:11\nმიმღები: Joe <joe@x.test>\nსაკითხი: სადილი\n\nწავიდეთ?`,
  ),
  above(
    'Outlook, Hindi',
    'ठीक है।',
    `${RULE}\nप्रेषक: Ann Smith <ann@x.test>\nभेजा गया: मंगलवार, 6 जनवरी 2026 10:11\nप्रति: Joe <joe@x.test>\nविषय: दोपहर का भोजन\n\nचलें?`,
  ),
  above(
    'Outlook, Khmer',
    'យល់ព្រម។',
    `${RULE}\nពី: Ann Smith <ann@x.test>\nបានផ្ញើ: ថ្ងៃអង្គារ 6 មករា 2026 10:11\nទៅ: Joe <joe@x.test>\nប្រធានបទ: អាហារ\n\nទៅទេ?`,
  ),
  above(
    'Outlook, Swahili',
    'Sawa.',
    `${RULE}\nKutoka: Ann Smith <ann@x.test>\nImetumwa: Jumanne, 6 Januari 2026 10:11\nKwa: Joe <joe@x.test>\nMada: chakula\n\nTwende?`,
  ),
  // Gmail in further languages.
  above(
    'Gmail, Estonian',
    'Jah.',
    'Kontakt Ann Smith (<ann@x.test>) kirjutas kuupäeval T, 6. jaanuar 2026 kell 10:11:\n\n> Läheme?',
  ),
  above(
    'Gmail, Latvian',
    'Jā.',
    'otrd., 2026. g. 6. janv., plkst. 10:11 — lietotājs Ann Smith (<ann@x.test>) rakstīja:\n\n> Ejam?',
  ),
  above('Gmail, Lithuanian', 'Taip.', '2026-01-06, an, 10:11 Ann Smith <ann@x.test> rašė:\n\n> Einam?'),
  above('Gmail, Croatian', 'Da.', 'uto, 6. sij 2026. u 10:11 Ann Smith <ann@x.test> napisao je:\n\n> Idemo?'),
  above('Gmail, Serbian', 'Да.', 'уто, 6. јан 2026. у 10:11 Ann Smith <ann@x.test> је написао/ла:\n\n> Идемо?'),
  above(
    'Gmail, Slovenian',
    'Da.',
    'V V tor., 6. jan. 2026 ob 10:11 je oseba Ann Smith <ann@x.test> napisala:\n\n> Gremo?',
  ),
  above('Gmail, Bulgarian', 'Да.', 'На вт, 6.01.2026 г. в 10:11 Ann Smith <ann@x.test> написа:\n\n> Отиваме ли?'),
  above(
    'Gmail, Indonesian',
    'Baik.',
    'Pada tanggal Sel, 6 Jan 2026 pukul 10.11 Ann Smith <ann@x.test> menulis:\n\n> Pergi?',
  ),
  above('Gmail, Malay', 'Ya.', 'Pada Sel, 6 Jan 2026 pada 10:11 PG Ann Smith <ann@x.test> menulis:\n\n> Pergi?'),
  above(
    'Gmail, Filipino',
    'Oo.',
    'Noong Mar, Ene 6, 2026 nang 10:11 AM, isinulat ni Ann Smith <ann@x.test> ang:\n\n> Tara?',
  ),
  above('Gmail, Persian', 'باشه.', 'در تاریخ سه‌شنبه ۶ ژانویهٔ ۲۰۲۶، ۱۰:۱۱ Ann Smith <ann@x.test> نوشت:\n\n> برویم؟'),
  above('Gmail, Hindi', 'हाँ।', 'मंगल, 6 जन॰ 2026 को 10:11 am बजे को Ann Smith <ann@x.test> ने लिखा:\n\n> चलें?'),
  above('Gmail, Thai', 'ได้', 'ในวันที่ อ. 6 ม.ค. 2026 เวลา 10:11 Ann Smith <ann@x.test> เขียนว่า:\n\n> ไปไหม'),
  above('Gmail, Icelandic', 'Já.', 'þri., 6. jan. 2026 kl. 10:11 skrifaði Ann Smith <ann@x.test>:\n\n> Förum við?'),
  above(
    'Gmail, Catalan',
    'Sí.',
    'Missatge de Ann Smith <ann@x.test> del dia dt., 6 de gen. 2026 a les 10:11:\n\n> Anem?',
  ),
  above(
    'Gmail, Basque, unmarked',
    'Bai.',
    'Ann Smith (<ann@x.test>) erabiltzaileak hau idatzi du (2026 urt. 6, ar. (10:11)):\n\nJoango gara?',
  ),
  above(
    'Gmail, Welsh, wrapped',
    'Iawn.',
    'Ar Maw, 6 Ion 2026 am 10:11 Ann Smith, Cwmni Bara\n<ann.smith.cwmni@x.test> ysgrifennodd:\n\n> Awn ni?',
  ),
  above('Gmail, Georgian', 'დიახ.', 'სამ, 6 იან. 2026, 10:11-ზე Ann Smith <ann@x.test>-მა დაწერა:\n\n> წავიდეთ?'),
  above('Gmail, Armenian', 'Այո։', 'երք, 6 հնվ. 2026 թ., 10:11 Ann Smith <ann@x.test> գրել է՝\n\n> Գնա՞նք'),
  above('Gmail, Bengali', 'হ্যাঁ।', 'মঙ্গল, ৬ জানু, ২০২৬ তারিখে ১০:১১ AM টায় Ann Smith <ann@x.test> লিখেছেন:\n\n> যাব?'),
  above(
    'Gmail, Swahili',
    'Ndiyo.',
    'Mnamo Jumanne, 6 Januari 2026 10:11 Ann Smith <ann@x.test> aliandika:\n\n> Twende?',
  ),
  above(
    'Gmail, Mongolian, an unknown word',
    'За.',
    '2026 оны 1-р сарын 6, Мяг 10:11-д Ann Smith <ann@x.test> бичсэн:\n\n> Явах уу?',
  ),
  above(
    'Gmail, Uzbek, an unknown word',
    'Ha.',
    '2026-yil 6-yanvar, Se 10:11, Ann Smith <ann@x.test> yozdi:\n\n> Boramizmi?',
  ),
  // Programs.
  above('Roundcube, Galician', 'Si.', 'O 2026-01-06 10:11, Ann Smith escribiu:\n\n> Imos?'),
  above('Evolution', 'Fine.', 'On Tue, 2026-01-06 at 10:11 +0100, Ann Smith wrote:\n> Shall we?'),
  above('KMail', 'Fine.', 'On Tuesday, 6 January 2026 10:11:12 CET Ann Smith wrote:\n> Shall we?'),
  above('KMail, German', 'Gut.', 'Am Dienstag, 6. Januar 2026, 10:11:12 CET schrieb Ann Smith:\n> Gehen wir?'),
  above('Claws Mail', 'Fine.', 'On Tue, 6 Jan 2026 10:11:12 +0100\nAnn Smith <ann@x.test> wrote:\n\n> Shall we?'),
  above('Mutt, Spanish', 'Vale.', 'El mar., 06 de ene. de 2026 a la(s) 10:11:12 +0100, Ann Smith escribió:\n> ¿Vamos?'),
  above('FairEmail', 'Fine.', 'January 6, 2026 10:11:12 AM GMT+01:00 Ann Smith <ann@x.test>:\n\n> Shall we?'),
  above('K-9, German', 'Ja.', 'Am 6. Januar 2026 10:11:12 MEZ schrieb Ann Smith <ann@x.test>:\n>Gehen wir?'),
  above('Zimbra', 'Fine.', '----- On Jan 6, 2026, at 10:11 AM, Ann Smith <ann@x.test> wrote:\n\n> Shall we?'),
  above(
    'Zimbra, French',
    'Bien.',
    '----- Mail original -----\nDe: "Ann Smith" <ann@x.test>\nÀ: "Joe" <joe@x.test>\nEnvoyé: Mardi 6 Janvier 2026 10:11:12\nObjet: repas\n\nOn y va ?',
  ),
  above(
    'SOGo, German',
    'Ja.',
    'Am Dienstag, 06. Januar 2026 10:11 CET, schrieb "Ann Smith" <ann@x.test>:\n \n\nGehen wir?',
  ),
  above(
    'Open-Xchange, German',
    'Ja gern.',
    'Ann Smith <ann@x.test> hat am 06.01.2026 10:11 CET geschrieben:\n\n\nGehen wir?',
  ),
  above(
    'eM Client',
    'Fine.',
    '------ Original Message ------\nFrom "Ann Smith" <ann@x.test>\nTo joe@x.test\nDate 06/01/2026 10:11:12\nSubject Lunch\n\nShall we?',
  ),
  above('Spark', 'Fine.', 'On 6 Jan 2026, 10:11 +0100, Ann Smith <ann@x.test>, wrote:\n> Shall we?'),
  above(
    'Superhuman',
    'Fine.',
    'Sent via Superhuman\n\n\nOn Tue, Jan 06, 2026 at 10:11 AM, Ann Smith < ann@x.test > wrote:\n\n> Shall we?',
  ),
  above('Front', 'Fine.', 'On January 6, 2026 at 10:11 AM GMT+1 ann@x.test wrote:\n\nShall we?'),
  above(
    'Proton Mail, German',
    'Ja.',
    'Gesendet mit der sicheren Proton Mail E-Mail.\n\nAm Dienstag, 6. Januar 2026 um 10:11, Ann Smith <ann@x.test> schrieb:\n\n> Gehen wir?',
  ),
  above('Tuta, German', 'Ja.', 'Gesendet mit Tuta\n\n\n06.01.2026, 10:11 von ann@x.test:\n\n> Gehen wir?'),
  above('Hey', 'Fine.', 'On January 6, 2026, Ann Smith <ann@x.test> wrote:\n\nShall we?'),
  above(
    'QQ',
    '好的。',
    '------------------&nbsp;原始邮件&nbsp;------------------\n发件人: "Ann Smith" <ann@x.test>;\n发送时间: 2026年1月6日(星期二) 上午10:11\n收件人: "Joe"<joe@x.test>;\n主题: 午饭\n\n去吗？',
  ),
  above('Netease', '好的。', 'At 2026-01-06 10:11:12, "Ann Smith" <ann@x.test> wrote:\n\n去吗？'),
  above(
    'Netease, Chinese',
    '好的。',
    '---- 回复的原邮件 ----\n| 发件人 | Ann Smith<ann@x.test> |\n| 发送日期 | 2026年01月06日 10:11 |\n| 收件人 | joe@x.test |\n| 主题 | 午饭 |\n去吗？',
  ),
  above('Foxmail', '好的。', '发件人： Ann Smith\n发送时间： 2026-01-06 10:11\n收件人： joe\n主题： 午饭\n去吗？'),
  above(
    'Naver',
    '네.',
    '-----Original Message-----\nFrom: "Ann Smith"<ann@x.test>\nTo: "Joe"<joe@x.test>;\nCc:\nSent: 2026-01-06 (화) 10:11:12 (GMT+09:00)\nSubject: 점심\n\n갈까요?',
  ),
  above(
    'Daum',
    '네.',
    '--------- 원본 메일 ---------\n보낸사람: Ann Smith <ann@x.test>\n받는사람: joe@x.test\n날짜: 2026년 1월 6일 화요일, 10시 11분 12초 +0900\n제목: 점심\n\n갈까요?',
  ),
  above('Mail.ru', 'Да.', 'Вторник, 6 января 2026, 10:11 +03:00 от Ann Smith <ann@x.test>:\n\nПойдём?'),
  above('Yandex, unmarked', 'Да.', '06.01.2026, 10:11, "Ann Smith" <ann@x.test>:\n\nПойдём?'),
  above('Becky', '了解です。', 'On Tue, 6 Jan 2026 10:11:12 +0900\nAnn Smith <ann@x.test> wrote:\n\n> 行きますか。'),
  above(
    'Shuriken',
    '了解です。',
    '--- Original Message ---\nFrom: Ann Smith <ann@x.test>\nTo: joe@x.test\nDate: Tue, 6 Jan 2026 10:11:12 +0900\nSubject: 昼食\n---\n行きますか。',
  ),
  above('Cybozu', '了解です。', 'Ann Smith <ann@x.test> さんは書きました (2026/01/06 10:11):\n>行きますか。'),
  // Help desks and trackers.
  above(
    'Zendesk',
    'It works now.',
    '##- Please type your reply above this line -##\n\nYour request (4711) has been updated.\n\nAnn, Jan 6, 2026, 10:11:\n\nPlease try again.',
  ),
  above(
    'Freshdesk',
    'It works now.',
    'On Tue, 6 Jan at 10:11 AM , Support <support@x.test> wrote:\n\nHi Joe, please try again.',
  ),
  above('Jira', 'It works now.', '—-—-—-—\nReply above this line.\n\nAnn Smith commented:\n\nPlease try again.'),
  above(
    'Jira Service Management',
    'It works now.',
    '—-—-—-—\nReply above this line.\n\nAnn Smith changed the status to Waiting for customer.',
  ),
  above(
    'GitHub',
    'Thanks, merged.',
    'On Tue, Jan 6, 2026 at 10:11 AM Ann Smith ***@***.***> wrote:\n\n> *ann* left a comment (x/y#4711)\n>\n> Please review.\n>\n> —\n> Reply to this email directly, view it on GitHub\n> <https://github.test/x/y/pull/4711#issuecomment-1>, or unsubscribe\n> <https://github.test/notifications/unsubscribe>.\n> You are receiving this because you were assigned.Message ID:\n> ***@***.***>',
  ),
  above('Intercom', 'Thanks.', '-- reply above this line --\n\nAnn from Support wrote:\n\nPlease try again.'),
  above('osTicket', 'Danke.', '-- Antwort oberhalb dieser Zeile --\n\nHallo Joe,\nbitte versuchen Sie es erneut.'),
  above(
    'Help Scout',
    'Thanks.',
    '-- Please reply above this line --\n\n-----------------------------------------------------------\n## Ann replied, on Jan 6 @ 10:11am (CET):\n\nPlease try again.',
  ),
  above('Znuny', 'Danke.', '06.01.2026 10:11 - Ann Smith schrieb:\n\n> Bitte versuchen Sie es erneut.'),
  above(
    'ServiceNow',
    'Thanks.',
    'From: Support <support@x.test>\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: Joe\nSubject: INC0004711\nPlease try again.\n\nRef:MSG4711',
  ),
  // Notes and GroupWise.
  above(
    'Notes',
    'Yes, please.',
    'From:        Ann Smith/HQ/X\nTo:        Joe/HQ/X@X\nDate:        01/06/2026 10:11 AM\nSubject:        Lunch\n\n\nShall we?',
  ),
  above(
    'Notes, German',
    'Ja gern.',
    'Von:        Ann Smith/HQ/X\nAn:        Joe/HQ/X@X\nDatum:        06.01.2026 10:11\nBetreff:        Essen\nGesendet von:        Bob/HQ/X\n\n\nGehen wir?',
  ),
  above(
    'Notes, one line',
    'Yes.',
    'Ann Smith---06.01.2026 10:11:12---Shall we eat at noon?\n\nFrom: Ann Smith/HQ/X\nTo: Joe/HQ/X@X',
  ),
  above('GroupWise, German', 'Ja.', '>>> Ann Smith <ann@x.test> 06.01.2026 10:11 >>>\nGehen wir?'),
  // Devices with the original unmarked below.
  above(
    'Galaxy, German',
    'Ja, um zwölf.',
    'Von meinem Galaxy gesendet\n\n\n-------- Ursprüngliche Nachricht --------\nVon: Ann Smith <ann@x.test>\nDatum: 06.01.26 10:11 (GMT+01:00)\nAn: Joe <joe@x.test>\nBetreff: Essen\n\nGehen wir?',
  ),
  above(
    'Galaxy, Polish',
    'Tak.',
    'Wysłano z urządzenia Galaxy\n\n-------- Oryginalna wiadomość --------\nOd: Ann Smith <ann@x.test>\nData: 06.01.2026 10:11 (GMT+01:00)\nDo: Joe <joe@x.test>\nTemat: obiad\n\nIdziemy?',
  ),
  above(
    'Huawei',
    'Sí.',
    'Enviado desde mi Huawei\n\n\n-------- Mensaje original --------\nAsunto: comida\nDe: Ann Smith\nPara: joe@x.test\nCC:\n\n¿Vamos?',
  ),
  above(
    'Outlook for iOS, Dutch',
    'Ja.',
    `Outlook voor iOS downloaden<https://aka.ms/o0ukef>\n${RULE}\nVan: Ann Smith <ann@x.test>\nVerzonden: dinsdag 6 januari 2026 10:11\nAan: Joe <joe@x.test>\nOnderwerp: lunch\n\nGaan we?`,
  ),
  above(
    'Outlook for Android, Turkish',
    'Olur.',
    `Android için Outlook'u edinin<https://aka.ms/AAb9ysg>\n${RULE}\nKimden: Ann Smith <ann@x.test>\nGönderildi: 6 Ocak 2026 Salı 10:11\nKime: Joe <joe@x.test>\nKonu: yemek\n\nGidelim mi?`,
  ),
  above('iPhone, text below without a mark', 'Yes, at noon.', 'Sent from my iPhone\n\nShall we eat at noon?\nAnn'),
  above(
    'iPhone, in Greek',
    'Ναι.',
    'Στάλθηκε από το iPhone μου\n\n6 Ιαν 2026, 10:11 π.μ., ο χρήστης «Ann Smith <ann@x.test>» έγραψε:\n\n> Πάμε;',
  ),
];
