import { describe, expect, test } from 'vitest';
import { isForwardSubject } from '../../../core/mime/subject.ts';
import { type ForwardedMail, forwardBodies, forwardSubject } from '../../../core/sending/forwarded-content.ts';
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
