import { randomBytes } from 'node:crypto';
import { buffer as readAll } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Entry, fromBuffer } from 'yauzl';
import { type DownloadTarget, deriveDownloadLinkKey, makeDownloadLink } from '../../../core/endpoints/download-link.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { DAY_MS } from '../../../core/shared/durations.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';

let gateway: TestGateway;
let box: TestMailbox;
/** ID of the key of the box, for which links are made */
let holder: string;
/** of the gateway */
let now: Date | null = null;
const SECRET_KEY = randomBytes(32);

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY }, now: () => now ?? new Date() });
  box = await gateway.mailbox();
  holder = await createKey(gateway, box);
});

afterAll(() => gateway.close());

async function createKey({ owner }: TestGateway, { workspaceId }: TestMailbox): Promise<string> {
  const { rows } = await owner.pool.query<{ id: string }>('select id from api_key where workspace_id = $1', [
    workspaceId,
  ]);
  return rows[0]?.id ?? '';
}

/** An email whose bytes hold each file in base64 after the other. */
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
    { workspaceId: box.workspaceId, attachments, raw: Buffer.from(parts.join('')) },
  ]);
  return id;
}

const download = (path: string, key: string | null = box.apiKey) => gateway.call(key, 'GET', `/attachments/${path}`);

test('a file is returned with its bytes and exactly the documented header fields', async () => {
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

test('a file that a session opened is not cached by the browser after the session', async () => {
  const account = { email: 'ada@example.com', password: 'correct horse', apiKey: null, mailbox: null };
  const made = await createAccount(gateway.owner, account);
  if (!('workspaceId' in made)) throw new Error(made.outcome);
  const browser = openBrowser(gateway.app);
  await browser.auth('POST', '/sign-in/email', { email: account.email, password: account.password });
  const [id] = await insertMail(gateway.actor, [
    { workspaceId: made.workspaceId, raw: Buffer.from('Subject: x\r\n\r\nx') },
  ]);
  const opened = await browser.rest('GET', `/emails/${id}/raw`);
  expect([opened.statusCode, opened.headers['cache-control']]).toEqual([200, 'no-store']);
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
  ])('%j is found by its row and written safely into the header', async (filename) => {
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

test('the first of two files with one name is returned by name, and both by position', async () => {
  const id = await mailWith([
    { filename: 'same.txt', content: Buffer.from('one') },
    { filename: 'same.txt', content: Buffer.from('two') },
  ]);
  expect((await download(`${id}/same.txt`)).body).toBe('one');
  expect((await download(`${id}/parts/0`)).body).toBe('one');
  expect((await download(`${id}/parts/1`)).body).toBe('two');
});

describe('a missing file is 404 with the documented text for', () => {
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
    const [foreign] = await insertMail(gateway.actor, [{ workspaceId: other.workspaceId, raw: Buffer.from('x') }]);
    for (const id of [foreign, 'em_00000000000000000000000000000000', 'no-such', '%00', '%zz'])
      for (const rest of ['a.txt', 'parts/0']) await expectError(`${id}/${rest}`, 'Email not found or access denied');
  });

  test('a name or a position that the email does not have', async () => {
    const id = await mailWith([{ filename: 'a.txt', content: Buffer.from('x') }]);
    for (const rest of ['b.txt', 'parts/1', 'parts/-1', 'parts/x', 'parts/1e0', 'parts/99999999999'])
      await expectError(`${id}/${rest}`, 'Attachment not found');
  });

  test('an email without attachments', async () => {
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    await expectError(`${id}/a.txt`, 'No attachments found in this email');
  });

  test('bytes that are damaged or gone, which is logged, while lists go on', async () => {
    const id = await mailWith([{ filename: 'a.txt', content: Buffer.from('content') }]);
    const flip = `update raw_message r set packed = set_byte(packed, 3, get_byte(packed, 3) # 1) from email e where e.raw_id = r.id and e.id = $1`;
    await gateway.actor.pool.query(flip, [id]);
    await expectError(`${id}/a.txt`, 'Email content not available');
    expect(gateway.logged).toContainEqual(expect.objectContaining({ level: 50, emailId: id, bytes: 'damaged' }));
    await gateway.actor.pool.query(flip, [id]);
    expect((await download(`${id}/a.txt`)).body).toBe('content');
    await gateway.actor.pool.query('delete from raw_message r using email e where e.raw_id = r.id and e.id = $1', [id]);
    await expectError(`${id}/parts/0`, 'Email content not available');
    expect(gateway.logged).toContainEqual(expect.objectContaining({ level: 50, emailId: id, bytes: 'missing' }));
    expect((await gateway.call(box.apiKey, 'GET', '/emails')).statusCode).toBe(200);
    expect((await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json().attachments).toHaveLength(1);
  });
});

test('an unknown key is explained in details too', async () => {
  const response = await download('x/y', 'wrong');
  expect([response.statusCode, response.json()]).toEqual([
    401,
    {
      error: 'Unauthorized',
      message: 'Authentication required. Provide a valid session cookie or Bearer token.',
      statusCode: 401,
      name: 'invalid_api_key',
      details: 'Invalid or missing API key',
    },
  ]);
  expect(response.headers).toMatchObject({
    'www-authenticate': 'Bearer realm="API", charset="UTF-8"',
    'content-type': 'application/json; charset=utf-8',
  });
});

describe('a signed link', () => {
  const linkKey = deriveDownloadLinkKey(SECRET_KEY);
  const linkTo = (emailId: string, part: number | 'raw', more: Partial<DownloadTarget> = {}, key = linkKey) =>
    makeDownloadLink(
      key,
      { workspaceId: box.workspaceId, emailId, part, holder, ...more },
      new Date(Date.now() + 7 * DAY_MS),
    );
  const follow = (link: string, key: string | null = null) => gateway.call(key, 'GET', link.slice('/api/e2'.length));
  const twoFiles = () =>
    mailWith([
      { filename: 'one.txt', content: Buffer.from('one') },
      { filename: 'two.txt', content: Buffer.from('two') },
    ]);
  /** Returns the response without the parts that differ between all responses. */
  const comparable = async (path: string, key: string | null = null) => {
    const { statusCode, headers, body } = await gateway.call(key, 'GET', path);
    const { 'x-request-id': _id, date: _date, ...others } = headers;
    return { statusCode, others, body };
  };

  test('returns the file without a key, with the header fields of the ordinary download, and no cookie', async () => {
    const id = await twoFiles();
    for (const [index, content] of ['one', 'two'].entries()) {
      const signed = await comparable(linkTo(id, index).slice('/api/e2'.length));
      expect([signed.statusCode, signed.body]).toEqual([200, content]);
      expect(signed.others['set-cookie']).toBeUndefined();
      expect(signed).toEqual(await comparable(`/attachments/${id}/parts/${index}`, box.apiKey));
    }
  });

  test('returns the whole message as a file', async () => {
    const id = await twoFiles();
    const response = await follow(linkTo(id, 'raw'));
    expect([response.statusCode, response.body.split('\r\n')[0]]).toEqual([200, 'Subject: files']);
    expect(response.headers).toMatchObject({
      'content-type': 'message/rfc822',
      'content-disposition': `attachment; filename="${id}.eml"; filename*=UTF-8''${id}.eml`,
      'content-security-policy': "sandbox; default-src 'none'",
    });
    expect((await gateway.call(box.apiKey, 'GET', `/emails/${id}/raw`)).body).toBe(response.body);
  });

  test('that is forged, expired, or made for another purpose gets the response without credentials', async () => {
    const id = await twoFiles();
    const other = await twoFiles();
    const stranger = await gateway.mailbox();
    const [foreign = ''] = await insertMail(gateway.actor, [
      { workspaceId: stranger.workspaceId, raw: Buffer.from('secret') },
    ]);
    const good = linkTo(id, 0).slice('/api/e2'.length);
    const [path = '', query = ''] = good.split('?');
    const signature = new URLSearchParams(query).get('signature') ?? '';
    const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
    // The last of 43 characters has two bits that mean nothing.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const respelt = `${signature.slice(0, -1)}${alphabet[alphabet.indexOf(signature.at(-1) ?? '') ^ 1]}`;
    const wrong = [
      `${path}?${query.replace(signature, flipped)}`,
      `${path}?${query.replace(signature, respelt)}`,
      `${path}?${query.replace(signature, signature.slice(0, 42))}`,
      `${path}?${query.replace(signature, '')}`,
      `${path}?${query.replace(/expires=\d+/, 'expires=99999999999')}`,
      `${path}?${query.replace(/expires=/, 'expires=0')}`,
      `${path}?${query.replace(/expires=\d+/, 'expires=-1')}`,
      `${path}?${query.replace(/expires=\d+&/, '')}`,
      `${path}?${query.replace(box.workspaceId, stranger.workspaceId)}`,
      `${path}?${query.replace(/user=[^&]+&/, '')}`,
      `${path}?${query.replace(/for=[^&]+&/, '')}`,
      `${path}?${query.replace(/for=[^&]+/, 'for=key_1')}`,
      `${path}?${query}&signature=${signature}`,
      `${path}?${query}&user[]=x`.replace(`user=${box.workspaceId}`, `user=${box.workspaceId}&user=${box.workspaceId}`),
      `${path.replace('/parts/0', '/parts/1')}?${query}`,
      `${path.replace('/parts/0', '/parts/00')}?${query}`,
      `${path.replace('/parts/0', '/parts/x')}?${query}`,
      `${path.replace(id, other)}?${query}`,
      `${path.replace(id, foreign)}?${query}`,
      `${path.replace(id, 'em_00000000000000000000000000000000')}?${query}`,
      `/emails/${id}/raw?${query}`,
      linkTo(id, 0, {}, deriveDownloadLinkKey(randomBytes(32))).slice('/api/e2'.length),
      `/attachments/${id}/parts/0`,
      // Nothing else takes a signature.
      `/attachments/${id}/one.txt?${query}`,
      `/emails/${id}?${query}`,
      `/emails?${query}`,
    ];
    const expected = await comparable('/attachments/no-such/parts/0');
    expect(expected).toMatchObject({ statusCode: 401, others: { 'www-authenticate': expect.any(String) } });
    for (const each of wrong) {
      const response = await comparable(each);
      expect(response.statusCode, each).toBe(401);
      if (/parts|raw/.test(each)) expect(response, each).toEqual(expected);
    }
    expect((await follow(linkTo(id, 0))).statusCode).toBe(200);
  });

  test('works to its last second, and then no more; with a key its address works forever', async () => {
    const id = await twoFiles();
    const link = linkTo(id, 0);
    const end = Number(new URLSearchParams(link.split('?')[1]).get('expires')) * 1_000;
    now = new Date(end - 1);
    expect((await follow(link)).statusCode).toBe(200);
    now = new Date(end);
    expect((await follow(link)).statusCode).toBe(401);
    expect((await follow(link, box.apiKey)).body).toBe('one');
    now = null;
  });

  test('does not apply its user to a request with a key', async () => {
    const id = await twoFiles();
    const stranger = await gateway.mailbox();
    expect((await follow(linkTo(id, 0), stranger.apiKey)).json().error).toBe('Email not found or access denied');
    expect((await follow(linkTo(id, 0), 'wrong')).statusCode).toBe(401);
  });

  test('to a deleted or unknown email is 404', async () => {
    const id = await twoFiles();
    const link = linkTo(id, 0);
    expect((await follow(linkTo(id, 7))).json().error).toBe('Attachment not found');
    await gateway.owner.pool.query('delete from email where id = $1', [id]);
    for (const each of [link, linkTo(id, 'raw')]) {
      const response = await follow(each);
      expect([response.statusCode, response.json().error]).toEqual([404, 'Email not found or access denied']);
    }
  });

  test('counts towards the request limit of its owner', async () => {
    const limited = await openTestGateway({ config: { secretKey: SECRET_KEY, rateLimitPerSecond: 2 } });
    try {
      const owner = await limited.mailbox();
      const [id = ''] = await insertMail(limited.actor, [{ workspaceId: owner.workspaceId, raw: Buffer.from('x') }]);
      const link = linkTo(id, 'raw', { workspaceId: owner.workspaceId, holder: await createKey(limited, owner) }).slice(
        '/api/e2'.length,
      );
      const statuses = [];
      for (let n = 0; n < 3; n++) statuses.push((await limited.call(null, 'GET', link)).statusCode);
      expect(statuses).toEqual([200, 200, 429]);
      // A forged one costs the owner nothing.
      expect((await limited.call(null, 'GET', link.replace('expires=1', 'expires=2'))).statusCode).toBe(401);
    } finally {
      await limited.close();
    }
  });
});

test('a file that a page loads as a script, a style sheet or a worker is refused, as the whole message is', async () => {
  const content = Buffer.from('alert(1)');
  const id = await mailWith([{ filename: 'a.js', content, contentType: 'text/javascript' }]);
  const ask = (path: string, destination: string, key: string | null = box.apiKey) =>
    gateway.app.inject({
      url: `/api/e2${path}`,
      headers: { 'sec-fetch-dest': destination, ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    });
  const paths = [`/attachments/${id}/a.js`, `/attachments/${id}/parts/0`, `/emails/${id}/raw`];
  for (const path of paths) {
    for (const destination of ['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'audioworklet']) {
      const response = await ask(path, destination);
      expect([path, destination, response.statusCode]).toEqual([path, destination, 403]);
      expect(response.json()).toMatchObject({ error: 'Forbidden', statusCode: 403, code: 'LOADED_AS_CODE' });
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    }
    for (const destination of ['document', 'empty', 'image', 'iframe'])
      expect([path, destination, (await ask(path, destination)).statusCode]).toEqual([path, destination, 200]);
  }
  // A signed link needs no key, and serves no code either.
  const target = { workspaceId: box.workspaceId, emailId: id, part: 0, holder };
  const link = makeDownloadLink(deriveDownloadLinkKey(SECRET_KEY), target, new Date(Date.now() + DAY_MS));
  expect((await ask(link.slice('/api/e2'.length), 'empty', null)).statusCode).toBe(200);
  expect((await ask(link.slice('/api/e2'.length), 'script', null)).statusCode).toBe(403);
});

describe('a preview', () => {
  const preview = (id: string, index: number | string, key = box.apiKey) =>
    gateway.call(key, 'GET', `/emails/${id}/attachments/${index}/preview`);

  test('shows the content by its bytes, and nothing that could run', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
      'base64',
    );
    const html = '<script>alert(1)</script>';
    const id = await mailWith([
      { filename: 'photo.html', content: png, contentType: 'text/html' },
      { filename: 'page.png', content: Buffer.from(html), contentType: 'image/png' },
      { filename: 'paper.pdf', content: Buffer.from('%PDF-1.7 x') },
      { filename: 'program.txt', content: Buffer.from('MZ\0\0'), contentType: 'text/plain' },
    ]);
    const common = {
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'x-preview-cut': 'false',
    };
    const sandboxed = expect.stringMatching(/^sandbox; default-src 'none';/);
    const image = await preview(id, 0);
    expect(image.rawPayload.equals(png)).toBe(true);
    expect(image.headers).toMatchObject({
      ...common,
      'content-type': 'image/png',
      'content-security-policy': sandboxed,
    });
    const page = await preview(id, 1);
    expect(page.body).toBe(html);
    expect(page.headers).toMatchObject({
      ...common,
      'content-type': 'text/plain; charset=utf-8',
      'content-security-policy': sandboxed,
      'content-disposition': `inline; filename="page.png"; filename*=UTF-8''page.png`,
    });
    // A viewer of PDF does not run in a sandbox.
    expect((await preview(id, 2)).headers).toMatchObject({
      ...common,
      'content-type': 'application/pdf',
      'content-security-policy': expect.stringMatching(/^default-src 'none';/),
    });
    const none = await preview(id, 3);
    expect([none.statusCode, none.json().error]).toEqual([400, expect.stringContaining('no preview')]);
    const stranger = await gateway.mailbox();
    for (const response of [await preview(id, 0, stranger.apiKey), await preview(id, 4), await preview(id, 'x')])
      expect(response.statusCode).toBe(404);
  });
});

describe('all attachments', () => {
  const archive = (id: string, key = box.apiKey) => gateway.call(key, 'GET', `/emails/${id}/attachments.zip`);

  test('are returned as one ZIP file with safe and unique names', async () => {
    const files = ['a.txt', 'A.txt', '../../etc/passwd', 'Größe.txt'].map((filename, at) => ({
      filename,
      content: Buffer.from(`file ${at} `.repeat(at * 10_000)),
    }));
    const id = await mailWith(files);
    const response = await archive(id);
    expect(response.headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${id}-attachments.zip"; filename*=UTF-8''${id}-attachments.zip`,
      'cache-control': 'private, max-age=3600',
    });
    const read = await unzip(response.rawPayload);
    expect([...read.keys()]).toEqual(['a.txt', 'A (2).txt', '_.._etc_passwd', 'Größe.txt']);
    expect([...read.values()].map((bytes) => bytes.toString())).toEqual(files.map(({ content }) => content.toString()));
  });

  test('are those of the caller, and 404 when there are none', async () => {
    const id = await mailWith([{ filename: 'a.txt', content: Buffer.from('a') }]);
    const stranger = await gateway.mailbox();
    expect((await archive(id, stranger.apiKey)).statusCode).toBe(404);
    const [bare = ''] = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, raw: Buffer.from('Subject: x\r\n\r\nx') },
    ]);
    expect((await archive(bare)).json().error).toBe('No attachments found in this email');
    expect((await archive('em_nothing')).statusCode).toBe(404);
  });

  test('are an error when their bytes are gone', async () => {
    const id = await mailWith([{ filename: 'a.txt', content: Buffer.from('a') }]);
    await gateway.actor.pool.query(
      `update raw_message set packed = 'x' where id = (select raw_id from email where id = $1)`,
      [id],
    );
    expect((await archive(id)).json()).toMatchObject({ error: 'Email content not available' });
  });
});

/** Returns the files of a ZIP archive, in its order. */
function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  return new Promise((resolve, reject) => {
    const files = new Map<string, Buffer>();
    fromBuffer(bytes, { lazyEntries: true }, (error, zip) => {
      if (error !== null) return reject(error);
      zip.on('error', reject);
      zip.on('end', () => resolve(files));
      zip.on('entry', (entry: Entry) => {
        zip.openReadStream(entry, (failure, stream) => {
          if (failure !== null) return reject(failure);
          void readAll(stream).then((content) => {
            files.set(entry.fileName, content);
            zip.readEntry();
          }, reject);
        });
      });
      zip.readEntry();
    });
  });
}
