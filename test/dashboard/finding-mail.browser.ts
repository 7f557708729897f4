import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patternOfSearch } from '../../gateway/dashboard/pages/inbox/inbox-view.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { findColorViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { buildAllWords } from '../support/stages/build-all-words.ts';

/** Of one test on a loaded machine. Milliseconds. */
const JOURNEY_MS = 180_000;
const POLL = { timeout: 60_000 };

let stage: BrowserStage;

test.each([
  ['lamp', 'A lamp and Lamps', ['lamp', 'Lamp']],
  ['"red lamp" from:ann -blue', 'The red lamp, a blue lamp', ['red lamp']],
  ['c++ (a.b)', 'In c++ and a.b', ['c++']],
  ['из', 'Письмо из Москвы', ['из']],
  ['from:ann is:unread', 'from ann', []],
  ['a', 'a a a', []],
])('the search %s marks its words in a text', (search, text, marked) => {
  const pattern = patternOfSearch(search);
  expect(pattern === null ? [] : [...text.matchAll(pattern)].map(([word]) => word)).toEqual(marked);
});

describe.skipIf(chromiumPath === undefined)(
  'finding and reading mail in the dashboard',
  { timeout: JOURNEY_MS },
  () => {
    beforeAll(async () => {
      stage = await openBrowserStage();
    }, 300_000);
    afterAll(() => stage?.close());

    async function withMails(subjects: readonly string[], html?: string) {
      const account = await stage.account();
      for (const subject of subjects)
        await stage.mail({
          to: account.address,
          subject,
          text: `About the ${subject}.`,
          ...(html === undefined ? {} : { html }),
        });
      await expect.poll(async () => (await received(account)).length, POLL).toBe(subjects.length);
      return account;
    }

    test('a search runs while it is typed, marks its words and says how many conversations it finds', async () => {
      const account = await withMails(['Lamp one', 'Lamp two', 'Gears']);
      const { page, complaints, close } = await stage.open(account);
      const searches: string[] = [];
      page.on('request', (request) => {
        const body = request.postData() ?? '';
        if (body.includes('InboxThreads')) searches.push(String(JSON.parse(body).variables?.search ?? ''));
      });
      await page.goto(`${stage.url}/inbox`);
      await row(page, 'Gears').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('lamp');
      await row(page, 'Gears').waitFor({ state: 'detached' });
      await page.getByRole('status').getByText('2 conversations').waitFor();
      expect(await page.getByRole('grid').locator('mark').allInnerTexts()).toContain('Lamp');
      expect(new URL(page.url()).searchParams.get('q')).toBe('lamp');
      expect(await findColorViolations(page)).toEqual([]);
      // What ends in the middle of an operator waits, so that nothing is an error while it is typed.
      await page.keyboard.type(' subject:two');
      await row(page, 'Lamp one').waitFor({ state: 'detached' });
      await page.getByRole('status').getByText('1 conversation', { exact: true }).waitFor();
      expect(searches.filter((search) => search.endsWith(':'))).toEqual([]);
      // Back leads out of the search by one step, however many pauses it was typed with, and Enter after it.
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
      await page.goBack();
      await row(page, 'Gears').waitFor();
      expect(complaints).toEqual([]);
      await close();
    });

    test('a mistyped search offers the word of the mail that it means', async () => {
      const account = await withMails(['The webhook failed', 'Gears']);
      await buildAllWords(stage.database);
      const { page, complaints, close } = await stage.open(account);
      await page.goto(`${stage.url}/inbox?q=webhok`);
      await page.getByText('Did you mean').waitFor();
      expect(await findColorViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'webhook', exact: true }).click();
      await row(page, 'The webhook failed').waitFor();
      expect(new URL(page.url()).searchParams.get('q')).toBe('webhook');
      await page.goto(`${stage.url}/inbox?q=zzzzzz`);
      await page.getByText('No results').waitFor();
      expect(await page.getByText('Did you mean').count()).toBe(0);
      await page.goto(`${stage.url}/inbox?q=subject%3Awebhok`);
      await page.getByRole('button', { name: 'subject:webhook', exact: true }).click();
      await row(page, 'The webhook failed').waitFor();
      for (const [typed, meant, search] of [
        ['webhook befor:2100-01-31', 'before:', 'webhook before:2100-01-31'],
        ['is:unred webhook', 'is:unread', 'is:unread webhook'],
      ] as const) {
        await page.goto(`${stage.url}/inbox?q=${encodeURIComponent(typed)}`);
        await page.getByRole('link', { name: meant, exact: true }).click();
        await row(page, 'The webhook failed').waitFor();
        expect(new URL(page.url()).searchParams.get('q')).toBe(search);
      }
      expect(complaints).toEqual([]);
      await close();
    });

    test('a mistake in the search of Activity shows a hint, and the page stays', async () => {
      const { page, complaints, close } = await stage.open(await stage.account());
      await page.goto(`${stage.url}/activity?q=is:unraed`);
      await page.getByText('Did you mean').waitFor();
      await page.getByRole('link', { name: 'is:unread' }).click();
      await page.getByText('Did you mean').waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
      expect(complaints.filter((text) => text.includes('TypeError'))).toEqual([]);
      await close();
    });

    test('the palette finds pages and actions by other words for them', async () => {
      const account = await stage.account();
      const { page, close } = await stage.open(account);
      await page.goto(`${stage.url}/settings`);
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Command palette' });
      for (const [words, name] of [
        ['webhook', 'Endpoints'],
        ['password', 'Settings'],
        ['spam', 'Guard rules'],
        ['help', 'Guides'],
        ['bounces', 'Suppressions'],
        ['log out', 'Sign out'],
        ['second factor', 'Settings'],
        ['invite', 'Members'],
      ] as const) {
        await page.keyboard.press('Control+a');
        await page.keyboard.type(words);
        await palette.getByText(name, { exact: true }).waitFor();
      }
      await close();
    });

    test('Enter in the palette opens its first row, also after the rows changed while it was typed', async () => {
      const account = await withMails(['Quarterly lamps', `Quarterly gears ${'and more of them '.repeat(9)}`]);
      const { page, complaints, close } = await stage.open(account);
      await page.goto(`${stage.url}/inbox`);
      await row(page, 'Quarterly lamps').waitFor();
      await page.keyboard.press('Control+k');
      const found = page.getByRole('dialog', { name: 'Command palette' }).getByRole('button', { name: /^Quarterly/ });
      await page.keyboard.type('quarterly');
      await expect.poll(() => found.count()).toBe(2);
      const heights = await Promise.all((await found.all()).map(async (each) => (await each.boundingBox())?.height));
      expect(heights[0]).toBe(heights[1]);
      await page.keyboard.type(' lamps');
      await expect.poll(() => found.count()).toBe(1);
      await page.keyboard.press('Enter');
      await page.getByRole('article').first().waitFor();
      await page.getByRole('heading', { name: 'Quarterly lamps' }).waitFor();
      expect(complaints).toEqual([]);
      await close();
    });

    test('the palette has the actions of the open conversation, whose field gets what is typed on', async () => {
      const account = await stage.account();
      await stage.mail({ to: account.address, subject: 'Later', text: 'Not now' });
      await expect.poll(async () => (await account.call('GET', '/mail/threads')).body.threads.length).toBe(1);
      const { page, complaints, close } = await stage.open(account);
      await page.goto(`${stage.url}/inbox`);
      await row(page, 'Later').getByRole('link').click();
      await page.getByRole('article').first().waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('edit labels');
      await page.keyboard.press('Enter');
      await page.keyboard.type('e#by palette');
      await page.keyboard.press('Enter');
      const labels = async () =>
        (await account.graphql('{ inbox(first: 1) { edges { node { labels } } } }')).body.data.inbox.edges;
      await expect.poll(labels).toEqual([{ node: { labels: ['e#by palette'] } }]);
      await page.keyboard.press('Control+k');
      await page.keyboard.type('archive');
      await page.keyboard.press('Enter');
      await expect.poll(labels).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });

    test('a newsletter that is dark by a table stays as it is in the dark theme, a light one becomes dark', async () => {
      const page = (background: string, color: string) =>
        `<body><table width="100%" height="600" style="background:${background};color:${color}"><tr><td>
      <p>Summer sale</p><img src="https://images.invalid/a.png" alt="A picture of a lamp" width="200" height="80"></td></tr></table></body>`;
      const account = await withMails(['Dark'], page('#101010', '#eeeeee'));
      await stage.mail({ to: account.address, subject: 'Light', text: 'Sale', html: page('#ffffff', '#111111') });
      await expect.poll(async () => (await received(account)).length, POLL).toBe(2);
      const tab = await stage.open(account, { colorScheme: 'dark' });
      const readFrame = async (subject: string) => {
        const { body } = await account.call('GET', '/emails?type=received');
        const { id } = body.data.find((email: { subject: string }) => email.subject === subject);
        await tab.page.goto(`${stage.url}/emails/${id}?tab=html`);
        const frame = tab.page.locator('iframe').contentFrame();
        await frame.getByText('Summer sale').waitFor();
        await tab.page.locator('[aria-busy="false"] iframe').waitFor();
        return frame;
      };
      const original = tab.page.getByRole('button', { name: 'Show original colors' });
      const dark = await readFrame('Dark');
      expect(await dark.locator('html').evaluate((root) => root.style.filter)).toBe('');
      expect(await original.count()).toBe(0);
      const light = await readFrame('Light');
      const filter = () => light.locator('html').evaluate((root) => root.style.filter);
      await expect.poll(filter, POLL).toContain('invert');
      // The words in place of the blocked image are inverted with the rest.
      expect(await light.locator('img').evaluate((image) => image.style.filter)).toBe('');
      await original.click();
      await expect.poll(filter, POLL).toBe('');
      await tab.page.getByRole('button', { name: 'Show dark colors' }).click();
      await expect.poll(filter, POLL).toContain('invert');
      await tab.close();
    });

    test('an invalid address is red as soon as it is entered', async () => {
      const account = await stage.account();
      const { page, complaints, close } = await stage.open(account);
      await page.goto(`${stage.url}/inbox?compose=new`);
      const to = page.getByRole('dialog').getByLabel('To', { exact: true });
      await to.fill('ann@sender.test');
      await page.keyboard.press('Enter');
      expect(await page.getByText('is not a valid address').count()).toBe(0);
      await to.fill('bob@sender');
      await page.keyboard.press('Enter');
      await page.getByText('"bob@sender" is not a valid address').waitFor();
      expect(await findColorViolations(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });

    test('a printed conversation has its messages and no navigation, list or button', async () => {
      const account = await withMails(['Lamp']);
      const { page, close } = await stage.open(account, { colorScheme: 'dark' });
      await page.goto(`${stage.url}/inbox`);
      await row(page, 'Lamp').click();
      await page.getByRole('article').getByText('About the Lamp.').waitFor();
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.getByRole('article').getByText('About the Lamp.').isVisible()).toBe(true);
      expect(await page.getByRole('navigation').first().isVisible()).toBe(false);
      expect(await page.getByRole('grid').isVisible()).toBe(false);
      expect(await page.getByRole('button', { name: 'Reply' }).first().isVisible()).toBe(false);
      expect(await page.getByRole('article').evaluate((message) => getComputedStyle(message).color)).toBe(
        'rgb(0, 0, 0)',
      );
      await page.emulateMedia({ media: null });
      await close();
    });

    test('the outline of the page is there before the session is known, if someone was signed in before', async () => {
      const account = await stage.account();
      const { page, context, close } = await stage.open(account);
      await page.goto(`${stage.url}/domains`);
      await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
      let isHeld = true;
      const held: (() => Promise<void>)[] = [];
      await context.route('**/graphql', async (route) => {
        if (isHeld) held.push(() => route.continue());
        else await route.continue();
      });
      await page.reload();
      const outline = page.getByRole('status', { name: 'Loading' });
      await outline.getByText('Guard rules').waitFor({ state: 'visible' });
      await expect.poll(() => held.length, POLL).toBeGreaterThan(0);
      isHeld = false;
      await Promise.all(held.map((go) => go()));
      await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
      await close();
    });

    test('the page can be installed, by a manifest that its policy allows', async () => {
      const account = await stage.account();
      const { page, complaints, close } = await stage.open(account);
      await page.goto(`${stage.url}/inbox`);
      const href = await page.locator('link[rel="manifest"]').getAttribute('href');
      const response = await page.request.get(`${stage.url}${href}`);
      expect(response.headers()['content-type']).toMatch(/^application\/manifest\+json/);
      expect(await response.json()).toMatchObject({ name: 'Postroom', start_url: '/inbox', display: 'standalone' });
      // The browser itself reads it under the policy of the page.
      const session = await page.context().newCDPSession(page);
      const { errors, url } = await session.send('Page.getAppManifest');
      expect({ errors, url }).toEqual({ errors: [], url: `${stage.url}/site.webmanifest` });
      expect(complaints).toEqual([]);
      await close();
    });

    test('a notice of the system names new mail while the page is not looked at, and none while it is', async () => {
      const account = await stage.account();
      const { page, context, close } = await stage.open(account);
      await context.grantPermissions(['notifications'], { origin: stage.url });
      // The headless browser shows notices nowhere, and its pages are always looked at.
      await page.addInitScript(() => {
        const shown: unknown[] = [];
        Object.assign(window, { shown, isHidden: false });
        class Recorded extends EventTarget {
          static permission = 'granted';
          static requestPermission = () => Promise.resolve('granted');
          constructor(title: string, options: { body: string }) {
            super();
            shown.push([title, options.body]);
          }
        }
        Object.assign(window, { Notification: Recorded });
        Object.defineProperty(document, 'visibilityState', {
          get: () => ((window as unknown as { isHidden: boolean }).isHidden ? 'hidden' : 'visible'),
        });
      });
      const shown = () => page.evaluate(() => (window as unknown as { shown: unknown[] }).shown);
      await page.goto(`${stage.url}/settings`);
      await page.getByRole('switch', { name: 'Notify me of new mail' }).click();
      await page.getByRole('link', { name: 'Inbox', exact: true }).first().click();
      await stage.mail({ to: account.address, subject: 'Seen', text: 'One.' });
      await row(page, 'Seen').waitFor();
      expect(await shown()).toEqual([]);
      // The list may show it before its event comes, and a page that is hidden by then would name it.
      const [seen] = (await account.call('GET', '/emails?type=received&limit=1')).body.data;
      expect((await account.call('PATCH', `/emails/${seen.id}`, { is_read: true })).status).toBe(200);
      await page.evaluate(() => Object.assign(window, { isHidden: true }));
      await stage.mail({ to: account.address, subject: 'Unseen', text: 'Two.' });
      await expect.poll(shown, POLL).toEqual([['Ada Lovelace', 'Unseen']]);
      await page.evaluate(() => localStorage.removeItem('postroom-desktop-notices'));
      await close();
    });

    test('a message of a list has a link to its page, or a button that asks before one request leaves the list', async () => {
      const account = await stage.account();
      const mail = { to: account.address, subject: 'Weekly', text: 'News.' };
      // The service may not reach this address, so the list gets no request.
      const headers = {
        'List-Unsubscribe': '<https://127.0.0.1:9/leave>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        'DKIM-Signature':
          'v=1; a=rsa-sha256; d=list.test; s=s1; h=from:list-unsubscribe:list-unsubscribe-post; bh=YQ==; b=YQ==',
      };
      await stage.mail({ ...mail, headers });
      await expect.poll(async () => (await received(account)).length, POLL).toBe(1);
      const { page, close } = await stage.open(account);
      await page.goto(`${stage.url}/inbox`);
      await row(page, 'Weekly').click();
      const link = page.getByRole('link', { name: 'Unsubscribe' });
      await link.waitFor();
      expect(await link.getAttribute('href')).toBe('https://127.0.0.1:9/leave');
      // As if the signature had passed: the sender's DNS is not ours to publish.
      await stage.database.pool.query(
        `update email_content set authentication = jsonb_set(authentication, '{dkim}',
           '[{"result":"pass","domain":"list.test","selector":"s1"}]') where email_id = $1`,
        [(await received(account))[0]],
      );
      await page.reload();
      await page.getByRole('button', { name: 'Unsubscribe' }).click();
      const question = page.getByRole('dialog');
      await question.getByText('Ask 127.0.0.1:9 to send no more mail of this list?').waitFor();
      expect(await findColorViolations(page)).toEqual([]);
      await question.getByRole('button', { name: 'Unsubscribe' }).click();
      await page.getByText('The list could not be reached (BLOCKED_ADDRESS). Try again later.').waitFor();
      await close();
    });
  },
);

function row(page: Page, text: string) {
  return page.getByRole('grid').getByRole('row').filter({ hasText: text });
}

async function received(account: TestAccount): Promise<string[]> {
  const { body } = await account.call('GET', '/emails?type=received');
  return body.data.map(({ id }: { id: string }) => id);
}
