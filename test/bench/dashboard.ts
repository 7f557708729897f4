import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createTransport } from 'nodemailer';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { openDatabase } from '../../db/connection/database.ts';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { fillLargeMailbox } from '../support/rows/large-mailbox.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { startDnsServer } from '../support/servers/dns.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { type Account, type PostroomServer, startSingleMachine } from './postroom-server.ts';
import { median, percentile } from './statistics.ts';

/** What the inbox may load until its rows are shown, compressed. Bytes. */
const FIRST_LOAD_LIMIT = 220_000;
const REQUEST_LIMIT_MS = 100;
const VISIBLE_LIMIT_MS = 500;
/** Until the largest text of the inbox is there: for a browser that has nothing of the page, and for one that has its files. */
const COLD_PAINT_LIMIT_MS = 600;
const WARM_PAINT_LIMIT_MS = 250;
const OPEN_LIMIT_MS = 110;
/** How often each is measured. */
const PAINTS = 5;
const OPENED = 20;
/** The page loads what is likely to be opened next while it is idle. Milliseconds. */
const IDLE_MS = 2_000;
/** One turn of the wheel; a page of 50 threads is about 4,200. CSS pixels. */
const WHEEL_PX = 1_400;
/** The heap is looked at after each of these shares of the way. */
const LOOKS = 5;

export const help = `The dashboard in Chromium: what the inbox loads, when a large inbox is painted, how it scrolls, how soon a conversation is open, and the time from the 250 of a mail to its row.
Each figure stands beside its limit.

  --messages N   of the mailbox; default 260000, which are 100,000 threads
  --rows N       that are scrolled; default 20000
  --mails N      default 100`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      messages: { type: 'string', default: '260000' },
      rows: { type: 'string', default: '20000' },
      mails: { type: 'string', default: '100' },
    },
  });
  if (chromiumPath === undefined) throw new Error('Chromium is missing: apt-get install chromium');
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const dns = await startDnsServer();
  let server: PostroomServer | undefined;
  let browser: Browser | undefined;
  describeMachine();
  try {
    server = await startSingleMachine(directory, { dnsServer: dns.address });
    await describePostgresql('npm start', server.databaseUrl);
    const account = await server.createAccount('reader@bench.test');
    await fillLargeMailbox(server.databaseUrl, account.workspaceId, Number(values.messages));
    const address = await makeAddress(account);
    browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
    const url = `http://localhost:${server.httpPort}`;
    const context = await signIn(browser, server, url, 'reader@bench.test');
    await measureFirstLoad(browser, context, url);
    await measurePaint(browser, context, url);
    await measureOpening(context, url);
    await measureScrolling(context, url, Number(values.rows));
    await measureArrival(context, url, server.smtpPort, { address, mails: Number(values.mails) });
  } finally {
    await browser?.close();
    await server?.stop();
    await dns.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function makeAddress(account: Account): Promise<string> {
  const { id: domainId } = await account.call('POST', '/domains', { domain: 'bench.test' });
  await account.call('POST', '/email-addresses', { address: 'in@bench.test', domainId });
  return 'in@bench.test';
}

async function signIn(browser: Browser, server: PostroomServer, url: string, email: string): Promise<BrowserContext> {
  const database = openDatabase({
    url: server.databaseUrl,
    role: null,
    poolSize: 1,
    applicationName: 'bench',
    onError: () => undefined,
  });
  const token = await makeSignInLink(database, email);
  await database.close();
  const context = await browser.newContext({ viewport: { width: 1_280, height: 860 } });
  const response = await context.request.post(`${url}/api/auth/sign-in/link`, {
    data: { token },
    headers: { origin: url },
  });
  if (!response.ok()) throw new Error(`signing in: ${response.status()}`);
  return context;
}

/**
 * What the inbox loads in a browser that has nothing of it: until its rows are shown, without mail, which is what the limit is for; and what it
 * loads afterwards, while it is idle, for what is likely to be opened next.
 */
async function measureFirstLoad(browser: Browser, context: BrowserContext, url: string): Promise<void> {
  const fresh = await openFresh(browser, context);
  const page = await fresh.newPage();
  await page.goto(`${url}/inbox`);
  await page.locator('[data-thread]').first().waitFor();
  await page.waitForTimeout(IDLE_MS);
  const { shownAt, files } = await page.evaluate(readFiles);
  const before = files.filter(({ startedAt }) => startedAt < shownAt);
  const sum = (list: readonly { bytes: number }[]) => list.reduce((total, { bytes }) => total + bytes, 0);
  console.log(
    `\nFirst load of the inbox: ${before.length} files, ${sum(before)} bytes compressed until its rows are shown (limit ${FIRST_LOAD_LIMIT}: ${verdict(sum(before), FIRST_LOAD_LIMIT)}), and ${sum(files) - sum(before)} in ${files.length - before.length} files while it is idle`,
  );
  for (const { name, bytes } of before) console.log(`  ${String(bytes).padStart(8)} ${name}`);
  await fresh.close();
}

/** In the page: its files with their compressed bytes, in the order in which they were asked for, and when its rows were shown. */
function readFiles() {
  const entries = [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource'),
  ] as PerformanceResourceTiming[];
  const files = entries
    .filter(({ name }) => !/\/(?:graphql|api)(?:\/|$)/.test(new URL(name).pathname))
    .map(({ name, startTime, encodedBodySize }) => ({
      name: new URL(name).pathname,
      startedAt: startTime,
      bytes: encodedBodySize,
    }));
  return { shownAt: Number(Reflect.get(globalThis, 'shownAt')), files };
}

/** Opens a context with the session of another, in which nothing is loaded yet. Its pages note when the first row is in a frame. */
async function openFresh(browser: Browser, context: BrowserContext): Promise<BrowserContext> {
  const fresh = await browser.newContext({
    viewport: { width: 1_280, height: 860 },
    storageState: await context.storageState(),
  });
  await fresh.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (document.querySelector('[data-thread]') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => Reflect.set(globalThis, 'shownAt', performance.now()));
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  return fresh;
}

/** Largest contentful paint of the inbox, and its rows, in new contexts with the session of `context`, and again in each. */
async function measurePaint(browser: Browser, context: BrowserContext, url: string): Promise<void> {
  const cold: Painted[] = [];
  const warm: Painted[] = [];
  for (let n = 0; n < PAINTS; n++) {
    const fresh = await openFresh(browser, context);
    for (const painted of [cold, warm]) {
      const page = await fresh.newPage();
      await page.goto(`${url}/inbox`);
      await page.locator('[data-thread]').first().waitFor();
      await page.waitForTimeout(IDLE_MS);
      painted.push({
        largestMs: await page.evaluate(readLargestPaint),
        rowsMs: await page.evaluate(() => Number(Reflect.get(globalThis, 'shownAt'))),
      });
      await page.close();
    }
    await fresh.close();
  }
  for (const [name, painted, limit] of [
    ['cold', cold, COLD_PAINT_LIMIT_MS],
    ['warm', warm, WARM_PAINT_LIMIT_MS],
  ] as const) {
    const times = painted.map(({ largestMs }) => largestMs);
    console.log(
      `\nLargest paint of the inbox, ${name}: ${PAINTS} loads, median ${median(times).toFixed(0)} ms (limit ${limit}: ${verdict(median(times), limit)}), longest ${Math.max(...times).toFixed(0)} ms; its rows after ${median(painted.map(({ rowsMs }) => rowsMs)).toFixed(0)} ms`,
    );
  }
}

/** Milliseconds from the navigation. */
interface Painted {
  largestMs: number;
  rowsMs: number;
}

/** In the page: milliseconds from the navigation to the largest contentful paint. */
function readLargestPaint(): Promise<number> {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0)).observe({
      type: 'largest-contentful-paint',
      buffered: true,
    });
  });
}

/** From the click on a row that was not open before to the frame that shows its subject and its last message. */
async function measureOpening(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${url}/inbox`);
  await page.locator('[data-thread]').first().waitFor();
  await page.waitForTimeout(IDLE_MS);
  const times: number[] = [];
  for (let n = 0; n < OPENED; n++) {
    // Once with the pointer on the row, as a user has it, for what it loads then.
    const row = page.locator('[role="row"][data-thread]').nth(n % 10);
    if (n % 10 === 0 && n > 0) await page.mouse.wheel(0, WHEEL_PX);
    await row.hover();
    times.push(await row.evaluate(openConversation));
  }
  console.log(
    `\nA conversation is open: ${OPENED} rows, median ${median(times).toFixed(0)} ms (limit ${OPEN_LIMIT_MS}: ${verdict(median(times), OPEN_LIMIT_MS)}), longest ${Math.max(...times).toFixed(0)} ms`,
  );
  await page.close();
}

/** In the page: clicks a row, and returns the milliseconds until its conversation is there. */
function openConversation(row: Element): Promise<number> {
  const id = row.getAttribute('data-thread') ?? '';
  const before = document.querySelector('article');
  const startedAt = performance.now();
  row.querySelector('a')?.click();
  return new Promise((resolve) => {
    const look = () => {
      const article = document.querySelector('article');
      const isOpen = location.pathname.endsWith(id) && article !== null && article !== before;
      if (isOpen) resolve(performance.now() - startedAt);
      else requestAnimationFrame(look);
    };
    look();
  });
}

/** Turns the wheel through the list, as fast as it comes; the heap is measured after a collection. */
async function measureScrolling(context: BrowserContext, url: string, rows: number): Promise<void> {
  const page = await context.newPage();
  const responses = watchGraph(page);
  await page.goto(`${url}/inbox`);
  const row = page.locator('[data-thread]');
  await row.first().waitFor();
  const cdp = await context.newCDPSession(page);
  await row.first().hover();
  const place = () =>
    page.evaluate(() =>
      Math.max(
        0,
        ...[...document.querySelectorAll('[data-thread]')].map((each) =>
          Number(each.closest('[aria-rowindex]')?.getAttribute('aria-rowindex') ?? 0),
        ),
      ),
    );
  const heaps: string[] = [`start ${await readHeap(cdp)} MB`];
  let seen = 0;
  for (let stuck = 0; seen < rows && stuck < 200; ) {
    await page.mouse.wheel(0, WHEEL_PX);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const now = await place();
    stuck = now > seen ? 0 : stuck + 1;
    if (Math.floor((now / rows) * LOOKS) > Math.floor((seen / rows) * LOOKS))
      heaps.push(`row ${now}: ${await readHeap(cdp)} MB`);
    seen = Math.max(seen, now);
  }
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  const p99 = percentile(responses, 0.99);
  console.log(
    `\nInbox: scrolled to row ${seen}; ${responses.length} requests, p50 ${median(responses).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${Math.max(...responses).toFixed(1)} ms (limit ${REQUEST_LIMIT_MS}: ${verdict(p99, REQUEST_LIMIT_MS)})`,
  );
  console.log(`  heap after collection: ${heaps.join(', ')}; ${nodes} elements at the end`);
  await page.close();
}

/** From the 250 to the row in the open inbox, one mail after the other. */
async function measureArrival(
  context: BrowserContext,
  url: string,
  smtpPort: number,
  { address, mails }: { address: string; mails: number },
): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${url}/inbox`);
  await page.locator('[data-live="live"]').waitFor();
  await page.locator('[data-thread]').first().waitFor();
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    secure: false,
    ignoreTLS: true,
    pool: true,
    maxConnections: 1,
  });
  const times: number[] = [];
  for (let n = 0; n < mails; n++) {
    const subject = `Arrival ${n} of ${mails}`;
    const visible = page.waitForFunction(
      (text) => [...document.querySelectorAll('[data-thread]')].some((row) => row.textContent?.includes(text)),
      subject,
      { polling: 'raf' },
    );
    await transport.sendMail({ from: 'ada@load.test', to: address, subject, text: `Mail number ${n}.` });
    const takenAt = performance.now();
    await visible;
    times.push(performance.now() - takenAt);
  }
  transport.close();
  const p95 = percentile(times, 0.95);
  console.log(
    `\nFrom the 250 to the row in the inbox: ${mails} mails, p50 ${median(times).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms (limit ${VISIBLE_LIMIT_MS}: ${verdict(p95, VISIBLE_LIMIT_MS)})`,
  );
  await page.close();
}

/** Milliseconds from each request of the graph to the end of its response, as the page sees them. */
function watchGraph(page: Page): number[] {
  const responses: number[] = [];
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    if (
      pathname === '/graphql' &&
      request.method() === 'POST' &&
      !(request.headers()['accept'] ?? '').startsWith('text/event-stream')
    )
      responses.push(request.timing().responseEnd);
  });
  return responses;
}

async function readHeap(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.enable');
  await cdp.send('HeapProfiler.collectGarbage');
  await cdp.send('Performance.enable');
  const { metrics } = await cdp.send('Performance.getMetrics');
  const bytes = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  return Math.round(bytes / 104_857.6) / 10;
}

function verdict(figure: number, limit: number): string {
  return figure <= limit ? 'met' : 'MISSED';
}
