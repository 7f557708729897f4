import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Attachment } from '../../core/attachment.ts';
import { openTestGateway, type TestGateway } from '../support/gateway.ts';
import { insertMail } from '../support/mail-rows.ts';
import type { TestMailbox } from '../support/routing-rows.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

/** An email whose octets hold each file in base64 after the other. */
async function mailWith(files: { filename: string; content: Buffer; contentType?: string }[]): Promise<string> {
  const parts = ['Subject: files\r\n\r\n'];
  const attachments: Attachment[] = files.map(({ filename, content, contentType = 'application/pdf' }, index) => {
    const start = Buffer.byteLength(parts.join(''));
    const encoded = content.toString('base64');
    parts.push(encoded, '\r\n--b\r\n');
    return {
      index,
      filename,
      contentType,
      size: content.length,
      contentId: null,
      contentDisposition: 'attachment',
      start,
      length: encoded.length,
      transferEncoding: 'base64',
    };
  });
  const [id = ''] = await insertMail(gateway.actor, [
    { userId: box.userId, attachments, raw: Buffer.from(parts.join('')) },
  ]);
  return id;
}

const download = (path: string, key: string | null = box.apiKey) => gateway.call(key, 'GET', `/attachments/${path}`);

test('a file comes with its octets and exactly the header fields of interface.md', async () => {
  const content = Buffer.from([0, 1, 2, 255, 254, 13, 10]);
  const id = await mailWith([{ filename: 'Größe "1".pdf', content }]);
  const response = await download(`${id}/${encodeURIComponent('Größe "1".pdf')}`);
  expect(response.statusCode).toBe(200);
  expect(response.rawPayload.equals(content)).toBe(true);
  expect(response.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="Gr__e _1_.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.pdf`,
    'content-length': '7',
    'cache-control': 'private, max-age=3600',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  });
});

describe('hostile names', () => {
  test.each([
    '../../etc/passwd',
    '..\\..\\boot.ini',
    '/etc/passwd',
    'C:\\x.exe',
    'a\r\nSet-Cookie: x=1',
    '"; filename=evil.exe; x="',
    '\u202egnp.exe',
    `${'ü'.repeat(300)}.txt`,
    '%2e%2e%2f',
    'e\u0301.txt',
    '100%.txt',
    "it's (1)*!.txt",
    'parts',
    'a;b.txt',
    ' ',
  ])('%j is found by its row and put safely into the header', async (filename) => {
    const id = await mailWith([
      { filename: 'decoy.txt', content: Buffer.from('decoy') },
      { filename, content: Buffer.from('right') },
    ]);
    const response = await download(`${id}/${encodeURIComponent(filename)}`);
    expect([response.statusCode, response.body]).toEqual([200, 'right']);
    const disposition = String(response.headers['content-disposition']);
    expect(disposition).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[A-Za-z0-9%_.~-]*$/);
    expect(decodeURIComponent(disposition.split("''")[1] ?? '')).toBe(filename);
    expect(disposition.split('"')).toHaveLength(3);
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  test('a name in another normal form is found', async () => {
    const id = await mailWith([{ filename: 'e\u0301.txt', content: Buffer.from('x') }]);
    expect((await download(`${id}/${encodeURIComponent('\u00e9.txt')}`)).statusCode).toBe(200);
  });

  test.each([
    ['text/html', 'text/html'],
    ['image/svg+xml', 'image/svg+xml'],
    ['text/html\r\nX: y', 'application/octet-stream'],
    ['nonsense', 'application/octet-stream'],
    ['', 'application/octet-stream'],
  ])('the content type %j is served as %s, as an attachment', async (contentType, served) => {
    const id = await mailWith([{ filename: 'x', content: Buffer.from('<script>'), contentType }]);
    const { headers } = await download(`${id}/x`);
    expect(headers['content-type']).toBe(served);
    expect(headers['content-disposition']).toMatch(/^attachment;/);
  });
});

test('of two files with one name the first comes by name and both by place', async () => {
  const id = await mailWith([
    { filename: 'same.txt', content: Buffer.from('one') },
    { filename: 'same.txt', content: Buffer.from('two') },
  ]);
  expect((await download(`${id}/same.txt`)).body).toBe('one');
  expect((await download(`${id}/parts/0`)).body).toBe('one');
  expect((await download(`${id}/parts/1`)).body).toBe('two');
});

describe('what cannot be served is 404 with the text of interface.md', () => {
  const expectError = async (path: string, error: string) => {
    const response = await download(path);
    expect([response.statusCode, response.json()]).toEqual([
      404,
      { error, message: error, statusCode: 404, name: 'not_found' },
    ]);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  };

  test('an email that is unknown or of another user', async () => {
    const other = await gateway.mailbox();
    const [foreign] = await insertMail(gateway.actor, [{ userId: other.userId, raw: Buffer.from('x') }]);
    for (const id of [foreign, 'em_00000000000000000000000000000000', 'no-such', '%00', '%zz'])
      for (const rest of ['a.txt', 'parts/0']) await expectError(`${id}/${rest}`, 'Email not found or access denied');
  });

  test('a name or a place that the email does not have', async () => {
    const id = await mailWith([{ filename: 'a.txt', content: Buffer.from('x') }]);
    for (const rest of ['b.txt', 'parts/1', 'parts/-1', 'parts/x', 'parts/1e0', 'parts/99999999999'])
      await expectError(`${id}/${rest}`, 'Attachment not found');
  });

  test('an email without attachments', async () => {
    const [id] = await insertMail(gateway.actor, [{ userId: box.userId }]);
    await expectError(`${id}/a.txt`, 'No attachments found in this email');
  });

  test('octets that are damaged or gone, which is logged, while lists go on', async () => {
    const id = await mailWith([{ filename: 'a.txt', content: Buffer.from('content') }]);
    const flip = `update raw_message r set octets = set_byte(octets, 3, get_byte(octets, 3) # 1) from email e where e.raw_id = r.id and e.id = $1`;
    await gateway.actor.pool.query(flip, [id]);
    await expectError(`${id}/a.txt`, 'Email content not available');
    expect(gateway.logged).toContainEqual(expect.objectContaining({ level: 50, emailId: id, octets: 'damaged' }));
    await gateway.actor.pool.query(flip, [id]);
    expect((await download(`${id}/a.txt`)).body).toBe('content');
    await gateway.actor.pool.query('delete from raw_message r using email e where e.raw_id = r.id and e.id = $1', [id]);
    await expectError(`${id}/parts/0`, 'Email content not available');
    expect(gateway.logged).toContainEqual(expect.objectContaining({ level: 50, emailId: id, octets: 'missing' }));
    expect((await gateway.call(box.apiKey, 'GET', '/emails')).statusCode).toBe(200);
    expect((await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json().attachments).toHaveLength(1);
  });
});

test('an unknown key is told in details too', async () => {
  const response = await download('x/y', 'wrong');
  expect([response.statusCode, response.json()]).toEqual([
    401,
    {
      error: 'Unauthorized',
      message: 'Authentication required. Provide a valid session cookie or Bearer token.',
      statusCode: 401,
      name: 'missing_api_key',
      details: 'Invalid or missing API key',
    },
  ]);
  expect(response.headers).toMatchObject({
    'www-authenticate': 'Bearer realm="API", charset="UTF-8"',
    'content-type': 'application/json; charset=utf-8',
  });
});
