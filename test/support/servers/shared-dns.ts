import { existsSync, readFileSync } from 'node:fs';
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

/** A name that a test file claimed, and those below it. */
export interface SharedZone extends Pick<DnsServer, 'set'> {
  /** Returns the names in it that were asked for, one for each question. */
  asked(): string[];
}

/** Claims a name and those below it for this test file: from now on, those without records do not exist (NXDOMAIN). */
export function openSharedZone(directory: string, apex: string): SharedZone {
  const file = path.join(directory, `${apex}.zone`);
  if (existsSync(file)) throw new Error(`another file has claimed ${apex}`);
  const records = new Map<string, DnsRecords>();
  const write = () => writeWholeFile(file, JSON.stringify([...records]));
  write();
  return {
    asked() {
      const asked = path.join(directory, `${apex}.asked`);
      return existsSync(asked) ? readFileSync(asked, 'utf8').split('\n').slice(0, -1) : [];
    },
    set(name, type, given) {
      if (name !== apex && !name.endsWith(`.${apex}`)) throw new Error(`${name} is not in ${apex}`);
      records.set(`${type} ${name.toLowerCase()}`, given);
      write();
    },
  };
}
