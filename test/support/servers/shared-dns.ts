import { existsSync } from 'node:fs';
import path from 'node:path';
import type { DnsRecords, DnsServer } from './dns.ts';
import { awaitFile, type SharedServerNote, startSharedProgram } from './shared-server.ts';
import { writeWholeFile } from './whole-file.ts';

/** Starts the DNS server of a shared service. Names in no zone get SERVFAIL, as if DNS were unreachable. */
export async function startSharedDns(
  directory: string,
): Promise<{ address: string; process: SharedServerNote['processes'][number][number] }> {
  const child = startSharedProgram(directory, 'dns', 'shared-dns-process.ts', [directory]);
  const address = await awaitFile(path.join(directory, 'address'), child, directory);
  return { address, process: { name: 'dns', pid: child.pid ?? 0, program: null } };
}

/** Claims a name and those below it for this test file: from now on, those without records do not exist (NXDOMAIN). */
export function openSharedZone(directory: string, apex: string): Pick<DnsServer, 'set'> {
  const file = path.join(directory, `${apex}.zone`);
  if (existsSync(file)) throw new Error(`another file has claimed ${apex}`);
  const records = new Map<string, DnsRecords>();
  const write = () => writeWholeFile(file, JSON.stringify([...records]));
  write();
  return {
    set(name, type, given) {
      if (name !== apex && !name.endsWith(`.${apex}`)) throw new Error(`${name} is not in ${apex}`);
      records.set(`${type} ${name.toLowerCase()}`, given);
      write();
    },
  };
}
