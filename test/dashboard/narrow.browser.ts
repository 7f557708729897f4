import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { until } from '../support/servers/service.ts';
import { findColorViolations, findSmallTargets } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { settle } from '../support/stages/dashboard-pages.ts';

const PHONE = { width: 390, height: 844 };
const SMALL_LAPTOP = { width: 1024, height: 768 };
const LONG_LOCAL_PART = 'the-extremely-long-address-of-the-complaints-office-nobody-reads';
const LONG_NAME = 'The customer with a name that is longer than names ought to be, as is its id';
const ARABIC = 'مرحبا، أين طلبي رقم 2231؟ لم يصل بعد وأنا أنتظره منذ أسبوعين وثلاثة أيام';
const LABELS = ['a label with a rather long name', 'urgent', 'عاجل', 'second', 'third'];

let stage: BrowserStage;
let account: Awaited<ReturnType<BrowserStage['account']>>;
let thread = '';

/** Pages with the names, addresses and texts that are hard to show. */
const paths = () => [
  '/',
  '/inbox',
  `/inbox/${thread}`,
  '/inbox?q=nothing-has-this',
  '/inbox?compose=new',
  '/activity',
  '/drafts',
  '/held',
  '/domains',
  '/addresses',
  '/endpoints',
  '/rules',
  '/suppressions',
  '/members',
  '/customers',
  '/keys',
  '/requests',
  '/audit',
  '/refused',
  '/settings',
  '/settings?tab=security',
];

describe.skipIf(chromiumPath === undefined)('long names on narrow pages', { timeout: 600_000 }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    account = await stage.account();
    const long = `${LONG_LOCAL_PART}@${account.domain}`;
    const call = async (route: string, body: object) => {
      const { status } = await account.call('POST', route, body);
      expect([route, status]).toEqual([route, expect.toSatisfy((code) => code < 300)]);
    };
    await call('/email-addresses', { address: long, domainId: account.domainId });
    await call('/workspaces', { client_id: 'c'.repeat(90), name: LONG_NAME });
    await call('/drafts', { to: [long, 'ann@sender.test'], subject: 'مسودة طويلة '.repeat(8) });
    await call('/suppressions', { address: `gone.${'x'.repeat(50)}@sender.test` });
    await call('/invitations', { email: long, role: 'agent' });
    await call('/endpoints', {
      name: 'n'.repeat(120),
      type: 'webhook',
      config: { url: `https://hooks.example/${'path/'.repeat(40)}` },
    });
    await call('/guard', {
      name: 'r'.repeat(100),
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['x'.repeat(60)] } },
      action: { action: 'block' },
    });
    const attachments = ['picture.png', `${'a-file-name-that-does-not-end-'.repeat(6)}.txt`].map((filename) => ({
      filename,
      content: 'x',
    }));
    await stage.mail({
      from: '"مريم الكعبي" <maryam@souq.test>',
      to: account.address,
      subject: ARABIC,
      text: ARABIC,
      attachments,
    });
    await until(
      'the mail has its thread',
      () => thread,
      async () => {
        thread = (await account.call('GET', '/mail/threads')).body.threads[0]?.id ?? '';
        return thread !== '';
      },
    );
    await account.graphql(
      'mutation ($input: UpdateThreadsInput!) { updateThreads(input: $input) { __typename ... on Error { message } } }',
      { input: { threadIds: [thread], addLabels: LABELS } },
    );
  });
  afterAll(() => stage?.close());

  test.each([
    ['phone', PHONE],
    ['small laptop', SMALL_LAPTOP],
  ])(
    'no page of a %s scrolls sideways, has small targets or pale text in the light or in the dark',
    async (_, viewport) => {
      const { page, close } = await stage.open(account, { viewport });
      const found: Record<string, string[]> = {};
      for (const path of paths()) {
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(stage.url + path);
        await settle(page);
        const faults = [
          ...(await findOverflow(page)),
          ...(await findSmallTargets(page)),
          ...(await findColorViolations(page)),
        ];
        await page.emulateMedia({ colorScheme: 'dark' });
        faults.push(...(await findColorViolations(page)).map((fault) => `dark: ${fault}`));
        if (faults.length > 0) found[path] = faults;
      }
      expect(found).toEqual({});
      await close();
    },
  );

  test.each([PHONE, SMALL_LAPTOP])('a row gives its name room beside a long text: %o', async (viewport) => {
    const { page, close } = await stage.open(account, { viewport });
    for (const [path, name] of [
      ['/customers', LONG_NAME],
      ['/drafts', 'مسودة'],
    ] as const) {
      await page.goto(stage.url + path);
      const box = await page.getByRole('main').getByRole('listitem').getByText(name).first().boundingBox();
      expect([path, box?.width]).toEqual([path, expect.toSatisfy((width) => width >= 180)]);
    }
    await close();
  });

  test.each([PHONE, SMALL_LAPTOP])('labels of a conversation are shown whole: %o', async (viewport) => {
    const { page, close } = await stage.open(account, { viewport });
    await page.goto(`${stage.url}/inbox/${thread}`);
    for (const label of LABELS) {
      const text = page.getByRole('region', { name: 'Conversation', exact: true }).getByText(label, { exact: true });
      expect([label, await isShownWhole(text)]).toEqual([label, true]);
    }
    await close();
  });

  test('a subject from right to left begins in sight', async () => {
    const { page, close } = await stage.open(account, { viewport: PHONE });
    await page.goto(`${stage.url}/inbox`);
    const subject = page.getByRole('grid').getByRole('row').getByText(ARABIC).first();
    const isInSight = await subject.evaluate((element) => {
      const range = document.createRange();
      const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
      if (text === null) return false;
      range.setStart(text, 0);
      range.setEnd(text, 1);
      const { left, right } = range.getBoundingClientRect();
      const box = element.parentElement?.getBoundingClientRect();
      return box !== undefined && left >= box.left && right <= box.right + 1;
    });
    expect(isInSight).toBe(true);
    await close();
  });

  test('a reply on a page that is enlarged to 400 % shows what is typed, and Send', async () => {
    const { page, close } = await stage.open(account, { viewport: { width: 320, height: 256 } });
    await page.goto(`${stage.url}/inbox/${thread}`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('In sight');
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await expect.poll(() => field.innerText()).toBe('In sight');
    for (const part of [field.getByText('In sight'), page.getByRole('button', { name: 'Send', exact: true })])
      await expect.poll(async () => isInWindow(part)).toBe(true);
    await close();
  });

  test('the list of a small laptop shows all its folders', async () => {
    const { page, close } = await stage.open(account, { viewport: SMALL_LAPTOP });
    await page.goto(`${stage.url}/inbox`);
    const folders = page.getByRole('radiogroup', { name: 'Folder' });
    await folders.waitFor();
    expect(await folders.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await close();
  });
});

/** Returns what is wider than the page, or than a control that hides what does not fit. */
function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const controls = [...document.querySelectorAll<HTMLElement>('.mantine-SegmentedControl-root')];
    return [
      ...(scrollWidth > clientWidth ? [`the page is ${scrollWidth - clientWidth} pixels too wide`] : []),
      ...controls
        .filter((control) => control.scrollWidth > control.clientWidth)
        .map((control) => `cut off: ${control.ariaLabel}`),
    ];
  });
}

/** Returns whether a point in the middle is in the window, and nothing covers it. */
function isInWindow(part: Locator): Promise<boolean> {
  return part.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const shown = document.elementFromPoint(left + Math.min(width, 20) / 2, top + height / 2);
    return shown !== null && (element.contains(shown) || shown.contains(element));
  });
}

/** Returns whether neither the text nor what contains it cuts it off. */
function isShownWhole(text: Locator): Promise<boolean> {
  return text.evaluate((element) => {
    const { left, right, top, bottom, width } = element.getBoundingClientRect();
    for (let outer = element.parentElement; outer !== null; outer = outer.parentElement) {
      if (getComputedStyle(outer).overflow === 'visible') continue;
      const box = outer.getBoundingClientRect();
      if (left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1) return false;
    }
    return width > 8;
  });
}
