import { describe, expect, test } from 'vitest';
import { stripQuotedHtml } from '../../../core/mime/reply-html.ts';
import { stripQuotedText } from '../../../core/mime/reply-text.ts';
import { isForwardSubject } from '../../../core/mime/subject.ts';
import {
  type ForwardedMail,
  forwardBodies,
  forwardSubject,
  replyBodies,
} from '../../../core/sending/forwarded-content.ts';
import { MAX_SUBJECT_LENGTH } from '../../../core/sending/outgoing-headers.ts';

test.each([
  ['Hello', 'Fwd: Hello'],
  ['Re: Hello', 'Fwd: Re: Hello'],
  ['Fwd: Hello', 'Fwd: Hello'],
  ['FW: Hello', 'FW: Hello'],
  ['WG: Hallo', 'WG: Hallo'],
  ['Re: Fwd: Hello', 'Fwd: Re: Fwd: Hello'],
  ['', 'Fwd:'],
  [' two\r\n lines ', 'Fwd: two lines'],
])('forwards the subject %j as %j', (subject, forward) => {
  expect(forwardSubject(subject)).toBe(forward);
  expect(isForwardSubject(forward)).toBe(true);
});

test('cuts a long subject to the maximum length', () => {
  expect(forwardSubject('ä'.repeat(2_000))).toHaveLength(MAX_SUBJECT_LENGTH);
});

const list = (text: string) => ({ text, addresses: [] });
const mail: ForwardedMail = {
  addresses: {
    from: list('Ann <ann@elsewhere.test>'),
    to: list('hello@box.test'),
    cc: null,
    bcc: null,
    replyTo: null,
  },
  subject: 'Tea & <cake>',
  date: new Date('2026-11-22T03:04:05Z'),
  text: 'Come at four.\n',
  html: '<p onclick="x()">Come at <b>four</b>.<script>alert(1)</script></p>',
};

describe('the bodies of a forward', () => {
  test('name the original’s author, in text and in sanitized HTML, below the note', () => {
    const { text, html } = forwardBodies(mail, { text: 'See below <3', html: null });
    expect(text).toBe(
      [
        'See below <3',
        '',
        '---------- Forwarded message ----------',
        'From: Ann <ann@elsewhere.test>',
        'Date: Sun, 22 Nov 2026 03:04:05 +0000',
        'Subject: Tea & <cake>',
        'To: hello@box.test',
        '',
        'Come at four.\n',
      ].join('\n'),
    );
    expect(html).toContain('<p>See below &lt;3</p>');
    expect(html).toContain('<b>From:</b> Ann &lt;ann@elsewhere.test&gt;<br>');
    expect(html).toContain('<b>Subject:</b> Tea &amp; &lt;cake&gt;');
    expect(html).toContain('<p>Come at <b>four</b>.</p>');
    expect(html).not.toMatch(/script|onclick/);
  });

  test('are text only when neither side has HTML', () => {
    expect(forwardBodies({ ...mail, html: null }, { text: null, html: null }).html).toBeNull();
  });

  test('include an HTML-only message in the text part too', () => {
    expect(forwardBodies({ ...mail, text: null }, { text: null, html: null }).text).toContain('Come at four.');
  });

  test('contain the HTML of the note unchanged, above a text-only message', () => {
    const { text, html } = forwardBodies(
      { ...mail, html: null, text: 'a < b\nc' },
      { text: null, html: '<i>note</i>' },
    );
    expect(text.startsWith('note\n')).toBe(true);
    expect(html?.startsWith('<i>note</i>\n')).toBe(true);
    expect(html).toContain('<p>a &lt; b<br>\nc</p>');
  });

  test('keep line ends in fields from breaking the header block', () => {
    const hostile = { ...mail, subject: 'x\r\nBcc: all@test', html: null };
    expect(forwardBodies(hostile, { text: null, html: null }).text).toContain('Subject: x Bcc: all@test\n');
  });
});

describe('the bodies of a reply that includes the original', () => {
  test('quote its text line by line, and its sanitized HTML as a citation', () => {
    const { text, html } = replyBodies(
      { ...mail, text: 'Come at four.\r\n\r\n> At five?\r\n' },
      { text: 'Gladly', html: '<i>Gladly</i>' },
    );
    const opening = 'On Sun, 22 Nov 2026 03:04:05 +0000, Ann <ann@elsewhere.test> wrote:';
    expect(text).toBe(['Gladly', '', opening, '> Come at four.', '>', '>> At five?'].join('\n'));
    expect(html).toMatch(
      /^<i>Gladly<\/i>\n<p>On Sun, 22 Nov 2026 .* Ann &lt;ann@elsewhere\.test&gt; wrote:<\/p>\n<blockquote type="cite">/,
    );
    expect(html).toContain('<p>Come at <b>four</b>.</p>');
    expect(html).not.toMatch(/script|onclick/);
  });

  test('have the forms that the reply has', () => {
    expect(replyBodies(mail, { text: 'x', html: null }).html).toBeNull();
    expect(replyBodies({ ...mail, html: null }, { text: null, html: '<i>x</i>' })).toEqual({
      text: null,
      html: expect.stringContaining('<p>Come at four.</p>'),
    });
  });

  test('have nothing of an original without text or HTML', () => {
    const note = { text: 'Gladly', html: null };
    expect(replyBodies({ ...mail, text: ' \r\n', html: null }, note)).toEqual(note);
  });

  test('are read as a reply of its author alone', () => {
    const { text, html } = replyBodies(mail, { text: 'Gladly', html: '<i>Gladly</i>' });
    expect(stripQuotedText(text ?? '').trim()).toBe('Gladly');
    expect(stripQuotedHtml(html ?? '')).not.toContain('four');
  });
});
