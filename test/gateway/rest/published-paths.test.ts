import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const modules = path.resolve(import.meta.dirname, '../../../node_modules');

/** Returns `GET /emails/x`: the method and path of a call in the source of a client, with `x` in place of its arguments. */
function requestOf(method: string, template: string, inboxPath = ''): string {
  const filled = template.replaceAll(`\${inboxPath}`, inboxPath).replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'x');
  return `${method.toUpperCase()} ${filled.replace(/^\/api\/e2/, '')}`;
}

/** Returns the calls of the `resend` client whose path is written where it is called. */
function callsOfResend(): string[] {
  const source = readFileSync(path.join(modules, 'resend/dist/index.mjs'), 'utf8');
  const calls = source.matchAll(/this\.resend\.(get|post|put|patch|delete)\((?:`([^`]*)`|"([^"]*)")/g);
  return [...calls].flatMap(([, method = '', template, plain = '']) => {
    // The query of a list is added to the path without a slash.
    const given = (template ?? plain).replace(/(?<=\w)\$\{.*$/s, '');
    return [requestOf(method, given, '/inboxes/x')];
  });
}

/** Returns the calls of the `inboundemail` client. */
function callsOfInbound(): string[] {
  const folder = path.join(modules, 'inboundemail/resources');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.mjs'));
  return sources.flatMap((file) => {
    const source = readFileSync(path.join(folder, file), 'utf8');
    const calls = source.matchAll(/_client\.(get|post|put|patch|delete)\((?:path `([^`]*)`|'([^']*)')/g);
    return [...calls].map(([, method = '', template, plain = '']) => requestOf(method, template ?? plain));
  });
}

/** Calls of the clients of Resend whose path is not written where it is called, or which other languages have. */
const otherCalls = [
  'GET /emails',
  'GET /emails/metrics',
  'GET /emails/receiving',
  'GET /emails/receiving/x/attachments',
  'GET /emails/x/attachments',
  'GET /domains',
  'GET /api-keys',
  'GET /audiences',
  'POST /audiences',
  'DELETE /audiences/x',
  'GET /events',
  'GET /logs',
  'GET /oauth/grants',
  'GET /suppressions',
  'GET /broadcasts/x/recipients',
  'POST /mailboxes/x/rotate-password',
];

const calls = [...new Set([...callsOfResend(), ...callsOfInbound(), ...otherCalls])].sort();

test('the clients have the calls that this file tries', () => {
  expect(calls.length).toBeGreaterThan(120);
  expect(calls).toEqual(
    expect.arrayContaining([
      'POST /events/send',
      'PATCH /emails/x',
      'GET /mail/threads/x',
      'POST /inboxes/x/drafts/x/send',
    ]),
  );
});

test.each(calls)('%s of a published client is served, or responds 501 with what to use instead', async (call) => {
  const [method = '', url = ''] = call.split(' ');
  const response = await gateway.call(box.apiKey, method, url, method === 'GET' ? undefined : {});
  const { error, message } = response.json();
  if (response.statusCode === 501) expect([error, message]).toEqual(['Not Implemented', expect.stringMatching(/\.$/)]);
  else expect([response.statusCode, error]).not.toEqual([404, 'Not Found']);
  expect([200, 400, 404, 501]).toContain(response.statusCode);
  // The id of no email, so that the path is one of its own.
  if (url === '/emails/metrics') expect(response.statusCode).toBe(501);
});
