import { describe, expect, test } from 'vitest';
import { stripQuotedHtml } from '../../../core/mime/reply-html.ts';
import { stripQuotedText } from '../../../core/mime/reply-text.ts';
import { LANGUAGES } from './reply-languages.ts';

const OWN = 'OK 👍';
const QUOTE = '> 1\n> 2\n';

describe.each(LANGUAGES)('in %s, a reply is the text above', (_, introduction, fields, signature) => {
  test('a quotation', () => {
    expect(stripQuotedText(`${OWN}\n\n${introduction}\n\n${QUOTE}`)).toBe(OWN);
    expect(stripQuotedText(`${introduction}\n\n${QUOTE}\n${OWN}\n`)).toBe(OWN);
  });
  test('an introduction that was wrapped', () => {
    const at = introduction.lastIndexOf(' ');
    expect(stripQuotedText(`${OWN}\n\n${introduction.slice(0, at)}\n${introduction.slice(at + 1)}\n\n${QUOTE}`)).toBe(
      OWN,
    );
  });
  test('the fields of a message', () => {
    expect(stripQuotedText(`${OWN}\n\n${fields}\n\n1\n2\n`)).toBe(OWN);
  });
  test('the signature of a telephone', () => {
    expect(stripQuotedText(`${OWN}\n\n${signature}\n`)).toBe(OWN);
    expect(stripQuotedText(`${OWN}\n\n${signature}\n\n${introduction}\n\n${QUOTE}`)).toBe(OWN);
  });
  test('a quotation in HTML', () => {
    const written = escapeHtml(introduction);
    for (const quoted of [
      '<blockquote type="cite">1<br>2</blockquote>',
      '<blockquote style="margin:0">1<p>2</blockquote>',
    ])
      expect(visible(`<p>${OWN}</p><div>${written}<br>${quoted}</div>`)).toBe(OWN);
  });
  test('the fields of a message in HTML', () => {
    const lines = fields.split('\n').map((line) => line.replace(/^([^:]+:)/, '<b>$1</b>'));
    expect(visible(`<div>${OWN}</div><hr><p class=MsoNormal>${lines.join('<br>')}</p><p>1</p>`)).toBe(OWN);
    expect(visible(`<div>${OWN}</div><p>${lines.join('</p><p>')}</p><p>1</p>`)).toBe(OWN);
  });
  test('the signature of a telephone in HTML', () => {
    expect(visible(`<div>${OWN}</div><br><div dir="ltr">${signature}</div>`)).toBe(OWN);
  });
});

function escapeHtml(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function visible(html: string): string {
  return stripQuotedHtml(html)
    .replace(/<[^<>]*>/g, '')
    .trim();
}
