import { type ReplyCase, whole } from './reply-case.ts';

/** Texts that look like quoted mail and are their author's. */
export const INTACT_TEXTS: readonly ReplyCase[] = [
  whole('Ticket', 'Your ticket:\n\nFrom: Paris\nTo: Rome\nDate: 6 January 2026\nSeat: 12A\n\nHave a good trip.'),
  whole(
    'Order',
    'Thanks for your order.\n\nOrder: 4711\nDate: 6 January 2026\nTotal: 12.00 EUR\nEmail: joe@dest.test\n\nWe ship it on Friday.',
  ),
  whole(
    'Order below a line',
    'Thanks for your order.\n\n==========================\nOrder: 4711\nDate: 06/01/2026 10:11\nEmail: joe@dest.test\nPhone: 555 1234\n==========================\n\nWe ship it on Friday.',
  ),
  whole(
    'Contact form',
    'New message from the contact form\n\nName: Ann Smith\nEmail: ann@x.test\nPhone: 555 1234\nMessage: Please call me back on 6 January 2026.',
  ),
  whole(
    'French contact form',
    'Nouveau message\n\nNom : Anne Petit\nE-mail : anne@x.test\nDate : 06/01/2026\nMessage : Rappelez-moi.\n\nÀ bientôt',
  ),
  whole(
    'Invitation',
    'You are invited.\n\nWhat: Review\nWhen: Tue, 6 Jan 2026 10:11\nWhere: Room 1\nWho: ann@x.test, joe@dest.test\n\nPlease confirm.',
  ),
  whole(
    'German appointment',
    'Hallo,\n\nTermin: Besprechung\nDatum: 06.01.2026\nUhrzeit: 10:11\nOrt: Raum 1\nKontakt: anna@x.test\n\nBis dann',
  ),
  whole(
    'Log',
    'The log says:\n\n2026-01-06 10:11:12 ERROR: connection lost\n2026-01-06 10:11:13 INFO: user ann@x.test: reconnect\n2026-01-06 10:11:14 WARN: slow\n\nAny idea?',
  ),
  whole(
    'Log with keys',
    'The server printed\n\ntime: 2026-01-06 10:11:12\nlevel: error\nuser: ann@x.test\nerror: timeout\n\nand then it stopped.',
  ),
  whole(
    'Configuration',
    'Use this:\n\nserver: mx.dest.test\nport: 25\nuser: ann@x.test\ndate: 2026-01-06\n\nand restart.',
  ),
  whole(
    'YAML below dashes',
    'My file:\n\n---\nname: build\nauthor: ann@x.test\ndate: 2026-01-06\nversion: 1\n\nWhat is wrong with it?',
  ),
  whole(
    'Code',
    'Try\n\n```\nFrom: ann@x.test\nTo: joe@dest.test\nSubject: x\nDate: Tue, 6 Jan 2026 10:11:12 +0100\n```\n\nand send it.',
  ),
  whole(
    'Commit',
    'I pushed it:\n\ncommit 1234567\nAuthor: Ann Smith <ann@x.test>\nDate:   Tue Jan 6 10:11:12 2026 +0100\n\n    Fix the build\n\nPlease pull.',
  ),
  whole(
    'Patch trailers',
    'The patch is right.\n\nReviewed-by: Ann Smith <ann@x.test>\nTested-by: Joe <joe@dest.test>\nSigned-off-by: Ann Smith <ann@x.test>\nAcked-by: Bob <bob@x.test>',
  ),
  whole('Signature block', 'See you.\n\nAnn Smith\nTel: 555 1234\nFax: 555 1235\nEmail: ann@x.test\nWeb: www.x.test'),
  whole(
    'Signature block in German',
    'Bis morgen.\n\nMit freundlichen Grüßen\nAnna Berg\nTelefon: 030 1234\nMobil: 0170 1234\nE-Mail: anna@x.test\nInternet: www.x.test',
  ),
  whole(
    'Signature block in French',
    'À demain.\n\nAnne Petit\nTél : 01 23 45 67 89\nCourriel : anne@x.test\nSite : www.x.test',
  ),
  whole(
    'Wrote in a sentence',
    'On Monday Ann wrote to me that she was ill.\nOn 6 January 2026 she wrote again, and ann@x.test is her address.\nPlease call her.',
  ),
  whole(
    'Wrote at the end of a line',
    'I read the letter that on 6 January 2026 Ann wrote\nto all of her friends. It is long.',
  ),
  whole('Someone said', 'Ann said:\n\n"Noon is fine."\n\nSo I come at noon.'),
  whole(
    'German wrote in a sentence',
    'Am 06.01.2026 schrieb ich schon einmal wegen der Rechnung.\nBitte antworten Sie.',
  ),
  whole('French wrote in a sentence', 'Le 6 janvier 2026, Anne a écrit\nune lettre à son avocat.\nQue faire ?'),
  whole(
    'List of questions',
    'My questions:\n\nFrom: where does it start?\nTo: where does it end?\nSubject: what is it about?',
  ),
  whole(
    'Address list',
    'Please invite these:\n\nAnn: ann@x.test\nBob: bob@x.test\nCarl: carl@x.test\nDora: dora@x.test\n\nThanks',
  ),
  whole('Sent from in a sentence', 'The parcel was\nsent from my office on Monday.\nIt should be there.'),
  whole('Telephone in a sentence', 'I write this from my phone.\n\nThe plan:\n1. Lunch\n2. Review'),
  whole(
    'Opening hours',
    'We are open:\n\nMonday: 10:00 to 18:00\nTuesday: 10:00 to 18:00\nWednesday: closed\nContact: ann@x.test',
  ),
  whole(
    'Minutes',
    'Minutes\n=======\n\nDate: 6 January 2026\nPresent: Ann, Joe\nAbsent: Bob\nNext meeting: 13 January 2026\n\n1. Lunch is at noon.',
  ),
  whole(
    'Transfer',
    'Please transfer the money.\n\nFrom: DE12 3456\nTo: DE65 4321\nAmount: 100 EUR\nDate: 06.01.2026\nReference: 4711',
  ),
  whole(
    'Shipping',
    'Shipment\n--------\n\nFrom: Ann Smith, Berlin\nTo: Joe, Rome\nSent: 6 January 2026\nWeight: 2 kg\n\nThe parcel arrives on Friday.',
  ),
  whole(
    'Quoted poem',
    '> Two roads diverged in a wood,\n> and I took the one less traveled by.\n\nThat is my favorite poem. Do you know it?',
  ),
  whole('Shell', 'Run\n\n> npm test\n\nand tell me what it prints.'),
  whole('Comparison', 'If a > b then swap.\n\nx >= 1: yes\ny < 2: no'),
  whole('Table', '| Name | Date |\n| Ann | 2026-01-06 |\n| Joe | 2026-01-07 |\n\nPlease check.'),
  whole('Recipe', 'Recipe\n\nTime: 10:11\nServes: 4\nAuthor: ann@x.test\nOven: 200\n\nEnjoy!'),
  whole(
    'Delivery report in words',
    'I got this error:\n\nReason: 550 5.1.1 user unknown\nRecipient: joe@dest.test\nTime: 2026-01-06 10:11\n\nWhat can I do?',
  ),
  whole('Vote', 'Poll\n\n06.01.2026: Ann, Joe\n07.01.2026: Ann\n08.01.2026: nobody\n\nI take the first.'),
  whole('Dialog', 'Ann: Lunch?\nJoe: Yes.\nAnn: At noon?\nJoe: 12:30 is better.\n\nSo 12:30.'),
  whole('Chat log', '[10:11] <ann> lunch?\n[10:12] <joe> yes\n[10:13] <ann> noon\n\nDo you see?'),
  whole('Changes', 'Changes of 2026-01-06:\n\n- from: Paris\n- to: Rome\n- date: Friday\n\nOK?'),
  whole(
    'Link with an address',
    'See https://x.test/from:ann@x.test and\nmailto:joe@dest.test for 6 January 2026.\nThanks',
  ),
  whole('Asked and responded', 'Q: When?\nA: 6 January 2026, 10:11\nQ: Who?\nA: ann@x.test\n\nAll clear?'),
  {
    name: 'Interleaved',
    text: 'On Tue, Jan 6, 2026 at 10:11 AM Ann Smith <ann@x.test> wrote:\n> Lunch?\n\nYes.\n\n> Where?\n\nAt the old place.\n',
    own: '> Lunch?\n\nYes.\n\n> Where?\n\nAt the old place.',
  },
  {
    name: 'Below the quotation',
    text: 'On Tue, Jan 6, 2026 at 10:11 AM Ann Smith <ann@x.test> wrote:\n> Lunch?\n> At noon?\n\nYes, at noon.\n',
    own: 'Yes, at noon.',
  },
  whole('Courier', 'I sent it.\n\nSent on Monday from the Berlin office by courier.\n\nIt should arrive tomorrow.'),
  whole('Rates', 'Our rates:\n\nSingle: 10:00 to 12:00, 2026\nDouble: ann@x.test\nTriple: none\n\nOK?'),
  whole(
    'Wrote at the start',
    'Ann Smith <ann@x.test> is right.\n\nShe wrote on 6 January 2026 10:11 that\nthe plan is done.',
  ),
  whole('Asked in French', 'Hi,\n\nLe 6 janvier 2026 à 10:11, marie@x.test a écrit au service client.\n\nMerci'),
  whole(
    'Letter',
    'The letter:\n\nTo whom it may concern:\n\nOn 6 January 2026 at 10:11 Ann <ann@x.test> called us.\n\nYours',
  ),
  whole('Advice about a telephone', 'Use the phone app.\n\nGet Outlook for iOS and sign in:\n\n1. Open it\n2. Log in'),
  whole(
    'Result of a program',
    'Result:\n\nHost: mx.x.test\nTime: 2026-01-06 10:11:12\nUser: Ann <ann@x.test>\nError: none\n\nFine?',
  ),
  whole(
    'Package',
    'Maintainer: Ann <ann@x.test>\nRelease: 2026-01-06 10:11\nLicense: MIT\n\nPlease check the file above.',
  ),
  whole(
    'Responses without blank lines',
    '> We should meet on Thursday at the office and talk about the new plan?\nyes\n> And then we go to the restaurant that Ann likes?\nno',
  ),
];
