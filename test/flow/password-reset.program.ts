import { randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/connection/database.ts';
import { createDomainAccount, type TestAccount, until } from '../support/servers/service.ts';
import { type SharedService, SYSTEM_DOMAIN, sharedService } from '../support/servers/shared-service.ts';

let service: SharedService;
/** An address of its own: other files use up the sign-in attempts of theirs. */
const client = new Agent({ localAddress: '127.0.85.1' });

beforeAll(async () => {
  service = await sharedService('single');
});
afterAll(() => client.close());

const auth = async (path: string, body: unknown, cookie = '') => {
  const response = await fetch(`${service.url}/api/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(cookie === '' ? {} : { cookie, origin: service.url }) },
    body: JSON.stringify(body),
    dispatcher: client,
  });
  const [given = ''] = response.headers.getSetCookie();
  return { status: response.status, body: await response.json(), cookie: given.split(';', 1)[0] ?? '' };
};

/** The emails that the account has received, newest first. */
async function inboxOf(account: TestAccount, count: number) {
  let found: { id: string; subject: string }[] = [];
  await until(
    `${count} emails are there`,
    () => service.output.slice(-3_000),
    async () => {
      const { body } = await account.call('GET', '/emails?type=received');
      found = body.data;
      return found.length >= count;
    },
  );
  return found;
}

async function reversePathOf(emailId: string): Promise<string | undefined> {
  const url = await service.databaseUrl();
  const database = openDatabase({ url, role: null, poolSize: 1, applicationName: 'test', onError: () => undefined });
  try {
    const { rows } = await database.pool.query<{ reverse_path: string }>(
      'select reverse_path from reception where email_id = $1',
      [emailId],
    );
    return rows[0]?.reverse_path;
  } finally {
    await database.close();
  }
}

test('a forgotten password is reset by a mail of the service, which arrives in an inbox of its own', async () => {
  const ada = await service.createAccount();
  const sender = await createDomainAccount(service.url, await service.databaseUrl(), SYSTEM_DOMAIN);
  const email = `owner@${ada.domain}`;
  const made = await ada.call('POST', '/email-addresses', { address: email, domainId: ada.domainId });
  expect(made.status).toBe(201);

  expect(await auth('/request-password-reset', { email: email.toUpperCase() })).toMatchObject({
    status: 200,
    body: { status: true },
  });
  const [mail] = await inboxOf(ada, 1);
  expect(mail?.subject).toBe('Set a new password for Postroom');
  const raw = await ada.call('GET', `/emails/${mail?.id}/raw`);
  const message = await simpleParser(raw.body);
  expect(message.from?.value).toEqual([{ name: 'Postroom', address: `postroom@${SYSTEM_DOMAIN}` }]);
  expect(message.headers.get('auto-submitted')).toBe('auto-generated');
  // No DSN can carry it elsewhere; it is signed by whose domain it is from.
  expect(await reversePathOf(mail?.id ?? '')).toBe('');
  expect(message.headers.get('dkim-signature')).toMatchObject({ params: { d: SYSTEM_DOMAIN } });
  const link = /^http:\S+$/m.exec(message.text ?? '')?.[0] ?? '';
  expect(link).toMatch(new RegExp(`^http://localhost:${service.httpPort}/reset-password#token=[A-Za-z0-9]{24}$`));
  const token = link.split('=')[1];
  const password = randomBytes(12).toString('hex');

  expect(await auth('/reset-password', { token, newPassword: password })).toMatchObject({ status: 200 });
  expect(await auth('/reset-password', { token, newPassword: 'another password' })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_TOKEN' },
  });
  expect((await inboxOf(ada, 2)).map(({ subject }) => subject)).toContain('Your Postroom password was changed');
  const signedIn = await auth('/sign-in/email', { email, password });
  expect(signedIn).toMatchObject({ status: 200, body: { user: { id: ada.workspaceId, email } } });
  expect(await auth('/sign-out', {}, signedIn.cookie)).toMatchObject({ status: 200, body: { status: true } });

  // Whose domain it was sent from sees nothing of it, and the log nothing of what it said.
  expect((await sender.call('GET', '/emails')).body.data).toEqual([]);
  for (const secret of [token ?? '', password, decodeURIComponent(signedIn.cookie.split('=')[1] ?? '')])
    expect(service.output).not.toContain(secret);
});
