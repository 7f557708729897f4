import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { scanOutgoing } from '../../../actors/screening/scanners.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected, ERAS } from '../../support/servers/mcp-client.ts';
import { EICAR, openTestScanners, startVirusScanner, type VirusServer } from '../../support/servers/scanners.ts';

let gateway: TestGateway;
let viruses: VirusServer;
let box: TestMailbox;
let isAway = false;

beforeAll(async () => {
  viruses = await startVirusScanner((bytes) =>
    isAway
      ? 'INSTREAM: Unable to open file. ERROR\0'
      : bytes.includes(EICAR)
        ? 'stream: Eicar FOUND\0'
        : 'stream: OK\0',
  );
  const { virus } = openTestScanners({ virus: { address: viruses.address, whenAway: 'defer' }, pauseMs: 0 });
  if (virus === null) throw new Error('no scanner');
  gateway = await openTestGateway({ scanOutgoing: (bytes) => scanOutgoing(virus, bytes) });
});
afterAll(async () => {
  await gateway?.close();
  await viruses?.stop();
});
beforeEach(async () => {
  isAway = false;
  box = await gateway.mailbox();
});

const email = (text: string) => ({ from: box.address, to: 'ada@elsewhere.test', subject: 'Hi', text });
const countEmails = async () =>
  (await gateway.actor.pool.query('select from email where workspace_id = $1', [box.workspaceId])).rows.length;

type GatewayResponse = Awaited<ReturnType<TestGateway['call']>>;
const ofRest = (response: GatewayResponse) =>
  response.statusCode < 300 ? 'sent' : [response.statusCode, response.json().code];

/** Each way by which a user sends, and how it says that mail has a virus and that it cannot be checked. */
const DOORS: Record<string, { send: (text: string) => Promise<unknown>; found: unknown; away: unknown }> = {
  'POST /emails': {
    send: async (text) => ofRest(await gateway.call(box.apiKey, 'POST', '/emails', email(text))),
    found: [422, 'VIRUS_FOUND'],
    away: [503, 'SCANNER_AWAY'],
  },
  'a scheduled email': {
    send: async (text) =>
      ofRest(await gateway.call(box.apiKey, 'POST', '/emails', { ...email(text), scheduled_at: 'in 1 hour' })),
    found: [422, 'VIRUS_FOUND'],
    away: [503, 'SCANNER_AWAY'],
  },
  'POST /emails/batch': {
    send: async (text) => ofRest(await gateway.call(box.apiKey, 'POST', '/emails/batch', { emails: [email(text)] })),
    found: [422, 'VIRUS_FOUND'],
    away: [503, 'SCANNER_AWAY'],
  },
  'a draft': {
    async send(text) {
      const draft = (
        await gateway.call(box.apiKey, 'POST', '/drafts', { ...email(text), to: [email(text).to] })
      ).json();
      return ofRest(await gateway.call(box.apiKey, 'POST', `/drafts/${draft.id}/send`, { version: draft.version }));
    },
    found: [422, 'VIRUS_FOUND'],
    away: [503, 'SCANNER_AWAY'],
  },
  'a file in base64': {
    send: async (text) =>
      ofRest(
        await gateway.call(box.apiKey, 'POST', '/emails', {
          ...email('Hi'),
          attachments: [{ filename: 'a.txt', content: Buffer.from(text).toString('base64') }],
        }),
      ),
    // This scanner on loopback does not decode files; clamd does (real-scanners.long.ts).
    found: 'sent',
    away: [503, 'SCANNER_AWAY'],
  },
  MCP: {
    async send(text) {
      const client = await connectInjected(gateway, box.apiKey, ERAS[0]);
      const said = await client.callTool({ name: 'send_email', arguments: email(text) }).then(
        ({ isError, content }) => (isError === true ? JSON.stringify(content) : ''),
        (error: Error) => error.message,
      );
      await client.close();
      return /virus: Eicar|cannot be checked/.exec(said)?.[0] ?? 'sent';
    },
    found: 'virus: Eicar',
    away: 'cannot be checked',
  },
  GraphQL: {
    async send(text) {
      const response = await gateway.graphql(
        box.apiKey,
        'mutation ($input: SendEmailInput!) { sendEmail(input: $input) { __typename ... on Error { message } } }',
        { input: { ...email(text), to: [email(text).to] } },
      );
      return /virus: Eicar|cannot be checked/.exec(response.body)?.[0] ?? 'sent';
    },
    found: 'virus: Eicar',
    away: 'cannot be checked',
  },
  'SMTP submission': {
    async send(text) {
      const bytes = Buffer.from(`From: <${box.address}>\r\nSubject: Hi\r\n\r\n${text}\r\n`);
      const response = await gateway.bus.ask(
        'gateway.message.submit',
        {
          keySha256: hash('sha256', box.apiKey, 'hex'),
          reversePath: box.address,
          recipients: ['ada@elsewhere.test'],
        },
        { bytes },
      );
      return response.verdict === 'refused' ? [response.code, response.enhancedCode] : 'sent';
    },
    found: [550, '5.7.1'],
    away: [451, '4.3.0'],
  },
};

test.each(Object.entries(DOORS))('%s is scanned before it is stored', async (_name, { send, found, away }) => {
  expect(await send(`See ${EICAR}`)).toEqual(found);
  const stored = await countEmails();
  expect(stored).toBe(found === 'sent' ? 1 : 0);
  isAway = true;
  expect(await send('Hello')).toEqual(away);
  expect(await countEmails()).toBe(stored);
  isAway = false;
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await send('Hello')).toBe('sent');
  expect(await countEmails()).toBe(stored + 1);
});
