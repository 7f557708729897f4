import { hash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import { runActions } from '../../../operations/endpoints/run-actions.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail, insertThread, type MailRow } from '../../support/rows/mail-rows.ts';
import { moveClock, wrongTotals } from '../../support/rows/outgoing-rows.ts';
import { insertActingEndpoint, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected, ERAS } from '../../support/servers/mcp-client.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox();
});

const keyWith = async (policy: SendPolicy) =>
  (await insertKey(gateway.owner, box, { scopes: ['read', 'send'], policy })).secret;
const setAddressPolicy = (policy: SendPolicy | null) =>
  gateway.owner.pool.query('update email_address set send_policy = $2 where workspace_id = $1', [
    box.workspaceId,
    policy,
  ]);
const countEmails = async () =>
  (
    await gateway.actor.pool.query(
      `select count(*)::integer as n from email where workspace_id = $1 and type <> 'received'`,
      [box.workspaceId],
    )
  ).rows[0].n as number;

const email = (more: object = {}) => ({
  from: box.address,
  to: 'ada@elsewhere.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});

const list = (...addresses: string[]) => ({
  text: addresses.join(', '),
  addresses: addresses.map((address) => ({ name: null, address })),
});

/** A received email in a thread of its own, from ada@elsewhere.test, which a copy of went to carl@elsewhere.test. */
async function received(row: Partial<MailRow> = {}): Promise<{ id: string; threadId: string; messageId: string }> {
  const threadId = `th_${randomBytes(8).toString('hex')}`;
  const messageId = `<${randomBytes(8).toString('hex')}@elsewhere.test>`;
  const [id = ''] = await insertMail(gateway.actor, [
    {
      workspaceId: box.workspaceId,
      ownAddress: box.address,
      threadId,
      messageId,
      addresses: {
        from: list('ada@elsewhere.test'),
        to: list(box.address),
        cc: list('Carl@Elsewhere.test'),
        bcc: null,
        replyTo: list('replies@elsewhere.test'),
      },
      ...row,
    },
  ]);
  await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    id: threadId,
    count: 1,
    lastMessageAt: new Date(),
    participants: ['ada@elsewhere.test', box.address, 'carl@elsewhere.test'],
  });
  await gateway.actor.pool.query(
    'insert into thread_message_id (workspace_id, message_id, thread_id) values ($1, $2, $3)',
    [box.workspaceId, messageId, threadId],
  );
  return { id, threadId, messageId };
}

interface More {
  to?: string;
  text?: string;
  attachments?: { filename: string; content: string }[];
}

/** What a door made of an email: null when it was stored, else the rule that refused it. */
type Outcome = string | null;
type Door = (key: string, original: { id: string; messageId: string }, more?: More) => Promise<Outcome>;

const ofRest = ({ statusCode, json }: { statusCode: number; json: () => Record<string, unknown> }): Outcome => {
  if (statusCode < 300) return null;
  expect([statusCode, json()['name'], json()['code']]).toEqual([403, 'policy_violation', 'POLICY_VIOLATION']);
  return String(json()['rule']);
};

const submit = async (key: string, fields: readonly string[], body = 'Hello') => {
  const message = [`From: <${box.address}>`, 'Subject: Hi', ...fields, '', body, ''].join('\r\n');
  const request = { keySha256: hash('sha256', key, 'hex'), reversePath: box.address };
  return gateway.bus.ask(
    'gateway.message.submit',
    { ...request, recipients: ['ada@elsewhere.test'] },
    { bytes: Buffer.from(message) },
  );
};

const RULES_IN_WORDS: [RegExp, string][] = [
  [/allow(?:s) .*(?:participants|list)/, 'recipients'],
  [/attachments/, 'attachments'],
  [/links/, 'links'],
  [/per hour/, 'per_hour'],
  [/per day/, 'per_day'],
  [/automatic repl/, 'auto_replies_per_thread_per_hour'],
];
const ruleIn = (text: string) => RULES_IN_WORDS.find(([words]) => words.test(text))?.[1] ?? text;

const OUTCOME = '__typename ... on Forbidden { code message } ... on Error { message }';
const ofGraph = (
  response: { json: () => { data: Record<string, Record<string, string>> } },
  field: string,
): Outcome => {
  const { __typename: type, code, message } = response.json().data[field] ?? {};
  if (type?.endsWith('Payload') === true) return null;
  expect([type, code, message]).toEqual(['Forbidden', 'POLICY_VIOLATION', expect.any(String)]);
  return ruleIn(message ?? '');
};

/** Each way in by which a program or a person sends, with text that is a link. */
const LINK = 'See https://evil.example/x';
const UUENCODED = 'begin 644 a.txt\r\n#0V%T\r\n`\r\nend';
const DOORS: Record<string, Door> = {
  'POST /emails': async (key, _original, more) => ofRest(await gateway.call(key, 'POST', '/emails', email(more))),
  'POST /emails/batch': async (key, _original, more) =>
    ofRest(await gateway.call(key, 'POST', '/emails/batch', { emails: [email(more)] })),
  'POST /emails/{id}/reply': async (key, { id }, more) =>
    ofRest(await gateway.call(key, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'Yes', ...more })),
  'GraphQL forwardEmail': async (key, { id }, { to = 'ada@elsewhere.test', text = null } = {}) =>
    ofGraph(
      await gateway.graphql(
        key,
        `mutation ($input: ForwardEmailInput!) { forwardEmail(input: $input) { ${OUTCOME} } }`,
        { input: { id, from: box.address, to: [to].flat(), text } },
      ),
      'forwardEmail',
    ),
  'scheduled POST /emails': async (key, _original, more) =>
    ofRest(await gateway.call(key, 'POST', '/emails', email({ scheduled_at: 'in 2 hours', ...more }))),
  'POST /drafts/{id}/send': async (key, _original, more) => {
    const draft = (await gateway.call(key, 'POST', '/drafts', email(more))).json();
    return ofRest(await gateway.call(key, 'POST', `/drafts/${draft.id}/send`, { version: draft.version }));
  },
  'MCP send_email': async (key, _original, more) => {
    const client = await connectInjected(gateway, key, ERAS[0]);
    const { isError, content } = await client.callTool({ name: 'send_email', arguments: email(more) });
    await client.close();
    return isError === true ? ruleIn(JSON.stringify(content)) : null;
  },
  'GraphQL sendEmail': async (key, _original, more) => {
    const { attachments, ...input } = email(more) as Record<string, unknown>;
    const files = attachments === undefined ? {} : { attachments: [{ filename: 'a.txt', content: 'YQ==' }] };
    const response = await gateway.graphql(
      key,
      `mutation ($input: SendEmailInput!) { sendEmail(input: $input) { ${OUTCOME} } }`,
      { input: { ...input, to: [input['to']].flat(), ...files } },
    );
    return ofGraph(response, 'sendEmail');
  },
  'SMTP submission': async (key, _original, more = {}) => {
    const attached = [
      'MIME-Version: 1.0',
      'Content-Type: text/plain; name=a.txt',
      'Content-Disposition: attachment; filename=a.txt',
    ];
    const response = await submit(key, 'attachments' in more ? attached : [], more.text ?? 'Hello');
    return response.verdict === 'refused' ? ruleIn(response.text) : null;
  },
};

const FILE = { attachments: [{ filename: 'a.txt', content: 'YQ==' }] };

/** Emails that a policy refuses, and whether a reply is among them. */
const REFUSED: { policy: SendPolicy; more: More; rule: string; isForReplies: boolean }[] = [
  { policy: { recipients: 'list', allow: ['example.com'] }, more: {}, rule: 'recipients', isForReplies: true },
  { policy: { recipients: 'participants' }, more: {}, rule: 'recipients', isForReplies: false },
  { policy: { attachments: false }, more: FILE, rule: 'attachments', isForReplies: true },
  { policy: { links: false }, more: { text: LINK }, rule: 'links', isForReplies: true },
  { policy: { links: false }, more: { text: 'See evil.photography' }, rule: 'links', isForReplies: true },
  { policy: { attachments: false }, more: { text: UUENCODED }, rule: 'attachments', isForReplies: true },
];

describe.each(Object.entries(DOORS))('%s', (name, send) => {
  const isReply = name.includes('reply');
  test.for(REFUSED.filter(({ isForReplies }) => !isReply || isForReplies))(
    'is refused by %j, of the key and of the address',
    async ({ policy, more, rule }) => {
      const original = await received({ attachments: [] });
      const asked = name.includes('forward') && rule === 'attachments' ? null : more;
      if (asked === null) return;
      expect(await send(await keyWith(policy), original, asked)).toBe(rule);
      await setAddressPolicy(policy);
      expect(await send(box.apiKey, original, asked)).toBe(rule);
      expect(await countEmails()).toBe(0);
      await setAddressPolicy(null);
      expect(await send(box.apiKey, original, asked)).toBe(null);
      expect(await countEmails()).toBe(1);
    },
  );

  test.for<SendPolicy>([{ approval: 'always' }, { approval: 'new_recipients', undo_seconds: 60 }])(
    'waits for approval under %j, of the key and of the address, and leaves nothing',
    async (policy) => {
      const original = await received();
      expect(await send(await keyWith(policy), original)).toBe(null);
      await setAddressPolicy(policy);
      expect(await send(box.apiKey, original)).toBe(null);
      const { rows } = await gateway.actor.pool.query(
        `select e.type, e.status, e.thread_id, e.scheduled_at is not null as "hasTime", a.policy_of, a.decision,
           a.sent_by_key_id is not null as "isOfKey", a.sent_by, extract(day from a.expires_at - a.requested_at)::integer as days,
           array(select kind from event v where v.workspace_id = $1 and v.email_id = e.id) as events,
           array(select r.next_attempt_at is null and r.queued_at is null from recipient r where r.email_id = e.id) as held
         from email e join approval a on a.workspace_id = $1 and a.email_id = e.id where e.workspace_id = $1 order by e.created_at, a.policy_of desc`,
        [box.workspaceId],
      );
      const waiting = {
        type: 'scheduled',
        status: 'awaiting_approval',
        thread_id: null,
        hasTime: name.startsWith('scheduled'),
        decision: null,
        isOfKey: true,
        sent_by: expect.stringMatching(/./),
        days: 7,
        events: ['email.approval_requested'],
        held: [true],
      };
      expect(rows).toEqual([
        { ...waiting, policy_of: 'key' },
        { ...waiting, policy_of: 'address' },
      ]);
      expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
    },
  );

  test('spends the budgets of key and address', async () => {
    const original = await received();
    const key = await keyWith({ per_hour: 2 });
    await setAddressPolicy({ per_day: 3 });
    expect(await send(key, original)).toBe(null);
    expect(await send(key, original)).toBe(null);
    expect(await send(key, original)).toBe('per_hour');
    expect(await send(box.apiKey, original)).toBe(null);
    expect(await send(box.apiKey, original)).toBe('per_day');
    expect(await countEmails()).toBe(3);
  });

  test('waits for undo_seconds, and can be cancelled', async () => {
    const original = await received();
    await setAddressPolicy({ undo_seconds: 10 });
    expect(await send(await keyWith({ undo_seconds: 120 }), original)).toBe(null);
    const { rows } = await gateway.actor.pool.query(
      `select id, type, status, extract(epoch from scheduled_at - created_at)::float8 as wait from email
       where workspace_id = $1 and type <> 'received'`,
      [box.workspaceId],
    );
    expect(rows).toMatchObject([{ type: 'scheduled', status: 'scheduled' }]);
    expect(rows[0].wait).toBeCloseTo(name.startsWith('scheduled') ? 7_200 : 120, 0);
    const cancelled = await gateway.call(box.apiKey, 'DELETE', `/emails/${rows[0].id}`);
    expect([cancelled.statusCode, cancelled.json().success]).toEqual([200, true]);
  });
});

test('an error names the rule, the field, and whose policy it is', async () => {
  const key = await insertKey(gateway.owner, box, {
    scopes: ['send'],
    policy: { recipients: 'list', allow: ['elsewhere.test', 'kim@away.test'] },
  });
  const response = await gateway.call(
    key.secret,
    'POST',
    '/emails',
    email({ bcc: ['Kim@away.test', 'eve@away.test'] }),
  );
  const message =
    'The send policy of this API key allows only the addresses and domains of its list, and not eve@away.test.';
  expect([response.statusCode, response.json()]).toEqual([
    403,
    {
      error: 'Forbidden',
      message,
      statusCode: 403,
      name: 'policy_violation',
      code: 'POLICY_VIOLATION',
      details: [{ field: 'bcc', message }],
      rule: 'recipients',
      policyOf: 'api_key',
      policyOwner: key.id,
    },
  ]);
  await setAddressPolicy({ attachments: false });
  const other = await gateway.call(box.apiKey, 'POST', '/emails', email(FILE));
  expect(other.json()).toMatchObject({
    message: `The send policy of ${box.address} allows no attachments, and the email has a.txt in part 2 (text/plain).`,
    rule: 'attachments',
    policyOf: 'email_address',
    policyOwner: box.address,
  });
});

test.for<[SendPolicy, readonly string[], string, string]>([
  [
    { links: false },
    ['MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-7'],
    '+AGEALgBjAG8AbQ-',
    'charset utf-7 is not supported here. Use UTF-8',
  ],
  [
    { links: false },
    ['MIME-Version: 1.0', 'Content-Type: text/plain', 'Content-Type: text/html'],
    'x',
    'content-type 2 times',
  ],
  [
    { attachments: false },
    ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
    '--b\r\n\r\nx',
    'does not end with its boundary',
  ],
])('%j refuses a submitted message that can be read in two ways: %j', async ([policy, fields, body, words]) => {
  const refused = await submit(await keyWith(policy), fields, body);
  expect(refused).toMatchObject({ verdict: 'refused', code: 550, enhancedCode: '5.7.1' });
  expect(JSON.stringify(refused)).toContain(words);
  expect((await submit(box.apiKey, fields, body)).verdict).toBe('accepted');
});

test('links: false covers subject, names, own fields and attachments of a request', async () => {
  const key = await keyWith({ links: false });
  const refusals: [object, string, string][] = [
    [{ subject: 'evil.com' }, 'subject', 'evil.com in its subject'],
    [{ from: `"evil.com" <${box.address}>` }, 'from', 'evil.com in its field From'],
    [{ reply_to: '"www.evil" <eve@elsewhere.test>' }, 'reply_to', 'www.evil in its field Reply-To'],
    [{ headers: { 'List-Unsubscribe': '<https://evil.example/u>' } }, 'headers', 'https://evil.example/u'],
    [{ html: '<svg><set attributeName="href" to="x:y"/></svg>' }, 'html', 'x:y in part 2 (text/html)'],
    [
      { attachments: [{ filename: 'a.ics', content: 'VVJMOmV2aWwuY29t' }] },
      'attachments',
      'evil.com in part 2 (text/calendar)',
    ],
  ];
  for (const [more, field, found] of refusals) {
    const response = await gateway.call(key, 'POST', '/emails', email(more));
    expect([response.statusCode, response.json()]).toEqual([
      403,
      expect.objectContaining({ rule: 'links', details: [{ field, message: expect.stringContaining(found) }] }),
    ]);
  }
  const response = await gateway.call(key, 'POST', '/emails', email({ html: '<p>Hi, <b>Ann</b></p>', ...FILE }));
  expect(response.statusCode).toBe(200);
});

test('the policy of an address applies to its tags, and not to other addresses', async () => {
  await setAddressPolicy({ per_hour: 1 });
  const [local, domain] = box.address.split('@');
  const from = (sender: string) => gateway.call(box.apiKey, 'POST', '/emails', email({ from: sender })).then(ofRest);
  expect(await from(`Other <other@${domain}>`)).toBe(null);
  expect(await from(`${local}+news@${domain}`)).toBe(null);
  expect(await from(`${local?.toUpperCase()}@${domain}`)).toBe('per_hour');
  expect(await from(`other@${domain}`)).toBe(null);
});

describe('participants', () => {
  const POLICY: SendPolicy = { recipients: 'participants' };
  test.for<[string[], Outcome]>([
    [['ada@elsewhere.test'], null],
    [['CARL@elsewhere.test'], null],
    [['replies@elsewhere.test'], null],
    [['ada@elsewhere.test', 'eve@elsewhere.test'], 'recipients'],
    [['ada+x@elsewhere.test'], 'recipients'],
  ])('allow a reply to %j: %s', async ([to, outcome]) => {
    const { id } = await received();
    const key = await keyWith(POLICY);
    const response = await gateway.call(key, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'Yes', to });
    expect(ofRest(response)).toBe(outcome);
  });

  test('include the own addresses of the user', async () => {
    const { id } = await received();
    const cc = [box.address];
    const response = await gateway.call(await keyWith(POLICY), 'POST', `/emails/${id}/reply`, {
      from: box.address,
      text: 'Yes',
      cc,
    });
    expect(ofRest(response)).toBe(null);
  });

  test('are those of the thread that In-Reply-To names, whatever References name', async () => {
    const key = await keyWith(POLICY);
    const { messageId } = await received();
    const other = await received({
      addresses: { from: list('bob@away.test'), to: list(box.address), cc: null, bcc: null, replyTo: null },
    });
    await gateway.actor.pool.query('update thread set participant_emails = $2 where id = $1', [
      other.threadId,
      ['bob@away.test'],
    ]);
    const send = (to: string, headers: Record<string, string>) =>
      gateway.call(key, 'POST', '/emails', email({ to, headers })).then(ofRest);
    const both = `${messageId} ${other.messageId}`;
    expect(await send('bob@away.test', { 'In-Reply-To': messageId, References: both })).toBe('recipients');
    expect(await send('ada@elsewhere.test', { 'In-Reply-To': messageId, References: both })).toBe(null);
    expect(await send('bob@away.test', { 'In-Reply-To': other.messageId })).toBe(null);
    expect(await send('bob@away.test', { References: both })).toBe(null);
    expect(await send('ada@elsewhere.test', { 'In-Reply-To': '<unknown@elsewhere.test>' })).toBe('recipients');
    const response = await submit(key, [`In-Reply-To: ${messageId}`]);
    expect(response.verdict).toBe('accepted');
  });

  test('of an email that is not threaded yet are its own', async () => {
    const messageId = '<unthreaded@elsewhere.test>';
    await received({ threadId: null, messageId });
    const key = await keyWith(POLICY);
    const send = (to: string) =>
      gateway.call(key, 'POST', '/emails', email({ to, headers: { 'In-Reply-To': messageId } })).then(ofRest);
    expect(await send('replies@elsewhere.test')).toBe(null);
    expect(await send('eve@elsewhere.test')).toBe('recipients');
  });

  test('of another account do not count', async () => {
    const { messageId } = await received();
    box = await gateway.mailbox();
    const headers = { 'In-Reply-To': messageId };
    const response = await gateway.call(await keyWith(POLICY), 'POST', '/emails', email({ headers }));
    expect(ofRest(response)).toBe('recipients');
  });
});

describe('budgets', () => {
  test('are exact when 40 emails are sent at once, by key, by address, and over two gateways', async () => {
    const key = await keyWith({ per_hour: 7 });
    await setAddressPolicy({ per_day: 11 });
    const beside = await gateway.beside();
    const send = (n: number) =>
      (n % 2 === 0 ? gateway : beside).call(n % 4 < 2 ? key : box.apiKey, 'POST', '/emails', email()).then(ofRest);
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, n) => send(n)));
    await beside.app.close();
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(11);
    expect(await countEmails()).toBe(11);
    const { rows } = await gateway.actor.pool.query(
      `select count(*) filter (where api_key_id = (select id from api_key where secret_sha256 = $2))::integer as of_key,
         count(policy_address)::integer as of_address from email where workspace_id = $1`,
      [box.workspaceId, hash('sha256', key, 'buffer')],
    );
    expect(rows[0].of_key).toBeLessThanOrEqual(7);
    expect(rows[0].of_address).toBe(11);
    expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  });

  test('say when there is room again, and have it then', async () => {
    const key = await keyWith({ per_hour: 2, per_day: 3 });
    const send = () => gateway.call(key, 'POST', '/emails', email());
    expect((await send()).statusCode).toBe(200);
    await moveClock(gateway.owner, 600);
    expect((await send()).statusCode).toBe(200);
    const refused = await send();
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toMatchObject({ name: 'policy_violation', rule: 'per_hour' });
    const waitSeconds = Number(refused.headers['retry-after']);
    expect(waitSeconds).toBeGreaterThan(2_990);
    expect(waitSeconds).toBeLessThanOrEqual(3_000);
    await moveClock(gateway.owner, waitSeconds);
    expect((await send()).statusCode).toBe(200);
    await moveClock(gateway.owner, 3_600);
    expect((await send()).json()).toMatchObject({ rule: 'per_day' });
    await moveClock(gateway.owner, 86_400 - 2 * 3_600);
    expect((await send()).statusCode).toBe(200);
  });

  test('count emails, whatever their number of recipients; a batch is stored whole or not at all', async () => {
    const key = await keyWith({ per_hour: 3 });
    const batch = (count: number) =>
      gateway.call(key, 'POST', '/emails/batch', { emails: Array.from({ length: count }, () => email()) });
    const refused = await batch(4);
    expect([refused.statusCode, refused.json().rule]).toEqual([403, 'per_hour']);
    expect(refused.headers['retry-after']).toBe(undefined);
    expect(await countEmails()).toBe(0);
    const many = Array.from({ length: 20 }, (_, n) => `a${n}@elsewhere.test`);
    expect((await gateway.call(key, 'POST', '/emails', email({ to: many }))).statusCode).toBe(200);
    expect((await batch(3)).json().rule).toBe('per_hour');
    expect((await batch(2)).statusCode).toBe(202);
    expect(await countEmails()).toBe(3);
  });

  test('are not returned when an email is cancelled', async () => {
    const key = await keyWith({ per_hour: 1, undo_seconds: 60 });
    const { id } = (await gateway.call(key, 'POST', '/emails', email())).json();
    expect((await gateway.call(key, 'DELETE', `/emails/${id}`)).statusCode).toBe(200);
    expect(ofRest(await gateway.call(key, 'POST', '/emails', email()))).toBe('per_hour');
  });

  test('that are used up are a temporary error over SMTP', async () => {
    const key = await keyWith({ per_hour: 1 });
    expect((await submit(key, [])).verdict).toBe('accepted');
    expect(await submit(key, [])).toMatchObject({ verdict: 'refused', code: 451, enhancedCode: '4.7.1' });
    const strict = await keyWith({ links: false });
    expect(await submit(strict, [], LINK)).toMatchObject({ verdict: 'refused', code: 550, enhancedCode: '5.7.1' });
  });

  test('do not apply to a repeated request, which gets its first response', async () => {
    const key = await keyWith({ per_hour: 1, undo_seconds: 30 });
    const send = () =>
      gateway.app.inject({
        method: 'POST',
        url: '/api/e2/emails',
        headers: { authorization: `Bearer ${key}`, 'idempotency-key': 'once' },
        payload: email(),
      });
    const responses = await Promise.all([send(), send(), send()]);
    responses.push(await send());
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201]);
    expect(new Set(responses.map((response) => response.body)).size).toBe(1);
    expect(responses[0]?.json()).toMatchObject({ status: 'scheduled', timezone: 'UTC' });
    expect(await countEmails()).toBe(1);
  });
});

describe('undo_seconds', () => {
  test('moves a time that is too early, and keeps a later one', async () => {
    const key = await keyWith({ undo_seconds: 600 });
    const wait = async (scheduledAt: string) => {
      const response = await gateway.call(key, 'POST', '/emails', email({ scheduled_at: scheduledAt }));
      const at = Date.parse(response.json().scheduled_at);
      const [row] = (await gateway.actor.pool.query('select created_at from email where id = $1', [response.json().id]))
        .rows;
      return Math.round((at - row.created_at.getTime()) / 1_000);
    };
    expect(await wait('in 2 minutes')).toBe(600);
    expect(await wait('in 20 minutes')).toBeCloseTo(1_200, -1);
  });

  test('keeps a key from sending such mail earlier, but not later', async () => {
    const key = await keyWith({ undo_seconds: 600 });
    await setAddressPolicy({ undo_seconds: 900 });
    const { id } = (await gateway.call(key, 'POST', '/emails', email())).json();
    const reschedule = (secret: string, when: string) =>
      gateway.call(secret, 'PATCH', `/emails/${id}`, { scheduled_at: when });
    const refused = await reschedule(key, 'in 5 minutes');
    expect(ofRest(refused)).toBe('undo_seconds');
    expect(refused.json().details).toMatchObject([{ field: 'scheduled_at' }]);
    expect(ofRest(await reschedule(box.apiKey, 'in 14 minutes'))).toBe('undo_seconds');
    expect(ofRest(await reschedule(key, 'in 16 minutes'))).toBe(null);
    await setAddressPolicy(null);
    expect(ofRest(await reschedule(key, 'in 11 minutes'))).toBe(null);
    expect(ofRest(await reschedule(key, 'in 9 minutes'))).toBe('undo_seconds');
    const plain = (await gateway.call(box.apiKey, 'POST', '/emails', email({ scheduled_at: 'in 1 hour' }))).json();
    const moved = await gateway.call(key, 'PATCH', `/emails/${plain.id}`, { scheduled_at: 'in 2 minutes' });
    expect(ofRest(moved)).toBe(null);
  });
});

describe('automatic replies', () => {
  /** What the action `reply` of a webhook does with an email. */
  async function actOn(emailId: string): Promise<string> {
    const context = { ...testActorContext(gateway.actor), bus: gateway.bus };
    const acted = await runActions(
      {
        ...context,
        workspaceId: box.workspaceId,
        settings: { sendLimitPerHour: 0, approvalDays: 7, secretKey: randomBytes(32), unsubscribeUrl: null },
      },
      {
        emailId,
        eventKind: 'email.received',
        endpoint: {
          id: await insertActingEndpoint(gateway.owner, box),
          name: 'x',
          setByKeyId: null,
          grantedScopes: null,
        },
        actions: [{ type: 'reply', text: 'An answer' }],
        readRaw: async () => null,
        traceParent: null,
        stopping: new AbortController().signal,
        finish: async () => [],
        onReady: () => undefined,
      },
    );
    return acted.kind === 'refused' ? ruleIn(acted.log.problem?.message ?? '') : acted.kind;
  }

  test('of programs share the limit of an address in each thread, and replies of people have none', async () => {
    const [one, other] = [await received(), await received()];
    await setAddressPolicy({ auto_replies_per_thread_per_hour: 2 });
    const reply = (key: string, id: string) =>
      gateway.call(key, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'Yes' }).then(ofRest);
    expect(await actOn(one.id)).toBe('done');
    expect(await reply(box.apiKey, one.id)).toBe(null);
    expect(await reply(box.apiKey, one.id)).toBe('auto_replies_per_thread_per_hour');
    expect(await actOn(one.id)).toBe('auto_replies_per_thread_per_hour');
    expect(await reply(box.apiKey, other.id)).toBe(null);
    expect(ofRest(await gateway.call(box.apiKey, 'POST', '/emails', email()))).toBe(null);
    await moveClock(gateway.owner, 3_600);
    expect(await actOn(one.id)).toBe('done');
  });

  test('of a key have their own limit, also for replies that still wait', async () => {
    const { id } = await received();
    const key = await keyWith({ auto_replies_per_thread_per_hour: 1, undo_seconds: 300 });
    const reply = (secret: string) =>
      gateway.call(secret, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'Yes' }).then(ofRest);
    expect(await reply(key)).toBe(null);
    expect(await reply(key)).toBe('auto_replies_per_thread_per_hour');
    expect(await reply(box.apiKey)).toBe(null);
  });

  test.for<[SendPolicy, string]>([
    [{ recipients: 'list', allow: ['example.com'] }, 'recipients'],
    [{ recipients: 'participants' }, 'done'],
    [{ links: false }, 'done'],
    [{ per_hour: 1 }, 'done'],
    [{ approval: 'always' }, 'done'],
    [{ auto_replies_per_thread_per_hour: 0 }, 'auto_replies_per_thread_per_hour'],
  ])('by an action of a webhook under %j of the address: %s', async ([policy, outcome]) => {
    const { id } = await received();
    await setAddressPolicy(policy);
    expect(await actOn(id)).toBe(outcome);
    expect(await countEmails()).toBe(outcome === 'done' ? 1 : 0);
  });

  test('under undo_seconds wait, and are limited while they do', async () => {
    const { id } = await received();
    await setAddressPolicy({ undo_seconds: 60 });
    const outcomes: string[] = [];
    for (let n = 0; n < 6; n++) outcomes.push(await actOn(id));
    expect(outcomes).toEqual([...Array<string>(5).fill('done'), 'auto_replies_per_thread_per_hour']);
    const { rows } = await gateway.actor.pool.query(
      `select distinct status, automatic_reply_to is not null as is_automatic_reply from email where workspace_id = $1 and type = 'scheduled'`,
      [box.workspaceId],
    );
    expect(rows).toEqual([{ status: 'scheduled', is_automatic_reply: true }]);
  });
});

test('new recipients are those without sent mail: received and waiting mail does not count', async () => {
  const key = await keyWith({ approval: 'new_recipients' });
  const send = async (to: string | string[], secret = key) =>
    (await gateway.call(secret, 'POST', '/emails', email({ to }))).json().status;
  await received();
  expect(await send('ada@elsewhere.test')).toBe('queued');
  await gateway.call(box.apiKey, 'POST', '/emails', email({ scheduled_at: 'in 1 hour' }));
  expect(await send('ada@elsewhere.test')).toBe('queued');
  expect(await send('Ada@elsewhere.test', box.apiKey)).toBe('sent');
  expect(await send('ada@elsewhere.test')).toBe('sent');
  expect(await send(['ada@elsewhere.test', 'bob@elsewhere.test'])).toBe('queued');
});

test('an email without policies takes no statement more than before', async () => {
  const send = () => gateway.call(box.apiKey, 'POST', '/emails', email());
  await send();
  const plain = await countStatements(send);
  expect(plain.response.statusCode).toBe(200);
  expect(plain.statements).toBe(1);
  const { rows } = await gateway.actor.pool.query(
    'select api_key_id, policy_address from email where workspace_id = $1',
    [box.workspaceId],
  );
  expect(rows).toEqual([
    { api_key_id: null, policy_address: null },
    { api_key_id: null, policy_address: null },
  ]);
});
