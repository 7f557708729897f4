import { describe, expect, test } from 'vitest';
import { readReply, stripQuotedText } from '../../../core/mime/reply-text.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

const QUOTE = '> One line.\n> Another line.\n';

describe('the text that an author typed is found', () => {
  test.each([
    ['alone', 'Hello Ann,\n\nall is well.\n\nJoe\n', 'Hello Ann,\n\nall is well.\n\nJoe'],
    ['with CRLF', 'Hello\r\nAnn\r\n', 'Hello\nAnn'],
    ['above a quotation', `Yes.\n\nOn Mon, 1 Jan 2026 at 10:00, Ann <ann@x.test> wrote:\n${QUOTE}`, 'Yes.'],
    [
      'above a folded introduction',
      `Yes.\n\nOn Mon, 1 Jan 2026 at 10:00, Ann Somebody\n<ann@x.test> wrote:\n${QUOTE}`,
      'Yes.',
    ],
    ['in German', `Ja.\n\nAm 01.01.2026 um 10:00 schrieb Ann <ann@x.test>:\n${QUOTE}`, 'Ja.'],
    ['in French', `Oui.\n\nLe 1 janv. 2026 à 10:00, Ann <ann@x.test> a écrit :\n${QUOTE}`, 'Oui.'],
    ['above a signature', 'Yes.\n\n-- \nJoe Doe\nPresident\n', 'Yes.'],
    ['above a signature whose space was lost', 'Yes.\n\n--\nJoe Doe\n', 'Yes.'],
    ['sent from a telephone', 'Yes.\n\nSent from my iPhone\n', 'Yes.'],
    ['below a quotation with its introduction', `On Mon, 1 Jan 2026, Ann wrote:\n${QUOTE}\nYes.\n`, 'Yes.'],
    ['between quotations', '> When?\nAt ten.\n> Where?\nHere.\n', '> When?\nAt ten.\n> Where?\nHere.'],
    [
      'between quotations, below a greeting',
      `Hi Ann,\n\nOn Mon, 1 Jan 2026, Ann wrote:\n> When?\n\nAt ten.\n`,
      'Hi Ann,\n\n> When?\n\nAt ten.',
    ],
    ['above quoted fields', `Yes.\n\nFrom: Ann <ann@x.test>\nSent: Monday\nTo: Joe\nSubject: Hi\n\nWhen?\n`, 'Yes.'],
    ['above a forwarded message', 'See below.\n\n---------- Forwarded message ---------\nWhen?\n', 'See below.'],
    ['above a quotation with initials', 'Yes.\n\nAt 1/1/2026 10:00, Ann wrote:\nAB> When?\nAB> Where?\n', 'Yes.'],
    ['with code', 'Try:\n\n```\n> not quoted\n--\n```\n\n> quoted\n', 'Try:\n\n```\n> not quoted\n--\n```'],
    [
      'above a disclaimer',
      'Yes.\n\nThis email and its attachments are confidential and intended solely for the addressee. Tell us if you got it by mistake.\n',
      'Yes.',
    ],
    ['on the line of the introduction', 'Yes. On Wed, Apr 4, 2026 at 3:59 PM, ann@x.test wrote:\n> When?\n', 'Yes.'],
    [
      'on the line of a folded introduction',
      'See\nthis On Nov 30, 2026, at 12:47 PM, Ann <\nann@x.test> wrote:\n\n> When?\n',
      'See\nthis',
    ],
    [
      'with a link that ends on the next line',
      'See <https://x.test/a\n> for more.\n\nOn Mon, 1 Jan 2026, Ann wrote:\n> When?\n',
      'See <https://x.test/a\n> for more.',
    ],
    [
      'above a quotation with a link that was wrapped',
      'Yes.\n\nOn Mon, 1 Jan 2026, Ann wrote:\n\n> See (https://x.test/a\n_b=1)\n>\nhttps://x.test/b\n> Bye\n',
      'Yes.',
    ],
    ['above two fields with a date', 'Yes.\n\nDate: Wed, 16 May 2026 00:15:02 -0600\nTo: ann@x.test\n\nOld', 'Yes.'],
    ['above one field with a quotation', 'Yes.\n\n_____________\nFrom: ann@x.test\n\n> When?\n', 'Yes.'],
    ['with the fields of a journey', 'From: Rome\nTo: Bern\nDate: Monday', 'From: Rome\nTo: Bern\nDate: Monday'],
    [
      'with the header section that a report shows',
      'Not delivered.\n\nReceived: from x.test\nDate: Monday\nFrom: a@x.test\nTo: b@x.test\nSubject: Hi',
      'Not delivered.\n\nReceived: from x.test\nDate: Monday\nFrom: a@x.test\nTo: b@x.test\nSubject: Hi',
    ],
    ['with a rule', 'One.\n\n-----\n\nTwo.\n-----\n', 'One.\n\n-----\n\nTwo.\n-----'],
    ['of nothing but a quotation', QUOTE, QUOTE.trim()],
    ['of nothing', '\n \n', ''],
    [
      'with a word of a signature in a sentence',
      'This was sent from home, regards to all.\n',
      'This was sent from home, regards to all.',
    ],
  ])('%s', (_, text, own) => {
    expect(stripQuotedText(text).replace(/\n+(?=\S)/g, '\n')).toBe(own.replace(/\n+(?=\S)/g, '\n'));
  });

  test('keeps lines that are too long to introduce anything, and drops quoted ones', () => {
    const long = 'word '.repeat(100).trim();
    expect(stripQuotedText(`${long}\n\n> ${long}\n`)).toBe(long);
    expect(stripQuotedText(`> a\n${long} wrote:\n`)).toBe(`> a\n${long} wrote:`);
  });

  test('is returned with the places of the removed parts', () => {
    const text = 'Yes.\r\n\r\n-- \r\nJoe\r\n\r\nOn Mon, 1 Jan 2026, Ann wrote:\r\n> When?\r\n';
    const { removed } = readReply(text);
    expect(removed.map(({ kind, start, end }) => [kind, text.slice(start, end).trim()])).toEqual([
      ['signature', '-- \r\nJoe'],
      ['quote', 'On Mon, 1 Jan 2026, Ann wrote:\r\n> When?'],
    ]);
    expect(readReply(QUOTE).removed).toEqual([]);
  });
});

test.each([
  'I ran it again.\n\nNorton checked for viruses and the disk is free of them',
  'We need 500 flyers.\n\nPlease think of the environment and print on recycled paper',
  'Who has signed so far:\n\nAnn Smith <ann@x.test>\n6 January 2026\nTo: HR\nSubject: contract A\n\nBob Jones <bob@x.test>\n7 January 2026\nTo: Legal\nSubject: contract B\n\nPlease chase the others.',
  'Who will come:\n\nAnn Smith <ann@x.test>\n6 January 2026\nTo be confirmed\nSubject to approval\n\nBob Jones <bob@x.test>\n7 January 2026\n\nBest, Ann',
])('keeps what a person typed that resembles the end of a mail: %j', (text) => {
  expect(stripQuotedText(text)).toBe(text);
});

test.each([
  'This e-mail was checked for viruses by Norton.',
  'Virus-free. www.avast.com',
  'Diese E-Mail wurde von Avast Antivirus auf Viren geprüft.',
  'Please consider the environment before printing.',
  'Think of the environment: do you really need to print this?',
  'Pensez à l’environnement avant d’imprimer ce courriel.',
])('removes what a program adds at the end: %s', (line) => {
  expect(stripQuotedText(`Yes, Tuesday.\n\n${line}`).trim()).toBe('Yes, Tuesday.');
});

test.each([
  'Op x\n',
  'cc: a\n',
  'a:\n',
  'a@b.test:\n',
  'On 1 May 2026 a wrote:\n',
  'On 1 May 2026 a wrote:\n> b\n',
  'From: a\nTo: b\nDate: c\n\n',
  '| a\n',
  'abc. skrev \n',
  'a On May 1, 2026 at 1:00 ',
  'a On May 1, 2026 at 1:00 <\n',
  '> (http://a\nb)\n',
  '<http://a\n> b\n',
  'From: a@b Date: c To: d ',
  '\n',
  ' \n',
  'On a ',
  'On a\n',
  '在x\n',
  'Dnia \n',
  '> ',
  '>\n',
  '>a\n\n',
  '-',
  '- ',
  '-- \n',
  'From: a ',
  'From: a <\n',
  ' on at',
  'Den a skrev b\n',
  'Am a um b schrieb c\n',
  '2000 from <\n',
  'a\n\n',
  'Regards\n',
  '\ue0ff\ue0fe1\n',
  '_',
  'a    On 1 May 2026 10:11, <a@b> wrote:\n',
  'a    b:',
  'a --- original message --- From: b ',
  'a. On 1 May 2026 b <c@d.test> wrote: > ',
  '[1] http://a\n',
  '> [1]\n[1] http://a\n',
  'a <http://b?utm_medium=signature>\n',
  'x',
])('up to 50,000 bytes of %j are read in linear time', (unit) => {
  for (const end of ['', '\nwrote sent >'])
    expectLinearGrowth(
      (length) => stripQuotedText(`x\n${unit.repeat(length / unit.length)}${end}`.slice(0, 50_000)),
      50_000,
      end,
    );
});

describe('a quotation that nothing introduces', () => {
  const text = 'For the wall:\n\n> Nothing ventured, nothing gained.\n> (an old saying)\n';

  test('is removed from a reply', () => {
    expect(readReply(text).text).toBe('For the wall:');
  });

  test('stays in a message that replies to nothing', () => {
    expect(readReply(text, false).text).toBe(text.trim());
  });
});

describe('a quoted introduction', () => {
  const wrote = '> On 6 Jan 2026, at 10:11, Ann <ann@x.test> wrote:\n>\n';

  test('goes from a quotation that stays between replies', () => {
    const text = `Hi,\n\n${wrote}> Where?\n\nHere.\n\n> When?\n\nNow.\n`;
    expect(readReply(text).text).not.toContain('wrote:');
    expect(readReply(text).text).toContain('> Where?');
  });

  test('goes with the only quotation above a reply', () => {
    expect(readReply(`${wrote}> Where?\n\nHere.\n`).text).toBe('Here.');
  });
});

describe('a paragraph at the end', () => {
  const secret = 'The following is confidential and for the recipient only.';

  test('that says three things of disclaimers in any words is removed', () => {
    const text = `Yes.\n\n${secret} Whoever has it by mistake shall delete it and inform us at once.\n`;
    expect(readReply(text).text).toBe('Yes.');
  });

  test.each([
    `Yes.\n\n${secret} I tell you on Monday what it is about, in the garden behind the house.\n`,
    `Please add this below:\n\n${secret} Whoever has it by mistake shall delete it and inform us at once.\n`,
  ])('stays when a person says it: %j', (text) => {
    expect(readReply(text).text).toBe(text.trim());
  });
});
