import { describe, expect, test } from 'vitest';
import {
  type Action,
  MAX_ACTIONS,
  MAX_ACTIONS_BYTES,
  readActions,
  refusedActions,
} from '../../../core/endpoints/actions.ts';

function read(body: unknown, contentType = 'application/json') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readActions({ contentType, body: Buffer.from(text), isTooLong: false });
}

test('reads all types of actions', () => {
  const actions = [
    { type: 'reply', text: 'Hello', html: '<p>Hello</p>' },
    { type: 'reply', text: 'Hello', subject: 'Ticket 4711', reply_to: 'Desk <desk@example.com>' },
    { type: 'reply', text: 'Hello', reply_to: ['a@example.com', 'b@example.com'] },
    { type: 'forward', to: 'Ada <ada@example.com>' },
    { type: 'label', name: 'billing' },
    { type: 'archive' },
    { type: 'read' },
    { type: 'hold' },
    { type: 'route', endpointId: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' },
  ];
  expect(read({ actions, note: 'other members belong to the receiver' })).toEqual({ kind: 'some', actions });
});

test.each([
  ['application/json'],
  ['application/json; charset=utf-8'],
  ['APPLICATION/JSON'],
  ['application/vnd.acme.v1+json'],
])('reads a response of type %s', (contentType) => {
  expect(read({ actions: [{ type: 'read' }] }, contentType).kind).toBe('some');
});

test.each([
  ['an empty body', ''],
  ['another object', { ok: true }],
  ['no actions', { actions: [] }],
  ['actions that are null', { actions: null }],
  ['a list', [{ actions: [{ type: 'read' }] }]],
  ['a string', '"ok"'],
])('finds no actions in %s', (_, body) => {
  expect(read(body)).toEqual({ kind: 'none' });
});

test.each([
  [
    'an unknown type',
    [{ type: 'read' }, { type: 'archive' }, { type: 'erase' }],
    'actions[2].type',
    /^Use one of reply, /,
  ],
  ['a missing type', [{ text: 'Hello' }], 'actions[0].type', /^Use one of reply, /],
  ['an action that is no object', ['read'], 'actions[0]', /^It must be an object/],
  ['actions that are no list', { type: 'read' }, 'actions', /^It must be an array/],
  ['too many actions', Array.from({ length: MAX_ACTIONS + 1 }, () => ({ type: 'read' })), 'actions', /^At most 10/],
  ['a reply without content', [{ type: 'reply' }], 'actions[0].text', /needs text, html, or both/],
  ['a reply of empty strings', [{ type: 'reply', text: '', html: '' }], 'actions[0].text', /needs text/],
  ['a text that is a number', [{ type: 'reply', text: 1 }], 'actions[0].text', /must be a string/],
  [
    'a subject of two lines',
    [{ type: 'reply', text: 'x', subject: 'a\nBcc: b@x.test' }],
    'actions[0].subject',
    /one line/,
  ],
  ['a subject that is a number', [{ type: 'reply', text: 'x', subject: 1 }], 'actions[0].subject', /must be a string/],
  ['a long subject', [{ type: 'reply', text: 'x', subject: 'x'.repeat(2_000) }], 'actions[0].subject', /longer than/],
  ['an invalid reply_to', [{ type: 'reply', text: 'x', reply_to: 'desk' }], 'actions[0].reply_to', /desk/],
  [
    'a reply_to with a line break',
    [{ type: 'reply', text: 'x', reply_to: 'a@x.test\r\nBcc: b@x.test' }],
    'actions[0].reply_to',
    /./,
  ],
  [
    'a reply_to that is an object',
    [{ type: 'reply', text: 'x', reply_to: {} }],
    'actions[0].reply_to',
    /email address/,
  ],
  [
    'the reply_to of another case',
    [{ type: 'reply', text: 'x', replyTo: 'a@x.test' }],
    'actions[0].replyTo',
    /no such field/,
  ],
  ['an unknown field', [{ type: 'read', all: true }], 'actions[0].all', /no such field/],
  ['a field with a strange name', [{ type: 'read', 'a b': 1 }], 'actions[0]["a b"]', /no such field/],
  ['a missing address', [{ type: 'forward' }], 'actions[0].to', /one email address/],
  ['an invalid address', [{ type: 'forward', to: 'ada' }], 'actions[0].to', /one email address/],
  ['an empty address', [{ type: 'forward', to: '' }], 'actions[0].to', /one email address/],
  ['two addresses', [{ type: 'forward', to: 'a@x.test, b@x.test' }], 'actions[0].to', /one email address/],
  ['a list of addresses', [{ type: 'forward', to: ['a@x.test'] }], 'actions[0].to', /one email address/],
  ['an empty label', [{ type: 'label', name: ' ' }], 'actions[0].name', /^A label has 1 to 64/],
  ['a label of two lines', [{ type: 'label', name: 'a\nb' }], 'actions[0].name', /control characters/],
  ['an invalid endpoint ID', [{ type: 'route', endpointId: 'a b' }], 'actions[0].endpointId', /ID of an endpoint/],
])('rejects %s with its place', (_, actions, place, message) => {
  expect(read({ actions })).toEqual({ kind: 'invalid', problem: { place, message: expect.stringMatching(message) } });
});

describe('a response that cannot be read', () => {
  const invalid = (message: RegExp) => ({
    kind: 'invalid',
    problem: { place: null, message: expect.stringMatching(message) },
  });

  test('is longer than the limit', () => {
    const body = Buffer.alloc(MAX_ACTIONS_BYTES, ' ');
    expect(readActions({ contentType: 'application/json', body, isTooLong: true })).toEqual(invalid(/262144 bytes/));
    expect(readActions({ contentType: 'text/html', body, isTooLong: true })).toEqual({ kind: 'none' });
  });

  test.each([
    ['cut JSON', '{"actions":[{"type":"read"}'],
    ['text', 'ok'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('latin1')],
  ])('is %s', (_, body) => {
    const bytes = Buffer.from(body, 'latin1');
    expect(readActions({ contentType: 'application/json', body: bytes, isTooLong: false })).toEqual(
      invalid(/not valid JSON/),
    );
  });

  test.each(['text/plain', 'text/html; charset=utf-8', 'application/jsonp', ''])(
    'has actions under the Content-Type %j: a receiver that repeats the text of a mail does not act on it',
    (contentType) => {
      expect(read({ actions: [{ type: 'forward', to: 'thief@example.com' }] }, contentType)).toEqual(
        invalid(/Send actions as application\/json/),
      );
      expect(read('ok', contentType)).toEqual({ kind: 'none' });
    },
  );
});

test('the place of a field that PostgreSQL cannot store is escaped', () => {
  expect(read('{"actions":[{"type":"read","\\u0000\\ud800":1}]}')).toEqual({
    kind: 'invalid',
    problem: { place: 'actions[0]["\\u0000\\ud800"]', message: expect.any(String) },
  });
});

test('one refused action skips the others', () => {
  const actions: Action[] = [{ type: 'read' }, { type: 'label', name: 'a' }, { type: 'hold' }];
  expect(refusedActions(actions, 1, 'No.')).toEqual({
    problem: { place: 'actions[1]', message: 'No.' },
    results: [
      expect.objectContaining({ type: 'read', status: 'skipped', message: 'Not run, because actions[1] was refused.' }),
      expect.objectContaining({ type: 'label', status: 'refused', message: 'No.' }),
      expect.objectContaining({ type: 'hold', status: 'skipped' }),
    ],
  });
});
