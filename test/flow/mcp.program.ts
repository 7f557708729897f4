import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS } from '../support/servers/mcp-client.ts';
import { ForwardingStage } from '../support/stages/forwarding-stage.ts';
import { readField, type SharedGround } from '../support/stages/sending-stage.ts';

const PEER = 'agents-peer.test';
const root = path.resolve(import.meta.dirname, '../..');

let stage: ForwardingStage<SharedGround>;
let address: string;
/** The home folder of somebody who has installed the command line and signed in. */
let home: string;

beforeAll(async () => {
  stage = await ForwardingStage.share('single', PEER);
  address = await stage.sending.createAddress('agent');
  home = mkdtempSync(path.join(tmpdir(), 'postroom-home-'));
  const { service, account } = stage.sending;
  const install =
    'curl -sS --create-dirs -fo ~/.local/bin/postroom "$URL/postroom.mjs" && chmod +x ~/.local/bin/postroom';
  execFileSync('sh', ['-c', `${install} && printf '%s\\n' "$KEY" | ~/.local/bin/postroom init --url "$URL"`], {
    env: { ...environment(), URL: service.url, KEY: account.apiKey },
  });
}, 300_000);
afterAll(async () => {
  await stage?.stop();
  rmSync(home, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CONFIG_HOME: path.join(home, '.config') };
}

/** The server as a configuration of docs/agents.md names it. */
interface Configured {
  url?: string;
  headers?: Record<string, string>;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
}

/** The configurations of clients, all but the first one, which signs in by OAuth: oauth-mcp.test.ts. */
const examples = [...readFileSync(path.join(root, 'docs/agents.md'), 'utf8').matchAll(/```json\n(.*?)```/gs)]
  .map(([, text = '']) => text)
  .filter((text) => /"(?:mcpServers|servers)"/.test(text))
  .slice(1);

/** Connects the official client by the configuration that this example of the page has for a client. */
const byExample = (at: number, era: string) => async () => {
  const { service, account } = stage.sending;
  const text = (examples[at] ?? '')
    .replaceAll(/\$\{(?:env:)?POSTROOM_KEY\}|\$\{input:postroom-key\}/g, account.apiKey)
    .replaceAll('http://localhost:3000', service.url);
  const { mcpServers, servers } = JSON.parse(text) as Record<string, Record<string, Configured>>;
  const { url, headers = {}, command, args = [], env = {} } = (mcpServers ?? servers)?.['postroom'] ?? {};
  const mode = era === ERAS[0] ? { pin: era } : 'legacy';
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(
    command === undefined
      ? new StreamableHTTPClientTransport(new URL(url ?? ''), { requestInit: { headers } })
      : new StdioClientTransport({ command, args, env: { ...environment(), ...env } }),
  );
  return client;
};

test('the configuration of every client connects', async () => {
  expect(examples).toHaveLength(4);
  for (const at of [1, 2]) {
    const client = await byExample(at, ERAS[0])();
    expect((await client.listTools()).tools.length).toBeGreaterThan(20);
    await client.close();
  }
});

describe.each([
  ['HTTP', byExample(0, ERAS[0])],
  ['stdio', byExample(3, ERAS[0])],
  ['stdio with a client of before', byExample(3, ERAS[1])],
])('over %s', (name, connect) => {
  test('an agent waits for mail, finds it, reads it with its attachment, and its reply arrives', async () => {
    const client = await connect();
    const call = async (tool: string, given: Record<string, unknown>) => {
      const { structuredContent, content, isError } = await client.callTool({ name: tool, arguments: given });
      expect(isError, JSON.stringify(content)).not.toBe(true);
      // oxlint-disable-next-line typescript/no-explicit-any -- tests read into the results of many tools
      return structuredContent as Record<string, any>;
    };
    const { addresses } = await call('who_am_i', {});
    expect(addresses).toContainEqual({ address, is_active: true });

    const id = `${name.replaceAll(' ', '-')}@${PEER}`;
    const waiting = call('wait_for_email', { address, subject: name, since: new Date().toISOString(), timeout: 45 });
    const emailId = await stage.offer(address, message(name, id), `ann@${PEER}`);
    const { email, untrusted: found } = await waiting;
    expect(email).toMatchObject({ id: emailId, untrusted: { from: expect.stringContaining(`ann@${PEER}`) } });
    expect(found.codes[0].code).toBe('482913');

    const { threads } = await call('search_threads', { search: `subject:"${name}"` });
    const thread = threads.find((each: { id: string }) => each.id === email.thread_id);
    const { messages } = await call('read_thread', { thread_id: thread.id });
    expect(messages[0].untrusted.text).toContain('482913');
    const { contents } = await client.readResource({ uri: email.attachments[0].uri });
    expect(contents[0]).toMatchObject({ mimeType: 'text/csv', text: expect.stringContaining('4711') });

    const reply = { kind: 'reply', original_email_id: emailId, from: address, text: `Sent over ${name}.` };
    const draft = await call('create_draft', reply);
    const sending = { draft_id: draft['id'], version: draft['version'], idempotency_key: name };
    const sent = await call('send_draft', sending);
    expect(await call('send_draft', sending)).toEqual(sent);
    const arrived = await stage.sending.awaitMessage(String(sent['message_id']));
    expect(readField(arrived.bytes, 'In-Reply-To')).toBe(`<${id}>`);
    expect(arrived.bytes.toString()).toContain(`Sent over ${name}.`);
    await call('label_threads', { thread_ids: [thread.id], add_labels: ['answered'] });
    await call('archive_threads', { thread_ids: [thread.id] });
    await client.close();
  });
});

function message(subject: string, id: string): string {
  return [
    `From: Ann Peer <ann@${PEER}>`,
    `To: ${address}`,
    `Subject: ${subject}`,
    `Message-ID: <${id}>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Your verification code is 482913.',
    '--b',
    'Content-Type: text/csv; name=orders.csv',
    'Content-Disposition: attachment; filename=orders.csv',
    '',
    'id',
    '4711',
    '',
    '--b--',
    '',
  ].join('\r\n');
}
