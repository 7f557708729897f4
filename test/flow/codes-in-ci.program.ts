import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { readBlocks } from '../docs/page-blocks.ts';
import { repository } from '../support/runner.ts';
import type { DomainAccount } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';

let service: SharedService;
let account: DomainAccount;

beforeAll(async () => {
  service = await sharedService('single');
  account = await service.createAccount();
}, 300_000);

test('the function for Node reads the code of an email, and its link, and throws what the service says', {
  timeout: 120_000,
}, async () => {
  const page = readFileSync(path.join(repository, 'docs/codes-in-ci.md'), 'utf8');
  const { text = '' } = readBlocks(page).find(({ language }) => language === 'js') ?? {};
  const program = `${text}\nconsole.log(JSON.stringify(await readMail(process.argv[1], new Date(process.argv[2]))));`;
  const since = new Date(Date.now() - 1_000).toISOString();
  const read = (address: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, address, since], {
      env: { ...process.env, BASE: `${service.url}/api/e2`, CI_KEY: account.apiKey },
    });
  const address = `node-${process.pid}@${account.domain}`;
  await expect(read(address)).rejects.toThrow('You have no such address, and its domain has no catch-all.');

  const catchAll = { isCatchAllEnabled: true, isCatchAllStoreOnly: true };
  expect((await account.call('PATCH', `/domains/${account.domainId}`, catchAll)).status).toBe(200);
  const from = `shop@${account.domain}`;
  const mail = { subject: 'Your code', text: 'Your code is 918273. Or open https://shop.example/in?t=1' };
  expect((await account.call('POST', '/emails', { from, to: address, ...mail })).status).toBe(200);
  expect(JSON.parse((await read(address)).stdout)).toEqual({ code: '918273', link: 'https://shop.example/in?t=1' });
});
