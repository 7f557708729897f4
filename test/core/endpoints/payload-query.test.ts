import { expect, test, vi } from 'vitest';
import {
  buildSelectedPayload,
  laySelectedPayloadOut,
  pathName,
  type SelectedPayload,
} from '../../../core/endpoints/payload-query.ts';
import { LargeText } from '../../../core/shared/large-text.ts';
import { finishSteps } from '../../../core/shared/steps.ts';

const link = (emailId: string) => `https://mail.test/api/e2/emails/${emailId}/raw?user=usr_1&signature=s`;

function build(selected: SelectedPayload, maxPayloadOctets: number) {
  const facts = {
    timestamp: new Date('2026-01-02T03:04:05Z'),
    endpoint: { id: 'ep_1', name: 'Tickets', type: 'webhook' },
    selected,
    maxPayloadOctets,
    rawLinkOf: link,
  };
  const body = finishSteps(buildSelectedPayload(facts));
  const { data, truncated, sizeBytes } = finishSteps(laySelectedPayloadOut(facts));
  expect(JSON.parse(body.toString('utf8'))).toMatchObject({ data: JSON.parse(JSON.stringify(data)), truncated });
  expect(body).toHaveLength(sizeBytes);
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

test('texts of megabytes are sent as texts, or as links without a string of them', () => {
  const large = (bytes: number) => {
    const text = new LargeText([Buffer.alloc(bytes, 'x')]);
    return { text, strings: vi.spyOn(text, 'toString') };
  };
  const [one, other] = [large(400_000), large(300_000)];
  const both: SelectedPayload = {
    ...selected,
    data: { email: { text: one.text, content: { html: other.text }, at: new Date(0) } },
    texts: [
      { path: ['email', 'text'], emailId: 'em_1' },
      { path: ['email', 'content', 'html'], emailId: 'em_1' },
    ],
  };
  expect(build(both, 1_000_000).body).toMatchObject({
    data: { email: { text: 'x'.repeat(400_000), content: { html: 'x'.repeat(300_000) }, at: new Date(0).toJSON() } },
    truncated: [],
  });
  const { size, body } = build(both, 500_000);
  expect(size).toBeLessThan(500_000);
  expect(body).toMatchObject({
    data: { email: { text: link('em_1'), content: { html: 'x'.repeat(300_000) } } },
    truncated: ['email.text'],
  });
});

test('texts of megabytes are written in steps and never become strings', () => {
  const text = new LargeText([Buffer.alloc(5_000_000, 'x')]);
  const strings = vi.spyOn(text, 'toString');
  const facts = {
    timestamp: new Date(0),
    endpoint: { id: 'ep_1', name: 'Tickets', type: 'webhook' },
    selected: { ...selected, data: { email: { text } }, texts: [{ path: ['email', 'text'], emailId: 'em_1' }] },
    maxPayloadOctets: 10_000_000,
    rawLinkOf: link,
  };
  let count = 0;
  const steps = buildSelectedPayload(facts);
  for (let step = steps.next(); step.done !== true; step = steps.next()) count++;
  expect(count).toBeGreaterThan(2 * 60);
  expect(strings).not.toHaveBeenCalled();
});

test('a text with a key that looks like the path of a longer one stays', () => {
  const data = { email: { note: { 'a.b': 'short', a: { b: longer } } } };
  const texts = [
    { path: ['email', 'note', 'a.b'], emailId: 'em_1' },
    { path: ['email', 'note', 'a', 'b'], emailId: 'em_1' },
  ];
  expect(build({ ...selected, data, texts }, 10_000).body.data).toEqual({
    email: { note: { 'a.b': 'short', a: { b: link('em_1') } } },
  });
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
