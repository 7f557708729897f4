import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertThread } from '../support/rows/mail-rows.ts';
import { fillAccount, type SampleAccount } from '../support/rows/sample-account.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { until } from '../support/servers/service.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { dashboardPaths, settle } from '../support/stages/dashboard-pages.ts';

type Account = Awaited<ReturnType<BrowserStage['account']>>;

/** Pages beside those that members of all roles open. */
const MORE_PATHS = [
  '/customers',
  '/docs',
  '/addresses?tab=reply',
  '/inbox?in=sent',
  '/inbox?compose=new',
  '/suppressions?new',
  '/settings?tab=security',
];
/** A page with more stops, or one that holds the focus for more, is a trap. */
const MAX_STOPS = 200;

let stage: BrowserStage;
let full: Account;
let sample: SampleAccount;

/** A list whose rows can be removed: how two come in, the button of a row, and the one that confirms it. */
interface RemovableList {
  path: string;
  list: string;
  fill: (account: Account) => Promise<unknown>;
  remove: RegExp;
  confirm: string | null;
}

const NAMES = ['first', 'second', 'third'];

/** Makes three of something. */
const fillBy = (route: string, body: (name: string, account: Account) => object) => async (account: Account) => {
  for (const name of NAMES) {
    const { status, body: response } = await account.call('POST', route, body(name, account));
    expect([status, response]).toEqual([expect.toSatisfy((code) => code < 300), expect.anything()]);
  }
};

const LISTS: RemovableList[] = [
  {
    path: '/suppressions',
    list: 'Suppressions',
    fill: fillBy('/suppressions', (name) => ({ address: `${name}@elsewhere.test` })),
    remove: /^Remove/,
    confirm: 'Remove suppression',
  },
  {
    path: '/drafts',
    list: 'Drafts',
    fill: fillBy('/drafts', (name) => ({ to: ['ann@elsewhere.test'], subject: name })),
    remove: /^Delete/,
    confirm: 'Delete draft',
  },
  {
    path: '/scheduled',
    list: 'Scheduled emails',
    fill: fillBy('/emails', (name, { address }) => ({
      from: address,
      to: ['ann@elsewhere.test'],
      subject: name,
      text: name,
      scheduled_at: 'in 3 days',
    })),
    remove: /^Cancel/,
    confirm: 'Cancel email',
  },
  {
    path: '/held',
    list: 'Held emails',
    fill: async (account) => {
      await account.call('POST', '/guard', {
        name: 'Hold all',
        type: 'explicit',
        config: { subject: { operator: 'OR', values: ['hold'] } },
        action: { action: 'block' },
      });
      for (const name of NAMES) await stage.mail({ to: account.address, subject: `hold ${name}`, text: name });
      const held = async () => (await account.call('GET', '/emails?type=received')).body.data.length === NAMES.length;
      await until('the mail is held', () => '', held);
    },
    remove: /^Delete/,
    confirm: null,
  },
  {
    path: '/members',
    list: 'Invitations',
    fill: fillBy('/invitations', (name) => ({ email: `${name}-${crypto.randomUUID()}@elsewhere.test`, role: 'agent' })),
    remove: /^Revoke/,
    confirm: 'Revoke invitation',
  },
  {
    path: '/settings?tab=snippets',
    list: 'Snippets',
    fill: fillBy('/snippets', (name) => ({ name, text: name })),
    remove: /^Delete/,
    confirm: 'Delete snippet',
  },
  {
    path: '/keys',
    list: 'API keys',
    fill: fillBy('/api-keys', (name) => ({ name, scopes: ['read'] })),
    remove: /^Revoke/,
    confirm: 'Revoke key',
  },
];

describe.skipIf(chromiumPath === undefined)('with the keyboard alone', { timeout: 900_000 }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    full = await stage.account();
    sample = await fillAccount({ account: full, ...full, smtpPort: stage.service.smtpPort, webhookUrl: null });
  });
  afterAll(() => stage?.close());

  test('Tab leads through each page from its start to its end, and all that it reaches is in sight and marked', async () => {
    const { page, close } = await stage.open(full);
    const found: Record<string, string[]> = {};
    for (const path of [...dashboardPaths(sample), ...MORE_PATHS]) {
      await page.goto(stage.url + path);
      await settle(page);
      const faults = await walk(page);
      if (faults.length > 0) found[path] = faults;
    }
    expect(found).toEqual({});
    await close();
  });

  test.each(LISTS)(
    'a row that is removed from $path gives the focus to the next one, and the last one to a heading',
    async (removable) => {
      const account = await stage.account();
      await removable.fill(account);
      const { page, close } = await stage.open(account);
      await page.goto(stage.url + removable.path);
      const rows = page.getByRole('list', { name: removable.list, exact: true }).locator('> li');
      const removables = rows.filter({ has: page.getByRole('button', { name: removable.remove }) });
      await expect.poll(() => removables.count()).toBeGreaterThanOrEqual(NAMES.length);
      for (let left = await removables.count(); left > 0; left -= 1) {
        const row = removables.first();
        const next = left > 1 ? await removables.nth(1).innerText() : null;
        await row.getByRole('button', { name: removable.remove }).focus();
        await page.keyboard.press('Enter');
        if (removable.confirm !== null) await pressByTab(page, removable.confirm);
        await expect.poll(() => removables.count()).toBe(left - 1);
        await expect.poll(() => describeFocus(page)).not.toMatch(/^BODY|^MAIN/);
        if (next !== null) expect(await rowOfFocus(page)).toBe(next);
        else expect(await describeFocus(page)).toMatch(/^H[123] /);
      }
      await close();
    },
  );

  test('keys within a mail are those of the page: Tab leads in and out, Esc from a link to its message, and shortcuts work', async () => {
    const account = await stage.account();
    const html = '<p>Read <a href="https://one.example">one</a> and <a href="https://two.example">two</a>.</p>';
    for (const subject of ['Second', 'First'])
      await stage.mail({ to: account.address, subject, text: 'one and two', html });
    const { page, close } = await stage.open(account);
    const open = async () => {
      await page.goto(`${stage.url}/inbox`);
      await page.getByRole('row').filter({ hasText: 'First' }).getByRole('link').click();
      await page.locator('iframe').contentFrame().getByText('one').waitFor();
    };
    const mail = page.locator('iframe').contentFrame();
    const pressUntil = async (key: string, isThere: () => Promise<boolean>) => {
      for (let stops = 0; stops < MAX_STOPS && !(await isThere()); stops += 1) await page.keyboard.press(key);
      expect(await isThere()).toBe(true);
    };
    const isAt = (name: string) => () => hasFocus(mail.getByRole('link', { name }));
    await open();
    await page.locator('[data-messages]').focus();
    await pressUntil('Tab', isAt('one'));
    const outline = () =>
      mail.getByRole('link', { name: 'one' }).evaluate((link) => getComputedStyle(link).outlineStyle);
    expect(await outline()).toBe('solid');
    await page.keyboard.press('Tab');
    expect(await isAt('two')()).toBe(true);
    await page.keyboard.press('Tab');
    expect(await describeFocus(page)).not.toMatch(/^IFRAME|^BODY/);
    await pressUntil('Shift+Tab', isAt('two'));
    // From a link, Esc leads to the message first, and then does what it does on the page.
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.closest('article')?.querySelector('iframe') != null)).toBe(
      true,
    );
    expect(await describeFocus(page)).not.toMatch(/^IFRAME/);
    await page.getByRole('heading', { name: 'First', level: 2 }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'First', level: 2 }).waitFor({ state: 'detached' });

    // A click into the text gives the frame the focus: keys go on as before it.
    await open();
    await mail.getByText('Read').click();
    expect(await describeFocus(page)).toMatch(/^IFRAME/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('guard');
    await expect.poll(() => page.getByRole('dialog').getByRole('textbox').inputValue()).toBe('guard');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await mail.getByText('Read').click();
    await page.keyboard.press('r');
    await page.keyboard.type('Typed at once');
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Message', exact: true }).textContent())
      .toContain('Typed at once');
    await page.keyboard.press('Escape');
    await mail.getByText('Read').click();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Second', level: 2 }).waitFor();
    await mail.getByText('Read').click();
    await page.keyboard.press('e');
    await page.getByText('Archived', { exact: false }).first().waitFor();
    await expect.poll(() => describeFocus(page)).not.toMatch(/^BODY|^MAIN/);
    await mail.getByText('Read').waitFor({ state: 'detached' });
    await close();
  });

  test('Delete all asks with the number, is undone, and leaves the focus on the page', async () => {
    const account = await stage.account();
    for (let number = 0; number < 60; number += 1)
      await insertThread(stage.database, {
        workspaceId: account.workspaceId,
        count: 1,
        lastMessageAt: new Date(Date.UTC(2026, 0, 1, 0, number)),
        subject: `Log ${number}`,
        ownAddress: account.address,
      });
    const count = async () => (await account.graphql('{ inbox(first: 1) { totalCount } }')).body.data.inbox.totalCount;
    const { page, close } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('row').filter({ hasText: 'Log 59' }).focus();
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Select all' }).press('Enter');
    await page.getByText('All 60 selected').waitFor();
    await expect.poll(() => describeFocus(page)).not.toMatch(/^BODY/);
    const remove = page.getByRole('button', { name: 'Delete all' });
    await remove.press('Enter');
    const question = page.getByRole('dialog', { name: 'Delete 60 conversations?' });
    await question.getByText('You can undo this for a day.').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => hasFocus(remove)).toBe(true);
    expect(await count()).toBe(60);
    await page.keyboard.press('Enter');
    await pressByTab(page, 'Delete 60 conversations');
    await page.getByText('60 conversations moved to the trash.').waitFor();
    await expect.poll(() => describeFocus(page)).not.toMatch(/^BODY/);
    expect(await count()).toBe(0);
    await page.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
    await page.getByText('Undone for 60 conversations.').waitFor();
    await expect.poll(() => describeFocus(page)).not.toMatch(/^BODY/);
    expect(await count()).toBe(60);
    await close();
  });
});

/** Presses Tab until the focus is back at the start of the page. Returns what is wrong on the way. */
async function walk(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    Object.assign(window, { walked: new Map() });
    // What is on its way to another color has none that could be compared.
    const still = new CSSStyleSheet();
    still.replaceSync('* { transition: none !important }');
    document.adoptedStyleSheets.push(still);
  });
  const faults: string[] = [];
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(lookAtFocus);
    faults.push(...stop.faults);
    if (stop.isEnd) return faults;
  }
  return [...faults, `more than ${MAX_STOPS} stops`];
}

/** In the page: returns what is wrong with what has the focus, and with how the stop before it looked, and whether the walk began there. */
function lookAtFocus(): { faults: string[]; isEnd: boolean } {
  const { walked } = window as unknown as { walked: Map<Element, string> };
  const element = document.activeElement;
  const name = (each: Element) =>
    `${each.tagName} ${each.getAttribute('aria-label') ?? ''} ${(each.textContent ?? '').slice(0, 60)}`;
  /** How it looks, with what surrounds it: a mark may be on its label, row or track. */
  const look = (each: Element) => {
    const around: Element[] = [];
    for (let part = each.parentElement; part !== null && around.length < 8; part = part.parentElement)
      around.push(part);
    return [each, ...(each.parentElement?.children ?? []), ...around]
      .map((part) => {
        const { outlineStyle, outlineWidth, outlineColor, borderColor, boxShadow, backgroundColor, opacity } =
          getComputedStyle(part);
        return [outlineStyle, outlineWidth, outlineColor, borderColor, boxShadow, backgroundColor, opacity].join();
      })
      .join(';');
  };
  const faults: string[] = [];
  const before = [...walked.keys()].at(-1);
  if (
    before !== undefined &&
    before !== element &&
    !before.matches('iframe, [contenteditable=true]') &&
    walked.get(before) === look(before)
  )
    faults.push(`no mark of the focus: ${name(before)}`);
  if (element === null || element === document.body || (walked.has(element) && element !== before))
    return { faults, isEnd: true };
  // A radio button of a bar has no size; its label has.
  const shown = (element instanceof HTMLInputElement && element.labels?.[0]) || element;
  const { top, bottom, left, right } = (element.clientWidth > 1 ? element : shown).getBoundingClientRect();
  const points = [
    [(left + right) / 2, (top + bottom) / 2],
    [left + 3, top + 3],
    [right - 3, bottom - 3],
  ] as const;
  const isSeen = points.some(([x, y]) => {
    const hit = document.elementFromPoint(x, y);
    return hit !== null && [element, shown].some((each) => each.contains(hit) || hit.contains(each));
  });
  if (!isSeen) faults.push(`out of sight: ${name(element)}`);
  if (element instanceof HTMLElement && element.tabIndex > 0) faults.push(`tabindex above 0: ${name(element)}`);
  if (
    before !== undefined &&
    before !== element &&
    element.closest('[role=dialog]') === null &&
    (before.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING) !== 0
  )
    faults.push(`goes back from ${name(before)} to ${name(element)}`);
  walked.set(element, look(element));
  return { faults, isEnd: false };
}

/** Presses Tab in the open dialog until a button has the focus, and then Enter. */
async function pressByTab(page: Page, name: string): Promise<void> {
  const button = page.getByRole('dialog').getByRole('button', { name, exact: true });
  await button.waitFor();
  for (let stops = 0; stops < MAX_STOPS && !(await hasFocus(button)); stops += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
}

function hasFocus(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement);
}

/** Returns what has the focus: its tag and text. */
function describeFocus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { tagName, textContent } = document.activeElement ?? document.body;
    return `${tagName} ${tagName === 'BODY' ? '' : textContent}`;
  });
}

/** Returns the text of the row that has the focus; null: none. */
function rowOfFocus(page: Page): Promise<string | null> {
  return page.evaluate(() => document.activeElement?.closest<HTMLElement>('main li')?.innerText ?? null);
}
