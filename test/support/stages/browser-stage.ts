import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { BrowserContext, Page, ViewportSize } from 'playwright-core';
import { type Database, openDatabase } from '../../../db/connection/database.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { callers, type TestAccount } from '../servers/service.ts';
import { connectBrowser } from '../servers/shared-browser.ts';
import { type SharedService, sharedService } from '../servers/shared-service.ts';

/** A tab of somebody who is signed in, or of nobody. */
export interface BrowserTab {
  page: Page;
  context: BrowserContext;
  /** what the page complained of: errors in its console, exceptions, breaches of its policy */
  complaints: string[];
  /** what the console warned of */
  warnings: string[];
  /** the URLs that it asked for */
  requested: string[];
  /** Closes the tab and the others of its context. The next tab that is opened gets the context, without what they stored. */
  close: () => Promise<void>;
}

/** What a tab emulates. */
export interface TabOptions {
  viewport?: ViewportSize;
  colorScheme?: 'light' | 'dark';
  /** Animations cost much processor time, so the default is to reduce them. */
  reducedMotion?: 'reduce' | 'no-preference';
  /** another gateway, and its database as the owner; the shared service unless given */
  at?: { url: string; database: Database };
}

/** The service and the browser that the test files of the run share. See sharedService for what a file may not do. */
export interface BrowserStage {
  service: SharedService;
  url: string;
  /** Makes an account with a domain and an address. */
  account(): Promise<TestAccount & { domain: string; domainId: string; address: string }>;
  /** Hands a mail to the service over SMTP, and resolves when it was taken. */
  mail(mail: SendMailOptions): Promise<void>;
  /** The service's database, as its owner. */
  database: Database;
  /** Opens a tab in a context that no open tab has; with an account it is signed in, by a session like any other. */
  open(account: Pick<TestAccount, 'apiKey'> | null, options?: TabOptions): Promise<BrowserTab>;
  close(): Promise<void>;
}

/** A page that closes does so within this time; milliseconds. */
const CLOSE_MS = 10_000;

/** When a step in a page counts as hung, not slow. Milliseconds. */
const HANG_MS = 120_000;
const VIEWPORT = { width: 1280, height: 860 };
const root = path.resolve(import.meta.dirname, '../../..');

/** Builds the dashboard when it is not, and connects to the shared service and browser. */
export async function openBrowserStage(): Promise<BrowserStage> {
  await buildDashboard();
  const [service, browser] = [await sharedService('single'), await connectBrowser()];
  // As the links that the service prints: browsers hold localhost for a secure place.
  const url = service.url.replace('127.0.0.1', 'localhost');
  const database = openDatabase({
    url: await service.databaseUrl(),
    role: null,
    poolSize: 1,
    applicationName: 'stage',
    onError: () => undefined,
  });
  // A context that loaded the dashboard before has it in its cache. A new one costs as much processor time as two pages.
  const idle: BrowserContext[] = [];
  return {
    service,
    url,
    database,
    async account() {
      const account = await service.createAccount();
      const address = `hello@${account.domain}`;
      const made = await account.call('POST', '/email-addresses', { address, domainId: account.domainId });
      if (made.status !== 201) throw new Error(`POST /email-addresses: ${made.status} ${JSON.stringify(made.body)}`);
      return { ...account, address };
    },
    async mail(mail) {
      const transport = createTransport({ host: '127.0.0.1', port: service.smtpPort, secure: false, ignoreTLS: true });
      await transport.sendMail({ from: 'Ada Lovelace <ada@sender.test>', ...mail });
      transport.close();
    },
    async open(account, { viewport = VIEWPORT, colorScheme = 'light', reducedMotion = 'reduce', at } = {}) {
      const context = idle.pop() ?? (await browser.newContext({ viewport: VIEWPORT }));
      context.setDefaultTimeout(HANG_MS);
      const page = await context.newPage();
      await forget(page, url);
      if (account !== null) await signIn(context, account.apiKey, at ?? { url, database });
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme, reducedMotion });
      const close = async () => {
        const pages = Promise.all(context.pages().map((each) => each.close()));
        const closed = pages.then(
          () => true,
          () => false,
        );
        // Chromium sometimes never closes a page that goes elsewhere in this moment, as after signing out. It ends with the browser.
        if (await Promise.race([closed, setTimeout(CLOSE_MS, false)])) idle.push(context);
      };
      const tab: BrowserTab = { page, context, complaints: [], warnings: [], requested: [], close };
      page.on('console', (message) => {
        if (message.type() === 'error') tab.complaints.push(message.text());
        if (message.type() === 'warning') tab.warnings.push(message.text());
      });
      page.on('pageerror', (error) => void tab.complaints.push(String(error)));
      page.on('request', (request) => void tab.requested.push(request.url()));
      return tab;
    },
    async close() {
      await browser.close();
      await database.close();
    },
  };

  async function signIn(context: BrowserContext, apiKey: string, at: NonNullable<TabOptions['at']>): Promise<void> {
    const asked = await callers(at.url, apiKey).graphql('{ viewer { email } }');
    const token = await makeSignInLink(at.database, asked.body.data.viewer.email);
    const signedIn = await context.request.post(`${at.url}/api/auth/sign-in/link`, {
      data: { token },
      headers: { origin: at.url },
    });
    if (!signedIn.ok()) throw new Error(`signing in: ${signedIn.status()} ${await signedIn.text()}`);
  }
}

/** Removes from the page's context what earlier tabs left, except for the cache. */
async function forget(page: Page, origin: string): Promise<void> {
  const context = page.context();
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  await Promise.all([context.clearCookies(), context.clearPermissions(), context.unrouteAll()]);
}

/** `npm ci` builds it; whoever works on it has it built anew here. */
async function buildDashboard(): Promise<void> {
  if (existsSync(path.join(root, 'gateway/dashboard/dist/index.html')) && process.env['DASHBOARD_BUILD'] === undefined)
    return;
  // Only those who build need it.
  const { build } = await import('vite');
  await build({ configFile: path.join(root, 'gateway/dashboard/vite.config.ts'), logLevel: 'warn' });
}
