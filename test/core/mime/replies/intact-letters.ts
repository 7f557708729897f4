import { type ReplyCase, whole } from './reply-case.ts';

/** Further texts without quoted mail. */
export const INTACT_LETTERS: readonly ReplyCase[] = [
  whole(
    'Curriculum vitae',
    'I worked for two companies.\n\nFrom: 2019\nTo: 2022\nCompany: Example\nRole: Engineer\n\nFrom: 2022\nTo: now\nCompany: Dest\n\nPlease call me.',
  ),
  whole(
    'A letter is told',
    'On Monday Ann wrote to the council:\n\nthe road is closed, and nobody repairs it.\n\nThe council has not replied. What do you think?',
  ),
  whole('Shell prompts', 'Run this:\n\n> npm install\n> npm start\n\nand tell me what you see.'),
  whole('Chat', 'Here is the chat.\n\nAnn: hello\nJoe: hello\nAnn: is it ready?\nJoe: tomorrow\n\nSo it is not ready.'),
  whole(
    'Poem',
    'My poem:\n\nThe sea is wide,\n  the sea is deep,\nand all the ships\n  have gone to sleep.\n\n-- that is the end of the first part --\n\nThe second part follows tomorrow.',
  ),
  whole('Diff', 'The change is small:\n\n--- a/file\n+++ b/file\n@@ -1 +1 @@\n-old\n+new\n\nPlease review.'),
  whole('Comparison', 'If a > b then the first list is longer.\n\n> means greater, < means less.\n\nThat is all.'),
  whole(
    'Minutes with a moment',
    'Meeting minutes:\n"Ann Smith" ---01/06/2026 10:11:12 AM--- joined the call\nBob left early\nWe decided X.',
  ),
  whole('A line of a log', 'The error:\nOn 6 January 2026, 10:11 <svc@x.test> wrote:  disk full\nWhat now?'),
  whole('A sentence about mail', 'Hallo\n\nVon Mail zu Mail gesendet.\n\nGruß'),
  whole('Separators', 'Agenda\n------\n\n1. Budget\n2. Plan\n\nNotes\n-----\n\nBring your numbers.'),
  whole('Parcel', 'Sent from Berlin on Monday, the parcel should arrive on Friday.\n\nTell me when it is there.'),
  whole('Delivery', 'Sent: 3 boxes\nReceived: 2 boxes\nMissing: 1 box\n\nPlease check.'),
  whole('Hours of a meeting', 'Date: 6 January 2026\nFrom: 10:00\nTo: 11:00\nSubject: Budget\n\nPlease confirm.'),
  whole('Hours of a day', 'Datum: 6. Januar 2026\nVon: 10 Uhr\nBis: 11.30 Uhr\nThema: Haushalt\n\nPasst das?'),
  whole('Meeting', 'Subject: Budget\nDate: 6 January\nTime: 10:11\nRoom: 4\n\nPlease confirm until Monday.'),
  whole(
    'German letter',
    'Am Montag schrieb ich eine Prüfung:\n\nsie war schwer, aber ich habe sie bestanden.\n\nBis bald',
  ),
  whole(
    'French letter',
    "Le 6 janvier 2026, il a écrit un livre :\n\nle titre est connu, l'auteur ne l'est pas.\n\nAmitiés",
  ),
  whole('Spanish letter', 'El lunes escribió una carta:\n\nla carta no llegó nunca.\n\nUn saludo'),
  whole('YAML', 'My configuration:\n\nfrom: eth0\nto: eth1\ndate: daily\nsubject: backup\n\nIs that right?'),
  whole('Table', 'The prices:\n\n| item | price |\n| ---- | ----- |\n| tea  | 2.50  |\n\nAll with tax.'),
  whole(
    'Question about the original',
    'I do not have the original message any more. Could you forward the message that you sent on 6 January 2026 at 10:11?',
  ),
  whole('Telephone', 'Sent from my iPhone because my computer is broken. I will call you tomorrow.\n\nJoe'),
  whole('Address', 'My new address:\n\nAnn Smith\n1 Main Street\n12345 Town\nTel: 555 1234\nMail: ann@x.test'),
  whole('Invoice', 'Invoice 4711\n\nDate: 06.01.2026\nTo: Joe\nAmount: 12.00\nDue: 20.01.2026\n\nThank you.'),
  whole(
    'Itinerary',
    'Your flight\n\nFrom: Berlin (BER)\nTo: Rome (FCO)\nDeparture: 6 January 2026 10:11\nArrival: 6 January 2026 12:11\n\nHave a good trip.',
  ),
  whole(
    'Japanese letter',
    'お世話になっております。\n\n日時：2026年1月6日 10:11\n場所：会議室1\n件名：予算会議\n\nよろしくお願いいたします。',
  ),
  whole('Chinese letter', '您好：\n\n时间：2026年1月6日 10:11\n地点：一号会议室\n主题：预算\n\n请确认。'),
  whole(
    'Russian letter',
    'Добрый день!\n\nДата: 6 января 2026\nТема: бюджет\nМесто: комната 1\n\nПодтвердите, пожалуйста.',
  ),
  whole('Quotation of a book', 'The book says:\n\n"Nobody wrote to the colonel."\n\nI like it.'),
  whole(
    'Header question',
    'Why does my mail have these fields?\n\nReceived: from a.x.test by b.x.test\nFrom: ann@x.test\nTo: joe@dest.test\nSubject: test\nDate: Tue, 6 Jan 2026 10:11:12 +0100\n\nI do not understand the first one.',
  ),
  whole('Code with arrows', 'Use this function:\n\nconst add = (a, b) =>\n  a + b;\n\n=> it returns the sum.'),
  whole(
    'Signature words',
    'Best regards are not enough, I want to thank you in person.\n\nThanks,\nJoe\n\nPS: Bring Ann.',
  ),
  whole('Rule in the middle', 'First part.\n\n* * *\n\nSecond part.\n\n* * *\n\nThird part.'),
  whole('Numbers with times', 'Trains:\n\n10:11 Berlin\n10:41 Hamburg\n11:11 Bremen\n\nThe second one is the fastest.'),
  whole(
    'Minutes',
    'Minutes of the meeting on 6 January 2026, 10:11, written by Ann <ann@x.test>\n\nWe agreed on the budget.\n\nNext meeting: 13 January.',
  ),
  whole(
    'Commits',
    'The last commits:\n\ncommit abc\nAuthor: Ann <ann@x.test>\nDate: Tue Jan 6 10:11:12 2026 +0100\n\n    fix the build\n\nIs that the one?',
  ),
  whole('Korean letter', '안녕하세요.\n\n일시: 2026년 1월 6일 10:11\n장소: 회의실 1\n제목: 예산\n\n확인 부탁드립니다.'),
  whole(
    'A meeting to book',
    'please book the meeting of 6 January 2026, 10:11 with ann@example.com:\n\nroom 4 is free.',
  ),
  whole(
    'A meeting to book with a name',
    'please book the meeting of 6 January 2026, 10:11 with Ann <ann@example.com>:\n\nroom 4 is free.',
  ),
  whole('A flight', 'the flight on 6 January 2026, 10:11 was booked by ann@example.com:\n\nseat 4, no luggage.'),
  whole(
    'Files of an audit',
    'for the audit of 6 January 2026, 10:11 please send the files to ann@example.com:\n\n- the ledger\n- the invoices',
  ),
  whole('An order', 'Ordered on 2026-01-06 10:11 by ann@example.com:\n\ntwo chairs'),
  whole(
    'A German appointment',
    'Den Termin am 6. Januar 2026, 10:11 Uhr bestätigen Sie bitte bei ann@example.com:\n\nRaum 4 ist frei.',
  ),
  whole(
    'A French appointment',
    'Pour la réunion du 6 janvier 2026, 10:11 merci de répondre à ann@example.com :\n\nla salle 4 est libre.',
  ),
  whole('A meeting with a weekday', 'Tuesday, 6 January 2026, 10:11 we meet ann@example.com:\n\nbring the plan.'),
  whole(
    'A call log',
    'Call log\n\n06.01.2026, 10:11, Ann Smith (ann@example.com):\nwants a refund, angry.\n\n07.01.2026, 09:00, Ben Jones (ben@example.com):\nasks for the invoice.',
  ),
  whole(
    'A call log with blank lines',
    'Call log\n\n06.01.2026, 10:11, Ann Smith (ann@example.com):\n\nwants a refund, angry.\n\n07.01.2026, 09:00, Ben Jones <ben@example.com>:\n\nasks for the invoice.',
  ),
  whole(
    'An entry of a log',
    'here is the log entry:\n\n12.03.2025, 09:30, Visitor desk (desk@corp.test):\nLaptop returned.\n\nPlease file it.\nTom',
  ),
  whole(
    'An entry of a log with a blank line',
    'here is the log entry:\n\n2025-03-12 09:30, Visitor desk (desk@corp.test):\n\nLaptop returned.\n\nPlease file it.\nTom',
  ),
  whole('A form with a name', '--- please write your name above the line ---\n\nName: Joe'),
  whole('A form to sign', '---- sign and write the date above the dotted line ----\n\nThen send it back.'),
  whole('Words to type', '--- type over the old lines, then write ---\n\nSave it at the end.'),
  whole(
    'Questions above a line',
    '*** Please answer the questions above the line before Monday ***\n\nThe rest can wait.',
  ),
  whole(
    'Questions above a line, to reply',
    '=== Please reply to the questions above the line ===\n\nThe rest can wait.',
  ),
  whole('A German form', '--- Bitte schreiben Sie Ihren Namen über die Linie ---\n\nDanke'),
  whole('A French form', '--- écrivez votre nom au-dessus de la ligne ---\n\nMerci'),
  whole('A Markdown heading', '## write your name above the line ##\n\nName: Joe'),
  whole(
    'An invoice that was sent',
    'On Tue 06/01/26 10:11 AM the invoice from billing ann@example.com sent:\nplease pay it until Friday.',
  ),
  whole('A parcel that was sent', 'On Tue 06/01/26 10:11 the parcel, ann@example.com sent:\n\ntwo boxes.'),
];
