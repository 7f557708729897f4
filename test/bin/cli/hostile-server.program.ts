import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostroom } from '../../support/servers/postroom-runs.ts';

/*
 * Texts of others reach the terminal of who runs `postroom`: those of senders, and of a server that is not theirs. None may control it.
 */

/** Sets the title of the window, deletes a line, and more, in 7 and in 8 bits; reverses text; and ends with what a shell would run. */
const HOSTILE =
  'x\u{1b}]0;owned\u{7}\u{9b}2K\u{9d}0;owned\u{9c}\u{202e}\u{2066}\r\u{8}\u{7f}\u{90}q\u{1b}P$q"p\u{1b}\\y';
/** Whatever a terminal obeys, except line ends, tabs and colors. */
const CONTROLS = /(?!\u{1b}\[[\d;]*m)[\u{0}-\u{8}\u{b}-\u{1f}\u{7f}-\u{9f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u;

/** A value of which each property is hostile, of whatever name. */
const row = Object.fromEntries(
  `id name domain status type address endpointId subject kind updated_at email_id thread_id delivery_id endpoint_id domain_id cursor at from
   from_name message text html text_body signingSecret signing_secret token approval expires_at scheduled_at recipient sender reply last_at
   client_address code url event_id body next_cursor latest_cursor date created_at user_code until timezone reason detail`
    .split(/\s+/)
    .map((name) => [name, HOSTILE]),
);
const recipient = { address: HOSTILE, status: HOSTILE, last_response: HOSTILE };
const lists = {
  to: [HOSTILE],
  cc: [HOSTILE],
  bcc: [HOSTILE],
  participant_emails: [HOSTILE],
  participant_names: [HOSTILE],
  recipients: [recipient],
  attachments: [{ filename: HOSTILE, size: 3 }],
  security_warnings: [{ text: HOSTILE }],
  records: [{ type: HOSTILE, name: HOSTILE, priority: 1, value: HOSTILE }],
};
const one = {
  ...row,
  ...lists,
  config: { url: HOSTILE },
  deliveryStats: { failed: 1 },
  metadata: HOSTILE,
  data: { reason: HOSTILE },
};
const email = {
  ...one,
  type: 'received',
  created_at: new Date().toISOString(),
  date: new Date().toISOString(),
  scheduled_at: null,
};
const page = {
  ...email,
  [HOSTILE]: HOSTILE,
  data: [email],
  threads: [{ ...email, last_message_at: email.created_at }],
  messages: [{ ...email, type: 'inbound' }],
  thread: email,
  email,
  codes: [{ code: HOSTILE }],
  links: [{ url: HOSTILE, text: HOSTILE, is_unsubscribe: false }],
  timed_out: false,
  has_more: false,
  pagination: { next_cursor: null },
  sender_verdict: { verdict: HOSTILE, text: HOSTILE },
};
const problem = {
  message: HOSTILE,
  error: HOSTILE,
  error_description: HOSTILE,
  details: [{ field: HOSTILE, message: HOSTILE }],
};

let server: Server;
let isRefusing = false;
let home: string;
let url: string;

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(isRefusing ? 422 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isRefusing ? problem : page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  home = await mkdtemp(path.join(tmpdir(), 'postroom-hostile-'));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(home, { recursive: true, force: true });
});

const mail = ['--from', 'a@b.test', '--to', 'c@d.test', '--subject', 'x', '--text', 'x'];
const COMMANDS: string[][] = [
  ['inbox'],
  ['inbox', '--emails'],
  ['read', 'em_1'],
  ['read', 'th_1'],
  ['wait', '--timeout', '1'],
  ['wait', '--timeout', '1', '--code'],
  ['wait', '--timeout', '1', '--link'],
  ['tail', '--since', 'start', '--no-follow'],
  ['send', ...mail],
  ['approvals'],
  ['approve', 'em_1'],
  ['claim', 'th_1', '--holder', 'x'],
  ['replay'],
  ['replay', 'em_1'],
  ['domains'],
  ['domains', '--create', 'x.test'],
  ['domains', '--delete', 'dom_1'],
  ['endpoints', '--create', 'https://x.test/'],
  ['addresses'],
  ['drafts'],
  ['drafts', '--send', 'drf_1'],
  ['suppressions'],
  ['reply-addresses'],
  ['refusals'],
  ['doctor'],
  ['login', '--no-browser'],
];

describe.each([
  ['a server that says yes', false],
  ['a server that refuses', true],
])('with %s', (_how, refuses) => {
  test.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
    'postroom %s prints nothing that controls a terminal',
    async (_name, words) => {
      isRefusing = refuses;
      const environment = { XDG_CONFIG_HOME: home, POSTROOM_URL: url, POSTROOM_KEY: 'x'.repeat(43), FORCE_COLOR: '1' };
      for (const more of [[], ['--json']]) {
        const { out, error } = await startPostroom([...words, ...more], environment).ended;
        expect(
          [out, error].map((text) => CONTROLS.exec(text)?.[0]),
          out + error,
        ).toEqual([undefined, undefined]);
        expect(out + error).not.toBe('');
      }
    },
  );
});
