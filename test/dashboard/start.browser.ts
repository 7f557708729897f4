import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { openTestGateway } from '../support/servers/gateway.ts';
import { callers } from '../support/servers/service.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

/** Of one test on a loaded machine. Milliseconds. */
const JOURNEY_MS = 180_000;

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the first steps of an account', { timeout: JOURNEY_MS }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  }, 300_000);
  afterAll(() => stage?.close());

  test('the overview lists the first steps, counts those that are done, and stays without them once hidden', async () => {
    const account = await stage.account();
    // Uses of keys are noted in batches.
    const usedAt = async () => (await account.call('GET', '/api-keys')).body.data[0]?.last_used_at;
    await expect.poll(usedAt, { timeout: 60_000 }).not.toBeNull();
    const { page, close } = await stage.open(account);
    await page.goto(`${stage.url}/`);
    const steps = page.getByRole('region', { name: 'Getting started' });
    // The account has an address, and the stage used its API key.
    await steps.getByText('2 of 5 done').waitFor();
    await steps.getByText('Create an address: done').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await stage.mail({ to: account.address, subject: 'Hello', text: 'A first mail.' });
    await steps.getByText('3 of 5 done').waitFor();
    await steps.getByRole('link', { name: 'Deliver mail to your program' }).click();
    await page.getByRole('dialog').waitFor();
    await page.goto(`${stage.url}/`);
    await steps.getByRole('button', { name: 'Hide' }).click();
    await steps.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    expect(await steps.count()).toBe(0);
    await close();
  });

  test('a second account of a local service gets an address by one click', async () => {
    const port = await freePort();
    const gateway = await openTestGateway({
      config: {
        publicUrl: `http://localhost:${port}`,
        mailHostname: 'localhost',
        trustedDomains: ['inbox.test', '*.inbox.test'],
      },
    });
    await gateway.app.listen({ port, host: '127.0.0.1' });
    await gateway.mailbox({ domain: 'inbox.test' });
    const { apiKey } = await gateway.mailbox({ domain: 'second.test' });
    const url = `http://localhost:${port}`;
    const account = callers(url, apiKey);
    const [domain] = (await account.call('GET', '/domains')).body.data;
    await account.call('DELETE', `/domains/${domain.id}`);
    const { page, close } = await stage.open({ apiKey }, { at: { url, database: gateway.owner } });
    await page.goto(`${url}/welcome`);
    await page.getByRole('button', { name: /^Get hello@.+\.inbox\.test$/ }).click();
    await page.getByRole('heading', { name: /^Send an email to hello@.+\.inbox\.test$/ }).waitFor();
    const { body } = await account.call('GET', '/email-addresses');
    expect(body.data).toMatchObject([{ address: expect.stringMatching(/^hello@.+\.inbox\.test$/) }]);
    await close();
    await gateway.close();
  });
});
