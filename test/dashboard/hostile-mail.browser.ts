import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Color,
  clearBackground,
  clearColor,
  contrast,
  darkened,
} from '../../gateway/dashboard/parts/dark-mail.ts';
import { isEveryPageOpened } from '../support/browser-length.ts';
import { hasCorpora, readEmlMessages } from '../support/mail/corpora.ts';
import { hostileCss } from '../support/mail/hostile-css.ts';
import { hostileHtml } from '../support/mail/hostile-html.ts';
import {
  type Canary,
  deliverAll,
  FRAME_SANDBOX,
  type Look,
  lookDirectly,
  lookInFrames,
  openCanary,
  PIXEL,
  type Watch,
  watchContext,
} from '../support/mail/mail-looks.ts';
import { NEWSLETTERS } from '../support/mail/newsletters.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findColorViolationsOfMail, findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, type BrowserTab, openBrowserStage } from '../support/stages/browser-stage.ts';

test('in dark colors every text is as easy to read as before, or easy enough', () => {
  const parts = [0, 60, 120, 160, 210, 255];
  const colors = parts.flatMap((red) => parts.flatMap((green) => parts.map((blue): Color => [red, green, blue])));
  const unclear = colors.flatMap((background) =>
    colors.filter((color) => {
      const seen = contrast(darkened(clearColor(color, background)), darkened(clearBackground(background)));
      return seen < Math.min(4.5, contrast(color, background));
    }),
  );
  expect(unclear).toEqual([]);
});

type Account = Awaited<ReturnType<BrowserStage['account']>>;

describe.skipIf(chromiumPath === undefined)('hostile mail', () => {
  let stage: BrowserStage;
  let canary: Canary;
  let account: Account;
  let tab: BrowserTab;
  let watch: Watch;
  let bodies: Map<string, string>;
  let mails: { id: string; name: string }[];

  beforeAll(async () => {
    [canary, stage] = await Promise.all([openCanary(), openBrowserStage()]);
    account = await stage.account();
    bodies = new Map([...hostileHtml(canary.url), ...hostileCss(canary.url)]);
    mails = await deliverAll(
      stage,
      account,
      [...bodies].map(([subject, html]) => ({ subject, html, text: 'Text' })),
    );
    ({ tab, watch } = await openTab(account));
  });
  afterAll(async () => {
    await stage?.close();
    await canary?.close();
  });

  /** A tab on a page of ours that loads nothing more by itself, watched from there on. */
  async function openTab(of: Account): Promise<{ tab: BrowserTab; watch: Watch }> {
    const opened = await stage.open(of);
    await opened.page.goto(`${stage.url}/nowhere`);
    await opened.page.getByRole('heading', { level: 1 }).waitFor();
    return { tab: opened, watch: watchContext(opened.context, stage.url) };
  }
  const listImages = async (of: Account, id: string): Promise<string[]> => {
    const { body } = await of.call('GET', `/emails/${id}/html?images=remote`);
    return [...String(body).matchAll(/ (?:src|background)="(https?:[^"]*)"/g)].map(([, url = '']) =>
      url.replaceAll('&amp;', '&'),
    );
  };
  /** What a browser says when it asks for a frame; the test's own requests do not. */
  const FRAMED = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-origin' };
  const nothing = { alarms: [], elsewhere: [] };
  const forget = () => {
    watch.alarms.length = 0;
    watch.elsewhere.length = 0;
    canary.heard.length = 0;
  };

  beforeEach(forget);

  test('arrives completely', () => {
    expect(mails.map(({ name }) => name).toSorted()).toEqual([...bodies.keys()].toSorted());
  });

  test('runs nothing and loads nothing, in a frame of our pages and by itself', async () => {
    const looks = await lookInFrames(tab.page, mails);
    const direct = await tab.context.newPage();
    // The same documents as in the frames: in a quick run some are enough.
    for (const mail of readSome(mails, 5)) looks.push(await lookDirectly(direct, stage.url, mail));
    await direct.close();
    print('the S16 list', looks);
    expect(looks.filter((look) => !look.isOurs)).toEqual([]);
    expect(watch).toEqual(nothing);
    expect(canary.heard).toEqual([]);
  });

  test('runs nothing with remote images, and loads only images', async () => {
    const images = new Set<string>();
    const withImages = new Set<string>();
    for (const { id } of mails)
      for (const image of await listImages(account, id)) {
        images.add(image);
        withImages.add(id);
      }
    // Documents without remote images are the same as before.
    const looked = isEveryPageOpened ? mails : mails.filter(({ id }) => withImages.has(id));
    await lookInFrames(tab.page, looked, { query: '?images=remote' });
    const asked = [...images].map((image) => image.replace(canary.url, ''));
    expect(asked.toSorted()).toEqual(['/body', '/cell', '/img', '/table']);
    expect(new Set(watch.elsewhere.map(({ url }) => url))).toEqual(images);
    expect(new Set(watch.elsewhere.map(({ type, method }) => `${method} ${type}`))).toEqual(new Set(['GET image']));
    expect(new Set(canary.heard.map(({ url }) => url))).toEqual(new Set(asked));
    // The servers learn neither where the mail was read nor by whom.
    expect(canary.heard.filter(({ referer, cookie }) => referer !== undefined || cookie !== undefined)).toEqual([]);
    expect(watch.alarms).toEqual([]);
  });

  test('requests nothing from this machine or the local network, not even with remote images', async () => {
    const hosts =
      '127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.01 0 127.0.0.1. [::ffff:127.0.0.1] [::ffff:7f00:1] localhost LOCALHOST. app.localhost';
    const local = hosts.split(' ').map((host) => `http://${host}:${canary.port}`);
    const own = [stage.url, stage.service.url].map((base) => `${base}/api/auth/sign-out`);
    const showAll = (url: string, n: number) =>
      `<img src="${url}/${n}/img" srcset="${url}/${n}/srcset 1x" width=50 height=50>
      <picture><source srcset="${url}/${n}/source"><img src="${url}/${n}/picture" width=50 height=50></picture>
      <table background="${url}/${n}/table"><tr><td style="background:url(${url}/${n}/cell)">a
      <td style="background-image:url('${url}/${n}/image')">b<td background="${url}/${n}/attribute">c</table>
      <p style="list-style-image:url(${url}/${n}/list);cursor:url(${url}/${n}/cursor),auto">d</p>`;
    const html = [...local, ...own].map(showAll).join('');
    const reader = await stage.account();
    const localMails = await deliverAll(stage, reader, [{ subject: 'Local', html }]);
    const opened = await openTab(reader);
    await lookInFrames(opened.tab.page, localMails, { query: '?images=remote' });
    expect(await listImages(reader, localMails[0]?.id ?? '')).toEqual([]);
    const { page, context } = opened.tab;
    await page.goto(`${stage.url}/emails/${localMails[0]?.id}?tab=html`);
    await page.frameLocator('iframe').locator('html[data-remote-images]').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Load remote images/ }).count()).toBe(0);
    expect(opened.watch).toEqual(nothing);
    expect(canary.heard).toEqual([]);

    // Unsanitised, the browser asks for them, or says that it refused to.
    await page.goto(`${stage.url}/nowhere`);
    await page.route('**/api/e2/emails/*/html*', async (route) => {
      const response = await route.fetch({ headers: { ...route.request().headers(), ...FRAMED } });
      await route.fulfill({ response, body: `<!doctype html><html data-remote-images=0>${html}` });
    });
    await lookInFrames(page, localMails, { query: '?images=remote' });
    const asked = new Set(opened.watch.elsewhere.map(({ url }) => url.split('/')[3]));
    expect(local.filter((_url, n) => !asked.has(String(n)))).toEqual([]);
    await context.close();
  });

  test('is stopped by each of the walls alone', async () => {
    // Each document passes both walls above: here some are enough.
    const some = readSome(mails, 4);
    // As it came, in our frame and under our policy: what is tried is refused, and the browser may say so.
    await tab.page.route('**/api/e2/emails/*/html*', async (route) => {
      const response = await route.fetch({ headers: { ...route.request().headers(), ...FRAMED } });
      expect(response.headers()['content-security-policy']).toContain('allow-same-origin');
      const name = mails.find(({ id }) => route.request().url().includes(id))?.name ?? '';
      await route.fulfill({ response, body: `<!doctype html><html data-remote-images=0>${bodies.get(name)}` });
    });
    const looks = await lookInFrames(
      tab.page,
      mails.filter((mail) => mail.name !== 'depth' && (some.includes(mail) || mail.name === 'names that clobber')),
    );
    // Unsanitised, a picture takes the name that the document is looked up by.
    expect(looks.filter((look) => !look.isOurs).map(({ name }) => name)).toEqual(['names that clobber']);
    expect(watch.alarms.some((alarm) => alarm.includes('Content Security Policy'))).toBe(true);
    expect(watch.alarms.filter((alarm) => !/^(?:error|warning|info): /.test(alarm))).toEqual([]);
    expect(canary.heard).toEqual([]);
    await tab.page.unroute('**/api/e2/emails/*/html*');
    forget();
    // Sanitised, without a policy and without a sandbox: there is nothing to refuse.
    await tab.page.route('**/api/e2/emails/*/html*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ status: 200, contentType: 'text/html; charset=utf-8', body: await response.text() });
    });
    await lookInFrames(tab.page, some, { sandbox: null });
    expect(watch).toEqual(nothing);
    expect(canary.heard).toEqual([]);
    await tab.page.unroute('**/api/e2/emails/*/html*');
  });

  test('in a real page has its height, its fold, its images on demand and its links', async () => {
    const reader = await stage.account();
    const html = `<p style="height:900px">Yes.</p><img src="${canary.url}/photo" width="50" height="50">
      <img src="${canary.url}/pixel" width="1" height="1"><a href="${canary.url}/link" target="_top">Click here</a>
      <div class="gmail_quote">On Monday Ann wrote:<blockquote style="height:600px">No?</blockquote></div>`;
    const [mail] = await deliverAll(stage, reader, [{ subject: 'A link', html }]);
    const { page, context, complaints } = await stage.open(reader);
    await page.goto(`${stage.url}/emails/${mail?.id}?tab=html`);
    const frame = page.locator(`iframe[src^="/api/e2/emails/${mail?.id}/html"]`);
    const inside = frame.contentFrame();
    await inside.getByText('Yes.').waitFor();
    await expect.poll(() => frame.getAttribute('sandbox')).toBe(FRAME_SANDBOX);
    await expect.poll(() => frame.getAttribute('title')).toContain('A link');
    const readHeight = async () => (await frame.boundingBox())?.height ?? 0;
    await expect.poll(readHeight, POLL).toBeGreaterThan(950);
    const folded = await readHeight();
    expect(folded).toBeLessThan(1_300);
    await expect.poll(() => inside.getByText('No?').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Show quoted text' }).click();
    expect(await inside.getByText('Quoted text').isVisible()).toBe(false);
    await inside.getByText('No?').waitFor();
    await expect.poll(readHeight, POLL).toBeGreaterThan(folded + 550);
    await page.getByRole('button', { name: 'Hide quoted text' }).press('Enter');
    await expect.poll(readHeight, POLL).toBe(folded);
    expect(canary.heard).toEqual([]);
    await page.getByText('1 remote image is not loaded. 1 tracking pixel removed.').waitFor();
    await page.getByRole('button', { name: 'Load remote images (1)' }).click();
    await expect.poll(() => canary.heard.map(({ url }) => url), POLL).toEqual(['/photo']);
    await page.getByText('1 tracking pixel removed.', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^Always show images/ }).count()).toBe(0);
    const opening = context.waitForEvent('page');
    await inside.getByText('Click here').click();
    const opened = await opening;
    await opened.waitForURL(`${canary.url}/link`);
    expect(await opened.evaluate(() => window.opener === null && window.origin !== 'null')).toBe(true);
    expect(canary.heard.find(({ url }) => url === '/link')).toEqual({ url: '/link' });
    expect(page.url()).toContain(`${stage.url}/emails/`);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('shows images of a sender at once when the user wants that and the mail is from this sender', async () => {
    const reader = await stage.account();
    const html = `<p>News</p><img src="${canary.url}/news" width="50" height="50">`;
    const found = await deliverAll(
      stage,
      reader,
      ['First', 'Second', 'Forged'].map((subject) => ({ subject, html })),
    );
    const findId = (subject: string) => found.find(({ name }) => name === subject)?.id ?? '';
    const verdict = (result: string) => ({ result, domain: 'sender.test' });
    await stage.database.pool.query(
      `update email_content set authentication = $3 where workspace_id = $1 and email_id = any ($2)`,
      [
        reader.workspaceId,
        [findId('First'), findId('Second')],
        JSON.stringify({
          spf: verdict('none'),
          dkim: [{ ...verdict('pass'), selector: 's' }],
          dmarc: { ...verdict('pass'), policy: 'reject' },
          arc: { result: 'none', domain: null },
          hasSeveralFromFields: false,
        }),
      ],
    );
    const { page, complaints, close } = await stage.open(reader);
    const open = async (subject: string) => {
      await page.goto(`${stage.url}/emails/${findId(subject)}?tab=html`);
      await page.frameLocator('iframe').getByText('News').waitFor();
    };
    const always = page.getByRole('button', { name: 'Always show images from ada@sender.test' });
    await open('First');
    await page.getByText('1 remote image is not loaded.').waitFor();
    await always.waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(canary.heard).toEqual([]);
    await always.click();
    await page.getByText('Images from ada@sender.test are always shown.').waitFor();
    await expect.poll(() => canary.heard.map(({ url }) => url), POLL).toEqual(['/news']);
    forget();
    await open('Second');
    await expect.poll(() => canary.heard.map(({ url }) => url), POLL).toEqual(['/news']);
    expect(await page.getByText(/not loaded/).count()).toBe(0);
    forget();
    // A forged sender gets nothing.
    await open('Forged');
    await page.getByText('1 remote image is not loaded.').waitFor();
    expect(await always.count()).toBe(0);
    await page.goto(`${stage.url}/settings`);
    const section = page.getByRole('region', { name: 'Remote images' });
    await section.getByText('ada@sender.test').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await section.getByRole('button', { name: 'Remove ada@sender.test' }).click();
    await section.getByText('No senders yet.').waitFor();
    await open('Second');
    await page.getByText('1 remote image is not loaded.').waitFor();
    await always.waitFor();
    expect(canary.heard).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('in a real page has the design of its sender, scaled to the width of the frame', async () => {
    const reader = await stage.account();
    const html = `<html><head><title>Hidden</title><style>
      .button { background-color: rgb(0, 128, 0); position: fixed; background-image: url(${canary.url}/sheet) }
      @media screen and (min-width: 200px) { .wide { width: 1600px; height: 100px; background: rgb(1, 2, 3) } }
      html, body { min-height: 100% } .tall { min-height: 100vh; padding: 4px }
      </style></head><body bgcolor="#ffeedd" text="#112233"><a class="button" href="https://e.test/">Buy</a>
      <div class="wide">wide</div><div class="tall">Tall</div></body></html>`;
    const [mail] = await deliverAll(stage, reader, [{ subject: 'A newsletter', html }]);
    const { page, complaints, close } = await stage.open(reader);
    await page.goto(`${stage.url}/emails/${mail?.id}?tab=html`);
    const frame = page.locator(`iframe[src^="/api/e2/emails/${mail?.id}/html"]`);
    const inside = frame.contentFrame();
    await inside.getByText('Buy').waitFor();
    const readStyle = (selector: string, name: string) =>
      inside.locator(selector).evaluate((element, key) => getComputedStyle(element).getPropertyValue(key), name);
    expect(await readStyle('.button', 'background-color')).toBe('rgb(0, 128, 0)');
    expect(await readStyle('.button', 'position')).toBe('static');
    expect(await readStyle('.wide', 'background-color')).toBe('rgb(1, 2, 3)');
    expect(await readStyle('body', 'background-color')).toBe('rgb(255, 238, 221)');
    expect(await readStyle('body', 'color')).toBe('rgb(17, 34, 51)');
    expect(await inside.locator('body').innerText()).not.toContain('Hidden');
    const readScale = () => inside.locator('html').evaluate((root) => Number(root.style.zoom || 1));
    await expect.poll(readScale, POLL).toBeLessThan(0.9);
    const width = (await frame.boundingBox())?.width ?? 0;
    expect(await readScale()).toBeCloseTo(width / 1_616, 1);
    // The height is that of the scaled content.
    await expect
      .poll(async () => (await frame.boundingBox())?.height ?? 0, POLL)
      .toBeLessThan(200 * (await readScale()));
    // In the dark theme it has dark colors, until the user wants those of the sender.
    const readFilter = () => inside.locator('html').evaluate((root) => root.style.filter);
    expect(await readFilter()).toBe('');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(readFilter, POLL).toContain('invert');
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show original colors' }).click();
    await expect.poll(readFilter, POLL).toBe('');
    await page.getByRole('button', { name: 'Show dark colors' }).waitFor();
    expect(canary.heard).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('is as easy to read as before in dark colors, by the measure of axe', async () => {
    const reader = await stage.account();
    const pairs = [
      ['#ffffff', '#222222'],
      ['#999999', '#222222'],
      ['#ffffff', '#2f9e44'],
      ['#ffffff', '#767676'],
      ['#e6e600', '#404040'],
      ['#767676', '#ffffff'],
      ['#0000ee', '#ffffff'],
      ['#cc0000', 'rgba(0, 0, 0, 0.05)'],
      ['#eeeeee', '#ffffff'],
      ['#000000', '#ffcc00'],
    ].map(
      ([color, background]) => `<p style="background:${background}"><a style="color:${color}">${color} on it</a></p>`,
    );
    const mails = [NEWSLETTERS.get('shop') ?? '', NEWSLETTERS.get('bulletin') ?? '', `<body>${pairs.join('')}</body>`];
    const found = await deliverAll(
      stage,
      reader,
      mails.map((html, n) => ({ subject: `Colors ${n}`, html })),
    );
    const { page, context, complaints, close } = await stage.open(reader);
    // In the frame no script runs, and axe needs timers.
    const copy = await context.newPage();
    const faults: string[] = [];
    const lookAtCopy = async (frame: Frame) => {
      await copy.setContent(await frame.content());
      const violations = await findColorViolationsOfMail(copy);
      return violations.map((violation) => violation.slice(0, violation.indexOf(' <')));
    };
    for (const { id } of found.toSorted((a, b) => a.name.localeCompare(b.name))) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${stage.url}/emails/${id}?tab=html`);
      await page.frameLocator('iframe').locator('html[data-remote-images]').waitFor();
      const frame = page.frames().find((each) => each.url().includes(id) && each !== page.mainFrame());
      if (frame === undefined) throw new Error('no frame');
      const readFilter = () => frame.evaluate(() => document.documentElement.style.filter);
      const before = await lookAtCopy(frame);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expect.poll(readFilter, POLL).toContain('invert');
      await paintFiltered(page, frame);
      const inDark = await lookAtCopy(frame);
      expect(inDark.filter((violation) => !before.includes(violation))).toEqual([]);
      faults.push(...before);
    }
    // Those of the sender, so axe does look.
    expect(faults).toHaveLength(4);
    // The colors of the sender come back.
    await page.reload();
    const text = page.frameLocator('iframe').getByText('#999999 on it');
    const readColor = () => text.evaluate((element) => getComputedStyle(element).color);
    await expect.poll(readColor, POLL).not.toBe('rgb(153, 153, 153)');
    await page.getByRole('button', { name: 'Show original colors' }).click();
    await expect.poll(readColor, POLL).toBe('rgb(153, 153, 153)');
    expect(complaints).toEqual([]);
    await close();
  });

  test('that cannot be shown says so and is shown by another attempt', async () => {
    const { page, context } = await stage.open(account);
    let isAway = true;
    await page.route('**/api/e2/emails/*/html*', (route) =>
      isAway ? route.fulfill({ status: 503, json: { error: 'Service Unavailable' } }) : route.continue(),
    );
    await page.goto(`${stage.url}/emails/${mails[0]?.id}?tab=html`);
    await page.getByText('Could not load this email').waitFor();
    isAway = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.frameLocator('iframe').locator('html[data-remote-images]').waitFor();
    await expect.poll(() => page.getByText('Could not load this email').count(), POLL).toBe(0);
    await context.close();
  });

  test.skipIf(!hasCorpora)(
    'of the corpora runs nothing, and loads nothing but images on demand',
    {
      timeout: 300_000,
    },
    async () => {
      const all = (await readEmlMessages()).filter(({ bytes }) =>
        /<(?:html|body|table|img|a)\b/i.test(bytes.toString('latin1')),
      );
      expect(all.length).toBeGreaterThan(100);
      // Each takes the same way; opening all of them takes minutes.
      const messages = readSome(all, 20);
      const reader = await stage.account();
      const found = await deliverAll(
        stage,
        reader,
        messages.map(({ bytes }) => ({ raw: bytes })),
      );
      const opened = await openTab(reader);
      const looks = await lookInFrames(opened.tab.page, found);
      const direct = await opened.tab.context.newPage();
      // They are the same documents: some are enough.
      for (const mail of found.filter((_, at) => at % 10 === 0))
        looks.push(await lookDirectly(direct, stage.url, mail));
      await direct.close();
      print('the corpora', looks);
      expect(looks.filter((look) => !look.isOurs)).toEqual([]);
      expect(opened.watch).toEqual(nothing);
      // Whatever is asked for elsewhere is answered here.
      await opened.tab.context.route(
        (address) => address.origin !== stage.url,
        (route) => route.fulfill({ contentType: 'image/png', body: PIXEL }),
      );
      const images = new Set<string>();
      for (const { id } of found) for (const image of await listImages(reader, id)) images.add(image);
      await lookInFrames(opened.tab.page, found, { query: '?images=remote' });
      expect(images.size).toBeGreaterThan(5);
      expect(opened.watch.elsewhere.filter(({ url, type }) => !images.has(url) || type !== 'image')).toEqual([]);
      expect(new Set(opened.watch.elsewhere.map(({ url }) => url)).size).toBeGreaterThan(5);
      expect(opened.watch.alarms).toEqual([]);
      await opened.tab.context.close();
    },
  );
});

/** Returns each `step`th of them in a quick run, and all of them in a long one. */
function readSome<T>(all: readonly T[], step: number): T[] {
  return all.filter((_, at) => isEveryPageOpened || at % step === 0);
}

/** On a machine that is busy. */
const POLL = { timeout: 120_000 };

/** How long mails took until they were there. */
function print(what: string, looks: readonly Look[]): void {
  const sorted = looks.toSorted((a, b) => a.ms - b.ms);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)]?.ms ?? 0);
  const longest = sorted.at(-1)?.name;
  process.stdout.write(
    `${what}: ${looks.length} looks, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (${longest})\n`,
  );
}

/** Gives the elements of a frame the colors that its filter shows, as the browser computes them, instead of the filter, which axe does not know. */
async function paintFiltered(page: Page, frame: Frame): Promise<void> {
  const { filter, colors } = await frame.evaluate(() => {
    const styles = [...document.querySelectorAll('*')].map((element) => getComputedStyle(element));
    const all = styles.flatMap(({ color, backgroundColor }) => [color, backgroundColor]);
    return { filter: document.documentElement.style.filter, colors: [...new Set([...all, 'rgb(255, 255, 255)'])] };
  });
  const painted = await page.evaluate(
    ({ given, by }) => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      if (canvas === null) throw new Error('no canvas');
      canvas.filter = by;
      return given.map((color) => {
        const [red = '0', green = '0', blue = '0', alpha = '1'] = color.match(/[\d.]+/g) ?? [];
        canvas.fillStyle = `rgb(${red}, ${green}, ${blue})`;
        canvas.fillRect(0, 0, 1, 1);
        return [color, `rgba(${[...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).join(', ')}, ${alpha})`] as const;
      });
    },
    { given: colors, by: filter },
  );
  await frame.evaluate((list) => {
    const paints = new Map(list);
    const next = [...document.querySelectorAll<HTMLElement>('*')].map((element) => {
      const { color, backgroundColor } = getComputedStyle(element);
      return { element, color: paints.get(color), background: paints.get(backgroundColor) };
    });
    for (const { element, color, background } of next) {
      element.style.setProperty('color', color ?? '', 'important');
      element.style.setProperty('background-color', background ?? '', 'important');
    }
    document.documentElement.style.filter = '';
    document.documentElement.style.setProperty('background', paints.get('rgb(255, 255, 255)') ?? '', 'important');
  }, painted);
}
