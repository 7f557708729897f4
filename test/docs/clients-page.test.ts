import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import { expect, test } from 'vitest';
import { decideMethods } from '../support/clients/client-table.ts';
import { writeClientsPage } from '../support/clients/clients-page.ts';
import { recordPublishedClients } from '../support/clients/published-clients.ts';
import { recordClient } from '../support/clients/record-client.ts';
import { repository } from '../support/runner.ts';

const read = (name: string) => readFileSync(path.join(repository, name), 'utf8');
const document = JSON.parse(read('openapi.json')) as OpenAPIV3_1.Document;
const decide = decideMethods(document);
const clients = await recordPublishedClients();

test.each(clients)('every method of $title is served, or refused with what to use instead', ({ name, methods }) => {
  expect(methods.length).toBeGreaterThan(20);
  const undecided = methods.filter((method) => decide(name, method).is === 'undecided');
  expect(undecided).toEqual([]);
});

test('a new method of a client whose request is neither served nor refused is undecided', async () => {
  const client = {
    emails: { send: () => fetch('https://service.test/emails', { method: 'POST' }) },
    faxes: { send: (id: string) => fetch(`https://service.test/faxes/${id}`, { method: 'POST' }) },
    templates: { rate: (id: string) => fetch(`https://service.test/templates/${id}/rating`) },
  };
  const names = ['emails.send', 'faxes.send', 'templates.rate'];
  const methods = await recordClient(client, 'https://service.test', names, new Set());
  expect(methods.map((method) => [method.name, decide('resend', method).is])).toEqual([
    ['emails.send', 'served'],
    ['faxes.send', 'undecided'],
    ['templates.rate', 'not served'],
  ]);
});

test('a method that sends nothing and is not known to work alone is an error', async () => {
  const client = { faxes: { send: () => undefined } };
  await expect(recordClient(client, 'https://service.test', ['faxes.send'], new Set())).rejects.toThrow('faxes.send');
});

test('docs/clients.md is the page that npm run clients writes', () => {
  expect(read('docs/clients.md')).toBe(writeClientsPage(clients, document));
});

test('the README and docs/rest.md name no client as working without the table', () => {
  for (const page of ['README.md', 'docs/rest.md']) {
    expect(read(page)).toContain('clients.md');
    expect(read(page)).not.toMatch(/work unmodified/);
  }
});
