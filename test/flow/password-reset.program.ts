import { randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/connection/database.ts';
import { createAccount } from '../../db/queries/accounts/account.ts';
import { createDomainAccount } from '../support/servers/service.ts';
import { SYSTEM_DOMAIN } from '../support/servers/shared-service.ts';
import { SendingStage, type SharedGround } from '../support/stages/sending-stage.ts';

let stage: SendingStage<SharedGround>;
let service: SharedGround['service'];
/** An address of its own: other files use up the sign-in attempts of theirs. */
const client = new Agent({ localAddress: '127.0.85.1' });

beforeAll(async () => {
  stage = await SendingStage.share('single', 'forgetful.test');
  service = stage.service;
});
afterAll(async () => {
  await stage?.stop();
  await client.close();
});

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

/** Creates a person without a password, and returns the ID. */
async function makePerson(email: string): Promise<string> {
  const url = await service.databaseUrl();
  const database = openDatabase({ url, role: null, poolSize: 1, applicationName: 'test', onError: () => undefined });
  try {
    const made = await createAccount(database, { email, password: null, apiKey: null, mailbox: null });
    if (!('workspaceId' in made)) throw new Error(made.outcome);
    return made.workspaceId;
  } finally {
    await database.close();
  }
}

test('a forgotten password is reset by a mail of the service, which arrives at the mail service of its person', async () => {
  const sender = await createDomainAccount(service.url, await service.databaseUrl(), SYSTEM_DOMAIN);
  const email = `ada@${stage.peer}`;
  const personId = await makePerson(email);

  expect(await auth('/request-password-reset', { email: email.toUpperCase() })).toMatchObject({
    status: 200,
    body: { status: true },
  });
  const [mail] = await stage.sink.received(1);
  const message = await simpleParser(mail?.bytes ?? '');
  expect(message.subject).toBe('Set a new password for Postroom');
  expect(message.from?.value).toEqual([{ name: 'Postroom', address: `postroom@${SYSTEM_DOMAIN}` }]);
  expect(message.headers.get('auto-submitted')).toBe('auto-generated');
  // No DSN can carry it elsewhere; it is signed by whose domain it is from.
  expect([mail?.from, mail?.recipients]).toEqual(['', [email]]);
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
  const [, changed] = await stage.sink.received(2);
  expect((await simpleParser(changed?.bytes ?? '')).subject).toBe('Your Postroom password was changed');
  const signedIn = await auth('/sign-in/email', { email, password });
  expect(signedIn).toMatchObject({ status: 200, body: { user: { id: personId, email } } });
  expect(await auth('/sign-out', {}, signedIn.cookie)).toMatchObject({ status: 200, body: { status: true } });

  // Whose domain it was sent from sees nothing of it, and the log nothing of what it said.
  expect((await sender.call('GET', '/emails')).body.data).toEqual([]);
  for (const secret of [token ?? '', password, decodeURIComponent(signedIn.cookie.split('=')[1] ?? '')])
    expect(service.output).not.toContain(secret);
});
