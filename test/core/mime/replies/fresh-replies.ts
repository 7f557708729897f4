import { above, type ReplyCase, whole } from './reply-case.ts';

/** Replies written after the templates of mail programs before any of them was read. */
export const FRESH_REPLIES: readonly ReplyCase[] = [
  above(
    'Outlook 365, English, with bold labels',
    'Approved, please go ahead.',
    '*From:* Bob Miller <bob@x.test>\n*Sent:* Tuesday, January 6, 2026 10:11 AM\n*To:* Ann Smith <ann@x.test>; Carl <carl@x.test>\n*Subject:* Budget\n\nCan you approve?',
  ),
  above(
    'Outlook 2016, external banner in the original',
    'Looks fine.',
    'From: Bob <bob@x.test>\nSent: 06 January 2026 10:11\nTo: Ann <ann@y.test>\nSubject: [EXT] Draft\n\nCAUTION: This email originated from outside of the organization.\n\nPlease look.',
  ),
  above(
    'Outlook, German',
    'Das passt so.\n\nViele Grüße\nAnna',
    'Von: Bernd Maier <bernd@x.test>\nGesendet: Dienstag, 6. Januar 2026 10:11\nAn: Anna Schmidt <anna@x.test>\nCc: Carl <carl@x.test>\nBetreff: AW: Angebot\n\nPasst das?',
  ),
  above(
    'Outlook, French, with rule',
    'Merci, bien reçu.',
    '________________________________\nDe : Bernard Petit <bernard@x.test>\nEnvoyé : mardi 6 janvier 2026 10:11\nÀ : Anne <anne@x.test>\nObjet : Facture\n\nVoici la facture.',
  ),
  above(
    'Outlook, French, equals signs',
    'Je confirme.',
    '==================================\nDe : Bernard Petit\nDate : 06/01/2026 10:11\nA : Anne\nObjet : RE: Réunion\n\nOn confirme ?',
  ),
  above(
    'Outlook, Spanish',
    'De acuerdo.',
    'De: Luis Pérez <luis@x.test>\nEnviado el: martes, 6 de enero de 2026 10:11\nPara: Ana <ana@x.test>\nAsunto: Presupuesto\n\n¿Qué te parece?',
  ),
  above(
    'Outlook, Portuguese of Brazil',
    'Pode seguir.',
    'De: Luís Souza <luis@x.test>\nEnviada em: terça-feira, 6 de janeiro de 2026 10:11\nPara: Ana <ana@x.test>\nAssunto: RES: Orçamento\n\nPosso seguir?',
  ),
  above(
    'Outlook, Italian, mobile',
    'Va bene, grazie.',
    'Scarica Outlook per Android\n________________________________\nDa: Luigi Rossi <luigi@x.test>\nInviato: martedì 6 gennaio 2026 10:11\nA: Anna <anna@x.test>\nOggetto: Riunione\n\nVa bene alle 10?',
  ),
  above(
    'Outlook, Dutch',
    'Prima!',
    'Van: Jan de Vries <jan@x.test>\nVerzonden: dinsdag 6 januari 2026 10:11\nAan: Anna <anna@x.test>\nOnderwerp: Afspraak\n\nKan morgen?',
  ),
  above(
    'Outlook, Polish',
    'Zgadzam się.',
    'Od: Jan Kowalski <jan@x.test>\nWysłane: wtorek, 6 stycznia 2026 10:11\nDo: Anna <anna@x.test>\nTemat: Oferta\n\nCo o tym sądzisz?',
  ),
  above(
    'Outlook, Russian',
    'Согласен.',
    'От: Иван Петров <ivan@x.test>\nОтправлено: 6 января 2026 г. 10:11\nКому: Анна <anna@x.test>\nТема: Договор\n\nПосмотрите, пожалуйста.',
  ),
  above(
    'Outlook, Japanese',
    '承知しました。',
    '差出人: 田中 太郎 <tanaka@x.test>\n送信日時: 2026年1月6日 10:11\n宛先: 佐藤 <sato@x.test>\n件名: 見積の件\n\nご確認ください。',
  ),
  above(
    'Outlook, Chinese, with rule',
    '好的，没问题。',
    '发件人: 王伟 <wang@x.test>\n发送时间: 2026年1月6日 10:11\n收件人: 李娜 <li@x.test>\n主题: 报价\n\n请查收。',
  ),
  above(
    'Outlook, Korean',
    '네, 확인했습니다.',
    '보낸 사람: 김민수 <kim@x.test>\n보낸 날짜: 2026년 1월 6일 화요일 오전 10:11\n받는 사람: 이지은 <lee@x.test>\n제목: 견적\n\n확인 부탁드립니다.',
  ),
  above(
    'Outlook, Turkish',
    'Tamam, olur.',
    'Kimden: Ali Kaya <ali@x.test>\nGönderildi: 6 Ocak 2026 Salı 10:11\nKime: Ayşe <ayse@x.test>\nKonu: Toplantı\n\nUygun mu?',
  ),
  above(
    'Outlook, Swedish',
    'Det går bra.',
    'Från: Erik Berg <erik@x.test>\nSkickat: den 6 januari 2026 10:11\nTill: Anna <anna@x.test>\nÄmne: Möte\n\nPassar det?',
  ),
  above(
    'Outlook, Finnish',
    'Sopii hyvin.',
    'Lähettäjä: Matti Virtanen <matti@x.test>\nLähetetty: tiistai 6. tammikuuta 2026 10:11\nVastaanottaja: Anna <anna@x.test>\nAihe: Tapaaminen\n\nSopiiko?',
  ),
  above(
    'Outlook for Mac, one line each with Date',
    'Thanks!',
    'From: Bob Miller <bob@x.test>\nDate: Tuesday, 6 January 2026 at 10:11\nTo: Ann Smith <ann@x.test>\nSubject: Re: Slides\n\nHere are the slides.',
  ),
  above(
    'Apple Mail, English',
    'Sounds good to me.',
    '> On 6 Jan 2026, at 10:11, Bob Miller <bob@x.test> wrote:\n> \n> Shall we meet at noon?\n> ',
  ),
  above(
    'Apple Mail, 12-hour with narrow space',
    'Yes please.',
    'On Jan 6, 2026, at 10:11\u202fAM, Bob <bob@x.test> wrote:\n\nDo you want one?',
  ),
  above(
    'Apple Mail, German',
    'Ja, gern.',
    '> Am 06.01.2026 um 10:11 schrieb Bernd Maier <bernd@x.test>:\n> \n> Kommst du?',
  ),
  above(
    'Apple Mail, French',
    'Oui.',
    '> Le 6 janv. 2026 à 10:11, Bernard <bernard@x.test> a écrit :\n> \n> Tu viens ?',
  ),
  above(
    'Apple Mail, Italian',
    'Certo.',
    '> Il giorno 6 gen 2026, alle ore 10:11, Luigi <luigi@x.test> ha scritto:\n> \n> Vieni?',
  ),
  above(
    'Gmail, German',
    'Klingt gut.',
    'Am Di., 6. Jan. 2026 um 10:11 Uhr schrieb Bernd Maier <\nbernd@x.test>:\n\n> Wollen wir?\n>',
  ),
  above('Gmail, Dutch', 'Doe ik.', 'Op di 6 jan 2026 om 10:11 schreef Jan <jan@x.test>:\n\n> Wil je dat doen?\n>'),
  above(
    'Gmail, Spanish',
    'Hecho.',
    'El mar, 6 ene 2026 a las 10:11, Luis (<luis@x.test>) escribió:\n\n> ¿Lo haces?\n>',
  ),
  above(
    'Gmail, Portuguese',
    'Feito.',
    'Em ter., 6 de jan. de 2026 às 10:11, Luís <luis@x.test>\nescreveu:\n\n> Você faz?\n>',
  ),
  above(
    'Gmail, Danish',
    'Det er i orden.',
    'Den tirs. 6. jan. 2026 kl. 10.11 skrev Lars <lars@x.test>:\n\n> Er det i orden?\n>',
  ),
  above('Gmail, Norwegian', 'Ja takk.', 'tir. 6. jan. 2026 kl. 10:11 skrev Lars <lars@x.test>:\n\n> Vil du ha en?\n>'),
  above(
    'Gmail, Czech',
    'Ano, souhlasím.',
    'út 6. 1. 2026 v 10:11 odesílatel Jan Novák <jan@x.test> napsal:\n\n> Souhlasíte?\n>',
  ),
  above(
    'Gmail, Hungarian',
    'Rendben.',
    'Kovács János <janos@x.test> ezt írta (időpont: 2026. jan. 6., K, 10:11):\n\n> Rendben van?\n>',
  ),
  above(
    'Gmail, Romanian',
    'Da, sigur.',
    'În mar., 6 ian. 2026 la 10:11, Ion Popescu <ion@x.test> a scris:\n\n> Vii?\n>',
  ),
  above('Gmail, Ukrainian', 'Добре.', 'вт, 6 січ. 2026 р. о 10:11 Іван <ivan@x.test> пише:\n\n> Згода?\n>'),
  above(
    'Gmail, Turkish',
    'Olur.',
    'Ali Kaya <ali@x.test>, 6 Oca 2026 Sal, 10:11 tarihinde şunu yazdı:\n\n> Uygun mu?\n>',
  ),
  above('Gmail, Japanese', 'わかりました。', '2026年1月6日(火) 10:11 田中太郎 <tanaka@x.test>:\n\n> いかがですか。\n>'),
  above(
    'Gmail, Chinese of Taiwan',
    '好的',
    '王小明 <wang@x.test> 於 2026年1月6日 週二 上午10:11寫道：\n\n> 可以嗎？\n>',
  ),
  above('Gmail, Korean', '좋아요.', '2026년 1월 6일 (화) 오전 10:11, 김민수 <kim@x.test>님이 작성:\n\n> 어때요?\n>'),
  above('Gmail, Indonesian', 'Setuju.', 'Pada Sel, 6 Jan 2026 pukul 10.11 Budi <budi@x.test> menulis:\n\n> Setuju?\n>'),
  above('Gmail, Thai', 'ตกลงค่ะ', 'ในวันที่ อ. 6 ม.ค. 2026 เวลา 10:11 สมชาย <somchai@x.test> เขียนว่า:\n\n> ตกลงไหม\n>'),
  above(
    'Gmail, Hebrew',
    'בסדר גמור.',
    '\u202bבתאריך יום ג׳, 6 בינו׳ 2026 ב-10:11 מאת \u202aדוד\u202c\u200f <\u202adavid@x.test\u202c\u200f>:\u202c\n\n> מתאים?\n>',
  ),
  above(
    'Gmail, Arabic',
    'موافق.',
    'في الثلاثاء، 6 يناير 2026 في 10:11 ص تمت كتابة ما يلي بواسطة أحمد <ahmed@x.test>:\n\n> هل توافق؟\n>',
  ),
  above(
    'Gmail, Greek',
    'Εντάξει.',
    'Στις Τρί 6 Ιαν 2026 στις 10:11 π.μ., ο/η Νίκος <nikos@x.test> έγραψε:\n\n> Εντάξει;\n>',
  ),
  above(
    'Gmail, Vietnamese',
    'Đồng ý.',
    'Vào Th 3, 6 thg 1, 2026 vào lúc 10:11 Nam <nam@x.test> đã viết:\n\n> Đồng ý không?\n>',
  ),
  above('Gmail, Bulgarian', 'Добре.', 'На вт, 6.01.2026 г. в 10:11 Иван <ivan@x.test> написа:\n\n> Съгласен ли си?\n>'),
  above('Gmail, Croatian', 'Može.', 'uto, 6. sij 2026. u 10:11 Ivan <ivan@x.test> napisao je:\n\n> Može?\n>'),
  above('Thunderbird, French', 'Bonne idée.', 'Le 06/01/2026 à 10:11, Bernard a écrit :\n> On y va ?'),
  above('Thunderbird, Polish', 'Dobrze.', 'W dniu 6.01.2026 o 10:11, Jan Kowalski pisze:\n> Dobrze?'),
  above('Thunderbird, Finnish', 'Kyllä.', 'Matti kirjoitti 6.1.2026 klo 10.11:\n> Sopiiko?'),
  above(
    'Yahoo',
    'I will be there.',
    '    On Tuesday, January 6, 2026 at 10:11:12 AM GMT+1, Bob Miller <bob@x.test> wrote:  \n \n Will you be there?',
  ),
  above(
    'Yahoo, Spanish, mobile',
    'Voy.',
    'Enviado desde Yahoo Mail para Android \n \n  El mar, ene. 6, 2026 a las 10:11, Luis<luis@x.test> escribió:   ¿Vienes?',
  ),
  above(
    'Proton',
    'Fine.',
    'Sent with [Proton Mail](https://proton.test/mail/home) secure email.\n\nOn Tuesday, January 6th, 2026 at 10:11 AM, Bob <bob@x.test> wrote:\n\n> Fine?\n',
  ),
  above(
    'Proton, no mark',
    'Fine with us.',
    '-------- Original Message --------\nOn 1/6/26 10:11, Bob wrote:\n\n> Fine with you?',
  ),
  above(
    'Spark',
    'On it.',
    'Sent from Spark\nOn Jan 6, 2026 at 10:11 AM +0100, Bob <bob@x.test>, wrote:\n> Can you take this?',
  ),
  above(
    'Samsung',
    'Ok will do',
    'Sent from my Galaxy\n\n\n-------- Original message --------\nFrom: Bob <bob@x.test> \nDate: 06/01/2026  10:11  (GMT+01:00) \nTo: Ann <ann@x.test> \nSubject: Keys \n\nBring the keys.',
  ),
  above(
    'Samsung, German',
    'Mach ich',
    'Von meinem/meiner Galaxy gesendet\n\n\n-------- Ursprüngliche Nachricht --------\nVon: Bernd <bernd@x.test>\nDatum: 06.01.26 10:11 (GMT+01:00)\nAn: Anna <anna@x.test>\nBetreff: Schlüssel\n\nBring die Schlüssel mit.',
  ),
  above(
    'Zendesk',
    'It works now.',
    '##- Please type your reply above this line -##\n\nYour request (4711) has been updated.\n\nBob (Support)\nJan 6, 2026, 10:11 GMT+1\n\nTry again.',
  ),
  above(
    'Jira',
    'Fixed in main.',
    "—-—-—-—\nReply above this line.\n\nBob Miller commented:\n\nIs it fixed?\n\nView request · Turn off this request's notifications",
  ),
  above(
    'Help Scout',
    'That solved it, thank you!',
    'On Tue, Jan 6, 2026 at 10:11 AM UTC, Support <help@x.test> wrote:\n\n> Try to sign out.\n> \n> {#HS:2471-4711#}',
  ),
  above(
    'Intercom',
    'Yes, the second one.',
    'On Tue, Jan 6, 2026 at 10:11 AM "Bob from X" <bob@x.intercom-mail.test> wrote:\n\n> Which one?\n',
  ),
  above('Front', 'Great, thanks.', 'On January 6, 2026, 10:11 AM GMT+1 bob@x.test wrote:\n\nWe shipped it.'),
  above(
    'GitHub',
    'I can reproduce this.',
    '—\nReply to this email directly, view it on GitHub <https://github.test/x/y/issues/1#issuecomment-1>, or unsubscribe <https://github.test/u>.\nYou are receiving this because you were mentioned.Message ID: <x/y/issues/1/1@github.test>',
  ),
  above(
    'GitHub, with quotation',
    'LGTM.',
    'On Tue, Jan 6, 2026, 10:11 bob ***@***.***> wrote:\n\n> Please review.\n>\n> —\n> Reply to this email directly.',
  ),
  {
    name: 'forwarded inside a reply',
    own: 'Here is what he said:',
    text: 'Here is what he said:\n\n---------- Forwarded message ---------\nFrom: Bob <bob@x.test>\nDate: Tue, Jan 6, 2026 at 10:11 AM\nSubject: Fee\nTo: Ann <ann@x.test>\n\n\nThe fee is 10.\n',
  },
  {
    name: 'bottom-posted',
    own: 'I agree with all of it.',
    text: 'On 06/01/2026 10:11, Bob wrote:\n> We should stop.\n> What do you think?\n\nI agree with all of it.\n',
  },
  {
    name: 'inline answers',
    own: '> When?\n\nTuesday.\n\n> Where?\n\nAt the office.',
    text: 'On 06/01/2026 10:11, Bob wrote:\n> When?\n\nTuesday.\n\n> Where?\n\nAt the office.\n',
  },
  {
    name: 'signature with delimiter above the quotation',
    own: 'Will do.',
    text: 'Will do.\n\n-- \nAnn Smith\nHead of Sales\n+49 30 1234567\n\nOn Tue, 6 Jan 2026 at 10:11, Bob <bob@x.test> wrote:\n\n> Could you call them?\n',
  },
  {
    name: 'signature with delimiter, no quotation',
    own: 'See you then.',
    text: 'See you then.\n\n-- \nAnn Smith | Sales | X Ltd\n',
  },
  {
    name: 'lost marks, Outlook Express',
    own: 'No, not yet.',
    text: 'No, not yet.\n\n----- Original Message ----- \nFrom: "Bob" <bob@x.test>\nTo: "Ann" <ann@x.test>\nSent: Tuesday, January 06, 2026 10:11 AM\nSubject: Parts\n\n\nDid the parts arrive?\n',
  },
  {
    name: 'lost marks, attribution alone',
    own: 'They came yesterday.',
    text: 'They came yesterday.\n\nOn Tue, Jan 6, 2026 at 10:11 AM Bob Miller <bob@x.test> wrote:\nDid the parts arrive?\nWe need them.\n\nBob\n',
  },
  above(
    'Windows Phone',
    'Running late',
    'Sent from my Windows Phone\n________________________________\nFrom: Bob\nSent: 1/6/2026 10:11 AM\nTo: Ann\nSubject: Where are you?\n\nWhere are you?',
  ),
  above(
    'BlackBerry',
    'Approved.',
    'Sent from my BlackBerry - the most secure mobile device\n\nFrom: bob@x.test\nSent: January 6, 2026 10:11\nTo: ann@x.test\nSubject: Request\n\nPlease approve.',
  ),
  above(
    'iPhone, Swedish, quoted',
    'Kommer strax.',
    'Skickat från min iPhone\n\n> 6 jan. 2026 kl. 10:11 skrev Erik <erik@x.test>:\n> \n> Var är du?',
  ),
  above(
    'iPhone, Japanese',
    '了解です。',
    'iPhoneから送信\n\n> 2026/01/06 10:11、田中太郎 <tanaka@x.test>のメール:\n> \n> 今どこですか。',
  ),
  above(
    'iPhone, Chinese',
    '马上到。',
    '发自我的 iPhone\n\n> 在 2026年1月6日，10:11，王伟 <wang@x.test> 写道：\n> \n> 到哪了？',
  ),
  above(
    'QQ',
    '收到，谢谢。',
    '------------------ 原始邮件 ------------------\n发件人: "王伟" <wang@qq.test>;\n发送时间: 2026年1月6日(星期二) 上午10:11\n收件人: "李娜" <li@x.test>;\n主题: 报价\n\n请查收附件。',
  ),
  above('NetEase', '收到。', 'At 2026-01-06 10:11:12, "wang" <wang@163.test> wrote:\n>请查收。'),
  above(
    'Mail.ru',
    'Спасибо, получил.',
    'Вторник, 6 января 2026, 10:11 +03:00 от Иван Петров <ivan@mail.test>:\n \nОтправляю документы.',
  ),
  above('Yandex', 'Да, подходит.', '06.01.2026, 10:11, "Иван Петров" <ivan@yandex.test>:\n\nПодходит ли вам?'),
  above(
    'Lotus Notes',
    'Please proceed.\n\nAnn',
    'From:\tBob Miller/Berlin/X\nTo:\tAnn Smith/Paris/X@X\nDate:\t06.01.2026 10:11\nSubject:\tRe: Order\n\n\n\nMay we proceed?',
  ),
  above(
    'Lotus Notes, wrote with dashes',
    'Agreed.',
    '-----Bob Miller <bob@x.test> wrote: -----\nTo: ann@x.test\nFrom: Bob Miller <bob@x.test>\nDate: 01/06/2026 10:11AM\nSubject: Terms\n\nDo you agree?',
  ),
  above('Roundcube, German', 'Einverstanden.', 'Am 2026-01-06 10:11, schrieb Bernd Maier:\n> Einverstanden?'),
  above('Mutt', 'Applied, thanks.', '* Bob Miller <bob@x.test> [2026-01-06 10:11]:\n> Please apply.'),
  above('Gnus', 'I disagree.', 'Bob Miller <bob@x.test> writes:\n\n> We should use tabs.'),
  above(
    'SOGo, legal footer of the author',
    'Paid today.',
    'This email and any attachments are confidential and intended solely for the addressee. If you received it in error, delete it.\n\nOn Tuesday, January 06, 2026 10:11 CET, "Bob" <bob@x.test> wrote:\n\n> When do you pay?',
  ),
  whole(
    'a letter that names fields',
    'Please fill in the form:\n\nName: Ann Smith\nDate: 6 January 2026\nSubject: Mathematics\n\nThen send it back.',
  ),
  whole(
    'a letter that says who wrote',
    'Yesterday the editor wrote:\n\nWe will print it in May.\n\nI think that is too late.',
  ),
  whole('a letter with a rule', 'First part.\n\n________________________________\n\nSecond part, on another matter.'),
];
