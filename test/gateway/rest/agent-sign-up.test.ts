import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';

const PASSWORD = 'correct horse battery';
let gateway: TestGateway;
let closed: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { agentSignUpDomain: 'agents.test' } });
  closed = await openTestGateway();
});
afterAll(async () => {
  await gateway.close();
  await closed.close();
});
beforeEach(async () => {
  await gateway.owner.pool.query('delete from auth_rate_limit');
});

let persons = 0;
const newEmail = () => `person${persons++}@elsewhere.test`;
const newKey = () => `request-${persons++}-${'x'.repeat(16)}`;
const signUp = (body: unknown, headers: Record<string, string> = {}, at = gateway) =>
  at.app.inject({
    method: 'POST',
    url: '/api/e2/agent/sign-up',
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(body),
  });
const confirm = (key: string, code: string) => gateway.call(key, 'POST', '/agent/confirm', { code });
const listCodes = async (email: string) =>
  (await readServiceMail(gateway.owner, email)).map((mail) => /^(\d{6})$/m.exec(mail)?.[1] ?? '');
const send = (key: string, from: string, to: string, more: object = {}) =>
  gateway.call(key, 'POST', '/emails', { from, to, subject: 'Hello', text: 'Hello', ...more });
const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

describe('an agent that signs up', () => {
  test('gets an inbox and a key that writes to its person only, until the code is confirmed', async () => {
    const email = newEmail();
    const made = await signUp({ email: email.toUpperCase(), name: 'Scout 7' });
    const { api_key: key, address, status } = made.json();
    expect([made.statusCode, status, address]).toEqual([
      200,
      'unconfirmed',
      expect.stringMatching(/^agent@scout-7-[0-9a-f]{8}\.agents\.test$/),
    ]);
    expect((await gateway.call(key, 'GET', '/emails')).statusCode).toBe(200);
    expect((await send(key, address, email)).statusCode).toBe(200);
    for (const refused of [
      await send(key, address, 'other@elsewhere.test'),
      await send(key, address, email, { cc: ['other@elsewhere.test'] }),
      await send(key, address, email, { text: 'https://evil.test' }),
    ])
      expect([refused.statusCode, refused.json().code]).toEqual([403, 'POLICY_VIOLATION']);
    expect((await gateway.call(key, 'POST', '/api-keys', { name: 'more' })).statusCode).toBe(403);
    expect((await gateway.call(key, 'POST', '/domains', { domain: 'agents2.test' })).statusCode).toBe(403);
    const [code = ''] = await listCodes(email);
    const wrongCode = await confirm(key, wrong(code));
    expect([wrongCode.statusCode, wrongCode.json().code]).toEqual([400, 'WRONG_CODE']);
    const done = await confirm(key, code);
    expect([done.statusCode, done.json().status]).toEqual([200, 'confirmed']);
    expect((await send(key, address, 'other@elsewhere.test')).statusCode).toBe(200);
    expect((await confirm(key, wrong(code))).json().status).toBe('confirmed');
    const { rows } = await gateway.owner.pool.query(
      `select u.email, m.role, u.email_verified from workspace_member m join person u on u.id = m.person_id
       join agent_sign_up a on a.workspace_id = m.workspace_id where a.email = $1`,
      [email],
    );
    expect(rows).toEqual([{ email, role: 'owner', email_verified: true }]);
  });

  test('gets the same inbox and key again with the same Idempotency-Key, and no second mail', async () => {
    const email = newEmail();
    const headers = { 'idempotency-key': newKey() };
    const responses = await Promise.all(Array.from({ length: 10 }, () => signUp({ email, name: 'Twin' }, headers)));
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    const [first] = responses.map((response) => response.json());
    expect(new Set(responses.map((response) => response.json().api_key))).toEqual(new Set([first.api_key]));
    expect(await listCodes(email)).toHaveLength(1);
    const { rows } = await gateway.owner.pool.query('select workspace_id from agent_sign_up where email = $1', [email]);
    expect(rows).toHaveLength(1);
    await confirm(first.api_key, (await listCodes(email))[0] ?? '');
    await gateway.owner.pool.query('delete from auth_rate_limit');
    expect((await signUp({ email, name: 'Twin' }, headers)).json()).toMatchObject({
      status: 'confirmed',
      api_key: null,
      address: first.address,
    });
  });

  test('gets no key by a repeated request without an Idempotency-Key, which anyone could make', async () => {
    const email = newEmail();
    const first = (await signUp({ email, name: 'Once' })).json();
    const second = (await signUp({ email, name: 'Once' })).json();
    expect([second.address, second.api_key]).toEqual([first.address, null]);
    expect((await gateway.call(first.api_key, 'GET', '/emails')).statusCode).toBe(200);
  });

  test('continues a sign-up that ended before its inbox or its mail', async () => {
    const email = newEmail();
    const headers = { 'idempotency-key': newKey() };
    const first = (await signUp({ email, name: 'Half' }, headers)).json();
    const { rows } = await gateway.owner.pool.query<{ workspace_id: string }>(
      `update agent_sign_up set code_expires_at = now() - interval '1 minute' where email = $1 returning workspace_id`,
      [email],
    );
    for (const table of ['email_address_name', 'email_address', 'dkim_key', 'verified_domain_name', 'domain'])
      await gateway.owner.pool.query(`delete from ${table} where workspace_id = $1`, [rows[0]?.workspace_id]);
    const second = (await signUp({ email, name: 'Half' }, headers)).json();
    expect(second).toEqual(first);
    expect((await send(second.api_key, second.address, email)).statusCode).toBe(200);
    expect(await listCodes(email)).toHaveLength(2);
  });

  test('becomes a workspace of the account that its person has, and ends a sign-in that no one proved', async () => {
    const email = newEmail();
    await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
    // As of someone who signed up.
    await gateway.owner.pool.query('update person set email_verified = false where email = $1', [email]);
    const stranger = openBrowser(gateway.app);
    await stranger.auth('POST', '/sign-in/email', { email, password: PASSWORD });
    expect((await stranger.auth('GET', '/workspaces')).statusCode).toBe(200);
    const { api_key: key } = (await signUp({ email, name: 'Known' })).json();
    expect((await stranger.auth('GET', '/workspaces')).json().workspaces).toHaveLength(1);
    expect((await confirm(key, (await listCodes(email))[0] ?? '')).statusCode).toBe(200);
    expect((await stranger.auth('GET', '/workspaces')).statusCode).toBe(401);
    const { rows } = await gateway.owner.pool.query(
      `select count(*)::integer as count from workspace_member m join person u on u.id = m.person_id where u.email = $1`,
      [email],
    );
    expect(rows).toEqual([{ count: 2 }]);
  });

  test('can guess a code five times, also with 50 requests at once', async () => {
    const email = newEmail();
    const headers = { 'idempotency-key': newKey() };
    const { api_key: key } = (await signUp({ email, name: 'Guess' }, headers)).json();
    const [code = ''] = await listCodes(email);
    const guesses = await Promise.all(Array.from({ length: 50 }, () => confirm(key, wrong(code))));
    expect(guesses.filter((response) => response.json().code === 'WRONG_CODE')).toHaveLength(5);
    const late = await confirm(key, code);
    expect([late.statusCode, late.json().code]).toEqual([409, 'TOO_MANY_TRIES']);
    await signUp({ email, name: 'Guess' }, headers);
    const codes = await listCodes(email);
    expect(codes).toHaveLength(2);
    await gateway.owner.pool.query(`update agent_sign_up set code_expires_at = now() where email = $1`, [email]);
    const expired = await confirm(key, codes[1] ?? '');
    expect([expired.statusCode, expired.json().code]).toEqual([409, 'CODE_EXPIRED']);
  });

  test('is limited per address and per network, and to three that wait', async () => {
    const email = newEmail();
    for (const name of ['One', 'Two', 'Three']) expect((await signUp({ email, name })).statusCode).toBe(200);
    const fourth = await signUp({ email, name: 'Four' });
    expect([fourth.statusCode, fourth.json().code]).toEqual([429, 'TOO_MANY_UNCONFIRMED']);
    await gateway.owner.pool.query('delete from auth_rate_limit');
    const many = [];
    for (let index = 0; index < 12; index++) many.push((await signUp({ email: newEmail(), name: 'Many' })).statusCode);
    expect(many).toEqual([...Array(10).fill(200), 429, 429]);
  });

  test('is closed after seven days without a confirmation', async () => {
    const email = newEmail();
    const { api_key: key } = (await signUp({ email, name: 'Late' })).json();
    await gateway.owner.pool.query(`update agent_sign_up set created_at = now() - interval '8 days' where email = $1`, [
      email,
    ]);
    await signUp({ email: newEmail(), name: 'Next' });
    const { rows } = await gateway.owner.pool.query(
      `select k.revoked_at is not null as revoked, w.erase_at is not null as closed from api_key k join workspace w on w.id = k.workspace_id
       where k.secret_sha256 = sha256(convert_to($1, 'UTF8'))`,
      [key],
    );
    expect(rows).toEqual([{ revoked: true, closed: true }]);
  });

  test('is refused with what is allowed, and where the operator has not opened it', async () => {
    const off = await signUp({ email: newEmail(), name: 'Off' }, {}, closed);
    expect([off.statusCode, off.json().code]).toEqual([403, 'AGENT_SIGN_UP_CLOSED']);
    for (const body of [
      {},
      { email: 'x', name: 'y' },
      { email: newEmail(), name: ' ' },
      { email: newEmail(), name: 'x', role: 'owner' },
    ])
      expect((await signUp(body)).statusCode).toBe(400);
    expect((await signUp({ email: newEmail(), name: 'x' }, { 'idempotency-key': 'short' })).statusCode).toBe(400);
    expect((await confirm('no-key', '123456')).statusCode).toBe(401);
    const box = await gateway.mailbox();
    expect((await confirm(box.apiKey, '123456')).statusCode).toBe(404);
    expect((await confirm(box.apiKey, '12345x')).statusCode).toBe(400);
  });

  test('cannot put a link or lines of its own into the mail', async () => {
    const email = newEmail();
    await signUp({ email, name: 'Go to https://evil.test\nnow' });
    const [mail = ''] = await readServiceMail(gateway.owner, email);
    expect(mail).not.toMatch(/evil\.test|https:\/\/evil/);
  });
});
