import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase } from '../cluster/database.ts';
import { insertMail } from '../rows/mail-rows.ts';
import { createMailbox, type TestMailbox } from '../rows/routing-rows.ts';
import { type GatewayProcess, startGatewayProcess } from '../servers/gateway-process.ts';
import { startNatsServer } from '../servers/nats.ts';

/** Bytes of the text of a large email, in UTF-8. */
export const LARGE_TEXT = 14_000_000;
/** Messages of the large thread. */
export const THREAD_MESSAGES = 14;

/** The rest of a request that is held; GET without a body if omitted. */
interface HeldRequest {
  method?: 'GET' | 'POST';
  /** with line ends; with a Cookie first, the request has no key */
  headers?: string;
  body?: string;
}

/** A gateway as a process of its own, an account that attacks it, and one that only wants to work. */
export interface ExhaustionStage {
  gateway: GatewayProcess;
  natsUrl: string;
  /** the owner of the tables */
  owner: Database;
  attacker: TestMailbox;
  other: TestMailbox;
  /** a large email of the attacker, which is in the large thread */
  largeId: string;
  threadId: string;
  /** a large email of the other account */
  otherLargeId: string;
  /** Returns the most memory that the process has had since `forgetPeak`, in bytes. */
  peakMemory: () => Promise<number>;
  /** Begins the measure of memory anew (proc(5), clear_refs). */
  forgetPeak: () => Promise<void>;
  get: (box: TestMailbox, path: string) => Promise<Response>;
  graphql: (box: TestMailbox, query: string, variables?: Record<string, unknown>) => Promise<Response>;
  /** Begins a request, and resolves with the beginning of its response, of which nothing more is read. */
  hold: (box: TestMailbox, path: string, request?: HeldRequest) => Promise<string>;
  /** Closes the connections of held requests. */
  letGo: () => void;
  close: () => Promise<void>;
}

/** `text` is that of each large email. */
export async function openExhaustionStage(
  text: string,
  { messages = THREAD_MESSAGES }: { messages?: number } = {},
): Promise<ExhaustionStage> {
  const database = await createTestDatabase();
  const nats = await startNatsServer();
  const owner = database.open(null);
  const attacker = await createMailbox(owner, { domain: 'attacker.test', address: 'hello@attacker.test' });
  const other = await createMailbox(owner, { domain: 'other.test', address: 'hello@other.test' });
  const actor = database.open('postroom_actor');
  const threadId = `thr_${randomBytes(12).toString('hex')}`;
  await actor.pool.query(
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
       received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
     values ($1, $2, '<root@elsewhere.test>', 'large', '{}', '{}', 'large', $3, $3, $3, 0, 'em_latest', now(), now())`,
    [attacker.workspaceId, threadId, messages],
  );
  const ids: string[] = [];
  for (let position = 1; position <= messages; position++)
    ids.push(
      ...(await insertMail(actor, [
        { workspaceId: attacker.workspaceId, text, threadId, threadPosition: position, raw: Buffer.from('x') },
      ])),
    );
  const [otherLargeId = ''] = await insertMail(actor, [{ workspaceId: other.workspaceId, text }]);
  const gateway = await startGatewayProcess(
    {
      ...database.environment,
      NATS_URL: nats.url,
      RATE_LIMIT_PER_SECOND: '0',
      ALLOW_UNSAFE_WRITES: 'true',
      LOG_LEVEL: 'warn',
    },
    { measuresBlocks: true },
  );
  const sockets: Socket[] = [];
  const makeHeaders = ({ apiKey }: TestMailbox) => ({ authorization: `Bearer ${apiKey}` });
  const letGo = () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  return {
    gateway,
    natsUrl: nats.url,
    owner,
    attacker,
    other,
    largeId: ids[0] ?? '',
    threadId,
    otherLargeId,
    async peakMemory() {
      const status = await readFile(`/proc/${gateway.child.pid}/status`, 'utf8');
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1_024;
    },
    forgetPeak: () => writeFile(`/proc/${gateway.child.pid}/clear_refs`, '5'),
    get: (box, path) => fetch(`${gateway.url}/api/e2${path}`, { headers: makeHeaders(box) }),
    graphql: (box, query, variables = {}) =>
      fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { ...makeHeaders(box), 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      }),
    async hold(box, path, { method = 'GET', headers = '', body = '' } = {}) {
      const socket = connect(gateway.port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined);
      const key = /^cookie:/i.test(headers) ? '' : `Authorization: Bearer ${box.apiKey}\r\n`;
      const fields = `Host: localhost\r\n${key}${headers}`;
      const length =
        body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      socket.write(
        `${method} ${/^\/(?:graphql|api\/)/.test(path) ? '' : '/api/e2'}${path} HTTP/1.1\r\n${fields}${length}\r\n${body}`,
      );
      const closed = once(socket, 'close').then(() => Promise.reject(new Error('closed before the response')));
      const [chunk] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer];
      closed.catch(() => undefined);
      socket.pause();
      return chunk.toString('latin1');
    },
    letGo,
    async close() {
      letGo();
      await gateway.end('SIGTERM');
      await nats.close();
      await database.drop();
    },
  };
}
