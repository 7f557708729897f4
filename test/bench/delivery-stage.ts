import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Actor } from '../../actors/actor.ts';
import { startDeliveryActor } from '../../actors/delivery/actor.ts';
import { createEndpointLookup, type DeliveryEndpoint } from '../../actors/delivery/endpoint-lookup.ts';
import { buildPayload, isRawNeeded, makeWebhookRequest } from '../../actors/delivery/post-webhook.ts';
import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { makeIdentifier } from '../../core/shared/identifiers.ts';
import { startEmbeddedCluster } from '../../db/cluster/embedded-cluster.ts';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { migrate } from '../../db/migrate.ts';
import { type DeliveryContentRow, readDeliveryContentSql } from '../../db/queries/endpoints/delivery-body.ts';
import { readPayloadTexts } from '../../operations/emails/html-text.ts';
import { freePort, loginAs } from '../support/cluster/cluster.ts';
import { insertReceivedMail } from '../support/rows/received-mail.ts';
import { createMailbox, type TestMailbox } from '../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../support/rows/stored-message.ts';
import { processTree } from '../support/servers/process-tree.ts';
import { testActorContext } from '../support/stages/actor-context.ts';
import { BenchChild } from './child.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { findPostmaster } from './postroom-server.ts';
import type { SinkArrival } from './webhook-sink-process.ts';

export interface StageOptions {
  endpoints: number;
  mails: number;
  /** of the text body of each */
  bytes: number;
  /** the process that takes the webhooks, if not webhook-sink-process.ts */
  sink?: './ordering-sink-process.ts';
  /** of PostgreSQL */
  settings?: Record<string, string>;
}

/** A request as the actor makes it. */
export interface PreparedRequest {
  deliveryId: string;
  origin: string;
  headers: string[];
  body: Buffer;
}

/** A PostgreSQL of its own, received mail of several users with endpoints at a sink, the last of which hangs, and backlogs of deliveries. */
export interface DeliveryStage {
  database: Database;
  /** plans as usual, for what looks at everything */
  owner: Database;
  /** CPU time of PostgreSQL so far; milliseconds */
  postgresqlCpuMs(): number;
  /** Makes a delivery of every mail that is due, of the endpoint that hangs only if told; returns their ids, without those. */
  makeBacklog(options: { withHanging: boolean }): Promise<string[]>;
  /** The requests of these deliveries. */
  prepare(deliveryIds: readonly string[]): Promise<PreparedRequest[]>;
  startActor(): Promise<Actor>;
  /** Asks the process that takes the webhooks. */
  ask<T>(order: object): Promise<T>;
  /** Resolves when that many webhooks came, with them; throws after the limit. */
  arrived(count: number, limitMs: number): Promise<SinkArrival[]>;
  stop(): Promise<void>;
}

const SECRET_KEY = new Uint8Array(32);
const PUBLIC_URL = 'https://mail.example.test';
const ENDPOINTS_PER_USER = 10;

export async function openDeliveryStage(options: StageOptions): Promise<DeliveryStage> {
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const port = await freePort();
  const cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password: randomBytes(12).toString('hex'),
    port,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
  });
  const sink = new BenchChild(options.sink ?? './webhook-sink-process.ts');
  const { ports } = await sink.ask<{ ports: number[] }>({ listenOn: options.endpoints });
  await migrate(cluster.url);
  const open = async (role: 'postroom_actor' | null) =>
    openDatabase({
      url: await loginAs(cluster.url, role),
      role,
      poolSize: 6,
      applicationName: 'bench',
      onError: () => undefined,
    });
  const database = await open('postroom_actor');
  const owner = await open(null);
  describeMachine();
  await describePostgresql('the actor', cluster.url);
  // linux/magic.h TMPFS_MAGIC
  console.log(
    `disk: ${(await statfs(directory)).type === 0x01021994 ? 'memory (not a real disk)' : 'a file system on a device'}`,
  );

  const mailboxes: TestMailbox[] = [];
  for (const [n, sinkPort] of ports.entries()) {
    const domain = `bench${n}.test`;
    const workspaceId = mailboxes[n - (n % ENDPOINTS_PER_USER)]?.workspaceId;
    mailboxes.push(
      await createMailbox(database, {
        domain,
        address: `hello@${domain}`,
        endpointUrl: `http://127.0.0.1:${sinkPort}/hook`,
        ...(workspaceId === undefined ? {} : { workspaceId }),
      }),
    );
  }
  const hanging = mailboxes.at(-1)?.endpointId ?? '';
  const emails: { workspaceId: string; emailId: string; endpointId: string }[] = [];
  const share = Math.ceil(options.mails / mailboxes.length);
  for (const mailbox of mailboxes)
    for (const { emailId } of await insertReceivedMail(database, mailbox, { count: share, textBytes: options.bytes }))
      emails.push({ workspaceId: mailbox.workspaceId, emailId, endpointId: mailbox.endpointId ?? '' });
  // Endpoints take turns, as in mail that came in.
  const inTurns = emails.map((email, n) => ({ ...email, turn: n % share })).toSorted((a, b) => a.turn - b.turn);
  await owner.pool.query(`update route set outcome = 'endpoint', decided_at = now()`);
  // As the parser leaves mail of which nothing had to be stripped.
  await owner.pool.query('update email_content set cleaned_text = null');
  await owner.pool.query('vacuum full analyze email_content');
  await owner.pool.query('vacuum analyze');

  const postmaster = await findPostmaster(cluster.url);
  const lookup = createEndpointLookup({
    pool: database.pool,
    secretKey: SECRET_KEY,
    log: testActorContext(database).log,
  });

  return {
    database,
    owner,
    postgresqlCpuMs: () => processTree(postmaster).reduce((sum, { cpuSeconds }) => sum + cpuSeconds * 1_000, 0),
    async makeBacklog({ withHanging }) {
      await owner.pool.query(`delete from delivery where status = 'pending'`);
      await owner.pool.query('truncate endpoint_stat');
      const startedAt = Date.now() - inTurns.length;
      const rows = inTurns
        .map((email, n) => ({ ...email, id: makeIdentifier('delivery', new Date(startedAt + n), randomBytes(10)) }))
        .filter(({ endpointId }) => withHanging || endpointId !== hanging);
      await owner.pool.query(
        `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, attempts_allowed,
           next_attempt_at, created_at)
         select r.*, 'webhook', 'th_test', 0, 4, now() - interval '1 hour' + n * interval '1 millisecond', now()
         from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as r(workspace_id, id, email_id, endpoint_id, n)`.replace(
          'r.*',
          'r.workspace_id, r.id, r.email_id, r.endpoint_id',
        ),
        [
          rows.map(({ workspaceId }) => workspaceId),
          rows.map(({ id }) => id),
          rows.map(({ emailId }) => emailId),
          rows.map(({ endpointId }) => endpointId),
        ],
      );
      await owner.pool.query('analyze');
      await owner.pool.query('checkpoint');
      await sink.ask({ clear: true });
      return rows.filter(({ endpointId }) => endpointId !== hanging).map(({ id }) => id);
    },
    prepare: (deliveryIds) => prepareRequests(owner, (key) => lookup.recent(key), deliveryIds),
    startActor: () =>
      startDeliveryActor(testActorContext(database), {
        publicUrl: PUBLIC_URL,
        allowedPrivateNetworks: ['127.0.0.0/8'],
        refusedPorts: [],
        secretKey: SECRET_KEY,
      }),
    ask: (order) => sink.ask(order),
    async arrived(count, limitMs) {
      const deadline = performance.now() + limitMs;
      while (performance.now() < deadline) {
        if ((await sink.ask<{ count: number }>({ count: true })).count >= count)
          return (await sink.ask<{ arrivals: SinkArrival[] }>({ arrivals: true })).arrivals;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`of ${count} webhooks not all came in ${limitMs} ms`);
    },
    async stop() {
      sink.stop();
      await Promise.all([database.close(), owner.close()]);
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface DeliveryFacts extends MessageColumns {
  id: string;
  workspace_id: string;
  email_id: string;
  endpoint_id: string;
  created_at: Date;
  thread_id: string;
  thread_position: number;
  raw_id: string;
}

async function prepareRequests(
  owner: Database,
  find: (key: { workspaceId: string; endpointId: string }) => Promise<DeliveryEndpoint | undefined>,
  deliveryIds: readonly string[],
): Promise<PreparedRequest[]> {
  const { rows } = await owner.pool.query<DeliveryFacts>(
    `select d.*, ${MESSAGE_COLUMNS} from delivery d join email e on e.workspace_id = d.workspace_id and e.id = d.email_id join raw_message m on m.id = e.raw_id
     where d.id = any($1::text[])`,
    [deliveryIds],
  );
  const contents = await owner.pool.query<DeliveryContentRow>(readDeliveryContentSql, [
    rows.map((row) => row.workspace_id),
    rows.map((row) => row.email_id),
  ]);
  const emails = new Map(contents.rows.map((email) => [email.id, email]));
  const requests = new Map<string, PreparedRequest>();
  for (const row of rows) {
    const email = emails.get(row.email_id);
    const endpoint = await find({ workspaceId: row.workspace_id, endpointId: row.endpoint_id });
    const webhook = endpoint?.webhook ?? null;
    if (email === undefined || endpoint === undefined || webhook === null) throw new Error('nothing to prepare from');
    const built = await buildPayload({
      removed: await readPayloadTexts(email),
      job: { createdAt: row.created_at, threadId: row.thread_id, threadPosition: row.thread_position },
      endpoint,
      webhook,
      email,
      raw: isRawNeeded({ endpoint, webhook, email }) ? readStoredMessage(row) : null,
      publicUrl: PUBLIC_URL,
      linkKey: deriveDownloadLinkKey(SECRET_KEY),
    });
    const made = { endpoint, webhook, email, body: built, deliveryId: row.id, sentAt: new Date() };
    const { origin, headers, body } = makeWebhookRequest(made);
    requests.set(row.id, { deliveryId: row.id, origin, headers, body });
  }
  return deliveryIds.flatMap((id) => requests.get(id) ?? []);
}
