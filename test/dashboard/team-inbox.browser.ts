import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { readServiceMail } from '../support/stages/service-mail.ts';

const PASSWORD = 'correct horse battery staple';
const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('two members in two browsers', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  /** Invites a person over the interface, who then signs up in the browser. */
  async function join(account: { apiKey: string }, name: string, role: string, addresses?: string[]) {
    const email = `${name.toLowerCase()}@elsewhere.test`;
    const invited = await fetch(`${stage.url}/api/e2/invitations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email, role, addresses }),
    });
    expect(invited.status, await invited.text()).toBe(200);
    const link = /\/invitation#[\w-]{43}/.exec((await readServiceMail(stage.database, email)).at(-1) ?? '')?.[0] ?? '';
    const opened = await stage.open(null);
    await opened.page.goto(`${stage.url}${link}`);
    await opened.page.getByLabel('Your name').fill(name);
    await opened.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await opened.page.getByRole('button', { name: 'Accept invitation' }).click();
    await opened.page.getByRole('button', { name: `Account ${email}` }).waitFor();
    return { ...opened, email };
  }
  const openThread = async (page: Page, subject: string) => {
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('row').filter({ hasText: subject }).getByRole('link').click();
    await page.getByRole('heading', { name: subject }).waitFor();
  };

  test('an agent who is limited to an address replies from it', LIMIT, async () => {
    const account = await stage.account();
    const owner = await stage.open(account);
    await owner.page.goto(`${stage.url}/members`);
    await owner.page.getByRole('button', { name: 'Invite person' }).click();
    const dialog = owner.page.getByRole('dialog', { name: 'Invite person' });
    await dialog.getByLabel('Email address').fill('waiting@elsewhere.test');
    await dialog.getByRole('combobox', { name: 'Only these domains and addresses' }).fill(account.address);
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await owner.page.getByRole('list', { name: 'Invitations' }).getByText(`Only ${account.address}`).waitFor();

    const lea = await join(account, 'Lea', 'agent', [account.address]);
    await lea.page.goto(stage.url);
    await lea.page.getByRole('heading', { name: 'Getting started' }).waitFor();
    expect(await lea.page.getByRole('link', { name: /Call the API|Deliver mail to your program/ }).count()).toBe(0);
    await lea.page.goto(`${stage.url}/inbox`);
    await lea.page.getByText('The inbox is empty', { exact: true }).waitFor();
    expect(await lea.page.getByText('Add domain').count()).toBe(0);

    await stage.mail({ to: account.address, subject: 'Is it on its way?', text: 'Hello' });
    await openThread(lea.page, 'Is it on its way?');
    await lea.page.getByRole('button', { name: 'Reply', exact: true }).click();
    await lea.page.getByRole('textbox', { name: 'Message' }).fill('It is.');
    await lea.page.getByRole('button', { name: 'Send', exact: true }).click();
    await lea.page.getByText('Sent.', { exact: true }).waitFor();
  });

  test('assign a conversation, and write notes that mention the other', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Where is my order?', text: 'Hello' });
    const ann = await join(account, 'Ann', 'agent');
    const owner = await stage.open(account);
    await openThread(owner.page, 'Where is my order?');
    await openThread(ann.page, 'Where is my order?');

    await owner.page.getByText('Ann is reading').waitFor();
    await ann.page.getByRole('button', { name: 'Reply', exact: true }).click();
    await owner.page.getByText('Ann is replying').waitFor();
    await ann.page.keyboard.press('Escape');
    await owner.page.getByText('Ann is reading').waitFor();
    await owner.page.getByRole('button', { name: 'Assign', exact: true }).click();
    await owner.page.getByRole('menuitem', { name: 'Assign to Ann' }).click();
    await ann.page.getByRole('button', { name: 'Assigned to Ann' }).waitFor();
    await ann.page.getByRole('row').getByText('assigned to Ann').waitFor({ state: 'attached' });
    await ann.page.getByLabel('Assigned to', { exact: true }).selectOption('me');
    await ann.page.getByRole('row').filter({ hasText: 'Where is my order?' }).waitFor();
    await ann.page.getByLabel('Assigned to', { exact: true }).selectOption('none');
    await ann.page.getByText('No conversations', { exact: true }).waitFor();
    await openThread(ann.page, 'Where is my order?');

    await owner.page.getByRole('button', { name: 'Write note' }).click();
    await owner.page.getByLabel('Note', { exact: true }).fill('Please look at this');
    await owner.page.getByLabel('Mention member').selectOption(ann.email);
    await owner.page.getByRole('button', { name: 'Add note' }).click();
    await ann.page.getByText('mentioned you in a note').waitFor();
    await ann.page.getByRole('article').filter({ hasText: 'Please look at this' }).waitFor();
    await expect
      .poll(async () => (await readServiceMail(stage.database, ann.email)).join(''))
      .toContain('mentioned you in a note');
    await ann.page.getByRole('button', { name: 'Write note' }).click();
    await ann.page.getByLabel('Note', { exact: true }).fill('It is on the way');
    await ann.page.getByRole('button', { name: 'Add note' }).click();
    await owner.page.getByRole('article').filter({ hasText: 'It is on the way' }).waitFor();
    expect(await findViolations(owner.page)).toEqual([]);
    await ann.page.getByRole('button', { name: 'Edit note' }).click();
    await ann.page.getByLabel('Note', { exact: true }).fill('It arrives today');
    await ann.page.getByRole('button', { name: 'Save note' }).click();
    await ann.page.getByRole('article').filter({ hasText: 'It arrives today' }).waitFor();
    // The other page shows the change without being asked.
    await owner.page.getByRole('article').filter({ hasText: 'It arrives today' }).waitFor();
    expect(await ann.page.getByRole('button', { name: 'Delete note' }).count()).toBe(1);

    // The keyboard takes the assignment back.
    await ann.page.keyboard.press('i');
    await owner.page.getByRole('button', { name: 'Assign', exact: true }).waitFor();
    expect(owner.complaints).toEqual([]);
    expect(ann.complaints).toEqual([]);
    if (process.env['SHOTS'] !== undefined)
      for (const scheme of ['light', 'dark'] as const) {
        await owner.page.emulateMedia({ colorScheme: scheme });
        await owner.page.screenshot({ path: `${process.env['SHOTS']}/team-${scheme}.png` });
      }
    await Promise.all([owner.close(), ann.close()]);
  });

  test(
    'each see what they have not read themselves, in rows, badge and filter, live in all their browsers',
    LIMIT,
    async () => {
      const account = await stage.account();
      await stage.mail({ to: account.address, subject: 'Before the team', text: 'Hello' });
      const ann = await join(account, 'Bea', 'viewer');
      const owner = await stage.open(account);
      const row = (page: Page, subject: string) => page.getByRole('row').filter({ hasText: subject });
      const unread = (page: Page, subject: string) => row(page, subject).getByText('Unread.');
      const badge = (page: Page, count: number) => page.getByLabel(`${count} unread`, { exact: true }).first();
      await owner.page.goto(`${stage.url}/inbox`);
      // What the owner had not read alone is unread in the team; the new member starts with nothing unread.
      await unread(owner.page, 'Before the team').waitFor({ state: 'attached' });
      await ann.page.goto(`${stage.url}/inbox`);
      await row(ann.page, 'Before the team').waitFor();
      expect(await unread(ann.page, 'Before the team').count()).toBe(0);

      await stage.mail({ to: account.address, subject: 'For both', text: 'Hello' });
      await unread(ann.page, 'For both').waitFor({ state: 'attached' });
      await badge(ann.page, 1).waitFor();
      await badge(owner.page, 2).waitFor();
      const elsewhere = await stage.open(account);
      await elsewhere.page.goto(`${stage.url}/inbox`);
      await unread(elsewhere.page, 'For both').waitFor({ state: 'attached' });
      await openThread(owner.page, 'For both');
      await unread(elsewhere.page, 'For both').waitFor({ state: 'detached' });
      await badge(elsewhere.page, 1).waitFor();
      // The owner's reading marked it for the workspace, and not for the other member.
      expect(await unread(ann.page, 'For both').count()).toBe(1);
      await ann.page.goto(`${stage.url}/inbox?in=unread`);
      await row(ann.page, 'For both').waitFor();
      expect(await row(ann.page, 'Before the team').count()).toBe(0);

      await row(ann.page, 'For both').getByRole('link').click();
      await unread(ann.page, 'For both').waitFor({ state: 'detached' });
      await ann.page.keyboard.press('u');
      await unread(ann.page, 'For both').waitFor({ state: 'attached' });
      await badge(ann.page, 1).waitFor();
      expect(await unread(elsewhere.page, 'For both').count()).toBe(0);
      await ann.page.reload();
      await unread(ann.page, 'For both').waitFor({ state: 'attached' });

      // All of a list, and back.
      await elsewhere.page.keyboard.press('j');
      await elsewhere.page.keyboard.press('x');
      await elsewhere.page.getByRole('button', { name: 'Select all' }).click();
      await elsewhere.page.getByRole('button', { name: 'Mark all as read' }).click();
      await elsewhere.page.getByText('1 conversation marked as read.').waitFor();
      await unread(owner.page, 'Before the team').waitFor({ state: 'detached' });
      // Undo changes nothing of what is selected by then.
      await elsewhere.page.keyboard.press('x');
      await elsewhere.page.getByRole('button', { name: 'Select all' }).click();
      await elsewhere.page.getByText('All 2 selected').waitFor();
      await elsewhere.page.getByRole('button', { name: 'Undo' }).click();
      await elsewhere.page.getByText('Undone for 1 conversation.').waitFor();
      await elsewhere.page.getByText('All 2 selected').waitFor();
      await unread(owner.page, 'Before the team').waitFor({ state: 'attached' });
      expect(await findViolations(ann.page)).toEqual([]);
      for (const { complaints } of [owner, ann, elsewhere]) expect(complaints).toEqual([]);
      await Promise.all([owner.close(), ann.close(), elsewhere.close()]);
    },
  );

  test('with long names leave the subject its room, and a viewer is offered no key to create', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Where is the lamp that I ordered?', text: 'Hello' });
    const long = await join(account, 'Maximiliana-Alexandrina-Hohenlohe-Langenburg', 'viewer');
    const owner = await stage.open(account);
    await openThread(owner.page, 'Where is the lamp that I ordered?');
    await openThread(long.page, 'Where is the lamp that I ordered?');
    const note = owner.page.getByRole('status').filter({ hasText: 'is reading' });
    await note.waitFor();
    expect((await note.boundingBox())?.height).toBeLessThan(24);
    const subject = owner.page.getByRole('heading', { name: 'Where is the lamp that I ordered?' });
    expect((await subject.boundingBox())?.width).toBeGreaterThan(90);
    await long.page.goto(`${stage.url}/keys`);
    await long.page.getByRole('note').filter({ hasText: 'You can look at this page' }).waitFor();
    expect(await long.page.getByRole('button', { name: 'Create key' }).filter({ visible: true }).count()).toBe(0);
    await long.close();
    await owner.close();
  });

  test('see dots at the messages that they have not read themselves', LIMIT, async () => {
    const account = await stage.account();
    const ann = await join(account, 'Cleo', 'viewer');
    await stage.mail({ to: account.address, subject: 'Read by the owner', text: 'Hello' });
    const owner = await stage.open(account);
    await openThread(owner.page, 'Read by the owner');
    await owner.page.locator('article[data-unread]').waitFor({ state: 'attached' });
    await owner.page.locator('article:not([data-unread])').waitFor();
    // The workspace has read it, the other member has not.
    await openThread(ann.page, 'Read by the owner');
    await ann.page.locator('article[data-unread]').waitFor({ state: 'attached' });
    await ann.page.locator('article:not([data-unread])').waitFor();
    for (const tab of [owner, ann]) await tab.close();
  });

  test('see what they mark elsewhere between the load of a page and its subscription', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Marked early', text: 'Hello' });
    const ann = await join(account, 'Dora', 'viewer');
    const owner = await stage.open(account);
    const gate = Promise.withResolvers<void>();
    await owner.page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('DashboardMarks') === true) await gate.promise;
      await route.continue();
    });
    await owner.page.goto(`${stage.url}/inbox`);
    const unread = owner.page.getByRole('row').filter({ hasText: 'Marked early' }).getByText('Unread.');
    await unread.waitFor({ state: 'attached' });
    const marked = await owner.context.request.post(`${stage.url}/api/e2/mail/threads/read-by-me`, {
      data: { is_read: true },
      headers: { origin: stage.url },
    });
    expect(marked.status(), await marked.text()).toBe(200);
    gate.resolve();
    await unread.waitFor({ state: 'detached', timeout: 30_000 });
    for (const tab of [owner, ann]) await tab.close();
  });
});
