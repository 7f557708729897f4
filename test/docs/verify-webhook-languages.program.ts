import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeSigningSecret, signStandardWebhook } from '../../core/endpoints/webhook-signature.ts';
import { repository } from '../support/runner.ts';
import { readBlocks } from './page-blocks.ts';

const page = await readFile(path.join(repository, 'docs/webhooks.md'), 'utf8');

interface Language {
  program: string;
  file: string;
  /** wraps the example into a program that reads `{secret, headers, body}` from argv, and prints whether the signature is valid */
  wrap: (example: string) => string;
}

const LANGUAGES: Record<string, Language> = {
  js: {
    program: process.execPath,
    file: 'verify.mjs',
    wrap: (example) => {
      const [imports = '', call = ''] = example.split('\n\n');
      return `${imports}
const { secret, headers, body: rawBody } = JSON.parse(process.argv[2]);
const request = { headers };
try { ${call.trim()}
console.log(event === undefined ? 'no' : 'yes') } catch { console.log('no') }`;
    },
  },
  python: {
    program: 'python3',
    file: 'verify.py',
    wrap: (example) => `${example}
import json, sys
given = json.loads(sys.argv[1])
print("yes" if verify(given["secret"], given["headers"], given["body"].encode()) else "no")`,
  },
  ruby: {
    program: 'ruby',
    file: 'verify.rb',
    wrap: (example) => `${example}
require "json"
given = JSON.parse(ARGV[0])
puts verify(given["secret"], given["headers"], given["body"]) ? "yes" : "no"`,
  },
  php: {
    program: 'php',
    file: 'verify.php',
    wrap: (example) => `<?php
${example}
$given = json_decode($argv[1], true);
echo verify($given['secret'], $given['headers'], $given['body']) ? 'yes' : 'no';`,
  },
};

const secret = makeSigningSecret(Buffer.alloc(32, 1));
const body = JSON.stringify({ type: 'email.received', subject: 'Où? 東京' });
const now = Math.floor(Date.now() / 1_000);

function sign(id: string, seconds: number) {
  const current = signStandardWebhook(secret, id, seconds, Buffer.from(body));
  const former = signStandardWebhook(makeSigningSecret(Buffer.alloc(32, 2)), id, seconds, Buffer.from(body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `${former} ${current}`,
  };
}

const CASES = [
  { name: 'a valid one', headers: sign('dlv_1', now), body, expected: 'yes' },
  { name: 'another body', headers: sign('dlv_1', now), body: `${body} `, expected: 'no' },
  { name: 'another id', headers: { ...sign('dlv_1', now), 'webhook-id': 'dlv_2' }, body, expected: 'no' },
  { name: 'one without headers', headers: {}, body, expected: 'no' },
  {
    name: 'one without a signature',
    headers: { ...sign('dlv_1', now), 'webhook-signature': undefined },
    body,
    expected: 'no',
  },
  {
    name: 'a signature of other letters',
    headers: { ...sign('dlv_1', now), 'webhook-signature': 'v1,é v1,' },
    body,
    expected: 'no',
  },
  { name: 'a time in words', headers: { ...sign('dlv_1', now), 'webhook-timestamp': 'now' }, body, expected: 'no' },
  {
    name: 'a long time',
    headers: { ...sign('dlv_1', now), 'webhook-timestamp': '9'.repeat(5_000) },
    body,
    expected: 'no',
  },
  { name: 'an old one', headers: sign('dlv_1', now - 3_600), body, expected: 'no' },
];

test('docs/webhooks.md has an example for each of these languages and for Go', () => {
  const languages = readBlocks(page).map(({ language }) => language);
  expect(languages).toEqual(expect.arrayContaining([...Object.keys(LANGUAGES), 'go']));
});

test.each(Object.entries(LANGUAGES))(
  'the example for %s accepts a valid signature, and rejects a wrong or old one',
  async (language, { program, file, wrap }) => {
    const example = readBlocks(page).find((block) => block.language === language)?.text ?? '';
    // Beside the packages, so that the example finds standardwebhooks.
    const folder = await mkdtemp(path.join(repository, 'node_modules/.cache/verify-'));
    try {
      await writeFile(path.join(folder, file), wrap(example));
      for (const { name, headers, body: sent, expected } of CASES) {
        const given = JSON.stringify({ secret, headers, body: sent });
        const { stdout } = await promisify(execFile)(program, [path.join(folder, file), given]);
        expect(stdout.trim(), name).toBe(expected);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
