import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { BrowserContext, Page } from 'playwright-core';
import { PUBLIC_NAME } from '../servers/chromium.ts';
import { until } from '../servers/service.ts';
import type { BrowserStage } from '../stages/browser-stage.ts';

/** What came to a server that shall hear of nothing. */
interface Heard {
  url: string;
  referer: string | undefined;
  cookie: string | undefined;
}

/** A server on loopback that answers a picture to everything, and remembers it. */
export interface Canary {
  /** by a public name, which the browser of browser-stage.ts finds on this machine */
  url: string;
  port: number;
  heard: Heard[];
  close(): Promise<void>;
}

/** What was seen of a mail. */
export interface Look {
  name: string;
  /** whether it is a document of ours, and not an error or another page */
  isOurs: boolean;
  /** from asking for it to its being there */
  ms: number;
}

/** Everything that a browser did on account of mail. */
export interface Watch {
  /** dialogs, words of scripts that ran, complaints of the browser */
  alarms: string[];
  /** requests to anywhere else than the service */
  elsewhere: { url: string; type: string; method: string }[];
}

export async function openCanary(): Promise<Canary> {
  const heard: Heard[] = [];
  const server = createServer(({ url = '', headers: { referer, cookie } }, response) => {
    heard.push({ url, referer, cookie });
    response.setHeader('content-type', 'image/png').end(PIXEL);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${PUBLIC_NAME}:${port}`,
    port,
    heard,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Watches all pages of a context from here on. */
export function watchContext(context: BrowserContext, url: string): Watch {
  const watch: Watch = { alarms: [], elsewhere: [] };
  context.on('dialog', (dialog) => {
    watch.alarms.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('console', (message) => void watch.alarms.push(`${message.type()}: ${message.text()}`));
  context.on('weberror', (error) => void watch.alarms.push(String(error.error())));
  context.on('request', (request) => {
    if (request.url().startsWith(`${url}/`) || request.url().startsWith('data:')) return;
    watch.elsewhere.push({ url: request.url(), type: request.resourceType(), method: request.method() });
  });
  return watch;
}

/** Hands mails over by SMTP; returns their ids by subject when all of them have been read. */
export async function deliverAll(
  { service }: BrowserStage,
  account: Awaited<ReturnType<BrowserStage['account']>>,
  mails: readonly SendMailOptions[],
): Promise<{ id: string; name: string }[]> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: service.smtpPort,
    secure: false,
    ignoreTLS: true,
    pool: true,
    maxConnections: 4,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  const envelope = { from: 'ada@sender.test', to: account.address };
  await Promise.all(
    mails.map((mail) => transport.sendMail({ from: envelope.from, to: envelope.to, ...mail, envelope })),
  );
  transport.close();
  const found: { id: string; subject: string }[] = [];
  await until(
    `${mails.length} mails have been read`,
    () => `${found.length} have`,
    async () => {
      found.length = 0;
      for (let offset = 0; offset <= mails.length; offset += 100) {
        const { body } = await account.call('GET', `/emails?type=received&time_range=all&limit=100&offset=${offset}`);
        found.push(...body.data);
      }
      // A mail that arrives between two pages moves another one to the next page, too.
      return new Set(found.map(({ id }) => id)).size === mails.length && found.length === mails.length;
    },
    120_000,
  );
  return found.map(({ id, subject }) => ({ id, name: subject }));
}

export interface FrameOptions {
  query?: string;
  /** null: without one */
  sandbox?: string | null;
}

/** Opens mails in frames as MailFrame does, a few at a time, in a page of ours, until they are there. */
export async function lookInFrames(
  page: Page,
  mails: readonly { id: string; name: string }[],
  { query = '', sandbox = FRAME_SANDBOX }: FrameOptions = {},
): Promise<Look[]> {
  const looks: Look[] = [];
  for (let from = 0; from < mails.length; from += AT_ONCE) {
    const some = mails.slice(from, from + AT_ONCE);
    const sources = some.map(({ id }) => `/api/e2/emails/${id}/html${query}`);
    const seen = await page.evaluate(openFrames, { sources, sandbox });
    looks.push(...some.map(({ name }, at) => ({ name, isOurs: false, ms: 0, ...seen[at] })));
  }
  return looks;
}

/** A user may have eight downloads under way (gateway/admission/downloads.ts). */
const AT_ONCE = 6;

/** Runs in the page. */
async function openFrames({ sources, sandbox }: { sources: string[]; sandbox: string | null }) {
  const startedAt = performance.now();
  const open = async (source: string) => {
    const frame = document.createElement('iframe');
    if (sandbox !== null) frame.setAttribute('sandbox', sandbox);
    frame.referrerPolicy = 'no-referrer';
    frame.src = source;
    const isLoaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    document.body.append(frame);
    await isLoaded;
    const isOurs = frame.contentDocument?.documentElement.dataset['remoteImages'] !== undefined;
    return { frame, isOurs, ms: performance.now() - startedAt };
  };
  const opened = await Promise.all(sources.map(open));
  // What it would do, it does when it is drawn.
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  for (const { frame } of opened) frame.remove();
  return opened.map(({ isOurs, ms }) => ({ isOurs, ms }));
}

/** Opens a mail in a tab, by its own address. */
export async function lookDirectly(page: Page, url: string, { name, id }: { id: string; name: string }): Promise<Look> {
  const startedAt = performance.now();
  await page.goto(`${url}/api/e2/emails/${id}/html`);
  const isOurs = await page.evaluate(
    () => document.documentElement.dataset['remoteImages'] !== undefined && window.origin === 'null',
  );
  return { name, isOurs, ms: performance.now() - startedAt };
}

/** As gateway/dashboard/parts/mail-frame.tsx has it. */
export const FRAME_SANDBOX = 'allow-same-origin allow-popups allow-popups-to-escape-sandbox';

export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==',
  'base64',
);
