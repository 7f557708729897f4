import { readFile, statfs } from 'node:fs/promises';
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

export async function checkMachine(config: Config): Promise<Finding[]> {
  const findings = [checkNode()];
  if (config.databaseUrl === null) findings.push(...(await checkDisk(config.dataDirectory)));
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
