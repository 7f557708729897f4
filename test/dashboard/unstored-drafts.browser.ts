import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('a draft that is not stored yet', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  /** Opens the composer of a new email. */
  async function openComposer() {
    const account = await stage.account();
    const tab = await stage.open(account);
    await tab.page.goto(`${stage.url}/inbox?compose=new`);
    const message = tab.page.getByRole('textbox', { name: 'Message' });
    await message.waitFor();
    const drafts = async (): Promise<{ subject: string; text: string }[]> =>
      (await account.graphql('{ drafts(first: 5) { edges { node { subject text } } } }')).body.data.drafts.edges.map(
        ({ node }: { node: { subject: string; text: string } }) => node,
      );
    return { ...tab, account, message, drafts, subject: tab.page.getByLabel('Subject') };
  }

  test('is there when the page is loaded again before it knows of its first store, and stays one draft', async () => {
    const { page, message, subject, drafts, close } = await openComposer();
    const losing = await loseResponses(page, 'CreateDraft');
    await subject.fill('A plan');
    await message.click();
    await page.keyboard.type('The first words');
    await expect.poll(drafts).toEqual([{ subject: 'A plan', text: 'The first words' }]);
    losing.isOver = true;
    await page.reload();
    await expect.poll(() => subject.inputValue()).toBe('A plan');
    await expect.poll(() => message.innerText()).toBe('The first words');
    await message.click();
    await page.keyboard.type(' and more', { delay: 20 });
    await page.getByText('Draft saved').waitFor();
    await expect.poll(async () => (await drafts())[0]?.text).toContain(' and more');
    expect(await drafts()).toHaveLength(1);
    await close();
  });

  test.each(['loaded again', 'left'])('has what was typed last when its page is %s without a pause', async (way) => {
    const { page, message, subject, drafts, close } = await openComposer();
    await subject.fill('A plan');
    await page.getByText('Draft saved').waitFor();
    await message.click();
    await page.keyboard.insertText('Last words');
    await (way === 'left' ? page.goto('about:blank') : page.reload());
    if (way !== 'left') await expect.poll(() => message.innerText()).toBe('Last words');
    await expect.poll(drafts).toEqual([{ subject: 'A plan', text: 'Last words' }]);
    await close();
  });

  test('says so while the service does not respond, and is stored without another key once it does', async () => {
    const { page, message, drafts, close } = await openComposer();
    await page.route('**/graphql', (route) => route.abort());
    await message.click();
    await page.keyboard.type('Written without a network');
    await page.getByText('Draft not saved: Postroom is unreachable').waitFor();
    await page.unroute('**/graphql');
    await page.getByText('Draft saved').waitFor();
    expect(await drafts()).toEqual([{ subject: '', text: 'Written without a network' }]);
    await close();
  });

  test('is stored after its composer was closed while the service did not respond', async () => {
    const { page, message, drafts, close } = await openComposer();
    await page.route('**/graphql', (route) => route.abort());
    await message.click();
    await page.keyboard.type('Written in a tunnel');
    await page.keyboard.press('Escape');
    await page.getByText('Draft not saved').waitFor();
    await page.unroute('**/graphql');
    await expect.poll(async () => (await drafts()).map(({ text }) => text)).toEqual(['Written in a tunnel']);
    await close();
  });

  test('whose composer was closed without the service has its words when it is opened again', async () => {
    const { page, message, drafts, close } = await openComposer();
    await page.route('**/graphql', (route) =>
      /Draft/.test(route.request().postData() ?? '') ? route.abort() : route.continue(),
    );
    await message.click();
    await page.keyboard.type('Written in a tunnel');
    await page.keyboard.press('Escape');
    await page.getByText('Draft not saved').waitFor();
    await page.keyboard.press('c');
    await expect.poll(() => message.innerText()).toBe('Written in a tunnel');
    await page.unroute('**/graphql');
    await page.getByText('Draft saved').waitFor();
    expect(await drafts()).toHaveLength(1);
    await close();
  });

  test('is no conflict with itself when the response to a change was lost', async () => {
    const { page, message, subject, drafts, close } = await openComposer();
    await subject.fill('A plan');
    await page.getByText('Draft saved').waitFor();
    await page.route('**/graphql', async (route) => {
      if (!isOperation(route.request().postData(), 'ComposerUpdateDraft')) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await message.click();
    await page.keyboard.type('Once');
    await page.getByText('Draft not saved').waitFor();
    await page.unroute('**/graphql');
    await page.keyboard.type(' and again');
    await page.getByText('Draft saved').waitFor();
    expect(await page.getByText('This draft was changed elsewhere').count()).toBe(0);
    await expect.poll(drafts).toEqual([{ subject: 'A plan', text: 'Once and again' }]);
    await close();
  });

  test('asks for a choice when it was changed elsewhere and its composer was closed meanwhile', async () => {
    const { page, account, message, subject, drafts, close } = await openComposer();
    await subject.fill('A plan');
    await page.getByText('Draft saved').waitFor();
    const { data } = (await account.call('GET', '/drafts')).body;
    await account.call('PATCH', `/drafts/${data[0].id}`, { version: data[0].version, text: 'Of another' });
    await message.click();
    await page.keyboard.type('Of this tab');
    await page.keyboard.press('Escape');
    await page.getByText('It was changed elsewhere. This tab keeps what you wrote').waitFor();
    await page.goto(`${stage.url}/drafts`);
    await page.getByRole('link', { name: 'A plan' }).click();
    await page.getByText('This draft was changed elsewhere').waitFor();
    await expect.poll(() => message.innerText()).toBe('Of this tab');
    expect((await drafts())[0]?.text).toBe('Of another');
    await page.getByRole('button', { name: 'Keep my version' }).click();
    await expect.poll(async () => (await drafts())[0]?.text).toBe('Of this tab');
    await close();
  });
});

function isOperation(body: string | null, name: string): boolean {
  return body !== null && body.includes(`"operationName":"${name}"`);
}

/** Hands operations with this name to the service, and the page gets no response until `isOver`. Without a route, what waits would be sent again. */
async function loseResponses(page: Page, name: string): Promise<{ isOver: boolean }> {
  const losing = { isOver: false };
  await page.route('**/graphql', async (route) => {
    if (losing.isOver || !isOperation(route.request().postData(), name)) return route.continue();
    await route.fetch();
  });
  return losing;
}
