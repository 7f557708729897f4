import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

/** Of the whole service, the browser, and the dashboard when it is not built. Milliseconds. */
const START_MS = 300_000;
/** Of one test on a loaded machine. Milliseconds. */
const JOURNEY_MS = 180_000;

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('scheduled mail', { timeout: JOURNEY_MS }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  }, START_MS);
  afterAll(() => stage?.close());

  async function open(account: Awaited<ReturnType<BrowserStage['account']>>) {
    const tab = await stage.open(account);
    await tab.page.goto(`${stage.url}/scheduled`);
    return tab;
  }

  test('a scheduled email is paused, given another time in words, resumed and cancelled', async () => {
    const account = await stage.account();
    const { page, complaints, close } = await open(account);
    await page.getByRole('heading', { name: 'No scheduled emails' }).waitFor();
    await page.getByRole('region', { name: 'command' }).getByText(account.address).waitFor();
    const send = async (subject: string, scheduledAt: string) => {
      const email = { from: account.address, to: ['joe@elsewhere.test'], subject, text: 'Later.' };
      const made = await account.call('POST', '/emails', {
        ...email,
        scheduled_at: scheduledAt,
        timezone: 'Asia/Tokyo',
      });
      expect(made.status).toBe(201);
      return String(made.body.id);
    };
    const id = await send('The later one', 'in 5 hours');
    await send('The sooner one', 'in 2 hours');
    const list = page.getByRole('list', { name: 'Scheduled emails' });
    await list.getByText('The sooner one').waitFor();
    const subjects = () => list.getByRole('listitem').getByRole('link').allTextContents();
    await expect.poll(subjects).toEqual(['The sooner one', 'The later one']);
    const row = list.getByRole('listitem').filter({ hasText: 'The later one' });
    await row.getByText('in 5 hours').or(row.getByText('in 4 hours')).waitFor();
    await row.getByText(/GMT\+9 \(Asia\/Tokyo\)/).waitFor();
    expect(await findViolations(page)).toEqual([]);

    await row.getByRole('button', { name: 'Pause' }).click();
    await row.getByText('paused', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Reschedule' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reschedule “The later one”' });
    await dialog.getByLabel('New time').fill('when pigs fly');
    await dialog.getByRole('button', { name: 'Reschedule' }).click();
    await dialog.getByText(/^Unable to parse date/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByLabel('New time').fill('in 1 hour');
    await dialog.getByRole('button', { name: 'Reschedule' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(subjects).toEqual(['The later one', 'The sooner one']);
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByText('scheduled', { exact: true }).waitFor();

    await row.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel email' }).click();
    await expect.poll(subjects).toEqual(['The sooner one']);
    await page.goto(`${stage.url}/emails/${id}`);
    await page.getByRole('region', { name: 'Email' }).getByText('cancelled', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    await page.getByText('Paused', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('the waiting emails of a batch are cancelled at once', async () => {
    const account = await stage.account();
    const email = { from: account.address, to: ['joe@elsewhere.test'], text: 'Later.', scheduled_at: 'in 2 hours' };
    const emails = [1, 2, 3].map((n) => ({ ...email, subject: `Letter ${n}` }));
    const text = `mutation M($input: SendEmailsInput!) { sendEmails(input: $input) { __typename ... on Error { message } } }`;
    const given = emails.map(({ scheduled_at: scheduledAt, ...one }) => ({ ...one, scheduledAt }));
    const { body } = await account.graphql(text, { input: { emails: given } });
    expect(body.data?.sendEmails.__typename, JSON.stringify(body)).toBe('SendEmailsPayload');
    const { page, complaints, close } = await open(account);
    const batches = page.getByRole('region', { name: 'Batches' });
    await batches.getByText('3 waiting').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await batches.getByRole('button', { name: 'Cancel batch' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel batch' }).click();
    await page.getByRole('heading', { name: 'No scheduled emails' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
