import type { Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InvitedRole } from '../../core/accounts/roles.ts';
import { createAccount } from '../../db/queries/accounts/account.ts';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { fillAccount, type SampleAccount } from '../support/rows/sample-account.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { dashboardPaths, settle } from '../support/stages/dashboard-pages.ts';

/** What a click on a page ends, or what leaves it. */
const LEFT_ALONE =
  /^(?:Sign out|Account |Leave workspace|Revoke|Search|Guide|End |Skip|Reload|Download|Export|Export …|Notify)/;
/** Milliseconds that a click gets to ask for something. */
const CLICK_MS = 120;
const isFull = process.env['BROWSER_LENGTH'] === 'full';
/** Presses on one page, and of what one of them opens. */
const ROUNDS = isFull ? 14 : 4;
const OFFERED = 4;

let stage: BrowserStage;
let sample: SampleAccount;
let workspaceId: string;
let domainName: string;

describe.skipIf(chromiumPath === undefined)('every page, for members of each role', { timeout: 900_000 }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    const account = await stage.service.createAccount();
    sample = await fillAccount({ account, ...account, smtpPort: stage.service.smtpPort, webhookUrl: null });
    domainName = account.domain;
    const { body } = await account.graphql('{ viewer { id } }');
    workspaceId = body.data.viewer.id;
  });
  afterAll(() => stage?.close());

  /** Opens a tab of a new member; `limit` is the only domain that the member sees. */
  async function openMember(role: InvitedRole, limit: string | null) {
    const email = `${role}${limit === null ? '' : '-limited'}-${Date.now()}@roles.test`;
    const made = await createAccount(stage.database, { email, password: null, apiKey: null, mailbox: null });
    if (!('workspaceId' in made)) throw new Error(made.outcome);
    await stage.database.pool.query(
      `insert into workspace_member (workspace_id, person_id, role, domain_ids, addresses)
       values ($1, $2, $3, (select array_agg(d.id) from domain d where d.workspace_id = $1 and d.name = $4), case when $4::text is null then null else '{}'::text[] end)`,
      [workspaceId, made.workspaceId, role, limit],
    );
    const tab = await stage.open(null);
    const token = await makeSignInLink(stage.database, email);
    const post = (path: string, data: object) =>
      tab.context.request.post(`${stage.url}/api/auth${path}`, { data, headers: { origin: stage.url } });
    expect((await post('/sign-in/link', { token })).status()).toBe(200);
    expect((await post('/switch-workspace', { workspaceId })).status()).toBe(200);
    return tab;
  }

  /** Notes requests that are refused for lack of rights, with what was done before. */
  function watch(page: Page): { refused: string[]; at: (what: string) => void } {
    const refused: string[] = [];
    let doing = '';
    page.on('response', async (response: Response) => {
      const isApi = /\/(?:graphql|api)\b/.test(response.url());
      const body = isApi ? await response.text().catch(() => '') : '';
      if (!isApi || (response.status() !== 403 && !body.includes('"FORBIDDEN"') && !body.includes('ForbiddenError')))
        return;
      const asked =
        /(?:query|mutation|subscription) (\w+)/.exec(response.request().postData() ?? '')?.[1] ?? response.url();
      refused.push(`${doing}: ${asked}: ${/"message":"[^"]{0,80}/.exec(body)?.[0] ?? body.slice(0, 80)}`);
    });
    return { refused, at: (what) => void (doing = what) };
  }

  /** Opens a page. A press before may still lead elsewhere: then once more. */
  async function visit(page: Page, path: string): Promise<void> {
    await page.goto(stage.url + path).catch(() => page.goto(stage.url + path));
    await settle(page);
  }

  /** Presses what can be pressed on a page, up to ROUNDS of it, and closes what opens. Returns how much. */
  async function pressAll(page: Page, path: string, at: (what: string) => void): Promise<number> {
    const pressed = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      // A press may lead to another page while the old one is still looked at.
      const next = await pressNext(page, pressed, (what) => at(`${path} ${what}`)).catch(() => 'left' as const);
      if (next === 'nothing left') break;
      const { pathname, search } = new URL(page.url());
      if (next === 'pressed' && pathname + search === path) continue;
      await visit(page, path);
    }
    return pressed.size;
  }

  async function pressNext(
    page: Page,
    pressed: Set<string>,
    at: (what: string) => void,
  ): Promise<'pressed' | 'nothing left'> {
    const name = await page.evaluate(pressUnpressed, { known: [...pressed], leftAlone: LEFT_ALONE.source });
    if (name === null) return 'nothing left';
    pressed.add(name);
    at(name);
    await page.waitForTimeout(CLICK_MS);
    // What a menu or a dialog offers next is pressed as well, once.
    const offered = page.locator('[role=menuitem]:visible, [role=dialog] button:visible:not([disabled])');
    for (const label of (await offered.allTextContents()).slice(0, OFFERED)) {
      if (label.trim() === '' || LEFT_ALONE.test(label.trim()) || pressed.has(`${name} > ${label}`)) continue;
      pressed.add(`${name} > ${label}`);
      at(`${name} > ${label}`);
      await offered
        .filter({ hasText: label })
        .first()
        .click({ timeout: 300 })
        .catch(() => undefined);
      await page.waitForTimeout(CLICK_MS);
    }
    await page.keyboard.press('Escape');
    return 'pressed';
  }

  test.each([
    ['viewer', false],
    ['agent', true],
    ['agent', false],
    ['developer', false],
  ] as const)('show the role %s (limited: %s) nothing that is refused', async (role, isLimited) => {
    const { page, close } = await openMember(role, isLimited ? domainName : null);
    const { refused, at } = watch(page);
    const hidden = { viewer: /^\/(?:keys|requests|audit)/, agent: /^\/(?:keys|requests|audit)/, developer: /^\/audit/ }[
      role
    ];
    let pressed = 0;
    for (const path of dashboardPaths(sample)) {
      // What the navigation does not offer is refused when it is asked for.
      if (hidden.test(path) || path === '/reference' || (isLimited && path === '/refused')) continue;
      at(path);
      await visit(page, path);
      pressed += await pressAll(page, path, at);
    }
    await close();
    expect(refused).toEqual([]);
    expect(pressed).toBeGreaterThan(isFull ? 60 : 30);
  });
});

/** Runs in the page: presses the first control that has a name not known yet, and returns the name; null: there is none. */
function pressUnpressed({ known, leftAlone }: { known: string[]; leftAlone: string }): string | null {
  const readName = (control: Element) => (control.getAttribute('aria-label') ?? control.textContent ?? '').trim();
  const controls = document.querySelectorAll<HTMLElement>(
    'main button:not([disabled]), main [role=switch]:not([disabled])',
  );
  for (const control of controls) {
    const name = readName(control);
    const isSeen =
      control.checkVisibility({ visibilityProperty: true }) && control.closest('[aria-hidden=true]') === null;
    if (!isSeen || name === '' || known.includes(name) || new RegExp(leftAlone).test(name)) continue;
    // After this function has returned: the press may leave the page.
    setTimeout(() => control.click());
    return name;
  }
  return null;
}
