import { describe, expect, test } from 'vitest';
import { type MailToShow, makeMailDocument } from '../../../core/html/mail-document.ts';
import { imageDataUrl } from '../../../core/html/mail-document-html.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==',
  'base64',
);

function mail(html: string | null, given: Partial<MailToShow> = {}): MailToShow {
  return {
    subject: 'A subject',
    html,
    text: null,
    hasRemoteImages: false,
    inlineImages: new Map(),
    ownHosts: new Set(['postroom.test', 'mx.postroom.test', '203.0.114.9']),
    ...given,
  };
}

/** What stands in the body of the document. */
function readBody(html: string | null, given: Partial<MailToShow> = {}): string {
  const { html: document } = makeMailDocument(mail(html, given));
  return /<body\b[^>]*>(.*)<\/body>/s.exec(document)?.[1] ?? '';
}

describe('remote images', () => {
  test.each([
    ['<img src="https://e.test/a.png" alt="A">', '<img alt="A" src="https://e.test/a.png" />'],
    ['<img src="HTTP://e.test/a.png?x=1&amp;y=2">', '<img src="http://e.test/a.png?x=1&amp;y=2" role="none" />'],
    [
      '<picture><source srcset="https://e.test/b.webp"><img src="https://e.test/a.png" srcset="https://e.test/c.png 2x"></picture>',
      '<img src="https://e.test/a.png" role="none" />',
    ],
    [
      '<table><tr><td background="https://e.test/a.png">a</table>',
      '<table><tbody><tr><td background="https://e.test/a.png">a</td></tr></tbody></table>',
    ],
    [
      '<table><td style="color:red;background:#eee url(\'https://e.test/a%281%29.png\') no-repeat;margin:0">a</table>',
      '<table><tbody><tr><td style="color:red;background-color:#eee;background-repeat:no-repeat;margin:0" background="https://e.test/a%281%29.png">a</td></tr></tbody></table>',
    ],
    [
      '<table style="background-image:url(https://e.test/a.png)"><tr><td>a</table>',
      '<table background="https://e.test/a.png"><tbody><tr><td>a</td></tr></tbody></table>',
    ],
  ])('%s is removed and counted, and kept on request', (html, wanted) => {
    const blocked = makeMailDocument(mail(html));
    expect([blocked.remoteImageCount, blocked.trackingPixelCount]).toEqual([1, 0]);
    expect(blocked.html).not.toContain('e.test');
    expect(blocked.html).toContain('data-remote-images="1" data-tracking-pixels="0"');
    expect(readBody(html, { hasRemoteImages: true })).toBe(wanted);
  });

  test.each([
    '<img src="https://e.test/p.gif" width="1" height="1">',
    '<img src="https://e.test/p.gif" style="width:1px;height:1px">',
    '<img src="https://e.test/p.gif" style="width:0px; height: 0">',
    '<img src="https://e.test/p.gif" style="display:none">',
    '<img src="https://e.test/p.gif" style="color:red;visibility:hidden">',
    '<img src="https://e.test/p.gif" style="opacity:0">',
    '<img src="https://e.test/p.gif" width=1>',
    '<img src="https://e.test/p.gif" height="0px">',
  ])('%s is a tracking pixel and always removed', (html) => {
    for (const hasRemoteImages of [false, true]) {
      const document = makeMailDocument(mail(html, { hasRemoteImages }));
      expect([document.remoteImageCount, document.trackingPixelCount]).toEqual([0, 1]);
      expect(document.html).not.toContain('e.test');
      expect(document.html).toContain(' src="data:,"');
    }
  });

  test.each([
    '<img src="https://postroom.test/api/auth/sign-out">',
    '<img src="http://localhost:3000/api/auth/sign-out">',
    '<img src="https://POSTROOM.test./x">'.replace('./', '/'),
    '<img src="/api/auth/sign-out">',
    '<img src="//e.test/a.png">',
    '<img src="a.png">',
    '<img src="https://user:secret@e.test/a.png">',
    '<td background="https://postroom.test/x">a</td>',
    '<img src="blob:https://postroom.test/x">',
    '<img src="file:///etc/passwd">',
    '<img src="https://postroom.test:8443/x">',
    '<img src="https://postroom.test./x">',
    '<img src="https://mx.postroom.test/x">',
    '<img src="https://mta-sts.elsewhere.test/x">',
    '<img src="https://203.0.114.9/x">',
    '<img src="http://127.0.0.1:3000/x">',
    '<img src="http://127.1/x">',
    '<img src="http://127.0.0.1./x">',
    '<img src="http://2130706433/x">',
    '<img src="http://0x7f000001/x">',
    '<img src="http://0x7f.0.0.0x1/x">',
    '<img src="http://0177.0.0.01/x">',
    '<img src="http://１２７.０.０.１/x">',
    '<img src="http://0/x">',
    '<img src="http://10.1.2.3/x">',
    '<img src="http://169.254.169.254/latest/meta-data">',
    '<img src="http://172.16.0.1/x">',
    '<img src="http://192.168.0.1/x">',
    '<img src="http://100.64.0.1/x">',
    '<img src="http://[::1]:3000/x">',
    '<img src="http://[::]/x">',
    '<img src="http://[::ffff:127.0.0.1]/x">',
    '<img src="http://[::ffff:7f00:1]/x">',
    '<img src="http://[0:0:0:0:0:ffff:0a00:0001]/x">',
    '<img src="http://[64:ff9b::7f00:1]/x">',
    '<img src="http://[2002:7f00:1::]/x">',
    '<img src="http://[fd00::1]/x">',
    '<img src="http://[fe80::1]/x">',
    '<img src="http://localhost/x">',
    '<img src="http://LOCALHOST.:3000/x">',
    '<img src="http://app.localhost/x">',
    '<img src="http://printer.local/x">',
    '<img src="http://router/x">',
    '<img src="http://vault.internal/x">',
    '<img src="http://nas.home.arpa/x">',
    '<td background="http://127.0.0.1/x">a</td>',
    '<td style="background:url(http://192.168.0.1/x)">a</td>',
    '<table style="background-image:url(\'http://[::1]/x\')"><tr><td>a</table>',
  ])('%s is not loaded: no request reaches this service or the reader’s network', (html) => {
    const document = makeMailDocument(mail(html, { hasRemoteImages: true }));
    expect(document.remoteImageCount).toBe(0);
    expect(document.html).not.toMatch(/ src="(?!data:,")| background="|url\(/);
  });

  test('cannot be injected through our own attributes', () => {
    expect(
      readBody(
        '<p data-background="javascript:alert(1)" data-quoted="inside" style="background:url(javascript:alert(1))">a</p>',
        {
          hasRemoteImages: true,
        },
      ),
    ).toBe('<p>a</p>');
    expect(
      readBody('<body><table background="https://e.test/a&quot;);color:red;x:url(&quot;b"></table>', {
        hasRemoteImages: true,
      }),
    ).toBe('<table background="https://e.test/a%22);color:red;x:url(%22b"></table>');
  });
});

describe('inline images', () => {
  const inlineImages = new Map([['logo@x.test', imageDataUrl(PNG) ?? '']]);

  test('are inserted where the HTML names their Content-ID', () => {
    for (const src of ['cid:logo@x.test', 'CID:Logo@X.test', 'cid:logo%40x.test', ' cid:logo@x.test'])
      expect(readBody(`<img src="${src}" alt="L">`, { inlineImages })).toBe(
        `<img alt="L" src="data:image/png;base64,${PNG.toString('base64')}" />`,
      );
  });

  test('are removed when the Content-ID is unknown or the images are too large', () => {
    expect(readBody('<img src="cid:other@x.test" alt="L">', { inlineImages })).toBe(
      '<img alt="L" class="postroom-blocked" src="data:," />',
    );
    const large = new Map([['a', `data:image/png;base64,${'A'.repeat(3_000_000)}`]]);
    const document = makeMailDocument(mail('<img src="cid:a">'.repeat(50), { inlineImages: large }));
    expect(document.html.match(/data:image/g)).toHaveLength(2);
  });

  test('have the type of their first bytes', () => {
    expect(imageDataUrl(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).toBeNull();
    expect(imageDataUrl(Buffer.from('<html><script>alert(1)</script>'))).toBeNull();
    expect(imageDataUrl(new Uint8Array(0))).toBeNull();
    expect(imageDataUrl(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toBe('data:image/jpeg;base64,/9j/4A==');
    expect(imageDataUrl(Buffer.from('GIF89a'))).toMatch(/^data:image\/gif/);
    expect(imageDataUrl(Buffer.from('RIFF\0\0\0\0WEBPVP8 '))).toMatch(/^data:image\/webp/);
  });
});

test.each([
  [
    '<a href="https://e.test/?a=1&amp;b=2">a</a>',
    '<a href="https://e.test/?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">a</a>',
  ],
  [
    '<a href="mailto:a@b.test">a</a>',
    '<a href="mailto:a@b.test" rel="noopener noreferrer nofollow" target="_blank">a</a>',
  ],
  ['<a href="/api/auth/sign-out" target="_top">a</a>', '<a target="_blank" rel="noopener noreferrer nofollow">a</a>'],
  ['<a href="#top">a</a>', '<a rel="noopener noreferrer nofollow" target="_blank">a</a>'],
  ['<a href="java&#10;script:alert(1)">a</a>', '<a rel="noopener noreferrer nofollow" target="_blank">a</a>'],
  ['<div style="height:100vh;color:red">a</div>', '<div style="color:red">a</div>'],
  ['<div style="position:fixed;color:red;inset:0">a</div>', '<div style="color:red">a</div>'],
  [
    '<div style="background:url(data:image/png;base64,AAA);color:red">a</div>',
    '<div style="background:none;color:red">a</div>',
  ],
  ['<div style="background:#fff url(https://e.test/a)">a</div>', '<div style="background-color:#fff">a</div>'],
])('%s is shown as %s', (html, shown) => {
  expect(readBody(html)).toBe(shown);
});

const FOLD = '<details class="postroom-quoted"><summary>Quoted text</summary>';

describe('quoted mail is collapsed', () => {
  test.each([
    [
      'Gmail',
      '<div>Yes.</div>|<div class="gmail_quote"><div>On Mon Ann wrote:</div><blockquote class="gmail_quote">old</blockquote></div>|',
    ],
    [
      'Thunderbird',
      '<p>Yes.</p><div class="moz-cite-prefix">On Mon Ann wrote:</div>|<blockquote type="cite">old</blockquote>|',
    ],
    [
      'Thunderbird, answered below',
      '<div class="moz-cite-prefix">On Mon Ann wrote:</div>|<blockquote type="cite">old</blockquote>|<p>Yes.</p>',
    ],
    [
      'Outlook on the web',
      '<div>Yes.</div>|<div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>From:</b> Ann</div><div>old</div>|',
    ],
    [
      'Outlook',
      '<div class="WordSection1"><p>Yes.</p>|<div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm"><p><b>From:</b> Ann</p></div></div><p>old</p>|</div>',
    ],
    ['Yahoo', '<div>Yes.</div>|<div id="yahoo_quoted_1">old</div>|'],
    ['a mail with a footer', '<div>Yes.</div>|<blockquote type="cite">old</blockquote>|<p>the list</p>'],
  ])('of %s', (_, marked) => {
    const shown = readBody(marked.replaceAll('|', ''));
    const [before = '', quoted = '', behind = ''] = marked.split('|');
    const bare = (html: string) => html.replace(/<[^>]*>/g, '');
    const [front = '', rest = ''] = shown.split(FOLD);
    const [folded = '', end = ''] = rest.split('</details>');
    expect([front, folded, end].map(bare)).toEqual([before, quoted, behind].map(bare));
    expect(shown.split('<div').length).toBe(shown.split('</div').length);
  });

  test.each([
    ['nothing but a quote', '<blockquote type="cite">old</blockquote>', 'Re: a'],
    [
      'answers piece by piece',
      '<p>a</p><blockquote type="cite">b</blockquote><p>c</p><blockquote type="cite">d</blockquote>',
      'Re: a',
    ],
    ['mail that was sent on', '<p>See:</p><div class="gmail_quote">Forwarded</div>', 'Fwd: a'],
    ['what the author quotes', '<p>He said</p><blockquote>words</blockquote>', 'Re: a'],
    ['rows of a table', '<p>a</p><table><tr class="gmail_quote"><td>b</td></tr></table>', 'Re: a'],
    [
      'Outlook without words of its own',
      '<div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg">old</div></div>',
      'Re: a',
    ],
  ])('not of %s', (_, html, subject) => {
    expect(readBody(html, { subject })).not.toContain('<details');
  });

  test('in plain text', () => {
    const text = 'Yes.\n\nOn Mon Ann wrote:\n> old\n>\n> older\n-- \nBob';
    expect(readBody(null, { text })).toBe(
      `<div class="postroom-text">Yes.\n\nOn Mon Ann wrote:</div>${FOLD}<div class="postroom-text">&gt; old\n&gt;\n&gt; older</div></details><div class="postroom-text">-- \nBob</div>`,
    );
    expect(readBody(null, { text: 'Yes.\n-----Original Message-----\nFrom: Ann\nold' })).toContain(FOLD);
    expect(readBody(null, { text: 'a\n> b\nc\n> d\ne' })).not.toContain('<details');
    expect(readBody(null, { text: '> b\n> d' })).not.toContain('<details');
    expect(readBody(null, { text, subject: 'Fwd: a' })).not.toContain('<details');
  });
});

describe('a message without HTML', () => {
  test('shows its text with web addresses as links and everything else unchanged', () => {
    expect(readBody(null, { text: '<b>a</b> & "c"\r\nhttps://e.test/?a=1&b=2 javascript:alert(1)' })).toBe(
      '<div class="postroom-text">&lt;b&gt;a&lt;/b&gt; &amp; &quot;c&quot;\n<a href="https://e.test/?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">https://e.test/?a=1&amp;b=2</a> javascript:alert(1)</div>',
    );
  });

  test('links names that begin with www. and email addresses, and no names of files', () => {
    const shown = readBody(null, { text: 'www.example.com/a?b=1, ann@example.com and notes.rs or e.com at 10:30' });
    expect([...shown.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
      'https://www.example.com/a?b=1',
      'mailto:ann@example.com',
    ]);
  });

  test('says when it has no text', () => {
    for (const text of [null, '', ' \n']) expect(readBody(null, { text })).toContain('This email has no text.');
    expect(readBody('  ', { text: 'a' })).toContain('>a</div>');
  });

  test('is cut when its text is too long', () => {
    const body = readBody(null, { text: 'a'.repeat(2_000_000) });
    expect(body).toContain('too long to show');
    expect(body.length).toBeLessThan(510_000);
  });
});

test('HTML that cannot be sanitized is shown as text, the plain text first', () => {
  const html = '<div>'.repeat(100_000).concat('deep &lt;words&gt;<script>alert(1)</script>');
  expect(readBody(html)).toMatch(/too large or too deeply nested.*deep &lt;words&gt;/s);
  expect(readBody(html)).not.toContain('alert');
  expect(readBody(html, { text: 'the text' })).toMatch(/too large.*the text/s);
});

test('the document has the language of the message, if valid, and its subject', () => {
  const { html } = makeMailDocument(
    mail('<html lang="de-AT"><p>Hallo', { subject: '</title><script>alert(1)</script>' }),
  );
  expect(html).toContain('<html lang="de-AT" ');
  expect(html).toContain('<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>');
  expect(makeMailDocument(mail('<html lang="&quot;><script>"><p>Hallo')).html).toContain('<html lang="und" ');
});

test.each([
  ['<div>', 10_000_000],
  ['<blockquote type=cite>a</blockquote>b', 300_000],
  ['<hr id=stopSpelling>', 300_000],
  ['<div>a<hr id=stopSpelling></div>', 200_000],
  ['<p style="background:url(https://e.test/x);', 900_000],
  ['<p style=";;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;">', 900_000],
  ['<img src=https://e.test/a>', 300_000],
  ['<td background=https://e.test/a>', 200_000],
  ['<html lang=', 900_000],
])('%s repeated (%i characters) makes a small document', (unit, length) => {
  const document = makeMailDocument(mail(unit.repeat(length / unit.length)));
  expect(document.html).toMatch(/<\/html>\n$/);
  expect(document.html.length).toBeLessThan(4_000_000);
});
