import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;
let receiver: WebhookReceiver;

describe.skipIf(chromiumPath === undefined)('endpoints and rules in the browser', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await receiver?.stop();
    await stage?.close();
  });

  test('a person creates a webhook, sees why it fails, repairs it, and has missed mail delivered', async () => {
    const account = await stage.account();
    const { page, complaints, close } = await stage.open(account);
    receiver.respond([500]);

    await page.goto(`${stage.url}/endpoints`);
    await page.getByRole('link', { name: 'Create endpoint' }).last().click();
    const form = page.getByRole('dialog', { name: 'Create endpoint' });
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await form.getByText('Enter a name').waitFor();
    await form.getByLabel('Name').fill('Tickets');
    await form.getByLabel('URL').fill('http://127.0.0.1:25/');
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await form
      .getByText(/must not use port 25/)
      .first()
      .waitFor();
    await form.getByLabel('URL').fill(receiver.url);
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();

    await page.getByRole('tab', { name: 'Test' }).click();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.locator('[data-test-result="failure"]').getByText('status was 500').waitFor();

    const endpoints = await account.call('GET', '/endpoints');
    const endpointId: string = endpoints.body.data[0].id;
    await account.call('PUT', `/email-addresses/${await addressId(account)}`, { endpointId });
    await page.getByRole('tab', { name: 'Deliveries' }).click();
    await stage.mail({ to: account.address, subject: 'Lost and found', text: 'Where is it?' });
    const delivery = page.locator('[data-delivery]').filter({ hasText: 'Lost and found' });
    await delivery.getByRole('button').first().click();
    await delivery.getByText(/500/).first().waitFor();
    await delivery.getByRole('button', { name: 'Show payload' }).click();
    await delivery.getByText('"Where is it?').first().waitFor();

    receiver.respond([200]);
    await delivery.getByRole('button', { name: 'Retry now' }).click();
    await delivery.getByText('Delivered 200').waitFor();

    await page.getByRole('tab', { name: 'Replay' }).click();
    await page.getByText('All', { exact: true }).click();
    await page.getByRole('button', { name: 'Replay emails' }).click();
    await page.getByText('1 email is delivered again').waitFor();
    await expect
      .poll(() => receiver.requests.filter(({ headers }) => headers['x-test-request'] === undefined).length)
      .toBeGreaterThanOrEqual(2);

    await page.getByRole('tab', { name: 'Signing' }).click();
    const shown = page.getByLabel('Secret', { exact: true });
    await expect.poll(() => shown.inputValue()).toMatch(/^whsec_/);
    const secret = await shown.inputValue();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByLabel('Previous secret', { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel('Previous secret', { exact: true }).inputValue()).toBe(secret);

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Ticket system');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Ticket system', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Delete endpoint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete endpoint' }).click();
    await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('an endpoint says how many deliveries came through and how many attempts failed', async () => {
    const account = await stage.account();
    receiver.respond([200]);
    const { body } = await account.call('POST', '/endpoints', {
      name: 'Counted',
      type: 'webhook',
      config: { url: receiver.url },
    });
    const count = (total: number, successful: number, failed: number) =>
      stage.database.pool.query(
        `insert into endpoint_stat (workspace_id, endpoint_id, total, successful, failed)
         select workspace_id, id, $2, $3, $4 from endpoint where id = $1
         on conflict (workspace_id, endpoint_id) do update set total = $2, successful = $3, failed = $4`,
        [body.id, total, successful, failed],
      );
    const { page, close } = await stage.open(account);
    await count(3, 2, 1);
    await page.goto(`${stage.url}/endpoints`);
    await page.getByText('2 delivered, 1 failed attempt', { exact: true }).waitFor();
    await count(3451, 2040, 1406);
    for (const path of ['/endpoints', `/endpoints/${body.id}`]) {
      await page.goto(stage.url + path);
      await page.getByText('2,040 delivered, 1,406 failed attempts, 5 pending', { exact: true }).waitFor();
    }
    await close();
  });

  test('a payload query is written in the explorer’s editor, tested on a stored event, and shapes the payload', async () => {
    const account = await stage.account();
    const config = { url: receiver.url };
    const made = await account.call('POST', '/endpoints', { name: 'Shaped', type: 'webhook', config });
    await account.call('PUT', `/email-addresses/${await addressId(account)}`, { endpointId: made.body.id });
    const before = receiver.requests.length;
    await stage.mail({ to: account.address, subject: 'First shape', text: 'Round' });
    await receiver.received(before + 1);
    const { page, complaints, close } = await stage.open(account, { viewport: { width: 1400, height: 1000 } });

    await page.goto(`${stage.url}/endpoints/${made.body.id}?tab=settings`);
    await page.getByRole('button', { name: 'Write query' }).click();
    const frame = page.frameLocator('iframe[title="Query editor"]');
    await frame.locator('.graphiql-query-editor .view-lines').getByText('subject').first().waitFor();
    await page.getByRole('combobox', { name: 'Try on event' }).click();
    await page.getByRole('option', { name: /email\.received · First shape/ }).click();
    await frame.locator('.graphiql-execute-button').click();
    await frame.locator('.graphiql-response').getByText('First shape').first().waitFor();
    await picture(page, 'payload-query');

    const write = async (query: string) => {
      await frame.locator('.graphiql-query-editor .view-lines').click();
      await page.keyboard.press('ControlOrMeta+a');
      // A typed bracket would enclose what is selected.
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(query);
    };
    await write('{ kind email { subjec } }');
    await frame.locator('.graphiql-query-editor .squiggly-error').first().waitFor({ state: 'attached' });
    await frame.locator('.graphiql-execute-button').click();
    await frame.locator('.graphiql-response').getByText('Cannot query field').first().waitFor();
    await page.getByRole('button', { name: 'Use query' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByText(/Line 1, column 16: Cannot query field/)
      .first()
      .waitFor();

    await page.getByRole('button', { name: 'Edit query' }).click();
    await frame.locator('.graphiql-query-editor .view-lines').getByText('subjec').first().waitFor();
    await write('{ kind email { subject thread { messages(last: 3) { edges { node { preview } } } } } }');
    await page.getByRole('button', { name: 'Use query' }).click();
    await page.getByRole('switch', { name: 'Allow actions' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. The next delivery uses the new settings.').waitFor();
    await picture(page, 'endpoint-events');
    await stage.mail({ to: account.address, subject: 'Second shape', text: 'Square' });
    const [request] = (await receiver.received(before + 2)).slice(-1);
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      type: 'email.received',
      data: {
        kind: 'EMAIL_RECEIVED',
        email: { subject: 'Second shape', thread: { messages: { edges: [{ node: { preview: 'Square' } }] } } },
      },
      truncated: [],
      endpoint: { id: made.body.id, name: 'Shaped', type: 'webhook' },
    });
    expect(complaints).toEqual([]);
    await close();
  });

  test('the dialog that creates a webhook offers its events, their filter and their order', async () => {
    const account = await stage.account();
    const { page, complaints, close } = await stage.open(account);
    await page.goto(`${stage.url}/endpoints?new=webhook`);
    const form = page.getByRole('dialog', { name: 'Create endpoint' });
    await form.getByLabel('Name').fill('Bounces');
    await form.getByLabel('URL').fill(receiver.url);
    const part = form.getByRole('button', { name: 'Events and order' });
    expect(await part.getAttribute('aria-expanded')).toBe('false');
    const events = form.getByRole('combobox', { name: 'Events' });
    await part.click();
    await events.click();
    await page.keyboard.press('Backspace');
    await part.press('Enter');
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await form.getByText('Choose at least one event.').waitFor();
    expect(await part.getAttribute('aria-expanded')).toBe('true');

    await events.fill('email.bounced');
    await page.getByRole('option', { name: 'email.bounced' }).click();
    await form.getByRole('combobox', { name: 'Only these domains' }).fill(account.domain);
    await page.keyboard.press('Enter');
    const order = form.getByRole('combobox', { name: 'Order' });
    // The list of another field may cover it until that loses the focus.
    await order.focus();
    await order.click();
    await page.getByRole('option', { name: /^By thread/ }).click();
    await picture(page, 'create-endpoint');
    await page.setViewportSize({ width: 390, height: 844 });
    await picture(page, 'create-endpoint-phone');
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await page.getByRole('heading', { name: 'Bounces', level: 1 }).waitFor();
    const { body } = await account.call('GET', '/endpoints');
    expect(body.data).toMatchObject([
      { events: ['email.bounced'], filter: { domains: [account.domain], addresses: [] }, ordering: 'thread' },
    ]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a rule is tested on past mail before it holds mail, and rules are put in order', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Miracle pills', text: 'Buy.' });
    const { page, complaints, close } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Miracle pills').first().waitFor();

    const make = async (name: string, word: string) => {
      await page.goto(`${stage.url}/rules/new`);
      await page.getByLabel('Name').fill(name);
      await page.getByRole('combobox', { name: 'Subject has' }).fill(word);
      await page.keyboard.press('Enter');
    };
    await make('No pills', 'pills');
    await page.getByRole('button', { name: 'Run back-test' }).click();
    await page.getByText(/It would have matched 1 of 1 emails/).waitFor();
    await page.getByRole('button', { name: 'Create rule' }).click();
    await page.getByText(/Hold when the subject has “pills”/).waitFor();
    await make('No lamps', 'lamps');
    await page.getByRole('button', { name: 'Create rule' }).click();

    const names = async () => page.locator('ol a').allTextContents();
    await expect.poll(names).toEqual(['No lamps', 'No pills']);
    await page.getByRole('button', { name: 'Move No lamps down' }).click();
    await expect.poll(names).toEqual(['No pills', 'No lamps']);
    await page.reload();
    await expect.poll(names).toEqual(['No pills', 'No lamps']);

    await stage.mail({ to: account.address, subject: 'More pills', text: 'Buy more.' });
    await page.getByText(/matched once/).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('another user’s endpoint and rule are not found', async () => {
    const [owner, stranger] = [await stage.account(), await stage.account()];
    const made = await owner.call('POST', '/endpoints', {
      name: 'Mine',
      type: 'webhook',
      config: { url: receiver.url },
    });
    const rule = await owner.call('POST', '/guard', {
      name: 'Mine too',
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['x'] } },
      action: { action: 'block' },
    });
    const { page, close } = await stage.open(stranger);
    await page.goto(`${stage.url}/endpoints/${made.body.id}`);
    await page.getByRole('heading', { name: 'Endpoint not found' }).waitFor();
    await page.goto(`${stage.url}/rules/${rule.body.data.id}`);
    await page.getByRole('heading', { name: 'Rule not found' }).waitFor();
    await close();
  });
});

/** For looking at: SCREENSHOTS names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

async function addressId(account: TestAccount): Promise<string> {
  const { body } = await account.call('GET', '/email-addresses');
  return body.data[0].id;
}
