import { expect, test } from 'vitest';
import { buildSelectedPayload, pathName, type SelectedPayload } from '../../../core/endpoints/payload-query.ts';

const link = (emailId: string) => `https://mail.test/api/e2/emails/${emailId}/raw?user=usr_1&signature=s`;

function build(selected: SelectedPayload, maxPayloadOctets: number) {
  const body = buildSelectedPayload({
    timestamp: new Date('2026-01-02T03:04:05Z'),
    endpoint: { id: 'ep_1', name: 'Tickets', type: 'webhook' },
    selected,
    maxPayloadOctets,
    rawLinkOf: link,
  });
  return { size: body.length, body: JSON.parse(body.toString('utf8')) };
}

const [long, longer] = ['ä'.repeat(5_000), 'b'.repeat(20_000)];
const selected: SelectedPayload = {
  event: { id: 'evt_1', kind: 'email.received', cursor: 'c1' },
  data: {
    note: longer,
    email: { subject: 'Hi', text: long, thread: { messages: { edges: [{ node: { text: longer } }] } } },
  },
  texts: [
    { path: ['email', 'subject'], emailId: 'em_1' },
    { path: ['email', 'text'], emailId: 'em_1' },
    { path: ['email', 'thread', 'messages', 'edges', 0, 'node', 'text'], emailId: 'em_2' },
  ],
  errors: [],
};

test('has the general form of an event, with the result as its data', () => {
  expect(build(selected, 100_000).body).toEqual({
    id: 'evt_1',
    type: 'email.received',
    event: 'email.received',
    timestamp: '2026-01-02T03:04:05.000Z',
    cursor: 'c1',
    data: selected.data,
    truncated: [],
    endpoint: { id: 'ep_1', name: 'Tickets', type: 'webhook' },
  });
});

test('over its limit, links replace the longest texts of emails, and truncated names them', () => {
  const whole = build(selected, 100_000).size;
  const one = build(selected, whole - 1);
  expect(one.size).toBeLessThan(whole);
  expect(one.body.truncated).toEqual(['email.thread.messages.edges[0].node.text']);
  expect(one.body.data).toEqual({
    note: longer,
    email: { subject: 'Hi', text: long, thread: { messages: { edges: [{ node: { text: link('em_2') } }] } } },
  });
  const two = build(selected, 30_000);
  expect(two.size).toBeLessThan(30_000);
  expect(two.body.truncated).toEqual(['email.thread.messages.edges[0].node.text', 'email.text']);
  expect(two.body.data.email).toMatchObject({ subject: 'Hi', text: link('em_1') });
  expect(selected.data).toMatchObject({ email: { text: long } });
});

test('what cannot become a link is sent whole', () => {
  const { body } = build(selected, 10_000);
  expect(body.data.note).toBe(longer);
  expect(body.data.email.subject).toBe('Hi');
});

test('says which fields could not be read', () => {
  const errors = [{ message: 'This cannot be limited', path: 'email.route' }];
  expect(build({ ...selected, errors }, 100_000).body.errors).toEqual(errors);
  expect(pathName(['a', 0, 'b'])).toBe('a[0].b');
});
