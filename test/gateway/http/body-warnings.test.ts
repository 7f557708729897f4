import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let received: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  [received = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: box.address }]);
});
afterAll(() => gateway.close());

const ask = async (method: string, path: string, body: unknown) => {
  const response = await gateway.call(box.apiKey, method, path, body as object);
  return { status: response.statusCode, body: response.json() };
};
const warned = (...fields: string[]) => fields.map((field) => ({ field, message: 'Unknown field. It was ignored.' }));
const email = (more: object = {}) => ({
  from: box.address,
  to: 'ada@elsewhere.test',
  subject: 'Hi',
  text: 'x',
  ...more,
});

describe('unknown fields of a body are reported in warnings', () => {
  test('of a send, nested ones by their path; header fields and known fields are not', async () => {
    const attachments = [{ filename: 'a.txt', content: 'aGk=', disposition: 'inline' }];
    const body = email({
      attachments,
      headers: { 'X-Mine': '1' },
      tags: [{ name: 'a', value: 'b' }],
      topic_id: 't',
      replyTo: [],
    });
    const { status, body: response } = await ask('POST', '/emails', body);
    expect([status, response]).toMatchObject([200, { id: expect.stringMatching(/^em_/), status: 'sent' }]);
    expect(response.warnings).toEqual(warned('attachments.0.disposition', 'topic_id'));
  });

  test('of a reply, of marks, of a rejected body', async () => {
    const reply = await ask('POST', `/emails/${received}/reply`, {
      from: box.address,
      to: 'ada@elsewhere.test',
      text: 'x',
      include: true,
    });
    expect([reply.status, reply.body.warnings]).toEqual([200, warned('include')]);
    const marked = await ask('PATCH', `/emails/${received}`, { is_read: true, starred: true });
    expect([marked.status, marked.body.warnings]).toEqual([200, warned('starred')]);
    const rejected = await ask('POST', '/emails', { form: 'typo', to: 'a@x.test', subject: 'Hi', text: 'x' });
    expect([rejected.status, rejected.body.warnings]).toEqual([400, warned('form')]);
  });

  test('of a batch, in an object and as a bare array', async () => {
    const emails = [email(), email({ nonsense: 1 })];
    for (const body of [{ emails }, emails]) {
      const sent = await ask('POST', '/emails/batch', body);
      expect([sent.status, sent.body.data.length, sent.body.warnings]).toEqual([202, 2, warned('emails.1.nonsense')]);
    }
  });

  test('of domains, addresses, endpoints with their configs, and guard rules', async () => {
    const domain = await ask('POST', '/domains', { name: 'warned.test', region: 'us-east-1' });
    expect([domain.status, domain.body.warnings]).toEqual([201, warned('region')]);
    const address = { address: `warned@${box.address.split('@')[1]}`, domainId: box.domainId, color: 'red' };
    expect((await ask('POST', '/email-addresses', address)).body.warnings).toEqual(warned('color'));
    const config = { url: 'https://hooks.example.com/mail', timeout: 10, retries: 3 };
    const endpoint = await ask('POST', '/endpoints', { name: 'e', type: 'webhook', config, secret: 's' });
    expect([endpoint.status, endpoint.body.warnings]).toEqual([201, warned('config.retries', 'secret')]);
    const changed = await ask('PATCH', `/endpoints/${endpoint.body.id}`, { name: 'f', config: endpoint.body.config });
    expect([changed.status, changed.body.warnings]).toEqual([200, undefined]);
    const rule = {
      name: 'r',
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['x'], fuzzy: true }, junk: 1 },
      action: { action: 'block', note: '' },
    };
    const made = await ask('POST', '/guard', rule);
    expect([made.status, made.body.warnings]).toEqual([
      201,
      warned('config.subject.fuzzy', 'config.junk', 'action.note'),
    ]);
  });

  test('at most 50 of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field_${at}`, at]));
    expect((await ask('POST', '/emails', email(many))).body.warnings).toHaveLength(50);
  });
});

test('a response to a body without unknown fields has no warnings', async () => {
  expect((await ask('POST', '/emails', email())).body).not.toHaveProperty('warnings');
  expect((await ask('GET', '/emails', undefined)).body).not.toHaveProperty('warnings');
});

describe('unknown query parameters', () => {
  test('are reported in warnings, beside the fields of a body; known ones are not', async () => {
    const listed = await ask('GET', '/emails?limit=1&serch=x', undefined);
    const message = 'Unknown query parameter. It was ignored.';
    expect([listed.status, listed.body.warnings]).toEqual([200, [{ field: 'serch', message }]]);
    expect((await ask('GET', '/emails?limit=1', undefined)).body).not.toHaveProperty('warnings');
    const sent = await ask('POST', '/emails?dry_run=1', email({ topic_id: 't' }));
    expect(sent.body.warnings).toEqual([...warned('topic_id'), { field: 'dry_run', message }]);
  });

  test('are 400 with strict=true, as are unknown fields, and nothing is sent', async () => {
    for (const [path, fields, names] of [
      ['/emails?strict=true', { topic_id: 't' }, ['topic_id']],
      ['/emails?strict=true&dry_run=1', {}, ['dry_run']],
    ] as const) {
      const sentBefore = (await ask('GET', '/emails?type=sent', undefined)).body.data.length;
      const refused = await ask('POST', path, email(fields));
      expect([refused.status, refused.body.details.map((each: { field: string }) => each.field)]).toEqual([400, names]);
      expect((await ask('GET', '/emails?type=sent', undefined)).body.data).toHaveLength(sentBefore);
    }
    expect((await ask('GET', '/emails?strict=true&limit=1', undefined)).status).toBe(200);
    expect((await ask('GET', '/emails?serch=x&strict=true', undefined)).status).toBe(400);
  });

  test('are 400 where unknown fields of the body are: a limit in the query would give more if it were ignored', async () => {
    for (const [path, body, name] of [
      ['/emails/wait?address=a@inbox.test', {}, 'address'],
      ['/emails/wait?timeout=0&strict=false', {}, 'timeout'],
      ['/api-keys?scopes=read', { name: 'x' }, 'scopes'],
    ] as const) {
      const { status, body: refused } = await ask('POST', path, body);
      expect([status, refused.details]).toEqual([400, [{ field: name, message: 'Unknown query parameter' }]]);
    }
    expect((await ask('POST', '/emails/wait?strict=true', { timeout: 0 })).status).toBe(200);
    const { body: keys } = await ask('GET', '/api-keys', undefined);
    expect(keys.data.map((each: { name: string }) => each.name)).not.toContain('x');
  });
});
