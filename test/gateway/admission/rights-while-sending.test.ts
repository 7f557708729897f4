import { hash } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import { claimOfEmailsSql } from '../../../db/queries/sending/recipient-claim.ts';
import { runActions } from '../../../operations/endpoints/run-actions.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { insertActingEndpoint } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { openScimStage } from '../../support/stages/scim-stage.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';
import { waitFor } from '../../support/wait-for.ts';

/*
 * A send that is being stored while what decides about it changes (docs/decisions/0238). Rows of `email` wait in a trigger of this test: then
 * everything about the send is decided, and nothing of it is visible yet. Changes wait in another one, when their rows are written and not committed.
 */

const STORING = 4_711;
const CHANGING = 4_712;

let gateway: TestGateway;
let team: TeamStage;
let holder: pg.PoolClient;

beforeAll(async () => {
  gateway = await openTestGateway();
  team = await openTeam(gateway, 'staff');
  const { workspaceId } = team.box;
  const waitAt = async (name: string, lock: number, places: readonly string[]) => {
    const body = `begin perform pg_advisory_xact_lock_shared(${lock}); return new; end`;
    await gateway.owner.pool.query(`create function ${name}() returns trigger language plpgsql as $$ ${body} $$`);
    for (const place of places)
      await gateway.owner.pool.query(`create trigger ${name} ${place} execute function ${name}()`);
  };
  // Not for notices of the service.
  const mail = `before insert on email for each row when (new.workspace_id = '${workspaceId}')`;
  await waitAt('wait_while_storing', STORING, [mail]);
  await waitAt('wait_while_changing', CHANGING, [
    'after update of scopes, send_policy, revoked_at on api_key for each row',
    'after update of send_policy on email_address for each row',
    'after delete or update on workspace_member for each row',
  ]);
  holder = await gateway.owner.pool.connect();
});
afterAll(async () => {
  holder?.release();
  await gateway.close();
});

const LATER = new Date(Date.now() + 86_400_000).toISOString();
const STRICT: SendPolicy = { recipients: 'list', allow: ['friend@elsewhere.test'] };
const stranger = 'stranger@elsewhere.test';
const mail = () => ({ from: team.box.address, to: stranger, subject: 'x', text: 'x' });

let key: { id: string; secret: string };
beforeEach(async () => {
  key = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'] });
  await gateway.owner.pool.query('update email_address set send_policy = null where send_policy is not null');
});

const asOwner = (method: string, path: string, body?: unknown) =>
  gateway.call(team.box.apiKey, method, path, body).then((response) => {
    expect(response.statusCode, response.body).toBeLessThan(300);
    return response;
  });
/** What makes a send policy, and the key or address that it is for. */
const POLICIES = {
  'its key': () => asOwner('PATCH', `/api-keys/${key.id}`, { policy: STRICT }),
  'its sender': () => asOwner('PATCH', `/email-addresses/${team.box.addressId}`, { policy: STRICT }),
};

/** Whether a transaction waits at a trigger of this test, and whether one waits for another advisory lock. */
async function findWaiting(): Promise<{ atTrigger: boolean; elsewhere: boolean }> {
  const { rows } = await gateway.owner.pool.query<{ at_trigger: boolean }>(
    `select objid in (${STORING}, ${CHANGING}) as at_trigger from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return { atTrigger: rows.some((row) => row.at_trigger), elsewhere: rows.some((row) => !row.at_trigger) };
}

interface Outcome<First, Second> {
  first: First;
  second: Second;
  /** whether the second one had not ended when the first one went on */
  hasWaited: boolean;
}

/** Starts the second one when the first one waits at a lock, and lets the first one go on when the second one waits, too, or has ended. */
async function holding<First, Second>(
  lock: number,
  begin: () => Promise<First>,
  beginOther: () => Promise<Second>,
): Promise<Outcome<First, Second>> {
  await holder.query('select pg_advisory_lock($1)', [lock]);
  let first: Promise<First>;
  let second: Promise<Second>;
  let hasEnded = false;
  try {
    first = begin();
    first.catch(() => undefined);
    await waitFor(async () => expect(await findWaiting()).toEqual({ atTrigger: true, elsewhere: false }));
    second = beginOther().finally(() => (hasEnded = true));
    second.catch(() => undefined);
    await waitFor(async () => expect(hasEnded || (await findWaiting()).elsewhere).toBe(true));
  } finally {
    await holder.query('select pg_advisory_unlock($1)', [lock]);
  }
  const hasWaited = !hasEnded;
  return { first: await first, second: await second, hasWaited };
}

const readStatus = async (id: string) =>
  (await gateway.owner.pool.query<{ status: string }>('select status from email where id = $1', [id])).rows[0]?.status;

async function callTool(name: string, input: Record<string, unknown>): Promise<{ id: string; isError: boolean }> {
  const client = await connectInjected(gateway, key.secret);
  try {
    const { structuredContent, isError = false } = await client.callTool({ name, arguments: input });
    return { id: String((structuredContent as { id?: string } | undefined)?.id), isError };
  } finally {
    await client.close();
  }
}

const rest = async (path: string, body: object) => {
  const response = await gateway.call(key.secret, 'POST', path, body);
  const { id, data } = response.json();
  return { id: (data?.[0]?.id ?? id) as string, isRefused: response.statusCode === 403 };
};
async function received(): Promise<string> {
  const [id = ''] = await insertMail(gateway.actor, [
    {
      workspaceId: team.box.workspaceId,
      ownAddress: team.box.address,
      addresses: {
        from: { text: stranger, addresses: [{ name: null, address: stranger }] },
        to: null,
        cc: null,
        bcc: null,
        replyTo: null,
      },
    },
  ]);
  return id;
}
const draft = async (more: object): Promise<{ id: string; version: number }> =>
  (await gateway.call(key.secret, 'POST', '/drafts', { ...mail(), ...more })).json();

/** Ways to send, with a time or at once. Each prepares what it sends, and returns what sends it: the id of the email, and whether it was refused. */
const WAYS: Record<string, (more: object) => Promise<() => Promise<{ id: string; isRefused: boolean }>>> = {
  'POST /emails': async (more) => () => rest('/emails', { ...mail(), ...more }),
  'POST /emails with an Idempotency-Key': async (more) => async () => {
    const headers = { 'idempotency-key': key.id };
    const response = await gateway.call(key.secret, 'POST', '/emails', { ...mail(), ...more }, headers);
    return { id: response.json().id, isRefused: response.statusCode === 403 };
  },
  'a batch': async (more) => () => rest('/emails/batch', [{ ...mail(), ...more }] as object),
  'a reply': async (more) => {
    const id = await received();
    return () => rest(`/emails/${id}/reply`, { from: team.box.address, text: 'x', ...more });
  },
  'a draft': async (more) => {
    const { id, version } = await draft(more);
    return () => rest(`/drafts/${id}/send`, { version });
  },
  'a forward': async (more) => {
    const id = await received();
    return () => rest(`/emails/${id}/forward`, { from: team.box.address, to: stranger, ...more });
  },
  GraphQL: async (more) => async () => {
    const scheduledAt = (more as { scheduled_at?: string }).scheduled_at;
    const input = { ...mail(), to: [stranger], ...(scheduledAt === undefined ? {} : { scheduledAt }) };
    const query =
      'mutation($input: SendEmailInput!) { sendEmail(input: $input) { __typename ... on SendEmailPayload { email { id } } } }';
    const { sendEmail } = (await gateway.graphql(key.secret, query, { input })).json().data;
    return { id: sendEmail.email?.id, isRefused: sendEmail.__typename === 'Forbidden' };
  },
  MCP: async (more) => async () => {
    const { id, isError } = await callTool('send_email', { ...mail(), ...more });
    return { id, isRefused: isError };
  },
};
/** The ways that only send at once. */
const AT_ONCE: typeof WAYS = {
  'SMTP submission': async () => async () => {
    const bytes = Buffer.from(
      `From: <${team.box.address}>\r\nTo: <${stranger}>\r\nMessage-ID: <${key.id}@staff.test>\r\nSubject: x\r\n\r\nx\r\n`,
    );
    const request = {
      keySha256: hash('sha256', key.secret, 'hex'),
      reversePath: team.box.address,
      recipients: [stranger],
    };
    const reply = await gateway.bus.ask('gateway.message.submit', request, { bytes });
    return { id: reply.verdict === 'accepted' ? reply.emailId : '', isRefused: reply.verdict === 'refused' };
  },
  'an action of a webhook': async () => {
    const emailId = await received();
    const scopes = ['read', 'send'] as const;
    const id = await insertActingEndpoint(gateway.owner, team.box, { keyId: key.id, scopes });
    const settings = { sendLimitPerHour: 0, approvalDays: 7, secretKey: Buffer.alloc(32), unsubscribeUrl: null };
    return async () => {
      const acted = await runActions(
        { ...testActorContext(gateway.actor), settings, workspaceId: team.box.workspaceId },
        {
          emailId,
          eventKind: 'email.received',
          endpoint: { id, name: 'x', setByKeyId: key.id, grantedScopes: scopes },
          actions: [{ type: 'reply', text: 'x' }],
          readRaw: async () => null,
          traceParent: null,
          stopping: new AbortController().signal,
          finish: async () => [],
          onReady: () => undefined,
        },
      );
      return { id: '', isRefused: acted.kind === 'refused' };
    };
  },
};

describe.each(Object.entries(POLICIES))('a stricter send policy of %s', (_whose, makePolicy) => {
  test.each(Object.entries(WAYS))('pauses scheduled mail that is being stored: %s', async (_way, prepare) => {
    const send = await prepare({ scheduled_at: LATER });
    const { first, hasWaited } = await holding(STORING, send, makePolicy);
    expect(first).toMatchObject({ id: expect.any(String), isRefused: false });
    expect(hasWaited).toBe(true);
    expect(await readStatus(first.id)).toBe('paused');
  });

  test.each(Object.entries({ ...WAYS, ...AT_ONCE }))('waits for mail that is sent now: %s', async (_way, prepare) => {
    const { first, hasWaited } = await holding(STORING, await prepare({}), makePolicy);
    expect([first.isRefused, hasWaited]).toEqual([false, true]);
  });

  test.each(Object.entries({ ...WAYS, ...AT_ONCE }))(
    'judges mail that comes before its commit: %s',
    async (_way, prepare) => {
      const { second, hasWaited } = await holding(CHANGING, makePolicy, await prepare({}));
      expect([second.isRefused, hasWaited]).toEqual([true, true]);
    },
  );
});

describe('a key that loses its rights', () => {
  const ENDS = {
    'is revoked': () => asOwner('DELETE', `/api-keys/${key.id}`),
    'may only read': () => asOwner('PATCH', `/api-keys/${key.id}`, { scopes: ['read'] }),
  };

  test.each(Object.entries(ENDS))('and %s pauses its scheduled mail that is being stored', async (_how, end) => {
    const send = await WAYS['POST /emails']?.({ scheduled_at: LATER });
    const { first, hasWaited } = await holding(STORING, send ?? (() => Promise.reject()), end);
    expect([first.isRefused, hasWaited, await readStatus(first.id)]).toEqual([false, true, 'paused']);
  });

  describe.each(Object.entries(ENDS))('and %s', (_how, end) => {
    test.each(Object.entries({ ...WAYS, ...AT_ONCE }))(
      'sends nothing that was admitted before: %s',
      async (_way, prepare) => {
        const { second, hasWaited } = await holding(CHANGING, end, await prepare({}));
        expect([second.isRefused, hasWaited]).toEqual([true, true]);
      },
    );
  });

  /** What sends mail that is stored already. Each prepares it, and returns what sends it. */
  const AGAIN: Record<string, () => Promise<() => Promise<{ status: number; id: string }>>> = {
    'resumes its paused mail': async () => {
      const { id } = await rest('/emails', { ...mail(), scheduled_at: LATER });
      await asOwner('POST', `/emails/${id}/pause`);
      return () => again(id, 'POST', `/emails/${id}/resume`, {});
    },
    'gives its mail another time': async () => {
      const { id } = await rest('/emails', { ...mail(), scheduled_at: LATER });
      return () => again(id, 'PATCH', `/emails/${id}`, { scheduled_at: 'in 2 days' });
    },
    'sends the failed mail of a batch again': async () => {
      const { data } = (await gateway.call(key.secret, 'POST', '/emails/batch', [mail()])).json();
      const { rows } = await gateway.owner.pool.query<{ batch_id: string }>(
        `with failed as (update recipient set status = 'failed', claimed_by = null, claimed_until = null where email_id = $1)
         update email set status = 'failed' where id = $1 returning batch_id`,
        [data[0].id],
      );
      return () => again(data[0].id, 'POST', `/emails/batch/${rows[0]?.batch_id}/retry`, {});
    },
    'sends deferred mail at once': async () => {
      const { id } = await rest('/emails', mail());
      await gateway.owner.pool.query(
        `update recipient set attempts = 1, next_attempt_at = now() + interval '1 hour', claimed_by = null, claimed_until = null where email_id = $1`,
        [id],
      );
      return () => again(id, 'POST', `/emails/${id}/retry-sending`, {});
    },
  };
  const again = async (id: string, method: string, path: string, body: object) => {
    const { statusCode, body: text } = await gateway.call(key.secret, method, path, body);
    expect(text).toContain('SENDING_RIGHT_LOST');
    return { status: statusCode, id };
  };

  describe.each(Object.entries(ENDS))('and %s', (_how, end) => {
    test.each(Object.entries(AGAIN))('no longer %s, though it was admitted before', async (_way, prepare) => {
      const { second, hasWaited } = await holding(CHANGING, end, await prepare());
      expect([second.status, hasWaited, await readStatus(second.id)]).toEqual([
        403,
        true,
        expect.stringMatching(/^(paused|failed|pending)$/),
      ]);
    });

    test.each(['approve', 'reject'])('and no longer can %s mail that waits', async (verb) => {
      const writer = await insertKey(gateway.owner, team.box, { scopes: ['send'], policy: { approval: 'always' } });
      const { id } = (await gateway.call(writer.secret, 'POST', '/emails', mail())).json();
      key = await insertKey(gateway.owner, team.box, { scopes: ['read', 'approve'] });
      const { second, hasWaited } = await holding(CHANGING, end, () =>
        gateway.call(key.secret, 'POST', `/emails/${id}/${verb}`, {}),
      );
      expect([second.json().code, hasWaited, await readStatus(id)]).toEqual([
        'APPROVAL_RIGHT_LOST',
        true,
        'awaiting_approval',
      ]);
    });
  });

  test('with the address that it is limited to pauses its scheduled mail, stored before or meanwhile', async () => {
    const address = 'limited@staff.test';
    const made = await asOwner('POST', '/email-addresses', { address, domainId: team.box.domainId });
    key = await insertKey(gateway.owner, team.box, { scopes: ['send'], addresses: [address] });
    const send = () => rest('/emails', { ...mail(), from: address, scheduled_at: LATER });
    const before = await send();
    const { first, hasWaited } = await holding(STORING, send, () =>
      asOwner('DELETE', `/email-addresses/${made.json().id}`),
    );
    expect([hasWaited, await readStatus(before.id), await readStatus(first.id)]).toEqual([true, 'paused', 'paused']);
    expect((await rest('/emails', { ...mail(), from: address })).id).toBeUndefined();
  });
});

describe('a person', () => {
  const send = ({ browser }: TeamPerson) =>
    browser.rest('POST', '/emails', {}, mail()).then(({ statusCode }) => statusCode);
  const remove = ({ personId }: TeamPerson) => asOwner('DELETE', `/members/${personId}`);
  const demote = ({ personId }: TeamPerson) => asOwner('PATCH', `/members/${personId}`, { role: 'viewer' });

  test.each([
    ['is removed', remove],
    ['becomes a viewer', demote],
  ])('who %s meanwhile sends nothing', async (_how, end) => {
    const agent = await team.makeMember('agent');
    const { second, hasWaited } = await holding(
      CHANGING,
      () => end(agent),
      () => send(agent),
    );
    expect([second, hasWaited]).toEqual([403, true]);
  });

  test.each([
    ['is removed', remove],
    ['becomes a viewer', demote],
  ])('who %s meanwhile resumes nothing', async (_how, end) => {
    const agent = await team.makeMember('agent');
    const { id } = (await asOwner('POST', '/emails', { ...mail(), scheduled_at: LATER })).json();
    await asOwner('POST', `/emails/${id}/pause`);
    const { second, hasWaited } = await holding(
      CHANGING,
      () => end(agent),
      () => agent.browser.rest('POST', `/emails/${id}/resume`, {}, {}).then(({ statusCode }) => statusCode),
    );
    expect([second, hasWaited, await readStatus(id)]).toEqual([403, true, 'paused']);
  });

  test.each([
    ['is removed', remove],
    ['becomes a viewer', demote],
  ])('who %s meanwhile approves nothing', async (_how, end) => {
    const admin = await team.makeMember('admin');
    const writer = await insertKey(gateway.owner, team.box, { scopes: ['send'], policy: { approval: 'always' } });
    const { id } = (await gateway.call(writer.secret, 'POST', '/emails', mail())).json();
    const { second, hasWaited } = await holding(
      CHANGING,
      () => end(admin),
      () => admin.browser.rest('POST', `/emails/${id}/approve`, {}, {}).then((response) => response.json().code),
    );
    expect([second, hasWaited, await readStatus(id)]).toEqual(['APPROVAL_RIGHT_LOST', true, 'awaiting_approval']);
  });

  test.each([
    ['is removed', remove],
    ['becomes a viewer', demote],
  ])('who %s meanwhile has scheduled mail paused that is being stored', async (_how, end) => {
    const agent = await team.makeMember('agent');
    const { first, hasWaited } = await holding(
      STORING,
      () => agent.browser.rest('POST', '/emails', {}, { ...mail(), scheduled_at: LATER }),
      () => end(agent),
    );
    expect([hasWaited, await readStatus(first.json().id)]).toEqual([true, 'paused']);
  });

  test('is removed once the mail is stored that the person is sending', async () => {
    const agent = await team.makeMember('agent');
    const { first, hasWaited } = await holding(
      STORING,
      () => send(agent),
      () => remove(agent),
    );
    expect([first, hasWaited]).toEqual([200, true]);
  });

  test('whom the directory deactivates loses keys, whose scheduled mail that is being stored is paused', async () => {
    const scim = await openScimStage(gateway, team.box.workspaceId);
    await gateway.owner.pool.query(
      `insert into sign_in_provider (workspace_id, issuer, client_id, secret_ciphertext, group_roles, default_role)
       values ($1, 'https://id.test', 'client', 'x', '[]', 'developer') on conflict do nothing`,
      [team.box.workspaceId],
    );
    const person = await team.makePerson();
    await gateway.owner.pool.query('update person set email_verified = true where email = $1', [person.email]);
    const id = await scim.create('Users', { userName: person.email });
    key = { id: `key_of_${person.personId}`, secret: await team.insertPersonKey(person) };
    const { first, second, hasWaited } = await holding(
      STORING,
      () => rest('/emails', { ...mail(), scheduled_at: LATER }),
      () => scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
    );
    expect([second.statusCode, hasWaited, await readStatus(first.id)]).toEqual([200, true, 'paused']);
  });
});

test('a suppression that is added meanwhile does not wait, and holds when the recipient is claimed', async () => {
  const { first, hasWaited } = await holding(
    STORING,
    () => rest('/emails', mail()),
    () => asOwner('POST', '/suppressions', { address: stranger }),
  );
  const { rows } = await gateway.actor.pool.query<{ is_suppressed: boolean }>(claimOfEmailsSql, [
    'test',
    10,
    [team.box.workspaceId],
    [first.id],
    [],
    [],
  ]);
  await gateway.owner.pool.query('delete from suppression');
  expect([hasWaited, rows.map((row) => row.is_suppressed)]).toEqual([false, [true]]);
});
