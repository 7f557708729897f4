import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SCOPES } from '../../../core/accounts/key-rights.ts';
import { repository } from '../../support/runner.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openShell, type ShellSession } from '../../support/servers/shell-session.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/api-keys.md'), 'utf8');
const blocks = [...guide.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const examples = blocks.flatMap(({ language, text }, at) => {
  if (language !== 'sh') return [];
  const next = blocks[at + 1];
  return [{ text, answer: next?.language === 'json' ? (JSON.parse(next.text) as unknown) : null }];
});

let gateway: TestGateway;
let shell: ShellSession;
let url: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  const box = await gateway.mailbox({ domain: 'inbox.test', address: 'hello@inbox.test' });
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  shell = openShell(repository, { KEY: box.apiKey });
});
afterAll(async () => {
  await shell.end();
  await gateway.close();
});

test('every example answers as printed, one after the other', async () => {
  expect(examples).toHaveLength(6);
  expect(examples.filter(({ answer }) => answer !== null)).toHaveLength(4);
  for (const { text, answer } of examples) {
    const printed = await shell.run(text.replaceAll('http://localhost:3000', url));
    if (answer !== null) expect(JSON.parse(printed), text).toEqual(answer);
    else if (/\/emails \\\n/.test(text))
      expect(JSON.parse(printed), text).toEqual(expect.objectContaining({ id: expect.any(String) }));
  }
  const { rows } =
    await gateway.actor.pool.query(`select name, scopes, domain_name, revoked_at is not null as is_revoked from api_key
    where name <> 'test' order by created_at`);
  expect(rows).toEqual([
    { name: 'newsletter', scopes: ['send'], domain_name: null, is_revoked: true },
    { name: 'shop', scopes: ['read', 'send'], domain_name: 'inbox.test', is_revoked: false },
  ]);
});

test('it tells of every scope', () => {
  for (const scope of SCOPES) expect(guide).toContain(`| \`${scope}\` |`);
});
