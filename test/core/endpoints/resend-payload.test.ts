import { expect, test } from 'vitest';
import type { PostedEvent } from '../../../core/endpoints/event-payload.ts';
import type { PayloadFacts } from '../../../core/endpoints/payload-facts.ts';
import {
  buildResendEvent,
  buildResendMail,
  changeResendPatterns,
  listResendKinds,
  readResendKinds,
} from '../../../core/endpoints/resend-payload.ts';

const json = (body: Buffer) => JSON.parse(body.toString('utf8'));
const at = new Date('2026-11-24T01:00:00Z');
const email = {
  id: 'em_1',
  created_at: '2026-11-24T00:59:00Z',
  message_id: '<1@box.test>',
  from: 'me@box.test',
  to: ['joe@elsewhere.test'],
  subject: 'Où?',
  html: '<p>x</p>',
};
const bounced: PostedEvent = {
  id: 'evt_1',
  kind: 'email.bounced',
  at,
  cursor: 'cursor',
  data: {
    ...email,
    recipient: {
      last_response: '552 5.2.2 mailbox full',
      refusal: { reason: 'mailbox_full', type: 'soft', title: 'The mailbox is full' },
    },
  },
  endpoint: { id: 'ep_1', name: 'Program', type: 'webhook' },
};
const { id, html: _html, ...fields } = email;

test('posts a bounce with what the types of the client have, and nothing else', () => {
  expect(json(buildResendEvent(bounced, 1_000_000))).toEqual({
    type: 'email.bounced',
    created_at: at.toISOString(),
    data: {
      email_id: id,
      ...fields,
      bounce: { message: '552 5.2.2 mailbox full', type: 'Transient', subType: 'MailboxFull' },
    },
  });
  const unknown = { ...bounced, data: { ...email, recipient: { last_response: null, refusal: { type: 'hard' } } } };
  expect(json(buildResendEvent(unknown, 1_000_000)).data.bounce).toEqual({
    message: '',
    type: 'Permanent',
    subType: 'General',
  });
});

test('posts a delay by the name of the client, a failure with its reason, and other kinds with their own data', () => {
  expect(json(buildResendEvent({ ...bounced, kind: 'email.delayed' }, 1_000_000))).toMatchObject({
    type: 'email.delivery_delayed',
    data: { email_id: id },
  });
  expect(json(buildResendEvent({ ...bounced, kind: 'email.failed' }, 1_000_000)).data).toEqual({
    email_id: id,
    ...fields,
    failed: { reason: 'The mailbox is full' },
  });
  const domain = { id: 'dom_1', name: 'box.test' };
  expect(json(buildResendEvent({ ...bounced, kind: 'domain.records_lost', data: domain }, 1_000_000))).toMatchObject({
    type: 'domain.updated',
    data: domain,
  });
  expect(json(buildResendEvent({ ...bounced, kind: 'thread.merged', data: null }, 1_000_000))).toMatchObject({
    type: 'thread.merged',
    data: null,
  });
});

test('a mail with 1,000 recipients and attachments stays within the limit of its endpoint', () => {
  const addresses = Array.from({ length: 1_000 }, (_, n) => ({ name: null, address: `recipient${n}@elsewhere.test` }));
  const list = { text: '', addresses };
  const attachments = Array.from({ length: 100 }, (_, index) => ({
    index,
    filename: 'é'.repeat(200),
    contentType: 'text/plain',
    contentDisposition: null,
    contentId: null,
  }));
  const facts = {
    email: { id, receivedAt: at, recipient: 'me@box.test', messageId: '<1@box.test>', subject: 'x'.repeat(60_000) },
    content: { addresses: { from: list, to: list, cc: list, bcc: null, replyTo: null }, attachments },
  } as unknown as PayloadFacts;
  const whole = json(buildResendMail(facts, 1_000_000)).data;
  expect([whole.to.length, whole.attachments.length, whole.subject.length]).toEqual([1_000, 100, 60_000]);
  const body = buildResendMail(facts, 10_000);
  expect(body.length).toBeLessThanOrEqual(10_000);
  expect(json(body).data).toMatchObject({ email_id: id, to: [], cc: [], attachments: [], subject: '' });
});

test('kinds of the client are read as patterns of an endpoint, and listed again', () => {
  const kinds = ['email.received', 'email.delivery_delayed', 'email.opened', 'domain.updated'];
  const { patterns, unknown } = readResendKinds(kinds);
  expect([patterns, unknown]).toEqual([
    ['email.received:all', 'email.delayed', 'domain.verified', 'domain.failed', 'domain.records_lost'],
    null,
  ]);
  expect(listResendKinds(patterns)).toEqual(['email.received', 'email.delivery_delayed', 'domain.updated']);
  expect(listResendKinds(['email.received'])).toEqual(['email.received']);
  expect(listResendKinds(['email.*'])).not.toContain('domain.updated');
  expect(listResendKinds(['*'])).toBeNull();
  expect(readResendKinds(['email.sent', 'email.recieved', 'toString'])).toEqual({
    patterns: ['email.sent'],
    unknown: 1,
  });
  expect(readResendKinds(['__proto__']).unknown).toBe(0);
});

test('kinds that are written back change no pattern, and others add or end theirs', () => {
  const current = ['email.received', 'domain.verified', 'thread.assigned', 'email.bounced'];
  const read = listResendKinds(current) ?? [];
  expect(changeResendPatterns(current, read)).toEqual(current);
  expect(changeResendPatterns(current, ['email.sent', 'email.received'])).toEqual([
    'email.received',
    'thread.assigned',
    'email.sent',
  ]);
  expect(changeResendPatterns(['email.*'], ['email.sent'])).toEqual(['email.sent']);
  expect(changeResendPatterns(['*'], ['email.sent'])).toEqual(['email.sent']);
});

test('a sender that is larger than the limit of the body is left out', () => {
  const large = { ...bounced, data: { ...email, from: 'x'.repeat(12_000) } };
  expect(buildResendEvent(large, 10_000).length).toBeLessThanOrEqual(10_000);
});
