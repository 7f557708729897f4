import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const call = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.call(box.apiKey, method, path, body);
  return { status: response.statusCode, body: response.json() };
};
const file = (index: number, filename: string, contentId: string | null = null) => ({
  index,
  filename,
  contentType: 'text/plain',
  size: 7,
  contentId,
  contentDisposition: 'attachment' as const,
  start: 0,
  length: 7,
  transferEncoding: '7bit' as const,
});

describe('/emails/schedule', () => {
  const email = (more: object = {}) => ({
    from: `Ann <${box.address}>`,
    to: ['ada@elsewhere.test'],
    cc: 'eve@elsewhere.test',
    replyTo: 'ann@elsewhere.test',
    subject: 'Later',
    html: '<p>Hello',
    tags: [{ name: 'kind', value: 'reminder' }],
    scheduled_at: 'in 2 hours',
    timezone: 'Europe/Berlin',
    ...more,
  });

  test('schedules as POST /emails does, lists, reads and cancels', async () => {
    const made = await call('POST', '/emails/schedule', email());
    expect([made.status, made.body]).toMatchObject([201, { status: 'scheduled', timezone: 'Europe/Berlin' }]);
    const { id, scheduled_at } = made.body;

    const listed = await call('GET', '/emails/schedule?status=scheduled');
    expect(listed.body).toMatchObject({
      data: [
        { id, scheduled_at, status: 'scheduled', timezone: 'Europe/Berlin', attempts: 0, to: ['ada@elsewhere.test'] },
      ],
      pagination: { limit: 50, offset: 0, total: 1, hasMore: false },
    });
    const found = await call('GET', `/emails/schedule/${id}`);
    expect(found.body).toMatchObject({
      id,
      from: `Ann <${box.address}>`,
      cc: ['eve@elsewhere.test'],
      replyTo: ['ann@elsewhere.test'],
      html: '<p>Hello',
      text: 'Hello',
      tags: [{ name: 'kind', value: 'reminder' }],
      scheduled_at,
      max_attempts: 1,
    });
    for (const field of ['sent_at', 'sent_email_id']) expect(found.body).not.toHaveProperty(field);

    const ended = await call('DELETE', `/emails/schedule/${id}`);
    expect(ended.body).toEqual({ id, status: 'cancelled', cancelled_at: expect.any(String) });
    expect((await call('GET', `/emails/${id}`)).body).toMatchObject({ type: 'scheduled', status: 'cancelled' });
    expect((await call('GET', '/emails/schedule?status=scheduled')).body.data).toEqual([]);
    expect((await call('GET', '/emails/schedule?status=cancelled')).body.data).toHaveLength(1);
  });

  test('refuses an email without a time, and finds no email that was never scheduled', async () => {
    const refused = await call('POST', '/emails/schedule', email({ scheduled_at: undefined }));
    expect([refused.status, refused.body.error]).toEqual([400, 'scheduled_at is required']);
    const [received = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    expect((await call('GET', `/emails/schedule/${received}`)).status).toBe(404);
    expect((await call('GET', '/emails/schedule?status=processing')).status).toBe(400);
  });
});

describe('/mail', () => {
  let mails: TestMailbox;
  let emailIds: string[];
  let archivedId: string;
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await gateway.call(mails.apiKey, method, path, body);
    return { status: response.statusCode, body: response.json() };
  };

  beforeAll(async () => {
    mails = await gateway.mailbox();
    const own = { workspaceId: mails.workspaceId, ownAddress: mails.address };
    ({ emailIds } = await insertThread(gateway.actor, { ...own, count: 3, lastMessageAt: new Date(), text: 'Words' }));
    [archivedId = ''] = await insertMail(gateway.actor, [
      { ...own, isArchived: true, subject: 'Put away', attachments: [file(0, 'a.txt')], raw: Buffer.from('content') },
    ]);
    await insertMail(gateway.actor, [
      { ...own, status: 'failed', subject: 'Broken' },
      { ...own, type: 'sent' },
    ]);
  });

  test('lists received mail in its own form, archived mail only on request', async () => {
    const { body } = await ask('GET', '/mail?limit=2');
    expect(body.pagination).toEqual({ limit: 2, offset: 0, total: 4, hasMore: true });
    expect(body.emails[1]).toMatchObject({
      id: emailIds[2],
      emailId: emailIds[2],
      recipient: mails.address,
      from: 'ada@elsewhere.test',
      isRead: false,
      isArchived: false,
      parseSuccess: true,
      receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const subjects = async (query: string) =>
      (await ask('GET', `/mail?${query}`)).body.emails.map((each: { subject: string }) => each.subject);
    expect(await subjects('includeArchived=true&search=put')).toEqual(['Put away']);
    expect(await subjects('search=put')).toEqual([]);
    expect(await subjects('status=failed')).toEqual(['Broken']);
    expect(await subjects('status=processed')).toHaveLength(3);
    expect(await subjects(`emailAddress=${mails.address}&timeRange=24h`)).toHaveLength(4);
    expect(await subjects('emailAddress=other@box.test')).toEqual([]);
    expect(await subjects(`emailId=${archivedId}`)).toEqual(['Put away']);
    expect(await subjects('emailId=em_unknown')).toEqual([]);
  });

  test('shows a mail and its thread, and marks it', async () => {
    const [first = '', second = ''] = emailIds;
    expect((await ask('GET', `/mail/${first}`)).body).toMatchObject({
      id: first,
      to: mails.address,
      textBody: 'Words',
    });
    const thread = (await ask('GET', `/mail/${first}/thread`)).body;
    expect(thread).toMatchObject({ thread: { message_count: 3 }, total_count: 3 });
    expect((await ask('GET', `/mail/${archivedId}/thread`)).status).toBe(404);
    const marked = await ask('PATCH', `/mail/${second}`, { isRead: true });
    expect(marked.body).toEqual({
      success: true,
      message: 'Email updated',
      id: second,
      isRead: true,
      isArchived: false,
    });
    expect((await ask('GET', `/emails/${second}`)).body).toMatchObject({ is_read: true });
  });

  test('marks several at once, and lists the ones it cannot mark', async () => {
    const ids = [emailIds[0], 'em_unknown', emailIds[2]];
    const { body } = await ask('POST', '/mail/bulk', { emailIds: ids, updates: { isArchived: true } });
    expect(body).toEqual({
      success: false,
      message: '2 emails updated',
      updated: 2,
      failed: [{ id: 'em_unknown', error: 'Email not found' }],
    });
    expect((await ask('GET', `/emails/${emailIds[2]}`)).body.is_archived).toBe(true);
    expect((await ask('POST', '/mail/bulk', { emailIds: [], updates: {} })).status).toBe(400);
  });

  test('replies to a mail from the address that received it', async () => {
    const [first = ''] = emailIds;
    const response = {
      emailId: first,
      to: 'ada@elsewhere.test',
      subject: 'Re: it',
      textBody: 'Yes',
      htmlBody: '<p>Yes',
    };
    const { status, body } = await ask('POST', '/mail', response);
    expect([status, body.message]).toEqual([200, 'Reply sent']);
    const sent = (await ask('GET', `/emails/${body.id}`)).body;
    expect(sent).toMatchObject({ type: 'sent', from: mails.address, to: ['ada@elsewhere.test'], text: 'Yes' });
    expect(sent.message_id).toBe(body.messageId);
    expect((await ask('GET', `/mail/${body.id}`)).status).toBe(404);
    expect((await ask('POST', '/mail', { ...response, emailId: body.id })).status).toBe(404);
  });
});

describe('/emails/receiving', () => {
  let mails: TestMailbox;
  let ids: string[];
  const ask = async (path: string) => {
    const response = await gateway.call(mails.apiKey, 'GET', path);
    return { status: response.statusCode, body: response.json() };
  };

  beforeAll(async () => {
    mails = await gateway.mailbox();
    const own = { workspaceId: mails.workspaceId, ownAddress: mails.address };
    ids = await insertMail(gateway.actor, [
      {
        ...own,
        createdAt: new Date(Date.now() - 60_000),
        subject: 'First',
        raw: Buffer.from('content'),
        attachments: [file(0, 'a.txt'), file(2, 'b.txt', '<b@x>')],
      },
      { ...own, subject: 'Second', html: '<img src="cid:b@x">', headers: [['x-one', '1']] },
      { ...own, type: 'sent' },
    ]);
  });

  test('lists received mail with its attachments, by pages', async () => {
    const { body } = await ask('/emails/receiving?limit=1');
    expect(body).toMatchObject({
      object: 'list',
      has_more: true,
      data: [{ id: ids[1], received_for: [mails.address] }],
    });
    const next = (await ask(`/emails/receiving?limit=1&after=${ids[1]}`)).body;
    expect(next).toMatchObject({ has_more: false, data: [{ id: ids[0], subject: 'First' }] });
    expect(next.data[0].attachments.map((each: { id: string }) => each.id)).toEqual(['0', '2']);
    expect((await ask(`/emails/receiving?before=${ids[0]}`)).body.data).toHaveLength(1);
  });

  test('reads no bodies for the list, which shows none', async () => {
    const sent = vi.spyOn(pg.Client.prototype, 'query');
    try {
      expect((await ask('/emails/receiving')).body.data).toHaveLength(2);
      const statements = sent.mock.calls.map((call) => JSON.stringify(call).replaceAll(/[\\"]/g, ''));
      const ofContents = statements.filter((statement) => statement.includes('from email_content'));
      expect(ofContents.length).toBeGreaterThan(0);
      for (const statement of ofContents) expect(statement).not.toContain('c.text_body');
    } finally {
      sent.mockRestore();
    }
  });

  test('shows a received mail alone', async () => {
    expect((await ask(`/emails/receiving/${ids[1]}`)).body).toMatchObject({
      object: 'email',
      html: '<img src="cid:b@x">',
      text: null,
      headers: { 'x-one': '1' },
      raw: null,
      bcc: [],
      reply_to: [],
    });
    expect((await ask(`/emails/receiving/${ids[2]}`)).status).toBe(404);
    expect((await ask(`/emails/receiving/${ids[2]}/attachments`)).status).toBe(404);
    expect((await ask(`/emails/${ids[2]}/attachments`)).body).toEqual({ object: 'list', has_more: false, data: [] });
  });

  test.each(['/emails/receiving', '/emails'])('lists the attachments at %s', async (path) => {
    const { body } = await ask(`${path}/${ids[0]}/attachments`);
    expect(body.data).toHaveLength(2);
    const one = (await ask(`${path}/${ids[0]}/attachments/2`)).body;
    expect(one).toEqual({
      object: 'attachment',
      id: '2',
      filename: 'b.txt',
      size: 7,
      content_type: 'text/plain',
      content_id: '<b@x>',
      content_disposition: 'attachment',
      download_url: expect.stringContaining(`http://postroom.test/api/e2/attachments/${ids[0]}/parts/2?user=`),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
    });
    expect(new URL(one.download_url).searchParams.get('expires')).toBe(String(Date.parse(one.expires_at) / 1_000));
    const missing = await ask(`${path}/${ids[0]}/attachments/1`);
    expect([missing.status, missing.body.error]).toEqual([404, 'Attachment not found']);
  });
});
