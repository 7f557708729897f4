import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { repository } from '../support/runner.ts';
import type { DomainAccount } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';

let service: SharedService;
let account: DomainAccount;

beforeAll(async () => {
  service = await sharedService('single');
  account = await service.createAccount();
}, 300_000);

/** The blocks of the page in their order, for this service. */
function blocks(): { language: string; text: string }[] {
  const page = readFileSync(path.join(repository, 'docs/codes-in-ci.md'), 'utf8');
  return [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
    language,
    text: text
      .replaceAll('inbox.test', account.domain)
      .replaceAll('http://localhost:3000', service.url)
      .replaceAll('127.0.0.1:2525', `127.0.0.1:${service.smtpPort}`),
  }));
}

test('every block of docs/codes-in-ci.md runs, in order, and prints what the page says', {
  timeout: 240_000,
}, async () => {
  const all = blocks();
  const shown = all.flatMap(({ language, text }, at) => {
    if (language !== 'sh') return [];
    const next = all[at + 1];
    return [
      { text, output: next !== undefined && next.language !== 'sh' && next.language !== 'js' ? next.text : null },
    ];
  });
  expect(shown.map(({ output }) => output !== null)).toEqual([false, true, false, true, true, true]);
  // A line between the blocks tells their outputs apart.
  const script = shown.map(({ text }) => `${text}\necho '----'`).join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: repository,
    env: { ...process.env, KEY: account.apiKey },
  });
  const printed = stdout.split('----\n');
  for (const [at, { output }] of shown.entries()) if (output !== null) expect(printed[at]).toBe(output);
});

test('the function for Node reads the code of an email, and its link', { timeout: 120_000 }, async () => {
  const { text = '' } = blocks().find(({ language }) => language === 'js') ?? {};
  const address = `node-${process.pid}@${account.domain}`;
  const since = new Date(Date.now() - 1_000);
  const from = `shop@${account.domain}`;
  const mail = { subject: 'Your code', text: 'Your code is 918273. Or open https://shop.example/in?t=1' };
  const sent = await account.call('POST', '/emails', { from, to: address, ...mail });
  expect(sent.status).toBe(200);
  const program = `${text}\nconsole.log(JSON.stringify(await readMail(process.argv[1], new Date(process.argv[2]))));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program, address, since.toISOString()],
    { env: { ...process.env, BASE: `${service.url}/api/e2`, CI_KEY: account.apiKey } },
  );
  expect(JSON.parse(stdout)).toEqual({ code: '918273', link: 'https://shop.example/in?t=1' });
});
