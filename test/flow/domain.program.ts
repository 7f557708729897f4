import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DnsRecord } from '../../core/domains/dns-records.ts';
import { isQuick } from '../support/chaos-figures.ts';
import { type ServiceMode, type ServiceResponse, type TestAccount, until } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';

// Separate processes are in metrics.program.ts; with `npm run test:long`, here too.
describe.each<ServiceMode>(isQuick ? ['single'] : ['single', 'split'])('a new user adds a domain (%s)', (mode) => {
  let service: SharedService;
  let account: TestAccount;

  beforeAll(async () => {
    service = await sharedService(mode);
    account = await service.createAccount();
  }, 300_000);

  /** Puts into DNS exactly what the service answered. */
  function publish(response: ServiceResponse): void {
    const zone = service.openZone(response.body.domain);
    const records: DnsRecord[] = response.body.dnsRecords;
    for (const { type, name } of records) {
      const values = records.filter((each) => each.type === type && each.name === name).map(({ value }) => value);
      zone.set(name, type, type === 'MX' ? values.map(toMx) : values);
    }
  }

  async function send(recipient: string): Promise<{ code: number | null; messageId: string }> {
    const messageId = `<${Date.now()}.${recipient}>`;
    const lines = [
      `Message-ID: ${messageId}`,
      'From: ada@elsewhere.test',
      `To: ${recipient}`,
      'Subject: Hello',
      '',
      'Hi',
    ];
    const result = await sendOne({
      port: service.smtpPort,
      reversePath: 'ada@elsewhere.test',
      recipients: [recipient],
      bytes: Buffer.from(`${lines.join('\r\n')}\r\n`),
    });
    return { code: result.code ?? null, messageId };
  }

  async function awaitMail(messageId: string): Promise<void> {
    await until(
      `${messageId} is listed`,
      () => service.output.slice(-2_000),
      async () => {
        const { body } = await account.call('GET', '/emails?type=received');
        return body.data.some((email: { message_id: string }) => email.message_id === messageId);
      },
    );
  }

  test('publishes the records, verifies the domain by a check, receives mail, and deletes it', async () => {
    const name = `asked-${mode}.test`;
    const made = await account.call('POST', '/domains', { domain: name });
    expect(made).toMatchObject({ status: 201, body: { status: 'pending', canReceiveEmails: false } });
    expect((await send(`hello@${name}`)).code).toBe(550);
    publish(made);
    const checked = await account.call('GET', `/domains/${made.body.id}?check=true`);
    expect(checked.body).toMatchObject({
      status: 'verified',
      canReceiveEmails: true,
      mailFromDomainStatus: 'Success',
      verificationCheck: { isFullyVerified: true, dkimStatus: 'Success' },
    });
    expect(checked.body.dnsRecords.every(({ isVerified }: { isVerified: boolean }) => isVerified)).toBe(true);

    const address = `hello@${name}`;
    const added = await account.call('POST', '/email-addresses', { address, domainId: made.body.id });
    expect(added.status).toBe(201);
    await until(
      `${address} takes mail`,
      () => service.output.slice(-2_000),
      async () => {
        const { code, messageId } = await send(address);
        if (code !== 250) return false;
        await awaitMail(messageId);
        return true;
      },
    );

    const gone = await account.call('DELETE', `/domains/${made.body.id}`);
    expect(gone.body.deletedResources).toMatchObject({ domain: name, emailAddresses: 1 });
    await until(
      `${address} takes none`,
      () => service.output.slice(-2_000),
      async () => (await send(address)).code === 550,
    );
    expect((await account.call('GET', '/emails?type=received')).body.pagination.total).toBeGreaterThan(0);
  });

  test('the domain is verified in the background without a check', async () => {
    const made = await account.call('POST', '/domains', { domain: `waiting-${mode}.test` });
    expect(made.body.status).toBe('pending');
    publish(made);
    const database = new pg.Client(await service.databaseUrl());
    await database.connect();
    try {
      await until(
        'the domain is verified',
        () => service.output.slice(-2_000),
        async () => {
          // The next look is a minute away.
          await database.query(`update domain set check_due_at = now() where id = $1 and status = 'pending'`, [
            made.body.id,
          ]);
          const { body } = await account.call('GET', `/domains/${made.body.id}`);
          return body.status === 'verified' && body.canReceiveEmails;
        },
      );
    } finally {
      await database.end();
    }
  });
});

function toMx(value: string): { preference: number; exchange: string } {
  const [preference = '', exchange = ''] = value.split(' ');
  return { preference: Number(preference), exchange };
}
