import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../../support/rows/stored-message.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
import { waitFor } from '../../support/wait-for.ts';

const PASSWORD = 'correct horse battery';
let gateway: TestGateway;
let accounts = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());

interface StoredMail {
  recipient: string;
  text: string;
}

/** The service's own mail to that address, oldest first. */
async function mailTo(address: string): Promise<StoredMail[]> {
  const { rows } = await gateway.owner.pool.query<MessageColumns & { recipient: string }>(
    `select r.address as recipient, ${MESSAGE_COLUMNS} from email e
     join raw_message m on m.id = e.raw_id join recipient r on r.workspace_id = e.workspace_id and r.email_id = e.id
     where e.workspace_id = $1 and r.address = $2 order by e.created_at, e.id`,
    [SYSTEM_WORKSPACE_ID, address],
  );
  // quoted-printable
  return rows.map(({ recipient, ...row }) => ({
    recipient,
    text: readStoredMessage(row).toString().replaceAll('=\r\n', '').replaceAll('=3D', '='),
  }));
}

async function makeAccount(): Promise<string> {
  const email = `user${accounts++}@example.com`;
  await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  return email;
}

async function askForReset(email: string): Promise<string> {
  const known = (await mailTo(email)).length;
  const response = await openBrowser(gateway.app).auth('POST', '/request-password-reset', { email });
  expect([response.statusCode, response.json()]).toEqual([200, { status: true }]);
  const [mail] = await waitFor(async () => {
    const all = (await mailTo(email)).slice(known);
    expect(all).toHaveLength(1);
    return all;
  });
  return /http:\/\/postroom\.test\/reset-password#token=([A-Za-z0-9]+)/.exec(mail?.text ?? '')?.[1] ?? '';
}

describe('a new password', () => {
  test('is set once by the mailed link, and every session ends', async () => {
    const email = await makeAccount();
    const browser = openBrowser(gateway.app);
    await browser.auth('POST', '/sign-in/email', { email, password: PASSWORD });
    const token = await askForReset(email);
    expect(token).toMatch(/^[A-Za-z0-9]{24}$/);
    const body = { token, newPassword: 'a new password' };
    const second = await askForReset(email);
    const weak = await openBrowser(gateway.app).auth('POST', '/reset-password', { token, newPassword: 'short' });
    expect(weak.statusCode).toBe(400);
    expect((await openBrowser(gateway.app).auth('POST', '/reset-password', body)).json()).toEqual({ status: true });
    expect((await browser.graphql('{ viewer { id } }')).statusCode).toBe(401);
    const again = await openBrowser(gateway.app).auth('POST', '/reset-password', body);
    expect([again.statusCode, again.json().code]).toEqual([400, 'INVALID_TOKEN']);
    // Nor does any other link that was mailed before.
    const other = await openBrowser(gateway.app).auth('POST', '/reset-password', { ...body, token: second });
    expect([other.statusCode, other.json().code]).toEqual([400, 'INVALID_TOKEN']);
    const signIn = (password: string) => openBrowser(gateway.app).auth('POST', '/sign-in/email', { email, password });
    expect((await signIn(PASSWORD)).statusCode).toBe(401);
    expect((await signIn('a new password')).statusCode).toBe(200);
    const subjects = async () => (await mailTo(email)).map(({ text }) => /^Subject: (.*)\r$/m.exec(text)?.[1]);
    const asked = 'Set a new password for Postroom';
    await waitFor(async () => expect(await subjects()).toEqual([asked, asked, 'Your Postroom password was changed']));
  });

  test('is not set by a link that is an hour old', async () => {
    const email = await makeAccount();
    const token = await askForReset(email);
    await gateway.owner.pool.query(`update auth_verification set expires_at = expires_at - interval '1 hour'`);
    const response = await openBrowser(gateway.app).auth('POST', '/reset-password', {
      token,
      newPassword: 'a new password',
    });
    expect([response.statusCode, response.json().code]).toEqual([400, 'INVALID_TOKEN']);
  });

  test('sends no email for an address without an account, and the response is the same', async () => {
    const response = await openBrowser(gateway.app).auth('POST', '/request-password-reset', {
      email: 'nobody@example.com',
    });
    expect([response.statusCode, response.json()]).toEqual([200, { status: true }]);
    await askForReset(await makeAccount());
    expect(await mailTo('nobody@example.com')).toEqual([]);
  });

  test('stores the token nowhere but in the email', async () => {
    const token = await askForReset(await makeAccount());
    const { rows } = await gateway.owner.pool.query<{ row: string }>(
      `select row_to_json(v)::text as row from auth_verification v`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ row }) => row).join('\n')).not.toContain(token);
    expect(JSON.stringify(gateway.logged)).not.toContain(token);
  });
});

test('mail of the service is seen by no user, not even by the owner of its domain, who cannot stop it', async () => {
  const own = await openTestGateway({ config: { systemMailFrom: 'hello@owned.test' } });
  try {
    const { apiKey } = await own.mailbox({ domain: 'owned.test' });
    await createAccount(own.owner, { email: 'ada@example.com', password: PASSWORD, apiKey: null, mailbox: null });
    await openBrowser(own.app).auth('POST', '/request-password-reset', { email: 'ada@example.com' });
    const count = async () =>
      (await own.owner.pool.query('select from email where workspace_id = $1', [SYSTEM_WORKSPACE_ID])).rowCount;
    await waitFor(async () => expect(await count()).toBe(1));
    const totals = await own.graphql(apiKey, '{ emails { totalCount } threads { totalCount } }');
    expect(totals.json().data).toEqual({ emails: { totalCount: 0 }, threads: { totalCount: 0 } });
    for (const path of ['/emails', '/emails?type=sent', '/emails?search=password', '/events']) {
      const { statusCode, body } = await own.call(apiKey, 'GET', path);
      expect([path, statusCode]).toEqual([path, 200]);
      expect(body).not.toContain('reset-password');
      expect(body).not.toContain('Set a new password');
    }
    const { rows } = await own.owner.pool.query<{ id: string }>('select id from email where workspace_id = $1', [
      SYSTEM_WORKSPACE_ID,
    ]);
    expect((await own.call(apiKey, 'GET', `/emails/${rows[0]?.id}`)).statusCode).toBe(404);
    const domains = (await own.call(apiKey, 'GET', '/domains')).json();
    expect(domains.data).toHaveLength(1);
  } finally {
    await own.close();
  }
});
