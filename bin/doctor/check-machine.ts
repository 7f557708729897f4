import { access, readdir, readFile, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { readRunRecord } from '../../db/cluster/data-directory.ts';
import type { Config } from '../config.ts';
import { sizeInWords } from '../runner/progress.ts';
import { describeError, type Finding, toFindings } from './finding.ts';

const { ok, warn, fail, skip } = toFindings('machine');

const NODE_MAJOR = 24;
/** Below this share the service accepts no more mail (actors/receiving/actor.ts). */
const LEAST_FREE_SHARE = 0.05;
const LOW_FREE_SHARE = 0.15;
/** File descriptors of an SMTP process besides its connections. */
const OTHER_FILES = 200;
/** The highest uid of a system user for systemd, unless SYS_UID_MAX of /etc/login.defs says another. */
const LAST_SYSTEM_UID = 999;
/** Where systemd looks for logind.conf and logind.conf.d, in its order. */
const LOGIND_DIRECTORIES = ['etc/systemd', 'run/systemd', 'usr/local/lib/systemd', 'usr/lib/systemd'];

export async function checkMachine(config: Config): Promise<Finding[]> {
  const findings = [checkNode()];
  if (config.databaseUrl === null)
    findings.push(
      ...(await checkDisk(config.dataDirectory)),
      ...(await checkSharedMemory(await findPostgresqlUid(config.dataDirectory), '/')),
    );
  else findings.push(skip('disk', 'the data is in DATABASE_URL. Monitor the disk of that server'));
  findings.push(await checkOpenFiles(config));
  return findings;
}

function checkNode(): Finding {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= NODE_MAJOR) return ok('Node', node);
  return fail(
    'Node',
    `${node} cannot run Postroom`,
    `Run it with the Node of npm ci (npx node ...), or install Node ${NODE_MAJOR}`,
  );
}

async function checkDisk(directory: string): Promise<Finding[]> {
  try {
    const { blocks, bavail, bsize, files, ffree } = await statfs(directory);
    const findings = [
      judgeShare('disk', bavail / blocks, `${sizeInWords(bavail * bsize)} free of ${sizeInWords(blocks * bsize)}`),
    ];
    // File systems that create inodes on demand report 0.
    if (files > 0)
      findings.push(
        judgeShare('inodes', ffree / files, `${ffree.toLocaleString('en')} free of ${files.toLocaleString('en')}`),
      );
    return findings;
  } catch (error) {
    return [
      fail(
        'disk',
        `DATA_DIR ${directory} cannot be checked: ${describeError(error)}`,
        'Create the folder, or set DATA_DIR to the folder with the data',
      ),
    ];
  }
}

function judgeShare(name: string, free: number, detail: string): Finding {
  const fix = 'Free or add disk space. Retention (docs/retention.md) removes old mail automatically';
  if (free < LEAST_FREE_SHARE) return fail(name, `${detail}: SMTP refuses mail with 452 until more is free`, fix);
  if (free < LOW_FREE_SHARE) return warn(name, detail, fix);
  return ok(name, detail);
}

async function checkOpenFiles(config: Config): Promise<Finding> {
  // Of the running service, or else of this process, whose limit a service started from here would get.
  const pid = config.databaseUrl === null ? ((await readRunRecord(config.dataDirectory))?.pid ?? null) : null;
  const limits =
    (pid === null ? null : await readFile(`/proc/${pid}/limits`, 'utf8').catch(() => null)) ??
    (await readFile('/proc/self/limits', 'utf8').catch(() => ''));
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  if (soft === undefined) return skip('open files', 'this system does not report the limit');
  const needed = config.smtpLimits.connections + OTHER_FILES;
  if (soft === 'unlimited' || Number(soft) >= needed) return ok('open files', `${soft} allowed`);
  return warn(
    'open files',
    `${soft} allowed, and SMTP_MAX_CONNECTIONS=${config.smtpLimits.connections} may need ${needed}`,
    `Raise it (LimitNOFILE=${needed} for systemd, ulimit -n in a shell), or lower SMTP_MAX_CONNECTIONS`,
  );
}

/** The owner of the folder that PostgreSQL runs on; before its first start the user of this process. */
async function findPostgresqlUid(dataDirectory: string): Promise<number> {
  return stat(path.join(dataDirectory, 'postgresql')).then(
    ({ uid }) => uid,
    () => process.getuid?.() ?? 0,
  );
}

/**
 * Warns when a logout breaks PostgreSQL: systemd-logind removes the shared memory of an ordinary user who has logged out, even while a
 * service of that user runs, unless RemoveIPC is off. Without a running logind there is nothing to say. Reads the settings below `root`.
 */
export async function checkSharedMemory(uid: number, root: string): Promise<Finding[]> {
  // How sd-login(3) finds out whether logind runs.
  const isLogindRunning = await access(path.join(root, 'run/systemd/seats')).then(
    () => true,
    () => false,
  );
  if (!isLogindRunning) return [];
  const loginDefs = (await readIfThere(path.join(root, 'etc/login.defs'))) ?? '';
  const lastSystemUid = Number(/^\s*SYS_UID_MAX\s+(\d+)/m.exec(loginDefs)?.[1] ?? LAST_SYSTEM_UID);
  if (uid <= lastSystemUid) return [ok('shared memory', `user ${uid} of PostgreSQL is a system user`)];
  if (!(await removesIpc(root))) return [ok('shared memory', 'systemd keeps it at a logout (RemoveIPC=no)')];
  return [
    warn(
      'shared memory',
      `when user ${uid} of PostgreSQL logs out, systemd removes it, and every request fails until a restart`,
      'Run Postroom as a system user (useradd --system), or set RemoveIPC=no in /etc/systemd/logind.conf and restart systemd-logind',
    ),
  ];
}

/** RemoveIPC as systemd reads it: of the first logind.conf and then, by name, of the files in logind.conf.d; yes if none sets it. */
async function removesIpc(root: string): Promise<boolean> {
  const directories = LOGIND_DIRECTORIES.map((directory) => path.join(root, directory));
  const mains = await Promise.all(directories.map(async (each) => readIfThere(path.join(each, 'logind.conf'))));
  // Of files with one name, only the first counts.
  const dropIns = new Map<string, string>();
  for (const directory of directories.map((each) => path.join(each, 'logind.conf.d')))
    for (const name of await readdir(directory).catch(() => []))
      if (name.endsWith('.conf') && !dropIns.has(name))
        dropIns.set(name, (await readIfThere(path.join(directory, name))) ?? '');
  const names = [...dropIns.keys()].toSorted();
  const texts = [mains.find((text) => text !== null) ?? '', ...names.map((name) => dropIns.get(name) ?? '')];
  const set = [
    ...texts.join('\n').matchAll(/^\s*RemoveIPC\s*=\s*(?:(yes|y|true|t|on|1)|no|n|false|f|off|0)\s*$/gim),
  ].at(-1);
  return set === undefined || set[1] !== undefined;
}

async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}
