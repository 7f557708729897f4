import { type ReplyCase, whole } from './reply-case.ts';

/** Texts of people that resemble attributions, fields, signatures, logs and lists, and are all their author's; written before any was read. */
export const INTACT_MAILS: readonly ReplyCase[] = [
  whole(
    'minutes with a name and colon',
    'Minutes of 6 January 2026\n\nAnn wrote the first draft on Monday:\nit covers the budget.\n\nBob: will check it by Friday.\nJoe: sends it out.',
  ),
  whole('what someone wrote in a book', 'In 1851 Melville wrote:\n\nCall me Ishmael.\n\nI still like it. Do you?'),
  whole(
    'what someone wrote on a day',
    'You asked for the wording. Ann wrote on Monday that she agrees:\n\n"Yes, go ahead."\n\nSo I did.',
  ),
  whole(
    'a customer’s words in quotation marks',
    'Here is what the customer wrote on 6 January:\n\n"The box was open when it came."\n\nShall we send a new one?',
  ),
  whole(
    'an agenda with From and To',
    'Room plan for Tuesday\n\nFrom: 9:00\nTo: 11:30\nSubject: budget\n\nFrom: 13:00\nTo: 14:00\nSubject: hiring',
  ),
  whole(
    'a journey',
    'Flight details:\n\nFrom: Berlin (BER)\nTo: Lisbon (LIS)\nDate: 6 January 2026 10:11\nSeat: 12A\n\nSee you there.',
  ),
  whole(
    'a letter of transfer',
    'Please transfer\n\nFrom: DE02 1203 0000 0000 2020 51\nTo: DE02 5001 0517 0137 0750 30\nSubject: invoice 4711\nAmount: 12.00\n\nThanks',
  ),
  whole(
    'a template of a mail to write',
    'Could you send this to the team?\n\nSubject: Office closed on Friday\nTo: all\n\nDear all,\nthe office is closed on Friday.',
  ),
  whole(
    'fields that are asked for',
    'Please fill in:\n\nFrom (name):\nTo (name):\nDate:\nSubject:\n\nand send it back.',
  ),
  whole(
    'a German form of absence',
    'Urlaubsantrag\n\nVon: 06.01.2026\nBis: 16.01.2026\nVertretung: Anna\nBetreff: Erholung\n\nBitte genehmigen.',
  ),
  whole(
    'a French note about a parcel',
    'Bonjour,\n\nDe : Paris\nÀ : Lyon\nDate : 6 janvier 2026\nPoids : 2 kg\n\nMerci de confirmer.',
  ),
  whole(
    'a Spanish list of dates',
    'Os paso las fechas:\n\nDe: 6 de enero\nA: 8 de enero\nAsunto: feria\n\n¿Os va bien?',
  ),
  whole('a Chinese note with fields', '请按以下格式填写：\n\n发件人：姓名\n收件人：姓名\n日期：年月日\n\n谢谢。'),
  whole(
    'a Japanese order',
    'ご注文内容\n\n宛先：東京都千代田区1-1\n日時：2026年1月6日 10:11\n件名：見積もり\n\nよろしくお願いいたします。',
  ),
  whole(
    'a Russian memo',
    'Служебная записка\n\nОт: отдел продаж\nКому: бухгалтерия\nДата: 06.01.2026\n\nПросим оплатить счёт.',
  ),
  whole(
    'a line of five underscores as a blank',
    'Please sign here:\n\n______________________\nAnn Smith\n\nand return the page by 6 January 2026.',
  ),
  whole(
    'a line of hyphens between sections',
    'Part one is done.\n\n----------------------------\n\nPart two needs your input by Tuesday.\n\n----------------------------\n\nPart three is open.',
  ),
  whole(
    'a title between hyphens',
    'Notes of the day\n\n----- Budget -----\nWe have 12,000 left.\n\n----- Travel -----\nAnn books the train.',
  ),
  whole(
    'a dated title between hyphens',
    'Changes:\n\n--- Release of 6 January 2026 ---\nFaster search.\n\n--- Release of 1 December 2025 ---\nNew icons.',
  ),
  whole('a Markdown file', '# Plan\n\n---\ntitle: Plan\ndate: 2026-01-06\nauthor: Ann\n---\n\n- one\n- two'),
  whole(
    'an e-mail address and a date in a sentence',
    'On 6 January 2026 I wrote to ann@x.test and asked for the file, but nothing came:\n\nno answer, no file.',
  ),
  whole(
    'a sentence that ends with wrote',
    'I found the letter that my grandmother wrote\n\nin 1951 and want to show it to you.',
  ),
  whole(
    'a dialog of a play',
    'ANN: Where were you on 6 January 2026 at 10:11?\nJOE: At home.\nANN: Who wrote the letter?\nJOE: Not me.',
  ),
  whole(
    'a chat that is pasted',
    'Here is our chat:\n\n[06.01.26, 10:11:12] Ann: are you there?\n[06.01.26, 10:11:40] Joe: yes\n[06.01.26, 10:12:01] Ann: ok, call me\n\nWhat shall I answer?',
  ),
  whole(
    'a chat of Slack',
    'From our channel:\n\nAnn Smith  10:11 AM\nthe build is red\nJoe Miller  10:12 AM\nlooking\n\nIt was the cache.',
  ),
  whole(
    'a log of a mail server',
    'The log shows:\n\nJan  6 10:11:12 mx postfix/smtp[4711]: 4F1: to=<joe@x.test>, relay=none, status=deferred\nJan  6 10:11:13 mx postfix/qmgr[12]: 4F1: from=<ann@x.test>, size=4711\n\nAny idea?',
  ),
  whole(
    'a header section that is asked about',
    'Why does this fail DMARC?\n\nReceived: from mx.x.test (mx.x.test [192.0.2.1])\nFrom: Ann <ann@x.test>\nTo: joe@y.test\nDate: Tue, 6 Jan 2026 10:11:12 +0100\nSubject: Test\n\nThe record is p=reject.',
  ),
  whole(
    'a Git log',
    'commit 4711abc\nAuthor: Ann Smith <ann@x.test>\nDate:   Tue Jan 6 10:11:12 2026 +0100\n\n    Fix the parser\n\nCan you review it?',
  ),
  whole(
    'a blame line',
    'The line is by\n\n4711abc (Ann Smith 2026-01-06 10:11:12 +0100 42) return null;\n\nbut I cannot ask her.',
  ),
  whole('shell redirection', 'Run this:\n\n$ sort a.txt > b.txt\n$ cat b.txt >> c.txt\n\nand tell me what you see.'),
  whole(
    'a comparison at the begin of a line',
    'The rule is:\n\n>= 18 years: full price\n< 18 years: half price\n\nClear?',
  ),
  whole('arrows in a list', 'Order of work:\n\n-> call Ann\n-> send the offer\n-> wait\n\nThanks'),
  whole(
    'a price list with bars',
    '| Item | Price |\n|------|-------|\n| Tea  | 2.00  |\n| Cake | 3.50  |\n\nWhich one?',
  ),
  whole(
    'a person who signs in the middle',
    'Thanks.\n\n-- Joe\n\nPS: The key is under the mat. Do not forget to lock the door on Friday.',
  ),
  whole('a sentence about a telephone', 'I have it sent from my phone to the printer every evening.\n\nThat works.'),
  whole(
    'a sentence about a tablet at the end',
    'Which picture do you mean?\n\nThe one that I sent from my tablet yesterday?',
  ),
  whole(
    'advice on how to remove the line',
    'To remove it, open Settings, Mail, Signature and delete the text:\n\nSent from my iPhone\n\nThen save.',
  ),
  whole(
    'a question about a disclaimer',
    'Can we drop the footer? It says that this message is confidential and intended only for the addressee, which is silly for a newsletter.',
  ),
  whole(
    'a letter that begins with Confidential',
    'Confidential\n\nDear Joe,\n\nthe offer is for you alone: 12,000 a year. Please do not disclose it to anyone.\n\nAnn',
  ),
  whole(
    'minutes with times',
    '10:11 Ann opens the meeting\n10:15 Joe reports\n10:40 end\n\nNext time: 13 January 2026.',
  ),
  whole(
    'who said what',
    'Joe said on Tuesday:\nwe ship on Friday.\n\nAnn said on Wednesday:\nwe ship on Monday.\n\nWho is right?',
  ),
  whole(
    'a reference to an older mail',
    'As you wrote on 6 January 2026 at 10:11, the price is 12.00:\nthat is still true.',
  ),
  whole('a German reference', 'Wie Sie am 06.01.2026 schrieben:\nder Preis gilt bis Ende März.\n\nGilt das noch?'),
  whole(
    'a French reference',
    "Comme vous l'avez écrit le 6 janvier :\nle prix est valable jusqu'en mars.\n\nEst-ce toujours vrai ?",
  ),
  whole(
    'an Italian reference',
    'Il 6 gennaio Anna ha scritto una lettera al comune:\nfinora nessuna risposta.\n\nCosa facciamo?',
  ),
  whole(
    'a Polish reference',
    'W dniu 6 stycznia Anna napisała list do urzędu:\ndo dziś nie ma odpowiedzi.\n\nCo robimy?',
  ),
  whole('a Japanese reference', '1月6日に書いた通り、\n価格は据え置きです。\n\nご確認ください。'),
  whole('a Chinese reference', '正如我在1月6日写的那样：\n价格不变。\n\n请确认。'),
  whole('a contact', 'Please write to\n\nAnn Smith <ann@x.test>\nTel: 555 1234\n\nShe knows more.'),
  whole(
    'a list of contacts',
    'Contacts:\n\nAnn Smith <ann@x.test>\nJoe Miller <joe@x.test>\nKim Lee <kim@x.test>\n\nWho is missing?',
  ),
  whole(
    'a list of recipients with dates',
    'Sent so far:\n\n06.01.2026, 10:11, Ann (ann@x.test)\n07.01.2026, 11:12, Joe (joe@x.test)\n\nThe others follow.',
  ),
  whole(
    'a list with years',
    '2026-01-06 10:11 Ann Smith <ann@x.test>\n2026-01-07 10:12 Joe Miller <joe@x.test>\n\nThese two have registered.',
  ),
  whole(
    'an order confirmation that a person types',
    'We ordered:\n\nDate: 6 January 2026\nFrom: Shop X\nItem: 12 chairs\nTotal: 1,200.00\n\nThey come on Friday.',
  ),
  whole(
    'a bug report',
    'Steps:\n1. Open the page\n2. Click "Reply"\n\nExpected: the quote is hidden\nActual: On 6 Jan 2026, Ann wrote: is shown\n\nVersion: 4.7.11',
  ),
  whole(
    'a bug report of a mail program',
    'The program writes\n\n"On 06/01/2026 10:11, Ann Smith wrote:"\n\nabove quoted text, also in German. Can that be translated?',
  ),
  whole('a translation table', 'en: wrote:\nde: schrieb:\nfr: a écrit :\nes: escribió:\n\nPlease add Polish.'),
  whole(
    'a poem with indents',
    'For you:\n\n    Roses are red,\n    violets are blue,\n    I wrote this for Ann,\n    and also for you.\n\nJoe',
  ),
  whole(
    'a recipe with ranges',
    'Cake\n\n- 200 g flour\n- 2-3 eggs\n--\nBake for 40 minutes, then let it cool down for an hour before you cut it into twelve pieces and serve it with cream, which you whip by hand.\nServes 12.\nEnjoy.\nIt keeps for 3 days.\nDo not freeze it.\nOr do.\nAsk Ann.\nShe knows.\nReally.\nShe does.\nYes.\nTrust me.\nBye.',
  ),
  whole(
    'a sentence with forwarded message',
    'I got the forwarded message from Ann and will answer it myself.\n\nThe original message was not for me, though.',
  ),
  whole(
    'a heading Original message',
    'Original message\n\nOur first slogan was "Fast and fair". The new one is "Fair and fast". Which one is better?',
  ),
  whole(
    'instructions to write above a line',
    'On the form, please write your name above this line and your address below it.\n\nThe rest is for us.',
  ),
  whole(
    'a form with lines',
    'Please print and sign:\n\nName: ____________\nDate: ____________\n\n-- sign above this line --\n\nThank you.',
  ),
  whole(
    'a ticket number at the begin',
    '#4711: On Monday the pump failed.\n#4712: On Tuesday the valve failed.\n\nWhich first?',
  ),
  whole(
    'hashes between sections',
    'Section 1\n\n##############\n\nSection 2 is long and needs your attention on 6 January 2026.\n\n##############\n\nSection 3',
  ),
  whole(
    'an invitation that a person types',
    "You're invited!\n\nWhat: dinner\nWhen: Tuesday, 6 January 2026, 19:00\nWhere: my place\nFrom: 7 pm\nTo: late\n\nRSVP to ann@x.test.",
  ),
  whole('names and initials with a sign', 'Votes:\n\nAS> yes\nJM> no\nKL> yes\n\nSo it is accepted.'),
  whole(
    'HTML that is pasted',
    'The template has\n\n<blockquote>\n  <p>On 6 January 2026 Ann wrote:</p>\n</blockquote>\n\nand looks wrong.',
  ),
  whole(
    'a signature delimiter in code',
    'SQL:\n\nselect 1;\n--\nselect 2;\n-- comment\nselect 3;\nselect 4;\nselect 5;\nselect 6;\nselect 7;\nselect 8;\nselect 9;\nselect 10;\nselect 11;\nselect 12;\nselect 13;\n\nThe second one fails.',
  ),
  whole('an Arabic note with fields', 'تفاصيل الرحلة:\n\nمن: القاهرة\nإلى: دبي\nالتاريخ: 6 يناير 2026\n\nإلى اللقاء.'),
  whole('a Hebrew note with fields', 'פרטי הנסיעה:\n\nמ: תל אביב\nאל: חיפה\nתאריך: 6 בינואר 2026\n\nנתראה.'),
  whole(
    'a Turkish note with fields',
    'Kargo bilgisi:\n\nKimden: Ankara deposu\nKime: İzmir mağazası\nTarih: 06.01.2026\n\nTeşekkürler.',
  ),
  whole(
    'a Korean note with fields',
    '택배 정보:\n\n보낸 사람: 서울 창고\n받는 사람: 부산 매장\n날짜: 2026년 1월 6일\n\n확인 부탁드립니다.',
  ),
  whole(
    'a letter of complaint',
    'On 6 January 2026 at 10:11 your driver, Mr Smith, wrote on our door:\n\n"Nobody home." We were at home all day.\n\nPlease send the parcel again.',
  ),
  whole('numbers with colons', 'Readings\n\n10:11 – 12.5\n10:21 – 12.7\n10:31 – 13.0\n\nIt is rising.'),
  whole(
    'an interview',
    'Q: When did you write it?\nA: On 6 January 2026.\n\nQ: Who asked you?\nA: Ann, in a mail:\n\nplease write something about us.\n\nQ: And then?\nA: I wrote it.',
  ),
  whole(
    'an e-mail that is dictated',
    'Please write to Ann:\n\nDear Ann, thank you for the file. We will look at it on Monday.\n\nAnd copy me.',
  ),
  whole('names of months', 'January: Ann\nFebruary: Joe\nMarch: Kim\nSubject: kitchen duty\n\nSwap among yourselves.'),
  whole('a line of equals signs', 'Total\n=====\n12.00\n\nPaid\n=====\n10.00\n\nOpen: 2.00'),
  whole(
    'thanks and a list of what was sent',
    'Sent today:\n\nTo: Ann – contract\nTo: Joe – invoice\nTo: Kim – flyer\n\nAll by post.',
  ),
  whole(
    'a person who quotes a law',
    'The law says:\n\n"Whoever sends a message shall state the sender, the date and the subject."\n\nSo we have to add a date.',
  ),
];
