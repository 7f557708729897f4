import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import { writeClientsPage } from './clients/clients-page.ts';
import { RESEND_PYTHON, recordPublishedClients } from './clients/published-clients.ts';

/**
 * `npm run clients`: writes docs/clients.md from the published packages. Those for JavaScript are the installed ones. Of `resend` for
 * Python it downloads the newest version with pip, and writes its methods to a file, so that the tests need no network.
 */
const repository = path.resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(tmpdir(), 'postroom-clients-'));
try {
  execFileSync('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, 'resend'], { stdio: 'inherit' });
  const recorder = path.join(import.meta.dirname, 'clients/record_resend.py');
  const recorded = execFileSync('python3', ['-W', 'ignore', recorder, folder], { encoding: 'utf8' });
  writeFileSync(path.join(repository, RESEND_PYTHON), `${JSON.stringify(JSON.parse(recorded), null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
const document = JSON.parse(readFileSync(path.join(repository, 'openapi.json'), 'utf8')) as OpenAPIV3_1.Document;
writeFileSync(path.join(repository, 'docs/clients.md'), writeClientsPage(await recordPublishedClients(), document));
