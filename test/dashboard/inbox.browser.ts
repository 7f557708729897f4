import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ThreadRow } from '../../gateway/dashboard/pages/inbox/inbox-documents.ts';
import {
  type MessageEdge,
  withEarlierMessages,
  withNewestMessages,
} from '../../gateway/dashboard/pages/inbox/message-pages.ts';
import { sendersText } from '../../gateway/dashboard/pages/inbox/people.ts';
import { rowTime, timesInFull } from '../../gateway/dashboard/pages/inbox/row-time.ts';
import {
  heldRows,
  indexOfThread,
  missingPages,
  NO_PAGES,
  type ReadPage,
  rowAt,
  withHead,
  withNextPage,
  withoutFarRows,
  withoutThreads,
  withPageRows,
  withRowsBack,
} from '../../gateway/dashboard/pages/inbox/thread-pages.ts';
import { findPage } from '../../gateway/dashboard/shell/places.ts';
import { insertThread } from '../support/rows/mail-rows.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findColorViolations, findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

describe('the pages of a list', () => {
  const list = [0, 50, 100].reduce((pages, from) => withNextPage(pages, respond(1_000 - from, 50, true)), NO_PAGES);

  test('keep their positions without their rows, and take the same rows again', () => {
    const far = withoutFarRows(list, 100, 149);
    expect(far.size).toBe(150);
    expect(rowAt(far, 60)).toBeNull();
    expect(rowAt(far, 120)?.node.id).toBe('t880');
    const [after = null] = missingPages(far, 55, 60);
    expect(after).toBe('c951');
    expect(heldRows(withPageRows(far, after, respond(950, 50, true)))).toEqual(heldRows(list));
  });

  test('take new mail at the top, once for a thread that was further down', () => {
    const moved = { cursor: 'c-new', node: { ...thread(930), listedAt: new Date(2_000_000).toISOString() } };
    const head = respond(1_000, 49, true);
    const next = withHead(list, { ...head, edges: [moved, ...head.edges] });
    expect(next).not.toBeNull();
    const ids = heldRows(next ?? NO_PAGES).map(({ node }) => node.id);
    expect([ids[0], ids[1], ids.length, new Set(ids).size]).toEqual(['t930', 't1000', 150, 150]);
  });

  test('say that more must be read when all rows of a page are new', () => {
    expect(withHead(list, respond(2_000, 50, true))).toBeNull();
  });

  test('put removed rows back in their position', () => {
    const row = rowAt(list, 70);
    const without = withoutThreads(list, new Set([row?.node.id ?? '']));
    expect(without.size).toBe(149);
    const back = withRowsBack(without, row === null ? [] : [row]);
    expect([back.size, indexOfThread(back, row?.node.id ?? '')]).toEqual([150, 70]);
  });
});

describe('the messages of a conversation', () => {
  const shown = messages(10, 59);

  test('keep messages that new ones push off the newest page', () => {
    expect(listIds(withNewestMessages(shown, messages(12, 61)))).toEqual(listIds(messages(10, 61)));
  });

  test('are only the newest page when messages between may be missing, or positions have changed', () => {
    expect(listIds(withNewestMessages(shown, messages(70, 119)))).toEqual(listIds(messages(70, 119)));
    const renumbered = messages(12, 59).map(({ cursor, node }) => ({
      cursor,
      node: { ...node, threadPosition: (node.threadPosition ?? 0) - 1 },
    }));
    expect(listIds(withNewestMessages(shown, renumbered))).toEqual(listIds(renumbered));
  });

  test('take a page of earlier messages unless they have changed since it was requested', () => {
    expect(listIds(withEarlierMessages(shown, 'c10', messages(0, 9)))).toEqual(listIds(messages(0, 59)));
    expect(listIds(withEarlierMessages(shown, 'c20', messages(10, 19)))).toEqual(listIds(shown));
  });
});

const ada = { name: 'Ada Lovelace', address: 'ada@sender.test' };

test.each([
  [[ada], 'Ada Lovelace'],
  [[{ name: null, address: 'hello@box.test' }, ada], 'me, Ada'],
  [[{ name: null, address: 'x@sender.test' }, ada], 'x@sender.test, Ada'],
  [[], 'No sender'],
])('a row names the senders %j as %s', (senders, text) => {
  expect(sendersText(senders, new Set(['box.test']))).toBe(text);
});

test('a row shows the year of an earlier year, and names the time of the sender in full', () => {
  const createdAt = '2026-03-02T10:00:00.000Z';
  expect(timesInFull({ date: '2017-03-24T09:00:00.000Z', createdAt }, true)).toMatch(
    /^Dated Friday, March 24, 2017.*Received Monday, March 2, 2026/,
  );
  expect(rowTime('2025-12-31T12:00:00.000Z', Date.parse(createdAt))).toBe('Dec 31, 2025');
});

test.each([
  ['/inbox/thr_1', '?in=sent', '/inbox?in=sent'],
  ['/inbox', '?q=x', '/inbox'],
  ['/domains/dom_1', '', '/domains'],
])('the page %s%s belongs to the menu item %s', (path, search, place) => {
  expect(findPage(path, search)).toBe(place);
});

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the inbox', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('shows mail as it arrives, finds it, sorts it by keys, and says what to do while it is empty', async () => {
    const account = await stage.account();
    const tab = await stage.open(account, { reducedMotion: 'no-preference' });
    const { page } = tab;
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('No mail yet').waitFor();
    await page.getByText('swaks').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByText('Live', { exact: true }).waitFor();
    const to = account.address;
    await stage.mail({ to, subject: 'Gears', text: 'Thirty thousand of them.', messageId: '<gears@sender.test>' });
    await row(page, 'Gears').waitFor();
    await stage.mail({
      to,
      from: 'Shop <shop@market.test>',
      subject: 'Invoice',
      text: 'Please pay.\n\n-- \nThe shop',
      attachments: [{ filename: 'invoice.txt', content: 'four pounds' }],
    });
    await row(page, 'Invoice').waitFor();

    // A reply arrives live in the open conversation, and the list keeps it open.
    await row(page, 'Gears').click();
    await page.getByRole('article').getByText('Thirty thousand of them.').last().waitFor();
    const from = { name: 'boss@corp.test', address: 'eve@sender.test' };
    await stage.mail({ to, from, subject: 'Re: Gears', text: 'Or forty thousand.', inReplyTo: '<gears@sender.test>' });
    await page.getByRole('article').nth(1).getByText('Or forty thousand.').last().waitFor();
    // Who replies to the conversation is shown while it is claimed.
    const claimPath = `/mail/threads/${await threadId(account)}/claim`;
    const { token } = (await account.call('POST', claimPath, { holder: 'agent-7' })).body;
    await page.getByText('agent-7 is replying').waitFor();
    await account.call('POST', `${claimPath}/release`, { token });
    await page.getByText('agent-7 is replying').waitFor({ state: 'hidden' });
    // The warning about its sender is shown above its text.
    const warnings = page.getByRole('alert', { name: 'Be careful with this message' });
    await warnings.getByText('contains boss@corp.test').waitFor();
    await expect.poll(() => page.getByRole('grid').getByRole('row').first().getAttribute('aria-current')).toBe('true');
    await expect.poll(async () => (await unread(account)).get('Gears')).toBe(0);
    await page.getByRole('button', { name: 'Show details' }).last().click();
    await page.getByRole('button', { name: 'Reason' }).last().click();
    await page.getByText('It replies to a message of this conversation').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('It replies to a message of this conversation').waitFor({ state: 'hidden' });
    // The other views of a message are one click away.
    const views = page.getByRole('button', { name: 'Show preview, source, headers and checks' }).last();
    await views.click();
    const openView = (name: string) => page.getByRole('article').getByRole('tab', { name, exact: true }).click();
    await openView('Source');
    await page.getByRole('region', { name: 'Raw source' }).getByText('In-Reply-To: <gears@sender.test>').waitFor();
    await openView('Headers');
    await page.getByRole('cell', { name: '<gears@sender.test>' }).first().waitFor();
    await openView('Checks');
    await page.getByText('This email has no HTML to check.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await views.click();
    await warnings.waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    expect(await findColorViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('html[data-mantine-color-scheme="light"]').waitFor();
    expect(await findViolations(page)).toEqual([]);

    // Search, by the URL too.
    await page.keyboard.press('Escape');
    await page.getByRole('article').first().waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('from:shop has:attachment');
    await page.keyboard.press('Enter');
    await row(page, 'Gears').waitFor({ state: 'detached' });
    await row(page, 'Invoice').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('from:shop has:attachment');
    await page.goto(`${stage.url}/inbox?q=is%3Aunred`);
    await page.getByRole('status').getByText('Did you mean is:unread?').waitFor();
    expect(await page.getByText('Could not load this').count()).toBe(0);
    await page.goto(`${stage.url}/inbox?q=-invoice+from%3Ashop`);
    await page.getByText('No results').waitFor();
    await page.getByRole('button', { name: 'Clear search' }).last().click();
    await row(page, 'Gears').waitFor();

    // Keys: select, label, unread, archive, undo.
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('l');
    await page.getByLabel('Find or add label').fill('engine');
    await page.keyboard.press('Enter');
    await row(page, 'Gears').getByText('engine').waitFor();
    await page.getByLabel('Find or add label').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.keyboard.press('u');
    await expect.poll(async () => (await unread(account)).get('Gears')).toBe(2);
    await page.keyboard.press('e');
    await row(page, 'Gears').waitFor({ state: 'detached' });
    await page.keyboard.press('z');
    await row(page, 'Gears').waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('is used with the keys alone, names senders, counts unread mail, and keeps the subject of a reply', async () => {
    const account = await stage.account();
    const to = account.address;
    await stage.mail({
      to,
      subject: 'Gears',
      text: 'Thirty thousand of them.',
      date: new Date('2026-01-05T08:00:00Z'),
    });
    await stage.mail({ to, from: 'Bob <bob@other.test>', subject: 'Lunch', text: 'At noon?' });
    const tab = await stage.open(account, { viewport: { width: 1280, height: 900 } });
    const { page } = tab;
    await page.goto(`${stage.url}/inbox`);
    await expect.poll(() => page.title()).toBe('(2) Inbox · Postroom');
    await page
      .getByRole('link', { name: /^Inbox/ })
      .getByLabel('2 unread')
      .waitFor();
    await row(page, 'Gears').getByText('Ada Lovelace').waitFor();
    expect(await row(page, 'Gears').getByRole('time').getAttribute('title')).toMatch(
      /^Dated Monday, January 5, 2026.*Received/,
    );
    const rows = () =>
      page
        .getByRole('grid')
        .evaluate((grid) => grid.clientHeight / (grid.querySelector('[data-thread]')?.clientHeight ?? 1));
    expect(await rows()).toBeGreaterThanOrEqual(14);
    await page.getByRole('button', { name: 'Show larger rows' }).click();
    await expect.poll(rows).toBeLessThan(14);
    await page.getByRole('button', { name: 'Show more rows' }).click();

    // Tab and Enter lead to the first conversation; the navigation is one stop, whose links the arrow keys reach.
    await page.reload();
    await row(page, 'Gears').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toContain('Lunch');
    await page.getByRole('link', { name: /^Inbox/ }).focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused(page)).toBe('Sent');
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).toBe('Guide to this page');
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).toBe(`owner@${account.domain} owner`);

    await row(page, 'Gears').focus();
    await page.keyboard.press('Enter');
    const text = page.getByRole('article').getByText('Thirty thousand of them.').last();
    await text.waitFor();
    // The mail begins in the first fifth of the screen.
    expect((await text.boundingBox())?.y).toBeLessThan(900 / 5);

    // Esc leaves the reply and keeps it; Ctrl+Enter sends it.
    const written = page.getByRole('textbox', { name: 'Message', exact: true });
    await page.keyboard.press('r');
    await expect.poll(() => written.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('I will count them.');
    await page.keyboard.press('Escape');
    await written.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Messages');
    await page.getByRole('button', { name: 'Open draft' }).waitFor();
    await page.keyboard.press('r');
    await expect.poll(() => written.innerText()).toBe('I will count them.');
    await page.evaluate(() => localStorage.setItem('postroom-undo-seconds', '0'));
    await page.keyboard.press('Control+Enter');
    await row(page, 'Gears').getByText('me, Ada').waitFor();
    expect(await row(page, 'Gears').textContent()).not.toContain('Re:');
    await page.getByRole('heading', { name: 'Gears', exact: true }).waitFor();

    // Sent mail is in the inbox from its first reply on.
    await account.call('POST', '/emails', { from: to, to: 'eve@sender.test', subject: 'Receipt', text: 'Paid.' });
    await expect
      .poll(async () => (await account.call('GET', '/emails?type=sent&search=Receipt')).body.data.length)
      .toBe(1);
    await page.getByRole('link', { name: 'Sent', exact: true }).click();
    await row(page, 'Receipt').waitFor();
    await page.getByRole('link', { name: /^Inbox/ }).click();
    await row(page, 'Gears').waitFor();
    expect(await row(page, 'Receipt').count()).toBe(0);
    await row(page, 'Gears').click();
    await page.getByRole('heading', { name: 'Gears', exact: true }).waitFor();

    // Two keys lead to a page, which the second one does nothing else on.
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Sent', level: 1 }).waitFor({ state: 'attached' });
    await row(page, 'Gears').getByText('To: Ada Lovelace').waitFor();
    await row(page, 'Lunch').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Close and keep draft').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    // The palette finds pages, addresses and mail.
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Command palette' });
    await palette.getByText('Guard rules').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.type('lunch');
    await palette
      .getByRole('option', { name: /Lunch/ })
      .or(palette.getByRole('button', { name: /^Lunch/ }))
      .first()
      .click();
    await page.getByRole('article').getByText('At noon?').last().waitFor();
    await page.keyboard.press('Control+k');
    await palette.getByText('Overview').waitFor();
    await page.keyboard.type('guard');
    await palette.getByText('Overview').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stage.url}/rules`);
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await row(page, 'Lunch').waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('loads a long conversation page by page, and keeps what is shown when messages arrive', async () => {
    const account = await stage.account();
    const to = account.address;
    const send = (number: number) =>
      stage.mail({
        to,
        subject: number === 0 ? 'Standing meeting' : 'Re: Standing meeting',
        text: `Minutes of meeting ${number}.`,
        messageId: `<meeting-${number}@sender.test>`,
        ...(number === 0 ? {} : { inReplyTo: '<meeting-0@sender.test>' }),
      });
    for (let number = 0; number < 58; number++) await send(number);
    await expect.poll(async () => (await unread(account)).get('Standing meeting')).toBe(58);
    const marked = await account.graphql(
      'mutation($ids: [ID!]!) { updateThreads(input: { threadIds: $ids, isRead: true }) { ... on UpdateThreadsPayload { threads { unreadCount } } } }',
      { ids: [await threadId(account)] },
    );
    expect(marked.body.data.updateThreads.threads).toEqual([{ unreadCount: 0 }]);
    const tab = await stage.open(account);
    const { page } = tab;
    const sizes: number[] = [];
    page.on('response', async (response) => {
      if (!response.url().endsWith('/graphql')) return;
      const body = await response.json().catch(() => null);
      const edges = body?.data?.thread?.messages?.edges;
      if (edges !== undefined) sizes.push(edges.length);
    });
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'Standing meeting').click();
    const articles = page.getByRole('article');
    await articles.getByText('Minutes of meeting 57.').last().waitFor();
    await expect.poll(() => articles.count()).toBe(50);
    await page.getByText('Live', { exact: true }).waitFor();

    // Two messages push two others off the newest page: they stay visible.
    for (const number of [58, 59]) await send(number);
    await articles.getByText('Minutes of meeting 59.').last().waitFor();
    await expect.poll(() => articles.count()).toBe(52);
    await page.getByRole('button', { name: 'Show 8 earlier of 8' }).click();
    await expect.poll(() => articles.count()).toBe(60);
    expect(await articles.first().textContent()).toContain('Minutes of meeting 0.');
    expect(await page.getByRole('button', { name: /^Show .* earlier/ }).count()).toBe(0);
    await send(60);
    await articles.getByText('Minutes of meeting 60.').last().waitFor();
    await expect.poll(() => articles.count()).toBe(61);
    expect(Math.max(...sizes)).toBe(50);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('shows held mail as held until it is released, and changes hundreds of conversations until that is cancelled', async () => {
    const account = await stage.account();
    const made = await account.call('POST', '/guard', {
      name: 'Casinos',
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['casino'] } },
      action: { action: 'block' },
    });
    expect(made.status).toBe(201);
    await stage.mail({ to: account.address, subject: 'Casino', text: 'You win.' });
    const { page, complaints, close } = await stage.open(account);
    const threads = async () => {
      const { body } = await account.graphql(
        '{ archived: inbox(first: 1, filter: { archived: ARCHIVED }) { totalCount } inbox(first: 1) { totalCount } }',
      );
      return { archived: body.data.archived.totalCount, inbox: body.data.inbox.totalCount };
    };
    await expect.poll(threads).toEqual({ archived: 1, inbox: 0 });
    await page.goto(`${stage.url}/inbox?in=archived`);
    await row(page, 'Casino').click();
    const message = page.getByRole('article');
    await message.getByText('Held', { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await message.getByRole('button', { name: 'Release' }).click();
    await page.getByText('The email is released and in your inbox.').waitFor();
    await message.getByText('Held', { exact: true }).waitFor({ state: 'hidden' });
    await expect.poll(threads).toEqual({ archived: 0, inbox: 1 });

    for (let number = 0; number < 349; number++)
      await insertThread(stage.database, {
        workspaceId: account.workspaceId,
        count: 1,
        lastMessageAt: new Date(Date.UTC(2026, 0, 1, 0, number)),
        subject: `Log ${number}`,
        ownAddress: account.address,
      });
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'Casino').waitFor();
    await page.getByRole('checkbox', { name: 'Select Casino' }).click();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('All 350 selected').waitFor();
    // The second of the batches waits until the user has cancelled.
    const cancelled = Promise.withResolvers<void>();
    let batches = 0;
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('updateThreads') === true && ++batches === 2) await cancelled.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Archive all' }).click();
    const question = page.getByRole('dialog', { name: 'Archive 350 conversations?' });
    await question.getByRole('button', { name: 'Go back' }).click();
    await question.waitFor({ state: 'hidden' });
    expect(batches).toBe(0);
    // The key asks, too.
    await page.keyboard.press('e');
    await question.getByText('You can undo this for a day.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await question.getByRole('button', { name: 'Archive 350 conversations' }).click();
    const progress = page.getByRole('group', { name: 'Progress' });
    await progress.getByText('100 of 350').waitFor();
    await progress.getByRole('progressbar', { name: 'Conversations changed' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await progress.getByRole('button', { name: 'Cancel' }).click();
    cancelled.resolve();
    await page.getByText('200 conversations archived, 150 left as they were.').waitFor();
    await progress.waitFor({ state: 'hidden' });
    expect((await threads()).inbox).toBe(150);

    // The change is undone after the page was loaded again, but not before a question.
    await page.unrouteAll();
    await page.reload();
    await row(page, 'Log 149').waitFor();
    await page.keyboard.press('z');
    const undo = page.getByRole('dialog', { name: 'Undo the last change?' });
    await undo.getByText('It was: 200 conversations archived').waitFor();
    await undo.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Undone for 200 conversations.').waitFor();
    expect(await threads()).toEqual({ archived: 0, inbox: 350 });
    await row(page, 'Casino').waitFor();

    // What is marked as read is unread again where it was.
    const unread = async () =>
      (await account.graphql('{ inbox(first: 1, filter: { isUnread: true }) { totalCount } }')).body.data.inbox
        .totalCount;
    const before = await unread();
    await page.getByRole('checkbox', { name: 'Select Casino' }).click();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('All 350 selected').waitFor();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByRole('button', { name: 'Mark 350 conversations as read' }).click();
    await page.getByText('350 conversations marked as read.').waitFor();
    expect(await unread()).toBe(0);
    await page.getByRole('button', { name: 'Undo', exact: true }).last().click();
    await page.getByText('Undone for').last().waitFor();
    await expect.poll(unread).toBe(before);
    expect(complaints).toEqual([]);
    await close();
  });

  test('stops between the requests of a batch of which something is gone, and undoes in several goes what it changed', async () => {
    const account = await stage.account();
    const ids: string[] = [];
    for (let number = 0; number < 224; number++) {
      const { threadId } = await insertThread(stage.database, {
        workspaceId: account.workspaceId,
        count: 1,
        lastMessageAt: new Date(Date.UTC(2026, 0, 1, 0, number)),
        subject: `Report ${number}`,
        ownAddress: account.address,
      });
      ids.unshift(threadId);
    }
    const { page, close } = await stage.open(account);
    /** Calls `act` before each request of this name is sent, with its number. */
    const before = async (name: string, act: (number: number) => Promise<'abort' | undefined> | undefined) => {
      let number = 0;
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.route('**/graphql', async (route) => {
        const isMeant = route.request().postData()?.includes(`${name}(`) === true;
        if (isMeant && (await act(++number)) === 'abort') return route.abort();
        return route.continue();
      });
      return () => number;
    };
    const inbox = async () => (await account.graphql('{ inbox(first: 1) { totalCount } }')).body.data.inbox.totalCount;
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('checkbox', { name: 'Select Report 223' }).click();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('All 224 selected').waitFor();
    await account.graphql('mutation($ids: [ID!]!) { trashThreads(input: { threadIds: $ids }) { __typename } }', {
      ids: ids.slice(60, 61),
    });

    const cancelled = Promise.withResolvers<undefined>();
    const requests = await before('updateThreads', (number) => (number === 3 ? cancelled.promise : undefined));
    await page.getByRole('button', { name: 'Archive all' }).click();
    await page.getByRole('button', { name: 'Archive 224 conversations' }).click();
    const progress = page.getByRole('group', { name: 'Progress' });
    await expect.poll(requests).toBe(3);
    const shown = await progress.getByText('of 224').textContent();
    await progress.getByRole('button', { name: 'Cancel' }).click();
    cancelled.resolve(undefined);
    await progress.waitFor({ state: 'hidden' });
    expect([shown, requests()]).toEqual(['50 of 224', 3]);
    await page.getByText('50 conversations archived, 174 left as they were.').waitFor();
    expect(await inbox()).toBe(173);

    // What is left is still selected.
    await page.getByText('174 selected', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Archive all' }).click();
    await page.getByRole('button', { name: 'Archive 174 conversations' }).click();
    const archived = page.getByRole('alert').filter({ hasText: '173 conversations archived. 1 conversation changed' });
    await archived.waitFor();
    expect(await inbox()).toBe(0);

    // An undo that stops is offered again.
    await before('undoThreadChange', (number) => (number === 3 ? Promise.resolve('abort') : undefined));
    await archived.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The action stopped').waitFor();
    const stopped = page.getByRole('alert').filter({ hasText: 'The others can still be undone.' });
    const undone = await inbox();
    expect(undone).toBeGreaterThan(0);
    expect(undone).toBeLessThan(173);
    // The page is left in the middle of it.
    const again = await before('undoThreadChange', (number) =>
      number === 2 ? new Promise(() => undefined) : undefined,
    );
    await stopped.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(again).toBe(2);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.reload();
    await page
      .getByRole('checkbox', { name: /^Select Report/ })
      .first()
      .click();
    await page.keyboard.press('z');
    const question = page.getByRole('dialog', { name: 'Undo the last change?' });
    await question.getByText('It was: 173 conversations archived').waitFor();
    await question.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText(/^Undone for \d+ conversations\.$/).waitFor();
    // What was selected before is so still.
    await page.getByText('1 selected', { exact: true }).waitFor();
    expect(await inbox()).toBe(173);
    expect(await page.evaluate(() => sessionStorage.getItem('postroom-last-change'))).toBeNull();
    await close();
  });

  test('merges conversations and splits them again, on a phone too, and shows no other user’s', async () => {
    const account = await stage.account();
    const to = account.address;
    await stage.mail({ to, subject: 'North', text: 'From the north.' });
    await stage.mail({ to, from: 'bob@other.test', subject: 'South', text: 'From the south.' });
    const tab = await stage.open(account, { viewport: { width: 390, height: 844 } });
    const { page } = tab;
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'North').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Select North' }).click();
    await page.getByRole('checkbox', { name: 'Select South' }).click();
    await page.getByRole('button', { name: 'Merge' }).click();
    await page.getByText('Merge 2 conversations into one?').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Merge conversations' }).click();
    await page.getByRole('article').nth(1).waitFor();
    await expect.poll(() => page.getByRole('article').count()).toBe(2);
    const joined = page.url();
    await page.getByRole('button', { name: /^Actions for the message from bob/ }).click();
    await page.getByRole('menuitem', { name: 'Split conversation here' }).click();
    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.waitForURL((url) => url.href !== joined);
    await page.getByText('1 message').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: /Back to list/ }).click();
    await row(page, 'South').waitFor();
    await row(page, 'North').waitFor();

    // Deleted conversations go to the trash, come back, and go forever.
    await row(page, 'South').click();
    await page.getByRole('button', { name: 'Actions for this conversation' }).click();
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).click();
    await row(page, 'South').waitFor({ state: 'hidden' });
    const notice = page.getByRole('alert').filter({ hasText: 'Conversation moved to the trash' });
    await notice.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'South').waitFor();
    // The row is back before the service has restored it.
    const inboxCount = async () =>
      (await account.graphql('{ inbox(first: 1) { totalCount } }')).body.data.inbox.totalCount;
    await expect.poll(inboxCount).toBe(2);
    await page.getByRole('checkbox', { name: 'Select South' }).click();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('All 2 selected').waitFor();
    // All rows are checked; one can be left out, and taken back.
    const north = page.getByRole('checkbox', { name: 'Select North' });
    await expect.poll(() => north.isChecked()).toBe(true);
    await north.click();
    await page.getByText('1 selected', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => north.isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('All 2 selected').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('2 conversations moved to the trash.').waitFor();
    await row(page, 'North').waitFor({ state: 'hidden' });
    await page.getByRole('radiogroup', { name: 'Folder' }).getByText('Trash').click();
    await row(page, 'North').waitFor();
    await row(page, 'South').click();
    await page.getByText(/in the trash until/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete forever' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete forever' }).click();
    await page.getByText('Conversation deleted forever').waitFor();
    await row(page, 'North').click();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The trash is empty').waitFor();
    await page.getByRole('radiogroup', { name: 'Folder' }).getByText('Inbox').click();
    await row(page, 'North').waitFor();
    expect(await row(page, 'South').count()).toBe(0);
    expect(tab.complaints).toEqual([]);

    const stranger = await stage.open(await stage.account());
    await stranger.page.goto(joined);
    await stranger.page.getByText('Conversation not found').waitFor();
    expect(await stranger.page.getByText('From the north.').count()).toBe(0);
    await stranger.close();
    await tab.close();
  });
});

function row(page: Page, subject: string) {
  return page.getByRole('grid').getByRole('row').filter({ hasText: subject }).first();
}

/** Text of the element with the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent ?? '');
}

/** Unread messages by base subject. */
async function unread(account: Awaited<ReturnType<BrowserStage['account']>>): Promise<Map<string, number>> {
  const { body } = await account.graphql('{ threads { edges { node { normalizedSubject unreadCount } } } }');
  const nodes: { normalizedSubject: string; unreadCount: number }[] = body.data.threads.edges.map(
    ({ node }: { node: unknown }) => node,
  );
  return new Map(nodes.map(({ normalizedSubject, unreadCount }) => [capitalized(normalizedSubject), unreadCount]));
}

async function threadId(account: Awaited<ReturnType<BrowserStage['account']>>): Promise<string> {
  const { body } = await account.graphql('{ threads(first: 1) { edges { node { id } } } }');
  return body.data.threads.edges[0].node.id;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A page of threads whose messages came a second apart, the one at `newest` seconds first. */
function respond(newest: number, count: number, hasNextPage: boolean): ReadPage {
  const edges = Array.from({ length: count }, (_, n) => ({ cursor: `c${newest - n}`, node: thread(newest - n) }));
  return { edges, pageInfo: { hasNextPage, endCursor: edges.at(-1)?.cursor ?? null } };
}

function thread(seconds: number): ThreadRow {
  return {
    id: `t${seconds}`,
    subject: '',
    messageCount: 1,
    unreadCount: 0,
    isReadByMe: true,
    lastMessageAt: new Date(seconds * 1_000).toISOString(),
    listedAt: new Date(seconds * 1_000).toISOString(),
    snoozedUntil: null,
    returnedBy: null,
    isArchived: false,
    trashedAt: null,
    labels: [],
    assignee: null,
    participants: [],
    senders: [],
    latestMessage: null,
  };
}

/** Messages at these positions of a thread, a second apart. */
function messages(from: number, to: number): MessageEdge[] {
  return Array.from({ length: to - from + 1 }, (_, n) => ({ cursor: `c${from + n}`, node: message(from + n) }));
}

function listIds(edges: readonly MessageEdge[]): string[] {
  return edges.map(({ node }) => node.id);
}

function message(position: number): MessageEdge['node'] {
  const createdAt = new Date(position * 1_000).toISOString();
  return { ...NO_MESSAGE, id: `m${position}`, createdAt, threadPosition: position };
}

const NO_MESSAGE: Omit<MessageEdge['node'], 'id' | 'createdAt'> = {
  type: 'RECEIVED',
  status: 'DELIVERED',
  subject: '',
  preview: '',
  isRead: true,
  isArchived: false,
  isTest: false,
  guardStatus: null,
  threadPosition: 0,
  threadReason: 'HEADER',
  failureReason: null,
  scheduledAt: null,
  from: { name: null, address: 'ada@sender.test' },
  to: [],
  cc: [],
  bcc: [],
  replyTo: [],
  ownAddress: null,
  envelopeRecipient: null,
  hasFiles: false,
  isReadByMe: null,
  date: null,
};
