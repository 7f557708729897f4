import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { readServiceMail } from '../support/stages/service-mail.ts';

const PASSWORD = 'correct horse battery staple';
const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('members in the browser', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  /** Reads the link that a dialog shows, closes it, and returns the link. */
  async function takeLink(page: Page, email: string): Promise<string> {
    const dialog = page.getByRole('dialog', { name: 'Copy link' });
    await dialog.getByText(`This service stores the mail of ${email}`).waitFor();
    await dialog.getByRole('button', { name: 'Copy link' }).waitFor();
    const url = (await dialog.getByRole('region', { name: 'link' }).textContent()) ?? '';
    expect(url).toMatch(/\/invitation#[\w-]{43}$/);
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    return `${stage.url}/invitation#${url.split('#')[1]}`;
  }

  async function signIn(page: Page, email: string): Promise<void> {
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  test('two persons share an inbox in two browsers, as docs/teams.md says', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Where is my order?', text: 'Hello' });
    const email = `ann@${account.domain}`;

    // The owner invites an agent.
    const owner = await stage.open(account);
    await owner.page.goto(`${stage.url}/members`);
    await owner.page.getByRole('button', { name: 'Invite person' }).click();
    const dialog = owner.page.getByRole('dialog', { name: 'Invite person' });
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByText('Enter a complete address').waitFor();
    await dialog.getByLabel('Email address').fill(email);
    await dialog.getByRole('radio', { name: 'Viewer' }).check();
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    const first = await takeLink(owner.page, email);
    await owner.page.getByRole('list', { name: 'Invitations' }).getByText(email).waitFor();
    expect(await findViolations(owner.page)).toEqual([]);

    // Sent again, it has another link.
    await stage.database.pool.query(
      `update workspace_invitation set sent_at = sent_at - interval '2 minutes' where email = $1`,
      [email],
    );
    await owner.page.getByRole('button', { name: `Send again: invitation of ${email}` }).click();
    const link = await takeLink(owner.page, email);
    expect(link).not.toBe(first);
    expect((await readServiceMail(stage.database, email)).join('')).not.toContain('/invitation#');

    // A new person accepts.
    const ann = await stage.open(null);
    await ann.page.goto(link);
    await ann.page.getByRole('heading', { name: /^Join / }).waitFor();
    expect(await findViolations(ann.page)).toEqual([]);
    await ann.page.getByLabel('Your name').fill('Ann');
    await ann.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await ann.page.getByRole('button', { name: 'Accept invitation' }).click();
    await ann.page.getByRole('button', { name: `Account ${email}` }).waitFor();
    await ann.page.goto(`${stage.url}/inbox`);
    await ann.page.getByText('Where is my order?').first().waitFor();
    await ann.page.getByText('Agents, developers, admins and the owner can change it; your role is viewer.').waitFor();
    expect(await ann.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    await ann.page.goto(`${stage.url}/members`);
    await ann.page.getByRole('list', { name: 'Members' }).getByText('Ann', { exact: true }).waitFor();
    expect(await ann.page.getByRole('button', { name: 'Invite person' }).count()).toBe(0);

    // The list says what a member is limited to.
    const { members } = (await account.graphql('{ members { id name } }')).body.data;
    const annId: string = members.find(({ name }: { name: string }) => name === 'Ann').id;
    for (const [limits, words] of [
      [{ domains: [account.domainId], addresses: [account.address] }, `Only ${account.domain}, ${account.address}`],
      [{ addresses: [account.address] }, `Only ${account.address}`],
      [{}, null],
    ] as const) {
      const changed = await account.call('PATCH', `/members/${annId}`, { role: 'viewer', ...limits });
      expect(changed).toMatchObject({ status: 200 });
      await owner.page.reload();
      const row = owner.page.getByRole('listitem').filter({ hasText: 'Ann' }).first();
      await row.waitFor();
      if (words === null) expect(await row.getByText(/^Only /).count()).toBe(0);
      else await row.getByText(words, { exact: true }).waitFor();
    }

    // She switches to her own workspace and back; new sessions begin where she was.
    const switchTo = async (name: RegExp) => {
      await ann.page.getByRole('button', { name: `Account ${email}` }).click();
      await ann.page.getByRole('menuitem', { name }).click();
    };
    await switchTo(/· owner$/);
    await ann.page.getByRole('link', { name: 'API keys' }).waitFor();
    await switchTo(/· viewer$/);
    await expect.poll(() => ann.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);

    // The owner makes her an admin, and then removes her.
    await owner.page.reload();
    await owner.page.getByRole('button', { name: 'Change role of Ann' }).click();
    const change = owner.page.getByRole('dialog', { name: 'Role of Ann' });
    await change.getByRole('radio', { name: 'Admin' }).check();
    await change.getByRole('button', { name: 'Save role' }).click();
    await change.waitFor({ state: 'hidden' });
    await ann.page.goto(`${stage.url}/members`);
    await ann.page.getByRole('button', { name: 'Invite person' }).waitFor();
    await owner.page.getByRole('button', { name: 'Remove Ann' }).click();
    await owner.page.getByRole('button', { name: 'Remove member' }).click();
    await expect.poll(() => owner.page.getByRole('button', { name: 'Remove Ann' }).count()).toBe(0);
    await ann.page.goto(`${stage.url}/inbox`);
    await ann.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(ann.page, email);
    await ann.page.getByRole('link', { name: 'API keys' }).waitFor();
    expect(await ann.page.getByText('Where is my order?').count()).toBe(0);

    // Her link works no more.
    await ann.page.goto(link);
    await ann.page.getByRole('heading', { name: 'This invitation cannot be accepted' }).waitFor();
    expect(owner.complaints).toEqual([]);
    await Promise.all([owner.close(), ann.close()]);
  });

  test('the owner makes a member the owner, who gets the SCIM token if it is kept', LIMIT, async () => {
    for (const keeps of [true, false]) {
      const [account, other] = [await stage.account(), await stage.account()];
      const { pool } = stage.database;
      await pool.query(`insert into workspace_member (workspace_id, person_id, role) values ($1, $2, 'admin')`, [
        account.workspaceId,
        other.workspaceId,
      ]);
      await pool.query(
        `insert into scim_token (workspace_id, id, name, secret_sha256, hint, created_at, created_by)
         values ($1, 'sct_' || $1, 'Directory', sha256(convert_to($1, 'UTF8')), 'hint', now(), $1)`,
        [account.workspaceId],
      );
      const owner = await stage.open(account);
      await owner.page.goto(`${stage.url}/members`);
      await owner.page.getByRole('button', { name: /^Make owner: / }).click();
      const dialog = owner.page.getByRole('dialog', { name: /the owner\?$/ });
      if (keeps) await dialog.getByRole('checkbox', { name: /^Keep the keys of customers/ }).check();
      expect(await findViolations(owner.page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Transfer ownership' }).click();
      const read = async () =>
        (
          await pool.query(
            `select m.role, (select created_by from scim_token t where t.workspace_id = m.workspace_id) as token_of
             from workspace_member m where m.workspace_id = $1 and m.person_id = $2`,
            [account.workspaceId, other.workspaceId],
          )
        ).rows[0];
      await expect.poll(read).toEqual({ role: 'owner', token_of: keeps ? other.workspaceId : null });
      await owner.close();
    }
  });
});
