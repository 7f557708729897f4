import path from 'node:path';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { openDatabase } from '../../db/connection/database.ts';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { greetFrom, TEST_PROXY } from '../support/servers/outside-client.ts';
import { startRealFilter, startRealVirusScanner } from '../support/servers/real-scanners.ts';
import { EICAR, GTUBE } from '../support/servers/scanners.ts';
import { Service } from '../support/servers/service.ts';

/** A folder for screenshots, to look at. */
const screenshots = process.env['SCREENSHOTS'];

test.skipIf(chromiumPath === undefined)(
  'a service with rspamd and clamd refuses EICAR, files GTUBE as spam, slows a harvester down, and shows all three',
  async () => {
    const [filter, viruses] = await Promise.all([startRealFilter(), startRealVirusScanner()]);
    const service = await Service.start('single', {
      environment: {
        RSPAMD_URL: filter.url,
        RSPAMD_CONTROLLER_URL: filter.controllerUrl,
        CLAMD_ADDRESS: `127.0.0.1:${viruses.address.port}`,
        SMTP_PROXIES: TEST_PROXY,
      },
    });
    const account = await service.createAccount();
    const to = `hello@${account.domain}`;
    await account.call('POST', '/email-addresses', { address: to, domainId: account.domainId });
    const send = async (text: string, subject: string): Promise<string> => {
      const client = await greetFrom(service.smtpPort, '8.8.9.9');
      await client.begin([to], 'ann@elsewhere.test');
      const fields = [
        `From: ann@elsewhere.test`,
        `To: ${to}`,
        `Subject: ${subject}`,
        `Message-ID: <${subject}@x.test>`,
      ];
      client.send(`${fields.join('\r\n')}\r\n\r\n${text}\r\n.\r\n`);
      const reply = await client.reply();
      client.destroy();
      return reply.text;
    };
    expect(await send(EICAR, 'The-file')).toMatch(/^550 5\.7\.1 The message has a virus: Eicar-Signature/);
    expect(await send(GTUBE, 'Cheap-pills')).toMatch(/^250 /);
    expect(await send('Shall we meet for lunch?', 'Lunch')).toMatch(/^250 /);

    const harvester = await greetFrom(service.smtpPort, '8.8.4.4');
    await harvester.say('MAIL FROM:<spy@elsewhere.test>');
    const waits: number[] = [];
    let last = '';
    while (!last.startsWith('421') && waits.length < 25) {
      const startedAt = performance.now();
      ({ text: last } = await harvester.say(`RCPT TO:<guess${waits.length}@${account.domain}>`));
      waits.push(performance.now() - startedAt);
    }
    harvester.destroy();
    expect(last).toMatch(/^421 4\.7\.0 /);
    expect(waits).toHaveLength(20);
    expect(Math.max(...waits.slice(0, 5))).toBeLessThan(1_000);
    expect(waits.at(-2)).toBeGreaterThan(3_000);

    const database = openDatabase({
      url: await service.databaseUrl(),
      role: null,
      poolSize: 1,
      applicationName: 'test',
      onError: () => undefined,
    });
    const browser = await chromium.launch({ executablePath: chromiumPath ?? '' });
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    const url = service.url.replace('127.0.0.1', 'localhost');
    const { body } = await account.graphql('{ viewer { email } }');
    const token = await makeSignInLink(database, body.data.viewer.email);
    await context.request.post(`${url}/api/auth/sign-in/link`, { data: { token }, headers: { origin: url } });
    const page = await context.newPage();
    const shot = async (name: string) => {
      if (screenshots !== undefined) await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
    };
    await page.goto(`${url}/refused`);
    const refusals = page.getByRole('list', { name: 'Refusals' });
    await refusals.getByText('The message has a virus: Eicar-Signature').first().waitFor();
    await refusals.getByText(`guess0@${account.domain}`).waitFor();
    await refusals
      .getByText(/^421 4\.7\.0/)
      .first()
      .waitFor();
    await shot('refused');
    await page.goto(`${url}/held`);
    await page.getByRole('tab', { name: /Spam/ }).click();
    await page.getByRole('list', { name: 'Spam' }).getByText('Cheap-pills').first().waitFor();
    await shot('spam');
    await browser.close();
    await database.close();
    await Promise.all([service.stop(), filter.stop(), viruses.stop()]);
  },
  600_000,
);

test('a service that keeps viruses apart gives one to its owner after a warning, and releases spam once', async () => {
  const [filter, viruses] = await Promise.all([startRealFilter(), startRealVirusScanner()]);
  const service = await Service.start('single', {
    environment: {
      RSPAMD_URL: filter.url,
      RSPAMD_CONTROLLER_URL: filter.controllerUrl,
      CLAMD_ADDRESS: `127.0.0.1:${viruses.address.port}`,
      VIRUS_ACTION: 'quarantine',
      SMTP_PROXIES: TEST_PROXY,
    },
  });
  const account = await service.createAccount();
  const to = `hello@${account.domain}`;
  await account.call('POST', '/email-addresses', { address: to, domainId: account.domainId });
  const send = async (text: string, subject: string): Promise<string> => {
    const client = await greetFrom(service.smtpPort, '8.8.9.9');
    await client.begin([to], 'ann@elsewhere.test');
    client.send(`From: ann@elsewhere.test\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\n${text}\r\n.\r\n`);
    const reply = await client.reply();
    client.destroy();
    return reply.text;
  };
  const list = async (query: string) => {
    const { body } = await account.call('GET', `/emails?time_range=all&${query}`);
    return body.data as { id: string; subject: string; kept_apart: string | null }[];
  };
  expect(await send(EICAR, 'The-file')).toMatch(/^250 /);
  expect(await send(GTUBE, 'Cheap-pills')).toMatch(/^250 /);
  await expect
    .poll(async () => (await list('spam=only')).map(({ subject }) => subject), { timeout: 60_000 })
    .toContain('Cheap-pills');
  expect(await list('')).toEqual([]);

  const spam = (await list('spam=only')).find(({ subject }) => subject === 'Cheap-pills');
  expect(await account.call('POST', `/emails/${spam?.id}/not-spam`)).toMatchObject({ status: 200 });
  await expect.poll(() => list(''), { timeout: 60_000 }).toMatchObject([{ id: spam?.id }]);
  expect(await account.call('POST', `/emails/${spam?.id}/not-spam`)).toMatchObject({ status: 200 });
  const all = await list('spam=include');
  expect(all.filter(({ id }) => id === spam?.id)).toHaveLength(1);

  const virus = all.find((each) => each.kept_apart === 'virus');
  const warned = await account.call('GET', `/emails/${virus?.id}/quarantine`);
  expect([warned.status, warned.body.message]).toEqual([400, expect.stringContaining('Eicar-Signature')]);
  const name = encodeURIComponent('Eicar-Signature.UNOFFICIAL');
  const file = await account.call('GET', `/emails/${virus?.id}/quarantine?confirm=${name}`);
  expect(file.status).toBe(200);
  expect(String(file.body)).toContain(EICAR);
  await Promise.all([service.stop(), filter.stop(), viruses.stop()]);
}, 600_000);
