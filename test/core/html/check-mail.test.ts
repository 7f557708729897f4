import { describe, expect, test } from 'vitest';
import { checkMail, GMAIL_CLIP_BYTES, type MailIssue } from '../../../core/html/check-mail.ts';

function listIssues(html: string): MailIssue[] {
  return checkMail({ html }).issues;
}

function listTitles(html: string, kind?: MailIssue['kind']): string[] {
  return listIssues(html)
    .filter((issue) => kind === undefined || issue.kind === kind)
    .map(({ title }) => title);
}

describe('checks of a message', () => {
  test('have no issues for a message without HTML, and none for plain HTML', () => {
    expect(checkMail({ html: null })).toMatchObject({ htmlSizeBytes: null, issues: [], isPartial: false });
    expect(checkMail({ html: ' \n' })).toMatchObject({ htmlSizeBytes: null, issues: [] });
    const plain = '<p>Hello <b>you</b>, <a href="https://example.com/a?b=c#d">read on</a></p><img src="a.gif" alt="">';
    expect(checkMail({ html: plain })).toMatchObject({ htmlSizeBytes: plain.length, issues: [], isPartial: false });
  });

  test.each([
    ['https://example.com', null],
    ['HTTPS://EXAMPLE.COM/%20', null],
    ['http://[::1]:8080/', null],
    ['https://bücher.example', null],
    [' https://example.com ', null],
    ['mailto:ada@example.com?subject=Hi', null],
    ['mailto:ada@example.com,bob@example.com', null],
    ['mailto:?subject=Read%20this', null],
    ['mailto:?to=ada%2Btag@example.com', null],
    ['tel:+15550100', null],
    ['sms:+15550100', null],
    ['#part', null],
    ['', 'Link without a target'],
    ['#', 'Link without a target'],
    ['/pricing', 'Link without a scheme'],
    ['www.example.com', 'Link without a scheme'],
    ['{{ url }}', 'Link without a scheme'],
    ['https://', 'Link that cannot be parsed'],
    ['https:///path', 'Link that cannot be parsed'],
    ['https://exa mple.com', 'Link that cannot be parsed'],
    ['http://example.com:99999/', 'Link that cannot be parsed'],
    ['http://[::1', 'Link that cannot be parsed'],
    ['mailto:', 'Invalid mailto link'],
    ['mailto:ada', 'Invalid mailto link'],
    ['mailto:%', 'Invalid mailto link'],
    ['javascript:alert(1)', 'Link that mail clients block'],
    ['data:text/html,x', 'Link that mail clients block'],
  ])('return for the link %j: %j', (href, title) => {
    const issues = listIssues(`<p>a</p><a href="${href}">b</a>`).filter(({ kind }) => kind === 'broken_link');
    expect(issues.map((issue) => issue.title)).toEqual(title === null ? [] : [title]);
    if (title !== null) expect(issues[0]).toMatchObject({ severity: 'error', count: 1, unsupportedBy: [] });
  });

  test('count each kind of broken link once, with up to five examples', () => {
    const html = ['/a', '/b', '/c', '/d', '/e', '/f', '/a'].map((href) => `<a href="${href}">x</a>`).join('');
    expect(listIssues(html)).toMatchObject([
      { kind: 'broken_link', count: 7, examples: ['/a', '/b', '/c', '/d', '/e'] },
    ]);
  });

  test('find images without alt, but no tracking pixels', () => {
    const html = '<img src="https://e.example/a.png"><img src="b.png" alt=""><img src="c.png" width="1" height="1">';
    expect(listIssues(html)).toMatchObject([
      { kind: 'image_without_alt', severity: 'warning', count: 1, examples: ['https://e.example/a.png'] },
    ]);
  });

  test('warn of HTML that Gmail cuts, by bytes', () => {
    const of = (length: number) => '<p>'.padEnd(length, 'a');
    expect(listTitles(of(GMAIL_CLIP_BYTES))).toEqual([]);
    expect(listIssues(of(GMAIL_CLIP_BYTES + 1))).toMatchObject([
      { kind: 'too_large', severity: 'error', detail: expect.stringContaining('has 103 KB') },
    ]);
    expect(listTitles('<p>'.padEnd(GMAIL_CLIP_BYTES / 2 + 2, 'ä'))).toEqual(['HTML larger than 102 KB']);
  });

  test.each([
    ['<div style="display: flex">', 'display:flex'],
    ['<div style="display: inline-grid">', 'display:grid'],
    ['<div style="width: calc(100% - 3px)">', 'CSS calc() function'],
    ['<div style="color: var(--x)">', 'CSS Variables (Custom Properties)'],
    ['<div style="background: linear-gradient(red, blue)">', 'linear-gradient()'],
    ['<div style="margin: 1rem">', 'rem unit'],
    ['<div style="-webkit-box-shadow: 0 0 1px red">', 'box-shadow'],
    ['<div style="row-gap: 2px">', 'gap, column-gap, row-gap'],
    ['<style>a:hover { color: red }</style>', ':hover'],
    ['<style>p::before { content: "x" }</style>', '::before'],
    ['<style>@media (prefers-color-scheme: dark) { p { color: red } }</style>', '@media (prefers-color-scheme)'],
    ['<style>@font-face { font-family: x }</style>', '@font-face'],
    ['<style>@import "x.css";</style>', '@import'],
    ['<style>a[href] { color: red }</style>', 'Attribute selector'],
    ['<style>a + b { color: red }</style>', 'Adjacent sibling combinator'],
    ['<style>p { color: red !important }</style>', '!important keyword'],
    ['<video src="a.mp4"></video>', '<video> element'],
    ['<form></form>', '<form> element'],
    ['<input type="checkbox">', '<input type="checkbox"> element'],
    ['<svg></svg>', 'Embedded <svg> image'],
    ['<section></section>', 'HTML5 semantics'],
    ['<a href="#part">x</a>', 'Local anchors'],
    ['<p hidden>x</p>', 'hidden attribute'],
    ['<img alt="" src="https://e.example/a.webp?x=1">', 'webP image format'],
    ['<img alt="" src="data:image/png;base64,AAAA">', 'Base 64 image format'],
    ['<img alt="" src="a.png" srcset="b.png 2x">', 'srcset and sizes attributes'],
  ])('of %s name the feature %s that mail clients lack', (html, title) => {
    const issue = listIssues(html).find((each) => each.title === title);
    expect(issue).toMatchObject({ kind: 'unsupported_feature', severity: 'warning', count: 1 });
    expect(issue?.unsupportedBy.length).toBeGreaterThan(0);
    expect(issue?.url).toMatch(/^https:\/\/www\.caniemail\.com\/features\/[a-z0-9-]+\/$/);
    expect(issue?.examples[0]).not.toBe('');
  });

  test('name the clients, what the message has, and the version of the data', () => {
    const html = '<div style="display:flex; color: red"></div><style>.a { display: flex; }</style>';
    const { issues, dataVersion } = checkMail({ html });
    expect(dataVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(issues.find(({ title }) => title === 'display:flex')).toMatchObject({
      count: 2,
      examples: ['display:flex', 'display: flex'],
      unsupportedBy: ['Outlook (Windows)', 'GMX (web)'],
      detail: '2 of 18 mail clients do not support it.',
    });
  });

  test('list errors before warnings, and what most mail clients lack before the rest', () => {
    const html = '<style>a:hover{}</style><img src="a"><video></video><a href="/x">y</a>';
    const issues = listIssues(html);
    expect(issues.slice(0, 2).map(({ kind }) => kind)).toEqual(['broken_link', 'image_without_alt']);
    const lacking = issues.slice(2).map(({ unsupportedBy }) => unsupportedBy.length);
    expect(lacking).toEqual(lacking.toSorted((a, b) => b - a));
  });

  test('report HTML that is too large or too deep, and end', () => {
    expect(checkMail({ html: '<div>'.repeat(120_000) })).toMatchObject({ isPartial: true });
    const nested = checkMail({ html: `<style>${'@media all{'.repeat(40_000)}</style>` });
    expect(nested.isPartial || nested.issues.some(({ count }) => count === 40_000)).toBe(true);
    expect(checkMail({ html: `<style>${'p{color:red}'.repeat(60_000)}</style>` }).isPartial).toBe(true);
    expect(checkMail({ html: `${' '.repeat(2_000_001)}<a href="/x">` })).toMatchObject({ isPartial: true });
    expect(checkMail({ html: '<p style="'.repeat(50_000) }).htmlSizeBytes).toBe(500_000);
    expect(checkMail({ html: '\ud800<a href="\udfff">' }).issues[0]?.examples[0]?.isWellFormed()).toBe(true);
  });
});
