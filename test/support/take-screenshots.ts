import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import { type Browser, chromium, type Page } from 'playwright-core';
import { freePort } from './cluster/cluster.ts';
import { fillAccount, type SampleAccount } from './rows/sample-account.ts';
import { chromiumPath } from './servers/chromium.ts';
import { callers, until } from './servers/service.ts';
import { settle } from './stages/dashboard-pages.ts';

/**
 * `npm run screenshots`: starts the service as a newcomer does, signs in by the link that it prints, fills the account with a little mail,
 * and writes a picture of each page, light and dark, to docs/screenshots: all, or those whose names are given. Small ones: JPEG, one pixel for one.
 */
const root = path.resolve(import.meta.dirname, '../..');
const target = path.join(root, 'docs/screenshots');
const QUALITY = 60;
const FRAME_MS = 400;
/** When a step counts as hung, not slow. Milliseconds. */
const HANG_MS = 120_000;
const VIEWPORT = { width: 1200, height: 760 };
/** The member who works beside the owner in the picture of a team. */
const COLLEAGUE = 'Priya Nair';
const PHONE = { width: 390, height: 844 };

/** Whether a page is among the names on the command line; without names all are. */
function isWanted(name: string): boolean {
  const names = process.argv.slice(2);
  return names.length === 0 || names.includes(name);
}

async function replayOnce(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Replay emails' }).click();
  await page.locator('[data-replay="done"]').waitFor();
}

/** What is done on a page before its picture is taken. */
type Step = (page: Page) => Promise<void>;

async function selectFirst(page: Page, count: number): Promise<void> {
  const boxes = page.getByRole('grid').getByRole('checkbox');
  for (let at = 0; at < count; at += 1) await boxes.nth(at).click();
}

/** Writes an email with formatting and an inline image, and opens the menu of times to send it. */
async function writeEmail(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To', { exact: true }).and(page.locator('input:visible')).fill('maya@northwind.example');
  await page.keyboard.press('Enter');
  await dialog.getByRole('textbox', { name: 'Subject' }).fill('Orders of this week');
  await dialog.getByRole('textbox', { name: 'Message', exact: true }).focus();
  await page.evaluate(pasteChart);
  await dialog.getByRole('img', { name: 'Orders by day' }).waitFor();
  await dialog.getByRole('button', { name: 'Send later' }).click();
  await page.getByRole('menuitem', { name: 'Pick a date' }).waitFor();
}

/** In the page: pastes a text with a chart where the focus is, as an office program would. */
function pasteChart(): void {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [280, 60];
  const drawing = canvas.getContext('2d');
  if (drawing === null) return;
  drawing.fillStyle = '#ffffff';
  drawing.fillRect(0, 0, canvas.width, canvas.height);
  drawing.fillStyle = '#4263eb';
  for (const [at, height] of [24, 38, 33, 54, 47].entries()) drawing.fillRect(20 + at * 52, 60 - height, 34, height);
  const html = `<p><img alt="Orders by day" src="${canvas.toDataURL()}"></p><p>Hi Maya,</p>
    <p>orders went up <b>by a third</b>, and Friday is an estimate.</p><p>Do you want the list of customers, too?</p>`;
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/html', html);
  const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
  document.activeElement?.dispatchEvent(event);
}

/** Shows a page at the width of a phone. */
function onPhone(step: Step): Step {
  return async (page) => {
    await page.setViewportSize(PHONE);
    await step(page);
  };
}

/** Name of the picture and path of each page; some show a state that takes a few clicks. */
function listPages(sample: SampleAccount, trashedThreadId: string): [name: string, path: string, step?: Step][] {
  return [
    ['overview', '/'],
    ['overview-domains', '/?period=week', (page) => scrollTo(page, 'Deliverability by domain')],
    ['welcome', '/welcome'],
    ['inbox', `/inbox/${sample.threadId}`],
    [
      'inbox-all',
      '/inbox',
      async (page) => {
        await selectFirst(page, 1);
        await page.getByRole('button', { name: 'Select all' }).click();
        await page.getByText(/^All \d+ selected/).waitFor();
      },
    ],
    [
      'inbox-merge',
      '/inbox',
      async (page) => {
        await selectFirst(page, 2);
        await page.getByRole('button', { name: 'Merge' }).click();
        await page.getByText('Merge 2 conversations into one?').waitFor();
      },
    ],
    [
      'search-hint',
      '/inbox',
      async (page) => {
        await page.getByRole('searchbox').first().fill('is:unred');
        await page.keyboard.press('Enter');
        await page.getByRole('status').getByText('Did you mean is:unread?').waitFor();
      },
    ],
    ['sent', '/inbox?in=sent'],
    [
      'command-palette',
      '/inbox',
      async (page) => {
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').getByText('Guard rules').waitFor();
        await page.keyboard.type('in');
        await page.getByRole('dialog').getByText('Search mail for').waitFor();
      },
    ],
    [
      'shortcuts',
      '/inbox',
      async (page) => {
        await page.keyboard.press('?');
        await page.getByRole('dialog').getByText('Close and keep draft').waitFor();
      },
    ],
    ['composer', '/inbox?compose=new', writeEmail],
    ['composer-phone', '/inbox?compose=new', onPhone(writeEmail)],
    [
      'held-message',
      '/inbox?in=archived',
      async (page) => {
        await page.getByRole('grid').getByRole('row').filter({ hasText: 'Miracle pills' }).first().click();
        await page.getByRole('button', { name: 'Release' }).waitFor();
      },
    ],
    [
      'email-html',
      `/emails/${sample.emailId}?tab=html`,
      (page) => page.getByRole('radiogroup', { name: 'Preview width' }).getByText('Phone').click(),
    ],
    ['email-checks', `/emails/${sample.invoiceId}?tab=checks`],
    [
      'attachment-preview',
      `/emails/${sample.invoiceId}?tab=attachments`,
      (page) => page.getByRole('button', { name: 'Preview october.csv' }).click(),
    ],
    [
      'image-senders',
      '/settings',
      (page) => page.getByRole('region', { name: 'Remote images' }).scrollIntoViewIfNeeded(),
    ],
    ['trash', `/inbox/${trashedThreadId}?in=trash`],
    ['activity', '/activity'],
    ['email', `/emails/${sample.emailId}`],
    ['email-deliveries', `/emails/${sample.emailId}?tab=deliveries`],
    ['scheduled', '/scheduled'],
    ['held', '/held'],
    ['domains', '/domains'],
    ['domain', `/domains/${sample.newDomainId}`],
    ['addresses', '/addresses'],
    ['endpoints', '/endpoints'],
    ['endpoint', `/endpoints/${sample.endpointId}`],
    ['endpoint-replay', `/endpoints/${sample.endpointId}?tab=replay`, replayOnce],
    ['rules', '/rules'],
    ['rule', `/rules/${sample.ruleId}`],
    ['suppressions', '/suppressions'],
    ['members', '/members'],
    ['customers', '/customers'],
    ['audit', '/audit'],
    ['refused', '/refused'],
    [
      'team',
      `/inbox/${sample.threadId}`,
      async (page) => {
        await page.getByText(`${COLLEAGUE} is replying`).waitFor();
        await page.getByText('She wrote twice').scrollIntoViewIfNeeded();
      },
    ],
    ['conversation-phone', `/inbox/${sample.threadId}`, onPhone(async () => undefined)],
    ['keys', '/keys'],
    ['requests', '/requests'],
    [
      'request',
      '/requests?method=POST',
      async (page) => {
        await page.getByRole('list', { name: 'Requests' }).getByRole('button').first().click();
        await page.getByRole('dialog').getByRole('region', { name: 'Response body' }).waitFor();
      },
    ],
    ['reference', '/reference'],
    [
      'rest-reference',
      '/api/e2/docs#tag/emails/POST/api/e2/emails',
      (page) => page.getByRole('heading', { name: 'Send an email' }).waitFor(),
    ],
    ['settings', '/settings'],
    ['sessions', '/settings?tab=security', showSessions],
    [
      'erase-account',
      '/settings',
      async (page) => {
        await setPassword(page);
        await page.getByRole('button', { name: 'Erase account' }).click();
        await page
          .getByRole('dialog')
          .getByLabel(/^Type /)
          .waitFor();
      },
    ],
    ['retention', '/settings?tab=service', shortenRetention],
  ];
}

/** Shows a section of a page that is longer than the picture. */
async function scrollTo(page: Page, name: string): Promise<void> {
  await page.getByRole('region', { name }).evaluate((region) => region.scrollIntoView({ block: 'center' }));
}

/** What the account gets before the pictures of its settings. */
const PASSWORD = 'correct horse battery staple';

/** Gives the account its password; false if it has one. */
async function setPassword(page: Page): Promise<boolean> {
  const { origin } = new URL(page.url());
  const set = { data: { newPassword: PASSWORD }, headers: { origin } };
  return (await page.request.post(`${origin}/api/auth/set-password`, set)).ok();
}

/** Shows the sessions: this browser, and a phone that signed in with the password. */
async function showSessions(page: Page): Promise<void> {
  const { origin } = new URL(page.url());
  if (await setPassword(page)) {
    await fetch(`${origin}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: {
        origin,
        'content-type': 'application/json',
        'user-agent':
          'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      },
      body: JSON.stringify({ email: 'owner@inbox.test', password: PASSWORD }),
    });
  }
  await page.reload();
  await page.getByRole('button', { name: 'Sign out all other sessions' }).waitFor();
  await scrollTo(page, 'Sessions');
}

/** Opens the dialog that says what shorter periods erase. */
async function shortenRetention(page: Page): Promise<void> {
  for (const label of ['Raw messages and attachments (days)', 'Bodies (days)', 'All other data (days)'])
    await page.getByLabel(label).fill('1');
  await page.getByRole('region', { name: 'Retention' }).getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog', { name: 'Shorten the retention?' }).waitFor();
}

const folder = await mkdtemp(path.join(tmpdir(), 'postroom-screenshots-'));
const [httpPort, smtpPort] = [await freePort(), await freePort()];
const child = spawn(process.execPath, ['bin/start.ts'], {
  cwd: root,
  env: {
    ...process.env,
    DATA_DIR: path.join(folder, 'data'),
    METRICS_PORT: '0',
    HTTP_PORT: String(httpPort),
    SMTP_PORT: String(smtpPort),
    DNS_SERVERS: '127.0.0.1:1',
    LOG_LEVEL: 'error',
    PRINT_SECRETS: 'on',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let said = '';
child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
try {
  await until(
    'the service prints its link',
    () => said,
    async () => said.includes('/sign-in/link#') && said.includes('API key'),
    180_000,
  );
  const link = /\S+\/sign-in\/link#\S+/.exec(said)?.[0] ?? '';
  const key = /API key\s+(\S+)/.exec(said)?.[1] ?? '';
  const url = new URL(link).origin;
  const account = callers(url, key);
  const { body } = await account.call('GET', '/domains');
  const sample = await fillAccount({
    account,
    domain: body.data[0].domain,
    domainId: body.data[0].id,
    smtpPort,
    webhookUrl: null,
  });
  const { body: list } = await account.call('GET', '/mail/threads?limit=50');
  const threads: { id: string }[] = list.threads;
  const trashedThreadId = threads.find(({ id }) => id !== sample.threadId)?.id ?? '';
  await account.call('DELETE', `/mail/threads/${trashedThreadId}`);
  for (const address of ['news@fjordbikes.example', 'maya@northwind.example'])
    await account.graphql('mutation ($input: AddImageSenderInput!) { addImageSender(input: $input) { __typename } }', {
      input: { address },
    });
  await addPeople(account);
  const invitation = isWanted('team') ? await inviteColleague(account, body.data[0]) : null;
  await knock(smtpPort, `accounts@${body.data[0].domain}`);
  await takeAll(link, url, listPages(sample, trashedThreadId), async (browser, page) => {
    if (invitation !== null) await joinAsColleague({ browser, page }, url + invitation, account, sample.threadId);
  });
} finally {
  child.kill('SIGTERM');
  await once(child, 'exit');
  await rm(folder, { recursive: true, force: true });
}

/** Adds what a team and a product with customers have: invitations and workspaces. */
async function addPeople(account: Pick<ReturnType<typeof callers>, 'call'>): Promise<void> {
  for (const [email, role] of [
    ['olu@inbox.example', 'admin'],
    ['priya@inbox.example', 'agent'],
    ['dev@inbox.example', 'developer'],
  ])
    await account.call('POST', '/invitations', { email, role });
  for (const [client_id, name] of [
    ['customer-41', 'Harbor Books'],
    ['customer-42', 'Smith & Sons'],
  ])
    await account.call('POST', '/workspaces', { client_id, name, quotas: { mail_per_day: 500, domains: 1 } });
}

/** Sends mail to an address that does not exist, for the page of refusals. */
async function knock(smtpPort: number, to: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, secure: false, ignoreTLS: true });
  await transport.sendMail({ from: 'jonas@fjordbikes.example', to, subject: 'Invoice', text: 'x' }).catch(() => null);
  transport.close();
}

type Account = Pick<ReturnType<typeof callers>, 'call' | 'graphql'>;

/** Invites a colleague with an address of the service. Returns the path of the link. The mail about it, which has none, is deleted. */
async function inviteColleague(account: Account, domain: { id: string; domain: string }): Promise<string> {
  const address = `priya@${domain.domain}`;
  await account.call('POST', '/email-addresses', { address, domainId: domain.id });
  const { body: invited } = await account.call('POST', '/invitations', { email: address, role: 'agent' });
  await until(
    'the mail about the invitation arrives',
    () => address,
    async () => {
      const { body } = await account.graphql(
        '{ emails(first: 5, filter: { type: RECEIVED }) { edges { node { subject thread { id } } } } }',
      );
      const found = body.data.emails.edges.find(
        ({ node }: { node: { subject: string; thread: object | null } }) =>
          node.subject.startsWith('Invitation to') && node.thread !== null,
      );
      if (found !== undefined) await account.call('DELETE', `/mail/threads/${found.node.thread.id}`);
      return found !== undefined;
    },
  );
  const { pathname, hash } = new URL(invited.accept_url);
  return pathname + hash;
}

/** Writes a note below the conversation that the page shows, as the member who is signed in there. */
async function writeNote(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Write note' }).click();
  await page.getByLabel('Note', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Add note' }).click();
  await page.getByRole('article').filter({ hasText: text }).waitFor();
}

/**
 * Accepts the invitation in another browser and assigns a conversation to the new member, who replies to it there. Both members, the owner
 * on her page, write a note below it.
 */
async function joinAsColleague(
  of: { browser: Browser; page: Page },
  link: string,
  account: Account,
  threadId: string,
): Promise<void> {
  const page = await (await of.browser.newContext({ viewport: VIEWPORT })).newPage();
  await page.goto(link);
  await page.getByLabel('Your name').fill(COLLEAGUE);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept invitation' }).click();
  await page.getByRole('button', { name: /^Account / }).waitFor();
  const { body } = await account.graphql('{ members { id name } }');
  const assignee = body.data.members.find(({ name }: { name: string }) => name === COLLEAGUE)?.id;
  await account.graphql('mutation ($input: AssignThreadInput!) { assignThread(input: $input) { __typename } }', {
    input: { threadId, assignee },
  });
  await page.goto(new URL(`/inbox/${threadId}`, link).href);
  await writeNote(page, 'She wrote twice. The parcel is at the depot, the carrier says tomorrow.');
  const { page: owner } = of;
  await owner.goto(page.url());
  await writeNote(owner, 'Offer her free return shipping if not.');
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
}

async function takeAll(
  link: string,
  url: string,
  pages: ReturnType<typeof listPages>,
  gather: (browser: Browser, page: Page) => Promise<void>,
): Promise<void> {
  await mkdir(target, { recursive: true });
  const browser = await chromium.launch({
    executablePath: chromiumPath ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const context = await browser.newContext({ viewport: VIEWPORT });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('navigation').first().waitFor({ timeout: 60_000 });
  await gather(browser, page);
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [name, where, step] of pages)
      if (isWanted(name)) await take(page, url + where, path.join(target, `${name}-${scheme}.jpg`), step);
  }
  const stranger = await browser.newContext({ viewport: VIEWPORT });
  const open = await stranger.newPage();
  for (const scheme of ['light', 'dark'] as const) {
    await open.emulateMedia({ colorScheme: scheme });
    if (isWanted('sign-in')) await take(open, `${url}/sign-in`, path.join(target, `sign-in-${scheme}.jpg`));
  }
  await browser.close();
}

async function take(page: Page, url: string, file: string, step?: Step): Promise<void> {
  await page.goto(url);
  await settle(page);
  await step?.(page);
  // Frames of mail come a moment later; the page is never idle, as its stream of events stays open.
  await page.waitForTimeout(FRAME_MS);
  await page.screenshot({ path: file, type: 'jpeg', quality: QUALITY });
  await page.setViewportSize(VIEWPORT);
  process.stdout.write(`${path.relative(root, file)}\n`);
}
