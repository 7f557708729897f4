import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type DnsRecords, type DnsZone, serveDns } from './dns.ts';
import { writeWholeFile } from './whole-file.ts';

/** The DNS server of a shared service, `node shared-dns-process.ts FOLDER`: serves the zones that test files write there, see shared-dns.ts. */
const [folder = ''] = process.argv.slice(2);
// Read for each question: the next one may come right after a change.
const readZone = (apex: string): DnsZone | null => {
  try {
    return new Map(JSON.parse(readFileSync(path.join(folder, `${apex}.zone`), 'utf8')) as [string, DnsRecords][]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
const findZone = (name: string) => {
  // Checks of DMARC ask for the policy of the top-level domain, too (RFC 9989 §4.10), and no file can claim that.
  if (/^_dmarc\.[^.]+$/.test(name)) return new Map();
  const labels = name.split('.');
  for (const at of labels.keys()) {
    const apex = labels.slice(at).join('.');
    const zone = readZone(apex);
    if (zone === null) continue;
    appendFileSync(path.join(folder, `${apex}.asked`), `${name}\n`);
    return zone;
  }
  return null;
};
const { address } = await serveDns('127.0.0.1', findZone, []);
writeWholeFile(path.join(folder, 'address'), address);
