import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Inbound as Sdk } from '@inboundemail/sdk';
import Inboundemail from 'inboundemail';
import { Resend } from 'resend';
import { z } from 'zod';
import { type ClientMethod, listMethods, recordClient } from './record-client.ts';

/** A published client, with all its methods. */
export interface RecordedClient {
  /** of the package */
  name: string;
  /** as in the heading of its table */
  title: string;
  version: string;
  /** how it is pointed at Postroom */
  setting: string;
  methods: readonly ClientMethod[];
}

const repository = path.resolve(import.meta.dirname, '../../..');
const SERVICE = 'https://service.test';

/** Parts of the methods of a client, and what all its methods go by. */
const inner = {
  resend: new Set(
    'logError fetchRequest post get put patch delete emails.receiving.forwardPassthrough emails.receiving.forwardWrapped emails.receiving.downloadRaw contacts.imports.buildCreateFormData contacts.imports.buildColumnMap contacts.imports.appendField templates.performCreate'.split(
      ' ',
    ),
  ),
  sdk: new Set(['request', 'processReactComponent']),
};
const LOCAL = new Set(['webhooks.verify', 'Webhooks.verify']);

/** The methods of the Python package `resend`; `npm run clients` writes them. */
export const RESEND_PYTHON = 'test/support/clients/resend-python.json';
const pythonMethods = z.object({ version: z.string(), methods: z.record(z.string(), z.array(z.string())) });

/** Returns the published clients that Postroom serves, in the order of docs/clients.md. */
export async function recordPublishedClients(): Promise<RecordedClient[]> {
  const resend = new Resend('x', { baseUrl: SERVICE });
  const inboundemail = new Inboundemail({
    apiKey: 'x',
    baseURL: SERVICE,
    maxRetries: 0,
    fetch: (target, init) => fetch(target, init),
  });
  const sdk = new Sdk('x', SERVICE);
  const python = pythonMethods.parse(JSON.parse(readFileSync(path.join(repository, RESEND_PYTHON), 'utf8')));
  return [
    {
      name: 'resend',
      title: '`resend` for JavaScript',
      version: installedVersion('resend'),
      setting: "`new Resend(KEY, { baseUrl: 'http://localhost:3000/api/e2' })`",
      methods: await recordClient(
        resend,
        SERVICE,
        listMethods(resend).filter((name) => !inner.resend.has(name)),
        LOCAL,
      ),
    },
    {
      name: 'resend',
      title: '`resend` for Python',
      version: python.version,
      setting: "`resend.api_url = 'http://localhost:3000/api/e2'`",
      methods: Object.entries(python.methods).map(([name, requests]) => ({ name, requests })),
    },
    {
      name: 'inboundemail',
      title: '`inboundemail`',
      version: installedVersion('inboundemail'),
      setting: "`new Inbound({ apiKey: KEY, baseURL: 'http://localhost:3000' })`",
      // The names without a dot are of the client itself, by which its methods go.
      methods: await recordClient(
        inboundemail,
        `${SERVICE}/api/e2`,
        listMethods(inboundemail).filter((name) => name.includes('.')),
        LOCAL,
      ),
    },
    {
      name: '@inboundemail/sdk',
      title: '`@inboundemail/sdk`',
      version: installedVersion('@inboundemail/sdk'),
      setting: "`new Inbound(KEY, 'http://localhost:3000/api/v2')`",
      methods: await recordClient(
        sdk,
        SERVICE,
        listMethods(sdk).filter((name) => !inner.sdk.has(name)),
        LOCAL,
      ),
    },
  ];
}

function installedVersion(name: string): string {
  const manifest = readFileSync(path.join(repository, 'node_modules', name, 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}
