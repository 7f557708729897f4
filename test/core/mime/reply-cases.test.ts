import { describe, expect, test } from 'vitest';
import { textOfHtml } from '../../../core/html/text-of-html.ts';
import { readHtmlReply, stripQuotedHtml } from '../../../core/mime/reply-html.ts';
import { readReply } from '../../../core/mime/reply-text.ts';
import { CLIENT_REPLIES } from './replies/client-replies.ts';
import { FRESH_REPLIES } from './replies/fresh-replies.ts';
import { INTACT_LETTERS } from './replies/intact-letters.ts';
import { INTACT_MAILS } from './replies/intact-mails.ts';
import { INTACT_TEXTS } from './replies/intact-texts.ts';
import { LATER_REPLIES } from './replies/later-replies.ts';
import { LOCALIZED_REPLIES } from './replies/localized-replies.ts';
import { ODD_REPLIES } from './replies/odd-replies.ts';
import { DISCLAIMED, ORDINARY_TEXTS } from './replies/ordinary-texts.ts';
import { OWN_TEXTS } from './replies/own-texts.ts';
import { LOWER_REPLIES, PROGRAM_REPLIES } from './replies/program-replies.ts';
import { PUBLISHED_REPLIES } from './replies/published-replies.ts';
import { TEMPLATE_HTML_REPLIES, TEMPLATE_REPLIES } from './replies/template-replies.ts';
import { TITLED_REPLIES } from './replies/titled-replies.ts';
import { WORLD_HTML_REPLIES, WORLD_REPLIES } from './replies/world-replies.ts';

describe('a reply is separated from what its mail program added', () => {
  test.each([
    ...FRESH_REPLIES,
    ...ODD_REPLIES,
    ...CLIENT_REPLIES,
    ...LOCALIZED_REPLIES,
    ...PROGRAM_REPLIES,
    ...LOWER_REPLIES,
    ...TITLED_REPLIES,
    ...WORLD_REPLIES,
    ...TEMPLATE_REPLIES,
    ...PUBLISHED_REPLIES,
    ...LATER_REPLIES,
    ...DISCLAIMED,
  ])('$name', ({ text, own }) => {
    expect(readReply(text).text).toBe(own);
    expect(readReply(text.replaceAll('\n', '\r\n')).text).toBe(own);
  });
});

describe('a reply in HTML that marks nothing is separated in the same way', () => {
  test.each(TITLED_REPLIES)('$name', ({ text, own }) => {
    const lines = text.split('\n').map((line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
    const html = `<html><body><div>${lines.join('<br>\n')}</div></body></html>`;
    expect(textOfHtml(stripQuotedHtml(html))?.trim()).toBe(own);
  });
});

describe('a reply in HTML is separated from what its mail program marked', () => {
  test.each([...WORLD_HTML_REPLIES, ...TEMPLATE_HTML_REPLIES])('$name', ({ html, own }) => {
    expect(textOfHtml(stripQuotedHtml(html))?.trim()).toBe(own);
  });
});

describe('a text that looks like quoted mail is its author’s', () => {
  test.each([...INTACT_TEXTS, ...INTACT_LETTERS, ...INTACT_MAILS, ...OWN_TEXTS, ...ORDINARY_TEXTS])(
    '$name',
    ({ text, own }) => {
      expect(readReply(text).text).toBe(own);
    },
  );

  test.each(ORDINARY_TEXTS)('$name, in HTML and in a message that replies to nothing', ({ text, own }) => {
    const html = text
      .split('\n\n')
      .map((paragraph) => `<p>${paragraph}</p>`)
      .join('');
    expect(textOfHtml(stripQuotedHtml(html))?.trim()).toBe(own);
    expect(readReply(text, false).text).toBe(own);
    expect(readHtmlReply(html, { isReply: false }).html).toBe(html);
  });
});

describe('below the line of a telephone', () => {
  test('the original is removed from HTML, too', () => {
    const html = '<div>Yes.</div><br><div>Sent from my iPhone</div><br><div>Shall we eat at noon?</div>';
    expect(stripQuotedHtml(html).replace(/<[^<>]*>/g, '')).toBe('Yes.');
  });

  test('its removed parts have their own kinds', () => {
    const { removed } = readReply('Yes.\n\nSent from my iPhone\n\nShall we eat at noon?\n');
    expect(removed.map(({ kind }) => kind)).toEqual(['signature', 'quote']);
  });

  test('text above a marked quotation stays', () => {
    const text = 'Yes.\n\nSent from my iPhone\n\nPS: Bring wine.\n\nOn Tue, 6 Jan 2026, Ann wrote:\n> Lunch?\n';
    expect(readReply(text).text).toContain('PS: Bring wine.');
  });

  test('nothing is removed when no text is above it', () => {
    expect(readReply('Sent from my iPhone\n\nLunch at noon?\n').text).toContain('Lunch at noon?');
  });
});

test.each([
  'a',
  ' ',
  '<',
  '>',
  'N: A <a@b.c>\n',
  'N: A <a@b.c>\nD: 2026 10:11\n',
  'x\n\nSent from my iPhone\n\n',
  `> ${'a'.repeat(45)}\nb\n`,
  'Ann S/HQ/D\n2026-01-06\n',
  'On 6 Jan 2026 10:11 Ann <a@b.c> wrote\n',
  '##- above line repl -##\n',
  '-------- Original message --------From: a\n',
  '6.1.2026 10:11 a@b.c:\n',
  'On 6 Jan 2026 a@b.c wrote:   x\n',
  '"Ann" ---01/06/2026 10:11 AM---x\n',
  'as a wrote on 6 Jan: ',
  'wrote aaa ',
  '收 件 人: 1\n',
  'Sent from my iPhone it\n\n',
  'x alkaa:\n',
  '----- a b c -----\n',
  'From: a\nDate: b\nTo: c\nSubject: d\n\n',
  '> ab cd\n',
  '> On 6 Jan 2026 10:11 Ann <a@b.c> wrote:\n\nx\n',
  'outlook ios ',
  'confidential recipient in error delete ',
  'confidential recipient in error delete\n\n',
])('the time to read 400,000 characters of %j grows with their number', (part) => {
  // With backtracking, or a search of all lines for each line, this would not end.
  const text = `x\n\n${part.repeat(400_000 / part.length)}`;
  expect(readReply(text).text.length).toBeLessThanOrEqual(text.length);
});
