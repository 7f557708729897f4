import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeMailDocumentInWorker } from '../../../operations/emails/mail-document-thread.ts';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import { insertMail, type MailRow } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { mutate } from '../../support/stages/graph-results.ts';

let gateway: TestGateway;
let mail: GatewayMail;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  mail = await takeMail(gateway);
});
afterAll(async () => {
  await mail.stop();
  await gateway.close();
});

async function insert(given: Partial<MailRow>): Promise<string> {
  const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ...given }]);
  return id;
}
const show = (id: string, query = '', key: string | null = box.apiKey): Promise<LightMyRequestResponse> =>
  gateway.call(key, 'GET', `/emails/${id}/html${query}`);

test('an email is shown as a document without rights', async () => {
  const id = await insert({ subject: 'Hi <b>', html: '<p onclick="alert(1)">Hello<script>alert(1)</script></p>' });
  const response = await show(id);
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'x-dns-prefetch-control': 'off',
    'cache-control': 'no-store',
    'x-remote-image-count': '0',
    'x-tracking-pixel-count': '0',
  });
  expect(response.body).toContain('<title>Hi &lt;b&gt;</title>');
  expect(response.body).toContain('<body><p>Hello</p></body>');
  expect(response.body).not.toMatch(/alert/);
});

test('remote images are removed and counted, and kept on request', async () => {
  const html = '<img src="https://e.test/a.png"><img src="https://e.test/b.gif" width=1 height=1>';
  const id = await insert({ html: `${html}<img src="https://93.184.215.14/own"><img src="http://postroom.test/own">` });
  const blocked = await show(id);
  expect(blocked.headers).toMatchObject({ 'x-remote-image-count': '2', 'x-tracking-pixel-count': '1' });
  expect(blocked.body).not.toMatch(/e\.test|src="(?!data:,")/);
  const remote = await show(id, '?images=remote');
  expect(remote.headers['content-security-policy']).toContain('img-src data: https: http:;');
  expect(remote.body.match(/ src="http[^"]*"/g)).toEqual([
    ' src="https://e.test/a.png"',
    ' src="https://93.184.215.14/own"',
  ]);
  const asked = await gateway.app.inject({
    method: 'GET',
    url: `/api/e2/emails/${id}/html?images=remote`,
    headers: { authorization: `Bearer ${box.apiKey}`, host: '93.184.215.14' },
  });
  expect(asked.body.match(/ src="http[^"]*"/g)).toEqual([' src="https://e.test/a.png"']);
  expect((await show(id, '?images=all')).statusCode).toBe(400);
});

describe('senders whose images are always shown', () => {
  const check = (result: string, domain: string | null = 'shop.test') => ({ result, domain });
  const signed = {
    spf: check('none', null),
    dkim: [{ ...check('pass'), selector: 's' }],
    dmarc: { ...check('none'), policy: null },
    arc: check('none', null),
    hasSeveralFromFields: false,
  };
  const change = (name: string, address: string, as = box) =>
    mutate(gateway, as.apiKey, name, { address }, name === 'addImageSender' ? 'sender { address }' : 'address');
  const readSenders = async (of: TestMailbox) =>
    (await gateway.graphql(of.apiKey, '{ viewer { imageSenders { address } } }')).json().data.viewer.imageSenders;
  const isShown = async (given: Partial<MailRow>, authentication: unknown, of = box) => {
    const [id = ''] = await insertMail(gateway.actor, [
      { workspaceId: of.workspaceId, html: '<img src="https://e.test/a.png">', from: 'news@shop.test', ...given },
    ]);
    await gateway.owner.pool.query('update email_content set authentication = $2 where email_id = $1', [
      id,
      JSON.stringify(authentication),
    ]);
    const { headers, body } = await show(id, '?images=trusted', of.apiKey);
    const policy = String(headers['content-security-policy']);
    expect(policy.includes('http:')).toBe(body.includes(' data-images-loaded'));
    expect(body.includes(' src="https://e.test/a.png"')).toBe(body.includes(' data-images-loaded'));
    return body.includes(' data-images-loaded');
  };

  test('have them shown in mail that the domain of the sender confirms, and in no other', async () => {
    expect(await isShown({}, signed)).toBe(false);
    expect(await change('addImageSender', ' News@Shop.TEST ')).toMatchObject({ sender: { address: 'news@shop.test' } });
    await change('addImageSender', 'news@shop.test');
    expect(await readSenders(box)).toEqual([{ address: 'news@shop.test' }]);
    expect(await isShown({}, signed)).toBe(true);
    expect(await isShown({ from: 'NEWS@shop.test' }, signed)).toBe(true);
    const spf = { ...signed, dkim: [], spf: check('pass', 'bounces.shop.test') };
    expect(await isShown({}, spf)).toBe(true);

    for (const [why, given, found] of [
      ['another sender of the domain', { from: 'sales@shop.test' }, signed],
      ['nothing was checked', {}, null],
      ['not signed', {}, { ...signed, dkim: [] }],
      ['signed by another domain', {}, { ...signed, dkim: [{ ...check('pass', 'evil.test'), selector: 's' }] }],
      ['the signature is wrong', {}, { ...signed, dkim: [{ ...check('fail'), selector: 's' }] }],
      ['DMARC fails', {}, { ...signed, dmarc: { ...check('fail'), policy: 'none' } }],
      ['a second From field', {}, { ...signed, hasSeveralFromFields: true }],
      [
        'another domain was checked',
        {},
        {
          ...signed,
          dkim: [{ ...check('pass', 'evil.test'), selector: 's' }],
          dmarc: { ...check('none', 'evil.test'), policy: null },
        },
      ],
      ['forwarded', {}, { ...signed, dkim: [], arc: check('pass', 'list.test') }],
      ['sent by the user', { type: 'sent', status: 'delivered' }, signed],
    ] as [string, Partial<MailRow>, unknown][])
      expect(await isShown(given, found), why).toBe(false);
    const other = await gateway.mailbox();
    expect(await isShown({}, signed, other)).toBe(false);
    expect(await readSenders(other)).toEqual([]);

    expect(await change('removeImageSender', 'news@shop.test', other)).toMatchObject({ __typename: 'NotFound' });
    expect(await change('removeImageSender', 'NEWS@shop.test')).toMatchObject({ address: 'news@shop.test' });
    expect(await isShown({}, signed)).toBe(false);
    expect(await readSenders(box)).toEqual([]);
  });

  test('are at most 1,000, and their addresses are valid', async () => {
    const other = await gateway.mailbox();
    await gateway.owner.pool.query(
      `insert into image_sender (workspace_id, address, created_at) select $1, 'a' || n || '@shop.test', now() from generate_series(1, 999) n`,
      [other.workspaceId],
    );
    expect(await change('addImageSender', 'no address', other)).toMatchObject({ __typename: 'ValidationError' });
    expect(await change('addImageSender', 'last@shop.test', other)).toMatchObject({
      __typename: 'AddImageSenderPayload',
    });
    expect(await change('addImageSender', 'more@shop.test', other)).toMatchObject({ __typename: 'Conflict' });
    expect(await change('addImageSender', 'a1@shop.test', other)).toMatchObject({
      __typename: 'AddImageSenderPayload',
    });
  });

  test('are refused to keys of one domain', async () => {
    await change('addImageSender', 'news@shop.test');
    const { body } = await gateway.call(box.apiKey, 'POST', '/api-keys', {
      name: 'one domain',

      domains: [box.domainId],
    });
    const { token } = JSON.parse(body);
    const id = await insert({
      html: '<img src="https://e.test/a.png">',
      from: 'news@shop.test',
      ownAddress: box.address,
    });
    await gateway.owner.pool.query('update email_content set authentication = $2 where email_id = $1', [
      id,
      JSON.stringify(signed),
    ]);
    const shown = await show(id, '?images=trusted', token);
    expect(shown.statusCode).toBe(200);
    expect(shown.body).not.toContain('e.test/a.png');
    expect((await show(id, '?images=trusted')).body).toContain('e.test/a.png');
  });
});

test('a document keeps its origin only in a frame of our own pages, so that they can measure it', async () => {
  const id = await insert({ html: 'a' });
  const policyFor = async (headers: Record<string, string>) => {
    const url = `/api/e2/emails/${id}/html`;
    const response = await gateway.app.inject({ url, headers: { authorization: `Bearer ${box.apiKey}`, ...headers } });
    return String(response.headers['content-security-policy']);
  };
  const dest = 'sec-fetch-dest';
  const site = 'sec-fetch-site';
  expect(await policyFor({ [dest]: 'iframe', [site]: 'same-origin' })).toMatch(/; sandbox .* allow-same-origin$/);
  for (const headers of [
    { [dest]: 'document', [site]: 'same-origin' },
    { [dest]: 'document', [site]: 'none' },
    { [dest]: 'iframe', [site]: 'cross-site' },
    { [dest]: 'iframe', [site]: 'same-site' },
    { [dest]: 'object', [site]: 'same-origin' },
    { [dest]: 'iframe' },
  ])
    expect(await policyFor(headers)).not.toContain('allow-same-origin');
});

test('a document never allows scripts or navigation out of its frame', async () => {
  const id = await insert({ html: 'a' });
  for (const query of ['', '?images=remote', '?images=blocked']) {
    const { headers } = await show(id, query);
    expect(headers['content-security-policy']).not.toMatch(/script-src|allow-scripts|allow-top-navigation|allow-forms/);
  }
});

describe('received mail', { timeout: 240_000 }, () => {
  const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';
  const head = (subject: string, id: string) =>
    `From: Ann <ann@elsewhere.test>\nTo: ${box.address}\nSubject: ${subject}\nMessage-ID: <${id}@elsewhere.test>\nMIME-Version: 1.0\n`;

  async function received(message: string): Promise<string> {
    const id = await mail.deliver(message, box.address);
    await expect
      .poll(async () => (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).statusCode, { timeout: 120_000 })
      .toBe(200);
    await expect.poll(async () => (await show(id)).body, { timeout: 120_000 }).not.toContain('has not been parsed yet');
    return id;
  }

  test('shows its own inline pictures, and no others of their names', async () => {
    const part = (type: string, id: string, content: string) =>
      `--b\nContent-Type: ${type}\nContent-ID: <${id}>\nContent-Transfer-Encoding: base64\nContent-Disposition: inline\n\n${content}\n`;
    const html = '<p>Hi</p><img src="cid:logo@x.test"><img src="cid:page@x.test"><img src="cid:none@x.test">';
    const id = await received(
      [
        head('Pictures', 'pictures'),
        'Content-Type: multipart/related; boundary=b\n\n',
        `--b\nContent-Type: text/html\n\n${html}\n`,
        part('application/octet-stream', 'logo@x.test', PNG),
        part('image/png', 'page@x.test', Buffer.from('<script>alert(1)</script>').toString('base64')),
        '--b--\n',
      ].join(''),
    );
    const BLOCKED = '<img class="postroom-blocked" src="data:," role="none" />';
    const { body } = await show(id);
    expect(body.match(/<img[^>]*>/g)).toEqual([
      `<img src="data:image/png;base64,${PNG}" role="none" />`,
      BLOCKED,
      BLOCKED,
    ]);
  });

  test('without HTML is shown by its text, with quoted mail folded', async () => {
    const id = await received(
      `${head('Re: Text', 'text')}\nYes, see https://e.test/<script>\n\nOn Monday Ann wrote:\n> No?\n`,
    );
    const { body } = await show(id);
    expect(body).toContain('see <a href="https://e.test/"');
    expect(body).toContain('&lt;script&gt;');
    expect(body).toMatch(
      /<details class="postroom-quoted"><summary>Quoted text<\/summary><div class="postroom-text">&gt; No\?<\/div><\/details>/,
    );
  });

  test('with too much HTML is shown by its text', async () => {
    const id = await received(
      `${head('Deep', 'deep')}Content-Type: text/html\n\n${'<div>'.repeat(1_000_000).replaceAll('><', '>\n<')}the end\n`,
    );
    const response = await show(id);
    expect(response.statusCode).toBe(200);
    expect(response.body).toContain('too large or too deeply nested');
  });
});

test('an email whose content has not been read says so', async () => {
  const id = await insert({});
  await gateway.actor.pool.query('delete from email_content where email_id = $1', [id]);
  expect((await show(id)).body).toContain('This email has not been parsed yet.');
});

test('sent mail is shown, too', async () => {
  const id = await insert({ type: 'sent', html: '<b>Mine</b>' });
  expect((await show(id)).body).toContain('<b>Mine</b>');
});

test('a document is shown to its own user only', async () => {
  const id = await insert({ html: 'secret' });
  const other = await gateway.mailbox();
  const foreign = await show(id, '', other.apiKey);
  const unknown = await show('em_nobodys', '', other.apiKey);
  expect([foreign.statusCode, foreign.json()]).toEqual([404, unknown.json()]);
  expect((await show(id, '', null)).statusCode).toBe(401);
});

test('a document that takes too long is abandoned, and the next one is rendered', async () => {
  const toShow = {
    subject: '',
    html: '<p>a</p>'.repeat(29_000),
    text: null,
    hasRemoteImages: false,
    inlineImages: new Map(),
    ownHosts: new Set<string>(),
  };
  const respondBy = performance.now() + 60_000;
  expect(await makeMailDocumentInWorker(toShow, { respondBy, timeLimitMs: 1 })).toBeNull();
  expect((await makeMailDocumentInWorker(toShow, { respondBy, timeLimitMs: 60_000 }))?.html).toContain('<p>a</p>');
  expect(await makeMailDocumentInWorker(toShow, { respondBy: performance.now() - 1 })).toBeNull();
});

test('the checks of an email are the same in REST and GraphQL, and not found for mail of other accounts', async () => {
  const html = '<a href="/x">y</a><img src="a.png"><div style="display:flex">z</div>';
  const id = await insert({ html });
  const checks = (emailId: string, key = box.apiKey) => gateway.call(key, 'GET', `/emails/${emailId}/checks`);
  const rest = (await checks(id)).json();
  expect(rest).toMatchObject({
    object: 'email_checks',
    email_id: id,
    html_size_bytes: html.length,
    is_partial: false,
    issues: [
      { kind: 'broken_link', severity: 'error', count: 1, examples: ['/x'], unsupported_by: [], url: null },
      { kind: 'image_without_alt', severity: 'warning', examples: ['a.png'] },
      { kind: 'unsupported_feature', title: 'display:flex', unsupported_by: ['Outlook (Windows)', 'GMX (web)'] },
    ],
  });
  const query = `query($id: ID!) { email(id: $id) { checks { htmlSizeBytes isPartial dataVersion
    issues { kind severity title detail count examples unsupportedBy partlySupportedBy url } } } }`;
  const { email } = (await gateway.graphql(box.apiKey, query, { id })).json().data;
  expect(email.checks).toEqual({
    htmlSizeBytes: rest.html_size_bytes,
    isPartial: rest.is_partial,
    dataVersion: rest.data_version,
    issues: rest.issues.map(
      ({ kind, severity, unsupported_by: unsupportedBy, partly_supported_by: partlySupportedBy, ...issue }: Issue) => ({
        ...issue,
        kind: kind.toUpperCase(),
        severity: severity.toUpperCase(),
        unsupportedBy,
        partlySupportedBy,
      }),
    ),
  });
  const plain = await insert({ text: 'No HTML' });
  expect((await checks(plain)).json()).toMatchObject({ html_size_bytes: null, issues: [], is_partial: false });
  const stranger = await gateway.mailbox();
  expect((await checks(id, stranger.apiKey)).statusCode).toBe(404);
  expect((await checks('em_nothing')).statusCode).toBe(404);
});

type Issue = Record<'kind' | 'severity', string> & Record<'unsupported_by' | 'partly_supported_by', string[]>;
