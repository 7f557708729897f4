import { randomUUID } from 'node:crypto';
import { insertKey } from '../rows/key-rows.ts';
import { insertMail, insertThread } from '../rows/mail-rows.ts';
import type { TestMailbox } from '../rows/routing-rows.ts';
import type { TestGateway } from '../servers/gateway.ts';

/** An account whose things requests can change; each function makes a new one with full rights, and returns its id. */
export interface StoringWorld {
  box: TestMailbox & { endpointId: string };
  /** a received email that was routed */
  received: () => Promise<string>;
  /** a received email whose delivery failed */
  failedDelivery: () => Promise<{ emailId: string; deliveryId: string }>;
  /** an email that is deferred */
  deferred: () => Promise<string>;
  /** a batch whose emails all failed */
  failedBatch: () => Promise<string>;
  scheduled: () => Promise<string>;
  paused: () => Promise<string>;
  awaitingApproval: () => Promise<string>;
  draft: () => Promise<{ id: string; version: number }>;
  endpoint: (type: 'webhook' | 'email' | 'email_group', more?: object) => Promise<string>;
  rule: (action: object) => Promise<string>;
  address: () => Promise<string>;
  /** a received email that a rule holds */
  held: () => Promise<string>;
  key: () => Promise<string>;
  /** a thread with a received email */
  thread: () => Promise<string>;
  /** a note in a thread */
  note: () => Promise<string>;
  /** a thread with its claim */
  claimed: () => Promise<{ id: string; token: string }>;
  /** an address whose images are shown */
  imageSender: () => Promise<string>;
  savedView: () => Promise<string>;
  snippet: () => Promise<string>;
  /** a suppression, and an address that has one */
  suppression: () => Promise<string>;
  suppressed: () => Promise<string>;
  /** a domain without addresses */
  domain: () => Promise<string>;
  replyAddress: () => Promise<string>;
  /** a person who is a viewer */
  member: () => Promise<string>;
  customer: () => Promise<string>;
  invitation: () => Promise<string>;
  /** a grant of OAuth */
  grant: () => Promise<string>;
  /** a number that was not used before */
  days: () => number;
  /** a text that was not used before */
  fresh: () => string;
}

export const LATER = new Date(Date.now() + 86_400_000).toISOString();

const CONFIGS = {
  webhook: { url: 'https://hooks.example.com/in' },
  email: { forwardTo: 'ann@elsewhere.test' },
  email_group: { addresses: ['ann@elsewhere.test'] },
};

/** `given`: in this mailbox, which has an endpoint, instead of a new one. */
export async function makeStoringWorld(gateway: TestGateway, given?: TestMailbox): Promise<StoringWorld> {
  const { endpointId, ...mailbox } = given ?? (await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' }));
  if (endpointId === null) throw new Error('the mailbox has no endpoint');
  const box = { ...mailbox, endpointId };
  const { workspaceId, address, apiKey } = box;
  const { pool } = gateway.actor;
  const policed = await insertKey(gateway.owner, box, { scopes: ['send'], policy: { approval: 'always' } });

  let days = 0;
  const make = async (path: string, body?: object, key = apiKey) => {
    const response = await gateway.call(key, 'POST', path, body);
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.body}`);
    return response.json();
  };
  const email = (more: object = {}) => ({ from: address, to: 'bob@elsewhere.test', subject: 'x', text: 'x', ...more });
  const received = async () => {
    const from = { text: 'a@x.test', addresses: [{ name: null, address: 'a@x.test' }] };
    const addresses = { from, to: null, cc: null, bcc: null, replyTo: null };
    const [id = ''] = await insertMail(gateway.actor, [
      { workspaceId, ownAddress: address, from: 'a@x.test', addresses },
    ]);
    await pool.query('update email set address_id = $2, domain_id = $3, recipient = $4 where id = $1', [
      id,
      box.addressId,
      box.domainId,
      address,
    ]);
    await pool.query(
      `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome) values ($1, $2, now(), now(), now(), 'stored')`,
      [workspaceId, id],
    );
    return id;
  };
  const fail = (emailId: string) =>
    pool.query(
      `with failed as (update recipient set status = 'failed', next_attempt_at = null, settled_at = now() where email_id = $1)
       update email set status = 'failed' where id = $1`,
      [emailId],
    );
  const thread = async () => {
    const rows = { workspaceId, count: 1, lastMessageAt: new Date(), ownAddress: address };
    return (await insertThread(gateway.actor, rows)).threadId;
  };
  const scheduled = async () => (await make('/emails', email({ scheduled_at: LATER }))).id;

  return {
    box,
    received,
    async failedDelivery() {
      const emailId = await received();
      const deliveryId = `dlv_${randomUUID().replaceAll('-', '')}`;
      await pool.query(
        `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, created_at, completed_at)
         values ($1, $2, $3, $4, 'webhook', 'failed', 4, 4, now(), now())`,
        [workspaceId, deliveryId, emailId, endpointId],
      );
      return { emailId, deliveryId };
    },
    async deferred() {
      const { id } = await make('/emails', email());
      await pool.query(
        `update recipient set attempts = 1, next_attempt_at = now() + interval '1 hour', last_code = 451, last_text = 'later' where email_id = $1`,
        [id],
      );
      return id;
    },
    async failedBatch() {
      const { id: batchId, data } = await make('/emails/batch', { emails: [email(), email()] });
      for (const { id } of data) await fail(id);
      return batchId;
    },
    scheduled,
    async paused() {
      const id = await scheduled();
      await make(`/emails/${id}/pause`);
      return id;
    },
    awaitingApproval: async () => (await make('/emails', email(), policed.secret)).id,
    draft: () => make('/drafts', { kind: 'new', ...email() }),
    endpoint: async (type, more = {}) =>
      (await make('/endpoints', { name: 'x', type, config: CONFIGS[type], ...more })).id,
    async rule(action) {
      const config = { subject: { operator: 'OR', values: ['x'] } };
      const name = randomUUID();
      await make('/guard', { name, type: 'explicit', config, action });
      const { rows } = await pool.query('select id from guard_rule where workspace_id = $1 and name = $2', [
        workspaceId,
        name,
      ]);
      return rows[0].id;
    },
    async address() {
      const local = randomUUID();
      const made = await make('/email-addresses', {
        address: `${local}@${address.split('@')[1]}`,
        domainId: box.domainId,
      });
      return made.id;
    },
    async held() {
      const id = await received();
      await pool.query(`update route set outcome = 'blocked' where email_id = $1`, [id]);
      return id;
    },
    key: async () => (await make('/api-keys', { name: 'x', scopes: ['read'] })).id,
    thread,
    async note() {
      return (await make(`/mail/threads/${await thread()}/notes`, { text: 'A note' })).id;
    },
    async claimed() {
      const id = await thread();
      return { id, token: (await make(`/mail/threads/${id}/claim`, { holder: 'x', ttl: 300 })).token };
    },
    savedView: async () => (await make('/saved-views', { name: 'View', is_shared: true })).id,
    snippet: async () => (await make('/snippets', { name: randomUUID(), text: 'Hello' })).id,
    async imageSender() {
      const sender = `${randomUUID()}@elsewhere.test`;
      await make('/image-senders', { address: sender });
      return sender;
    },
    suppression: async () => (await make('/suppressions', { email: `${randomUUID()}@elsewhere.test` })).id,
    suppressed: async () => (await make('/suppressions', { email: `${randomUUID()}@elsewhere.test` })).email,
    domain: async () => (await make('/domains', { domain: `${randomUUID()}.test` })).id,
    replyAddress: async () => (await make('/reply-addresses', { domain: box.domainId })).id,
    async member() {
      const personId = `usr_${randomUUID().replaceAll('-', '')}`;
      await gateway.owner.pool.query('insert into person (id, email) values ($1, $2)', [
        personId,
        `${randomUUID()}@team.test`,
      ]);
      await gateway.owner.pool.query(
        `insert into workspace_member (workspace_id, person_id, role) values ($1, $2, 'viewer')`,
        [workspaceId, personId],
      );
      return personId;
    },
    customer: async () => (await make('/workspaces', { client_id: randomUUID() })).id,
    async invitation() {
      const { id } = await make('/invitations', { email: `${randomUUID()}@team.test`, role: 'viewer' });
      await gateway.owner.pool.query(
        `update workspace_invitation set sent_at = now() - interval '1 hour' where id = $1`,
        [id],
      );
      return id;
    },
    async grant() {
      const { id } = await make('/api-keys', { name: 'program' });
      await gateway.owner.pool.query('update api_key set is_grant = true where id = $1', [id]);
      await gateway.owner.pool.query(
        `insert into oauth_grant (id, workspace_id, client_id, client_host, level, resource) values ($1, $2, 'program', 'app.test', 'read', '')`,
        [id, workspaceId],
      );
      return id;
    },
    days: () => ++days,
    fresh: () => randomUUID(),
  };
}
