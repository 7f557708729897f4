import { above, type ReplyCase } from './reply-case.ts';

const UNMARKED = 'Shall we meet on Tuesday?\nThe room is free from noon.\n\nAnn';
const MARKED = '> Shall we meet on Tuesday?\n> The room is free from noon.\n>\n> Ann';

/** Replies of less common mail programs, webmail services and help desks. */
export const PROGRAM_REPLIES: readonly ReplyCase[] = [
  above(
    'QQ Mail, whose text has an entity',
    '好的',
    `------------------&nbsp;原始邮件&nbsp;------------------\n发件人: "Ann" <ann@x.test>;\n发送时间: 2026年1月6日(星期二) 上午10:11\n收件人: "Joe"<joe@dest.test>;\n主题: 会议\n\n${UNMARKED}`,
  ),
  above('iPhone in Czech', 'Ano.', `Odesláno z iPhonu\n\n${UNMARKED}`),
  above('iPhone in Polish', 'Tak.', `Wysłane z iPhona\n\n${UNMARKED}`),
  above(
    'Yahoo Mail desktop',
    'Yes.',
    `On Tuesday, January 6, 2026 at 10:11:12 AM GMT+1, Ann <ann@x.test> wrote:\n\n\n${UNMARKED}`,
  ),
  above(
    'Yahoo Mail on Android',
    'Yes.',
    `Sent from Yahoo Mail on Android\n\nOn Tue, Jan 6, 2026 at 10:11 AM, Ann<ann@x.test> wrote:\n${UNMARKED}`,
  ),
  above(
    'Samsung, one line',
    'Ja, gern.',
    `Von meinem Galaxy gesendet\n\n-------- Ursprüngliche Nachricht --------\nVon: Ann <ann@x.test> Datum: 06.01.26 10:11 (GMT+01:00) An: joe@dest.test Betreff: Treffen\n\n${UNMARKED}`,
  ),
  above(
    'BlackBerry, no dashes',
    'Yes.',
    `Sent from my BlackBerry 10 smartphone.\n  Original Message\nFrom: Ann\nSent: Tuesday, January 6, 2026 10:11\nTo: Joe\nReply To: ann@x.test\nSubject: Meeting\n\n${UNMARKED}`,
  ),
  above(
    'iNotes',
    'Fine.',
    `-----Ann Smith/HQ/Example wrote: -----\nTo: joe@dest.test\nFrom: Ann Smith/HQ/Example\nDate: 01/06/2026 10:11AM\nSubject: Meeting\n\n${UNMARKED}`,
  ),
  above(
    'Notes with tabs',
    'Fine.',
    `From:\tAnn Smith/HQ/Example\nTo:\tjoe@dest.test\nDate:\t01/06/2026 10:11 AM\nSubject:\tMeeting\n\n\n${UNMARKED}`,
  ),
  above(
    'GroupWise with a message id',
    'Fine.',
    `>>> On 1/6/2026 at 10:11 AM, in message <5F1A.ABC@x.test>, "Ann"\n<ann@x.test> wrote:\n${MARKED}`,
  ),
  above('GroupWise German', 'Passt.', `>>> Ann <ann@x.test> 06.01.2026 10:11 >>>\n${UNMARKED}`),
  above(
    'Zimbra German',
    'Passt.',
    `----- Ursprüngliche Mail -----\nVon: "Ann" <ann@x.test>\nAn: "Joe" <joe@dest.test>\nGesendet: Dienstag, 6. Januar 2026 10:11:12\nBetreff: Treffen\n\n${UNMARKED}`,
  ),
  above('Front', 'Done.', `On January 6, 2026 at 10:11 AM GMT+1 ann@x.test wrote:\n\n${UNMARKED}`),
  above(
    'Help Scout',
    'It works.',
    `##- Please type your reply above this line -##\n\nHello Joe,\n\nPlease try again.\n\nAnn`,
  ),
  above(
    'Freshdesk',
    'It works.',
    `On Tue, 6 Jan at 10:11 AM , Ann <ann@x.test> wrote:\n\nHello Joe,\n\nPlease try again.`,
  ),
  above('Request Tracker', 'It works.', `On Tue Jan 06 10:11:12 2026, ann wrote:\n${MARKED}`),
  above(
    'GitHub',
    'I can reproduce it.',
    `—\nReply to this email directly, view it on GitHub, or unsubscribe.\nYou are receiving this because you were mentioned.\n\n> On Jan 6, 2026, Ann wrote:\n> It fails.`,
  ),
  above('Asana', 'Done.', `---- Reply above this line ----\n\nAnn commented on "Plan"\n\nPlease update.`),
  above('Basecamp', 'Done.', `--- Write ABOVE THIS LINE to post a reply ---\n\nAnn wrote in Plan\n\nPlease update.`),
  above('Jira', 'Done.', `—-—-—-—\nReply above this line.\n\nAnn commented:\n\nPlease update.`),
  above('MailMate', 'Yes.', `On 6 Jan 2026, at 10:11, Ann wrote:\n\n${MARKED}`),
  above('mutt with brackets', 'Yes.', `* Ann <ann@x.test> [2026-01-06 10:11]:\n${MARKED}`),
  above('mutt, plus signs', 'Yes.', `+++ Ann [06/01/26 10:11 +0100]:\n${MARKED}`),
  above('IMP', 'Yes.', `Quoting Ann <ann@x.test>:\n\n${MARKED}`),
  above('Usenet, spake', 'Yes.', `Thus spake Ann (ann@x.test):\n\n${MARKED}`),
  above('Thunderbird, said the following', 'Yes.', `Ann said the following on 1/6/2026 10:11 AM:\n${MARKED}`),
  above('Thunderbird German, name first', 'Ja.', `Ann schrieb am 06.01.2026 um 10:11:\n${MARKED}`),
  above('Evolution German', 'Ja.', `Am Dienstag, den 06.01.2026, 10:11 +0100 schrieb Ann:\n${MARKED}`),
  above('Sylpheed', 'Yes.', `On Tue, 6 Jan 2026 10:11:12 +0100\nAnn <ann@x.test> wrote:\n\n${MARKED}`),
  above(
    'eM Client, fields without colons',
    'Yes.',
    `------ Original Message ------\nFrom "Ann" <ann@x.test>\nTo joe@dest.test\nDate 1/6/2026 10:11:12 AM\nSubject Re: Meeting\n\n${UNMARKED}`,
  ),
  above(
    'The Bat!, initials',
    'Yes, noon.',
    `Tuesday, January 6, 2026, 10:11:12 AM, you wrote:\n\nAS> Shall we meet on Tuesday?\nAS> The room is free from noon.`,
  ),
  above('K-9 German', 'Ja.', `Am 6. Januar 2026 10:11:12 MEZ schrieb Ann <ann@x.test>:\n${MARKED}`),
  above('FairEmail', 'Yes.', `Jan 6, 2026 10:11:12 AM Ann <ann@x.test>:\n\n${MARKED}`),
  above('BlueMail', 'Yes.', `On Jan 6, 2026, at 10:11 AM, Ann <ann@x.test> wrote:\n${UNMARKED}`),
  above(
    'Superhuman',
    'Yes.',
    `Sent via Superhuman ( https://sprh.mn/?vip=joe@dest.test )\n\nOn Tue, Jan 06, 2026 at 10:11 AM, Ann < ann@x.test > wrote:\n\n${MARKED}`,
  ),
  above('Mailspring', 'Yes.', `On Jan 6 2026, at 10:11 am, Ann <ann@x.test> wrote:\n${UNMARKED}`),
  above('Postbox', 'Yes.', `Ann wrote on 1/6/26, 10:11 AM:\n${MARKED}`),
  above('Roundcube, two lines', 'Yes.', `On 2026-01-06 10:11, Ann wrote:\n\n${MARKED}`),
  above('SOGo', 'Yes.', `On Tuesday, January 6, 2026 10:11 CET, Ann <ann@x.test> wrote:\n ${UNMARKED}`),
  above('Open-Xchange German', 'Ja.', `> Ann <ann@x.test> hat am 06.01.2026 10:11 CET geschrieben:\n>\n>\n${MARKED}`),
  above(
    'WEB.DE',
    'Ja.',
    `Gesendet: Dienstag, 06. Januar 2026 um 10:11 Uhr\nVon: "Ann" <ann@x.test>\nAn: joe@dest.test\nBetreff: Treffen\n\n${UNMARKED}`,
  ),
  above(
    'T-Online',
    'Ja.',
    `-----Original-Nachricht-----\nBetreff: Treffen\nDatum: 2026-01-06T10:11:12+0100\nVon: "Ann" <ann@x.test>\nAn: "joe@dest.test" <joe@dest.test>\n\n${UNMARKED}`,
  ),
  above(
    'mail.com',
    'Yes.',
    `Sent: Tuesday, January 06, 2026 at 10:11 AM\nFrom: "Ann" <ann@x.test>\nTo: joe@dest.test\nSubject: Meeting\n${UNMARKED}`,
  ),
  above(
    'Libero',
    'Va bene.',
    `----Messaggio originale----\nDa: ann@x.test\nData: 6-gen-2026 10.11\nA: <joe@dest.test>\nOgg: Riunione\n\n${UNMARKED}`,
  ),
  above(
    'Seznam',
    'Ano.',
    `---------- Původní e-mail ----------\nOd: Ann <ann@x.test>\nKomu: joe@dest.test\nDatum: 6. 1. 2026 10:11:12\nPředmět: Schůzka\n${UNMARKED}`,
  ),
  above('WP', 'Tak.', `Dnia 6 stycznia 2026 10:11 Ann <ann@x.test> napisał(a):\n\n${UNMARKED}`),
  above(
    'Interia',
    'Tak.',
    `Od: "Ann" <ann@x.test>\nDo: joe@dest.test;\nWysłane: 10:11 Wtorek 2026-01-06\nTemat: Spotkanie\n\n${MARKED}`,
  ),
  above(
    'UOL',
    'Sim.',
    `De: "Ann" <ann@x.test>\nEnviada: 2026/01/06 10:11:12\nPara: joe@dest.test\nAssunto: Reunião\n\n${UNMARKED}`,
  ),
  above(
    'mail.ru, marked',
    'Да.',
    `>Вторник, 6 января 2026, 10:11 +03:00 от Ann <ann@x.test>:\n>\n>${UNMARKED.replaceAll('\n', '\n>')}`,
  ),
  above('Yandex', 'Да.', `06.01.2026, 10:11, "Ann" <ann@x.test>:\n\n${UNMARKED}`),
  above('ukr.net', 'Так.', `6 січня 2026, 10:11:12, від "Ann" <ann@x.test>:\n\n${MARKED}`),
  above('NetEase web', '好的。', `在 2026-01-06 10:11:12，"Ann" <ann@x.test> 写道：\n\n${UNMARKED}`),
  above(
    'Aliyun',
    '好的。',
    `------------------------------------------------------------------\n发件人：Ann <ann@x.test>\n发送时间：2026年1月6日(星期二) 10:11\n收件人：joe <joe@dest.test>\n主　题：会议\n\n${UNMARKED}`,
  ),
  above(
    'Naver with the day',
    '네.',
    `-----Original Message-----\nFrom: "Ann"<ann@x.test>\nTo: <joe@dest.test>;\nCc:\nSent: 2026-01-06 (화) 10:11:12 (GMT+09:00)\nSubject: 회의\n\n${UNMARKED}`,
  ),
  above(
    'Daum',
    '네.',
    `--------- 원본 메일 ---------\n보낸사람: Ann <ann@x.test>\n받는사람 : joe@dest.test\n날짜: 26.01.06 10:11 GMT +0900\n제목: 회의\n\n${UNMARKED}`,
  ),
  above(
    'Yahoo Japan',
    'はい。',
    `----- Original Message -----\nFrom: Ann <ann@x.test>\nTo: joe@dest.test\nDate: 2026/1/6, Tue 10:11\nSubject: 会議\n\n${UNMARKED}`,
  ),
  above('Thunderbird Japanese', 'はい。', `2026/01/06 10:11、Ann さんは書きました:\n${MARKED}`),
  above('Thunderbird Spanish', 'Sí.', `El 06/01/2026 a las 10:11, Ann escribió:\n${MARKED}`),
  above('Thunderbird French', 'Oui.', `Le 06/01/2026 à 10:11, Ann a écrit :\n${MARKED}`),
  above(
    'Windows Live Mail',
    'Yes.',
    `From: Ann\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: joe@dest.test\nSubject: Meeting\n\n${UNMARKED}`,
  ),
  above('HubSpot', 'Yes.', `On Tue, Jan 6, 2026 at 10:11 AM, Ann <ann@x.test> wrote:\n\n${UNMARKED}`),
  above('Intercom', 'It works.', `On Tue, 06 Jan 2026 10:11:12 UTC, Ann from Example <ann@x.test> wrote:\n${UNMARKED}`),
  above(
    'Proton in German',
    'Ja.',
    `Gesendet mit Proton Mail sicherer E-Mail.\n\n------- Original Message -------\nAnn <ann@x.test> schrieb am Dienstag, 6. Januar 2026 um 10:11:\n\n${MARKED}`,
  ),
  above(
    'Proton in French',
    'Oui.',
    `Envoyé avec la messagerie sécurisée Proton Mail.\n\nLe mardi 6 janvier 2026 à 10:11, Ann <ann@x.test> a écrit :\n\n${MARKED}`,
  ),
  above('Spark in German', 'Ja.', `Am 6. Jan. 2026, 10:11 +0100 schrieb Ann <ann@x.test>:\n${UNMARKED}`),
  above(
    'Zoho, equals signs',
    'Yes.',
    `============ Forwarded message ============\nFrom: Ann <ann@x.test>\nTo: "joe"<joe@dest.test>\nDate: Tue, 06 Jan 2026 10:11:12 +0100\nSubject: Meeting\n============ Forwarded message ============\n\n${UNMARKED}`,
  ),
];

/** Replies below the original or between its lines. */
export const LOWER_REPLIES: readonly ReplyCase[] = [
  {
    name: 'Below the quotation',
    own: 'Yes, noon is fine.\n\nJoe',
    text: `On Tue, Jan 6, 2026, Ann wrote:\n${MARKED}\n\nYes, noon is fine.\n\nJoe\n`,
  },
  {
    name: 'Below a quotation in Dutch',
    own: 'Ja, prima.',
    text: `Op 06-01-2026 om 10:11 schreef Ann:\n${MARKED}\n\nJa, prima.\n`,
  },
  {
    name: 'Below a quotation in Polish',
    own: 'Tak, pasuje.',
    text: `W dniu 2026-01-06 o 10:11, Ann pisze:\n${MARKED}\n\nTak, pasuje.\n`,
  },
];
