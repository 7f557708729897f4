import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;

/** A PNG image of one color. `claimed`: the size that its header names instead. */
function png(side: number, claimed = side): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(claimed, 0);
  head.writeUInt32BE(claimed, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.concat(
    Array.from({ length: side }, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(side * 3, 0x80)])),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return (value ^ 0xffffffff) >>> 0;
}

describe.skipIf(chromiumPath === undefined)('a message in the dashboard', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('shows thumbnails of images, and no images of its HTML among the files', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({
      to: account.address,
      subject: 'With a logo',
      html: '<p>Hello</p><img src="cid:logo@sender.test" alt="logo">',
      attachments: [{ filename: 'logo.png', content: png(20), cid: 'logo@sender.test' }],
    });
    await stage.mail({
      to: account.address,
      subject: 'With photos',
      text: 'Look',
      attachments: [
        { filename: 'photo.png', content: png(300) },
        { filename: 'bomb.png', content: png(20, 60_000) },
        { filename: 'notes.txt', content: 'Text' },
      ],
    });
    const { page, complaints } = await stage.open(account);
    page.setDefaultTimeout(30_000);
    await page.goto(`${stage.url}/inbox`);
    const row = (subject: string) => page.getByRole('row').filter({ hasText: subject });
    await row('With photos').getByText('has attachments').waitFor({ state: 'attached' });
    // The clip is that of files; the API counts every attachment.
    await row('With a logo').waitFor();
    expect(await row('With a logo').getByText('has attachments').count()).toBe(0);
    const { body } = await account.call('GET', '/emails?type=received');
    expect(body.data.map((email: { attachment_count: number }) => email.attachment_count).sort()).toEqual([1, 3]);
    await row('With photos').getByRole('link').click();
    await page.getByRole('group', { name: 'Attachments' }).locator('canvas[data-thumbnail]').waitFor();
    // An image that would take gigabytes stays an icon.
    expect(await page.getByRole('group', { name: 'Attachments' }).locator('canvas[data-thumbnail]').count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    await row('With a logo').getByRole('link').click();
    await page.getByRole('heading', { name: 'With a logo' }).waitFor();
    await page.locator('iframe').first().waitFor();
    expect(await page.getByRole('group', { name: 'Attachments' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('asks before a program is downloaded, whatever the name before its end says', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({
      to: account.address,
      subject: 'Your invoice',
      text: 'Attached.',
      attachments: [
        { filename: 'invoice.pdf.exe', content: 'MZ' },
        { filename: 'invoice.pdf', content: '%PDF-1.4' },
      ],
    });
    const { page, complaints } = await stage.open(account);
    page.setDefaultTimeout(30_000);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('row').filter({ hasText: 'Your invoice' }).getByRole('link').click();
    const files = page.getByRole('group', { name: 'Attachments' });
    await files.getByRole('link', { name: 'invoice.pdf' }).waitFor();
    expect(await files.getByRole('link', { name: '.exe' }).count()).toBe(0);
    const download = files.getByRole('button', { name: 'invoice.pdf.exe · program' });
    await download.press('Enter');
    const question = page.getByRole('dialog', { name: 'Download a program?' });
    await question.getByText('can do anything on the computer').waitFor();
    expect(await findViolations(page)).toEqual([]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      question.getByRole('button', { name: 'Download program' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('invoice.pdf.exe');
    await expect.poll(() => download.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('asks before a program is downloaded by its preview, by its type and with all files', LIMIT, async () => {
    const account = await stage.account();
    const html = '<p>Hello</p><img src="cid:logo@sender.test" alt="logo">';
    const notes = { filename: 'notes.txt', content: 'Text' };
    await stage.mail({
      to: account.address,
      subject: 'Scripts',
      html,
      attachments: [
        { filename: 'logo.scr', content: png(20), cid: 'logo@sender.test', contentType: 'image/png' },
        { filename: 'code.js', content: 'run()', contentType: 'text/plain' },
        { filename: 'lines.txt', content: 'run()', contentType: 'text/javascript' },
        notes,
      ],
    });
    await stage.mail({
      to: account.address,
      subject: 'Hidden',
      html,
      attachments: [
        { filename: 'logo.scr', content: png(20), cid: 'logo@sender.test', contentType: 'image/png' },
        notes,
        { ...notes, filename: 'more.txt' },
      ],
    });
    await stage.mail({ to: account.address, subject: 'Texts', text: 'Hi', attachments: [notes, notes] });
    const { page, complaints } = await stage.open(account);
    page.setDefaultTimeout(30_000);
    await page.goto(`${stage.url}/inbox`);
    const row = (subject: string) => page.getByRole('row').filter({ hasText: subject }).getByRole('link');
    const files = page.getByRole('group', { name: 'Attachments' });
    const question = page.getByRole('dialog', { name: 'Download a program?' });
    const back = () => page.getByRole('button', { name: 'Go back' }).click();
    await row('Scripts').click();
    await files.getByRole('button', { name: 'code.js · program' }).waitFor();
    await files.getByRole('button', { name: 'lines.txt · program' }).waitFor();
    await files.getByRole('link', { name: 'notes.txt' }).waitFor();
    for (const name of ['code.js', 'lines.txt']) {
      await files.getByRole('button', { name: `Preview ${name}` }).click();
      const preview = page.getByRole('dialog', { name, exact: true });
      await preview.getByText('run()').waitFor();
      expect(await preview.getByRole('link').count()).toBe(0);
      await preview.getByRole('button', { name: 'Download' }).click();
      await question.getByText(`${name} is a program`).waitFor();
      await back();
      await preview.getByRole('button', { name: 'Close preview' }).click();
    }
    await files.getByRole('button', { name: 'Download all' }).click();
    await page
      .getByRole('dialog', { name: 'Download 3 programs?' })
      .getByText('logo.scr, code.js, and lines.txt are programs')
      .waitFor();
    expect(await findViolations(page)).toEqual([]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'Download all' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/\.zip$/);
    // The archive has what the HTML shows as well.
    await row('Hidden').click();
    await files.getByRole('button', { name: 'Download all' }).click();
    await question.getByText('logo.scr is a program').waitFor();
    await back();
    await row('Texts').click();
    await files.getByRole('link', { name: 'Download all' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('that bounced is opened again once its suppression is removed', LIMIT, async () => {
    const account = await stage.account();
    const sent = await account.call('POST', '/emails', {
      from: account.address,
      to: `nobody@${account.domain}`,
      subject: 'Offer',
      text: 'Please read.',
    });
    expect(sent.status).toBe(200);
    await stage.database.pool.query(
      `update recipient set status = 'bounced', settled_at = now(), next_attempt_at = null, claimed_by = null where workspace_id = $1`,
      [account.workspaceId],
    );
    const bounced = `nobody@${account.domain}`;
    expect((await account.call('POST', '/suppressions', { email: bounced })).status).toBeLessThan(300);
    const { page } = await stage.open(account);
    page.setDefaultTimeout(30_000);
    await page.goto(`${stage.url}/emails/${sent.body.id}?tab=recipients`);
    await page.getByText(`${bounced} is suppressed`).first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove suppression' }).first().click();
    await page.getByRole('button', { name: 'Send again' }).first().click();
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('Offer');
    await page.getByText(bounced, { exact: true }).waitFor();
  });

  test('of a list with an address only sends a mail after a question', LIMIT, async () => {
    const account = await stage.account();
    const list = await stage.account();
    await stage.mail({
      to: account.address,
      subject: 'News of the week',
      text: 'Much happened.',
      headers: { 'List-Unsubscribe': `<mailto:${list.address}?subject=leave%20news>` },
    });
    const { page, complaints } = await stage.open(account);
    page.setDefaultTimeout(30_000);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('row').filter({ hasText: 'News of the week' }).getByRole('link').click();
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByText(`Send a mail from ${account.address} to ${list.address}`).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send mail' }).click();
    const received = async () =>
      (await list.graphql('{ emails(first: 5, filter: { type: RECEIVED }) { edges { node { subject } } } }')).body.data
        .emails.edges.length;
    await expect.poll(received, { timeout: 60_000 }).toBe(1);
    expect(complaints).toEqual([]);
  });
});
