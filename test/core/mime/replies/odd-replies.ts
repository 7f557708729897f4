import { above, type ReplyCase, whole } from './reply-case.ts';

/** Replies of rare programs, with damaged quotations, and with what companies and services add; written before any of them was read. */
export const ODD_REPLIES: readonly ReplyCase[] = [
  above(
    'French fields below dots',
    'Bien noté.',
    '...........................\nDe : Bernard Petit [mailto:bernard@x.test]\nEnvoyé : mardi 6 janvier 2026 10:11\nÀ : Anne\nObjet : Devis\n\nVoici le devis.',
  ),
  above(
    'fields on one line',
    'Ok.',
    'From: Bob Miller Sent: Tuesday, January 6, 2026 10:11 AM To: Ann Smith Subject: Lunch\n\nLunch?',
  ),
  above(
    'fields with blank lines between',
    'Fine.',
    'From: Bob Miller <bob@x.test>\n\nSent: Tuesday, January 6, 2026 10:11 AM\n\nTo: Ann Smith <ann@x.test>\n\nSubject: Lunch\n\nLunch?',
  ),
  above(
    'fields indented by tabs',
    'Noted.',
    '\tFrom: Bob Miller <bob@x.test>\n\tSent: 6 January 2026 10:11\n\tTo: Ann\n\tSubject: Lunch\n\n\tLunch?',
  ),
  above(
    'fields after a vertical bar',
    'Sure.',
    '| From: Bob <bob@x.test>\n| Date: 6 Jan 2026 10:11\n| To: Ann <ann@x.test>\n| Subject: Lunch\n|\n| Lunch?',
  ),
  above('wrote without a colon', 'Yes, at noon.', 'On 6 Jan 2026 at 10:11 Bob Miller <bob@x.test> wrote\n\n> Lunch?'),
  above(
    'wrote in two lines without marks',
    'Yes, at noon.',
    'On Tuesday, 6 January 2026 at 10:11:12 GMT, Bob Miller via Team\n<team@x.test> wrote:\n\nLunch at noon?\n\nBob',
  ),
  above('said', 'I saw that too.', 'Bob Miller said the following on 06/01/2026 10:11:\n> Did you see it?'),
  above('message from', 'Will do.', '-- Message from Bob Miller, 6 Jan 2026 10:11 --\n\nPlease call them.'),
  above(
    'eM Client',
    'Of course.',
    '------ Original Message ------\nFrom "Bob Miller" <bob@x.test>\nTo "Ann Smith" <ann@x.test>\nDate 06/01/2026 10:11:12\nSubject Lunch\n\nCan we?',
  ),
  above(
    'eM Client, German',
    'Klar.',
    '------ Originalnachricht ------\nVon "Bernd Maier" <bernd@x.test>\nAn "Anna" <anna@x.test>\nDatum 06.01.2026 10:11:12\nBetreff Mittag\n\nGehen wir?',
  ),
  above(
    'Mailbird',
    'Got it.',
    'Sent with Mailbird [https://www.getmailbird.test]\nOn 06/01/2026 10:11:12, Bob Miller <bob@x.test> wrote:\nHere it is.',
  ),
  above(
    'Superhuman',
    'Perfect.',
    'Sent via Superhuman ( https://sprh.test/?vip=ann )\n\nOn Tue, Jan 06, 2026 at 10:11 AM, Bob Miller < bob@x.test > wrote:\n\n> Ok for you?',
  ),
  above('Missive', 'Works for me.', 'On January 6, 2026, Bob Miller <bob@x.test> wrote:\n\nThursday then?'),
  above(
    'HEY',
    'Thank you!',
    '--\nSent from HEY\n\nOn January 6, 2026, Bob Miller <bob@x.test> wrote:\n> Here you are.',
  ),
  above('Airmail', 'Good.', 'On 6 Jan 2026 at 10:11 +0100, Bob Miller <bob@x.test>, wrote:\n> Good?'),
  above(
    'Tutanota',
    'Danke.',
    '--\nSent with Tuta; enjoy secure & ad-free emails.\n\n06.01.2026, 10:11 by bob@x.test:\n\n> Hier.',
  ),
  above('Posteo, Dutch', 'Akkoord.', 'Op 6-1-2026 10:11 schreef Jan de Vries:\n> Akkoord?'),
  above(
    'Zimbra',
    'Confirmed.',
    '----- Original Message -----\nFrom: "Bob" <bob@x.test>\nTo: "Ann" <ann@x.test>\nSent: Tuesday, 6 January, 2026 10:11:12\nSubject: Date\n\nPlease confirm.',
  ),
  above(
    'Zimbra, French',
    'Confirmé.',
    '----- Mail original -----\nDe: "Bernard" <bernard@x.test>\nÀ: "Anne" <anne@x.test>\nEnvoyé: Mardi 6 Janvier 2026 10:11:12\nObjet: Date\n\nMerci de confirmer.',
  ),
  above(
    'Zimbra, Spanish',
    'Confirmado.',
    '----- Mensaje original -----\nDe: "Luis" <luis@x.test>\nPara: "Ana" <ana@x.test>\nEnviados: Martes, 6 de Enero 2026 10:11:12\nAsunto: Fecha\n\n¿Confirmas?',
  ),
  above(
    'Orange, French',
    'Oui volontiers.',
    '> Message du 06/01/26 10:11\n> De : "Bernard" <bernard@x.test>\n> A : "Anne" <anne@x.test>\n> Copie à :\n> Objet : Dîner\n>\n> On dîne ?',
  ),
  above('Free, French', 'Ça marche.', 'Le mar. 6 janv. 26 10:11, Bernard Petit a écrit\n> Ça marche ?'),
  above(
    'T-Online',
    'Ja.',
    '-----Original-Nachricht-----\nBetreff: Termin\nDatum: 2026-01-06T10:11:12+0100\nVon: "Bernd" <bernd@t.test>\nAn: "Anna" <anna@x.test>\n\nPasst es?',
  ),
  above(
    'GMX, German',
    'Passt.',
    'Gesendet: Dienstag, 06. Januar 2026 um 10:11 Uhr\nVon: "Bernd Maier" <bernd@gmx.test>\nAn: anna@x.test\nBetreff: Termin\nPasst es?',
  ),
  above(
    'Seznam, Czech',
    'Ano.',
    '---------- Původní e-mail ----------\nOd: Jan Novák <jan@x.test>\nKomu: anna@x.test\nDatum: 6. 1. 2026 10:11:12\nPředmět: Oběd\n"Jdeme?"',
  ),
  above('WP, Polish', 'Tak.', 'Dnia 6 stycznia 2026 10:11 Jan Kowalski <jan@x.test> napisał(a):\n\nIdziemy?'),
  above('Libero, Italian', 'Sì.', 'Il 06/01/2026 10:11 Luigi Rossi <luigi@x.test> ha scritto:\n\n\nAndiamo?'),
  above(
    'Virgilio, Italian',
    'Va bene.',
    '----Messaggio originale----\nDa: luigi@x.test\nData: 6-gen-2026 10.11\nA: <anna@x.test>\nOgg: Pranzo\n\nAndiamo?',
  ),
  above('UOL, Portuguese', 'Sim.', 'Em 06/01/2026 10:11, Luís Souza escreveu:\n\nVamos?'),
  above(
    'Naver',
    '네.',
    '-----Original Message-----\nFrom: "김민수"<kim@naver.test>\nTo: <lee@x.test>;\nCc:\nSent: 2026-01-06 (화) 10:11:12 (GMT+09:00)\nSubject: 점심\n\n갈까요?',
  ),
  above(
    'Daum',
    '네, 좋아요.',
    '--------- 원본 메일 ---------\n보낸사람 : "김민수" <kim@daum.test>\n받는사람 : lee@x.test\n날짜: 2026년 1월 6일(화) 10:11:12\n제목: 점심\n\n갈까요?',
  ),
  above(
    'Foxmail',
    '可以。\n\n王伟',
    '发件人： 李娜\n发送时间： 2026-01-06 10:11\n收件人： 王伟\n主题： 会议\n\n可以吗？',
  ),
  above(
    'Becky!, Japanese',
    '了解しました。',
    'On Tue, 06 Jan 2026 10:11:12 +0900\n田中太郎 <tanaka@x.test> wrote:\n\n> よろしいですか。',
  ),
  above(
    'Japanese, さんは書きました',
    '問題ありません。',
    '2026/01/06 10:11、田中太郎さんは書きました:\n> 問題ありませんか。',
  ),
  above(
    'Salesforce case',
    'Thanks, solved.',
    '--------------- Original Message ---------------\nFrom: Support [support@x.test]\nSent: 1/6/2026 10:11 AM\nTo: ann@x.test\nSubject: Case 00012345\n\nPlease restart. ref:_00D1:ref',
  ),
  above(
    'Freshdesk',
    'It works.',
    'On Tue, 6 Jan at 10:11 AM , Support <help@x.test> wrote:\n\nPlease try again.\n\n4711:1234567',
  ),
  above(
    'Gorgias',
    'Size M please.',
    'On Tue, Jan 6, 2026 at 10:11 AM Shop Support <support@x.test> wrote:\n\nWhich size?\n\n[1a2b3c4d-0000-1111-2222-333344445555]',
  ),
  above(
    'Kayako',
    'Yes.',
    '________________________________________\nReply above this line to add a note\n\nBob replied:\nIs it solved?',
  ),
  above(
    'ServiceNow',
    'Please close it.',
    '-----Original Message-----\nFrom: IT Service Desk\nSent: 2026-01-06 10:11:12\nTo: ann@x.test\nSubject: INC0012345\n\nMay we close it?\n\nRef:MSG0123456_abcDEF',
  ),
  above(
    'Basecamp',
    'Done.',
    '> Write ABOVE THIS LINE to post a reply or view this on Basecamp\n>\n> Bob Miller posted this message on Basecamp.',
  ),
  above('Trello', 'Moved.', '---\nReply via email directly to this card\n\nBob mentioned you on the card Launch'),
  above(
    'Asana',
    'Yes.',
    '—\nBob Miller commented on Launch\nJan 6 at 10:11\n\nIs this done?\n\nReply to this email to add a comment.',
  ),
  above(
    'Google Groups footer',
    'Agreed.',
    '--\nYou received this message because you are subscribed to the Google Groups "team" group.\nTo unsubscribe from this group and stop receiving emails from it, send an email to team+unsubscribe@x.test.',
  ),
  above(
    'virus footer',
    'Here.',
    '--\nThis email has been checked for viruses by Avast antivirus software.\nwww.avast.test',
  ),
  above(
    'virus footer, German',
    'Hier.',
    '--\nDiese E-Mail wurde von Avast-Antivirussoftware auf Viren geprüft.\nwww.avast.test',
  ),
  {
    name: 'lost marks in wrapped lines of Apple Mail',
    own: 'Yes, I will.',
    text: 'Yes, I will.\n\n> On 6 Jan 2026, at 10:11, Bob <bob@x.test> wrote:\n> \n> Would you be so kind as to bring all of the papers that we discussed last\nweek?\n> \n> Bob\n',
  },
  {
    name: 'answers in between with initials',
    own: 'BM> When?\n\nToday.\n\nBM> Where?\n\nHere.',
    text: 'BM> When?\n\nToday.\n\nBM> Where?\n\nHere.\n',
  },
  {
    name: 'below a quotation with a trailing signature',
    own: 'Agreed.',
    text: 'On 6/1/2026 10:11, Bob wrote:\n> Stop?\n> \n> --\n> Bob\n\nAgreed.\n\n--\nAnn\n',
  },
  {
    name: 'my answers are below in red',
    own: 'Hi Bob, my answers are below.',
    text: 'Hi Bob, my answers are below.\n\nFrom: Bob <bob@x.test>\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: Ann <ann@x.test>\nSubject: Questions\n\n1. When?\n',
  },
  {
    name: 'sent from a telephone, Italian, with the original unmarked',
    own: 'Arrivo.',
    text: 'Arrivo.\n\nInviato da iPhone\n\nDove sei?\n\nLuigi\n',
  },
  {
    name: 'sent from a telephone, Dutch, with the original unmarked',
    own: 'Ik kom eraan.',
    text: 'Ik kom eraan.\n\nVerstuurd vanaf mijn iPhone\n\nWaar ben je?\n',
  },
  {
    name: 'sent from a telephone, Danish, with fields',
    own: 'Jeg er på vej.',
    text: 'Jeg er på vej.\n\nHent Outlook til iOS\n________________________________\nFra: Lars <lars@x.test>\nSendt: tirsdag den 6. januar 2026 10:11\nTil: Anna\nEmne: Hvor er du?\n\nHvor er du?\n',
  },
  above(
    'Estonian fields',
    'Sobib.',
    'Saatja: Jaan <jaan@x.test>\nSaadetud: teisipäev, 6. jaanuar 2026 10:11\nAdressaat: Anna\nTeema: Lõuna\n\nKas sobib?',
  ),
  above(
    'Greek fields',
    'Εντάξει.',
    'Από: Νίκος <nikos@x.test>\nΣτάλθηκε: Τρίτη, 6 Ιανουαρίου 2026 10:11\nΠρος: Άννα\nΘέμα: Γεύμα\n\nΠάμε;',
  ),
  above(
    'Hebrew fields',
    'בסדר.',
    'מאת: דוד <david@x.test>\nנשלח: יום שלישי 06 ינואר 2026 10:11\nאל: חנה\nנושא: צהריים\n\nבא לך?',
  ),
  above(
    'Vietnamese fields',
    'Đồng ý.',
    'Từ: Nam <nam@x.test>\nĐã gửi: Thứ Ba, 6 tháng 1, 2026 10:11 SA\nTới: Anh\nChủ đề: Ăn trưa\n\nĐi không?',
  ),
  above('Persian, wrote', 'بله.', 'در تاریخ سه‌شنبه ۶ ژانویهٔ ۲۰۲۶،\u200f ۱۰:۱۱ علی <ali@x.test> نوشت:\n\n> میای؟'),
  above('Hindi, wrote', 'हाँ।', 'मंगल, 6 जन॰ 2026 को 10:11 am बजे राम <ram@x.test> ने लिखा:\n\n> चलें?'),
  above(
    'Catalan, wrote',
    'Sí.',
    'Missatge de Pere <pere@x.test> del dia dt., 6 de gen. 2026 a les 10:11:\n\n> Hi anem?',
  ),
  whole(
    'a letter with a list of people',
    'The group is:\n\nFrom Berlin: Bob\nFrom Paris: Ann\nTo be named: one more\n\nSee you there.',
  ),
  whole('a letter with a quotation of a book', 'He wrote in 1851:\n\n"Call me Ishmael."\n\nI like that line.'),
  whole('a letter with dashes', 'Agenda\n------\n\n- Budget\n- Hiring\n\nBring your laptop.'),
  whole(
    'a report with a date and colon',
    'Status on 6 January 2026, 10:11:\n\nAll systems work. Ann wrote the summary.\n\nNext report tomorrow.',
  ),
  whole(
    'a letter that mentions a telephone',
    'I found this below the desk:\n\nSent from heaven, it seems.\n\nWhose is it?',
  ),
];
