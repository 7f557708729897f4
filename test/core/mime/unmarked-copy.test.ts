import { describe, expect, test } from 'vitest';
import { type ParsedMessage, parseMessage } from '../../../core/mime/parse-message.ts';
import { mayContainCopy, withoutCopy } from '../../../core/mime/unmarked-copy.ts';

const ORIGINAL = `Hello Joe,

could you send the offer for the three green chairs
until Friday, please?

Ann
`;
const OWN = 'Here it is, with the chairs in green\nand the delivery in March.';

function reply(text: string, fields = 'In-Reply-To: <one@x.test>\n'): Promise<ParsedMessage> {
  return parseMessage(Buffer.from(`From: joe@dest.test\nSubject: Re: Offer\n${fields}\n${text}`));
}

describe('a copy of the original that nothing marks', () => {
  test.each([
    ['as it was', ORIGINAL],
    ['wrapped in another way', ORIGINAL.replace('chairs\nuntil', 'chairs until')],
    ['indented, with its lines apart', ORIGINAL.replace(/^(?=.)/gm, '    ').replaceAll('\n', '\n\n')],
    ['without its last word', ORIGINAL.replace('Ann\n', '')],
    ['with CRLF', ORIGINAL.replaceAll('\n', '\r\n')],
  ])('is removed %s', async (_, copy) => {
    const message = await reply(`${OWN}\n\n${copy}`);
    expect(mayContainCopy(message)).toBe(true);
    const cleaned = withoutCopy(message, ['Another mail that is not copied here at all.', ORIGINAL]);
    expect(cleaned.cleanedText).toBe(OWN);
    expect(cleaned.preview).toBe(OWN.replace('\n', ' '));
    expect(cleaned.removedParts.map(({ kind }) => kind)).toEqual(['quote']);
    const [part] = cleaned.removedParts;
    expect(message.textBody?.slice(part?.start, part?.end)).toContain('green chairs');
  });

  test('is removed above the reply', async () => {
    const message = await reply(`${ORIGINAL}\n${OWN}\n`);
    expect(withoutCopy(message, [ORIGINAL]).cleanedText).toBe(OWN);
  });

  test('keeps the place of a signature', async () => {
    const message = await reply(`${OWN}\n\n${ORIGINAL}\n-- \nJoe\n`);
    const cleaned = withoutCopy(message, [ORIGINAL]);
    expect(cleaned.cleanedText).toBe(OWN);
    expect(cleaned.removedParts.map(({ kind }) => kind)).toEqual(['quote', 'signature']);
  });
});

describe('a copy in HTML that nothing marks', () => {
  const COPY = ORIGINAL.trim()
    .split('\n')
    .map((line) => `<div>${line === '' ? '<br>' : line}</div>`)
    .join('');
  const OWN_HTML = '<div>Here it is.</div><div>With the chairs in green, as you wished.</div><div><br></div>';

  function htmlReply(html: string): Promise<ParsedMessage> {
    const fields = 'Subject: Re: Offer\nIn-Reply-To: <one@x.test>\nContent-Type: text/html; charset=utf-8';
    return parseMessage(Buffer.from(`From: joe@dest.test\n${fields}\n\n<html><body>${html}</body></html>`));
  }

  test.each([
    ['below the reply', `${OWN_HTML}${COPY}`],
    ['above the reply', `${COPY}<br>${OWN_HTML}`],
    ['on one line', `${OWN_HTML}<p>${ORIGINAL.replaceAll('\n', ' ')}</p>`],
    ['with a link', `${OWN_HTML}${COPY.replace('offer', '<a href="https://x.test">offer</a> of today')}`],
  ])('is removed %s', async (_, html) => {
    const message = await htmlReply(html);
    expect(mayContainCopy(message)).toBe(true);
    const cleaned = withoutCopy(message, ['Another mail that is not copied here at all.', ORIGINAL]);
    expect(cleaned.cleanedHtml).toContain('With the chairs in green');
    expect(cleaned.cleanedHtml).not.toContain('could you send');
    expect(cleaned.removedParts.map(({ kind }) => kind)).toEqual(['quote']);
    expect(cleaned.preview).toBe('Here it is. With the chairs in green, as you wished.');
  });

  test('is removed from both bodies', async () => {
    const message = await reply(`${OWN}\n\n${ORIGINAL}`);
    const both = { ...message, htmlBody: `${OWN_HTML}${COPY}`, cleanedHtml: `${OWN_HTML}${COPY}` };
    const cleaned = withoutCopy(both, [ORIGINAL]);
    expect(cleaned.cleanedText).toBe(OWN);
    expect(cleaned.cleanedHtml).not.toContain('could you send');
  });

  test.each([
    ['that is nothing but the original', COPY],
    ['of other words', `${OWN_HTML}<div>could you send</div><div>whatever you like</div>`],
  ])('the HTML stays %s', async (_, html) => {
    const message = await htmlReply(html);
    expect(withoutCopy(message, [ORIGINAL])).toBe(message);
  });

  test('HTML with marked quotations is not compared', async () => {
    expect(mayContainCopy(await htmlReply(`${OWN_HTML}<blockquote type="cite">${COPY}</blockquote>`))).toBe(false);
  });
});

describe('a text stays', () => {
  test.each([
    [
      'of which half is the original',
      `${OWN}\n\nHello Joe,\n\ncould you send the offer for whatever you want to sell me this year?\n`,
    ],
    [
      'that repeats some words of the original',
      `${OWN}\n\nYou wrote: could you send the offer. I do.\n\nAnd more text here.\n\nJoe\n`,
    ],
    ['that is nothing but the original', ORIGINAL],
  ])('%s', async (_, text) => {
    const message = await reply(text);
    expect(withoutCopy(message, [ORIGINAL])).toBe(message);
  });

  test('that repeats a short original', async () => {
    const message = await reply(`${OWN}\n\nYes.\n\nThat is what I would do as well.\n`);
    expect(withoutCopy(message, ['Yes.'])).toBe(message);
  });
});

test.each([
  ['no reply', `${OWN}\n\n${ORIGINAL}`, ''],
  ['a short reply', 'Yes.\n\nJoe\n\nSee you\n\nthen.', 'In-Reply-To: <one@x.test>\n'],
  ['marked quotations', `${OWN}\n\nOn 6 Jan 2026, Ann wrote:\n> ${ORIGINAL}`, 'In-Reply-To: <one@x.test>\n'],
])('%s is not compared', async (_, text, fields) => {
  expect(mayContainCopy(await reply(text, fields))).toBe(false);
});

test.each(['a ', 'a\n', 'a b\n', '\n', ' '])('50,000 characters of %j are compared in limited time', async (part) => {
  const text = part.repeat(50_000 / part.length);
  const message = { ...(await reply('x')), textBody: text, cleanedText: text };
  const startedAt = process.cpuUsage();
  withoutCopy(message, [`${text}b`, `${text}c`, `${text}d`]);
  expect(process.cpuUsage(startedAt).user / 1_000).toBeLessThan(1_000);
});
