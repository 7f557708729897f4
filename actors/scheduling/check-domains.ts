import { performance } from 'node:perf_hooks';
import { dkimRecordName } from '../../core/domains/dkim-key.ts';
import { listDnsRecords } from '../../core/domains/dns-records.ts';
import { judgeDomain, readDomainCheck } from '../../core/domains/domain-check.ts';
import { createKeyedSemaphore, createSemaphore } from '../../core/shared/semaphore.ts';
import {
  CHECK_BATCH,
  type CheckedDomain,
  claimDueDomains,
  giveBackDomains,
  readCheckedDomains,
} from '../../db/queries/domains/domain-check.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import type { ActorContext, Run } from '../actor.ts';
import { createDnsResolver } from '../network/dns-resolver.ts';
import { askDns } from './ask-dns.ts';
import { storeCheck } from './store-check.ts';

export interface DomainCheckOptions {
  /** `host:port` each; empty: the system's resolver */
  dnsServers: readonly string[];
  /** the host that the records of domains must name */
  mailHostname: string;
}

export { CHECK_BATCH };

/** Time limit for all lookups of one domain; milliseconds. */
const DNS_TIME_MS = 5_000;
/** A question is replied to with what was checked by then; milliseconds, below the limit of its asker. */
const LOOKUP_MS = 6_000;
/** Domains checked at once: by the background step, and for questions, in total and per user. */
const BACKGROUND_LOOKS = 20;
const ASKED_LOOKS = 40;
const ASKED_LOOKS_OF_USER = 8;
/** Questions of one user that are handled at once; further ones get an empty reply. */
const QUESTIONS_OF_USER = 4;

const NEVER_STOPPING: Pick<Run, 'isStopping'> = { isStopping: () => false };

/** Checks the DNS of domains that are due, and of domains that a user asks about. */
export interface DomainChecker {
  /** Checks a batch of due domains; returns how many. Domains not begun when the actor stops are released. */
  checkDue(run?: Pick<Run, 'isStopping'>): Promise<number>;
  /** Checks domains of a user now; returns the domains checked before time ran out. */
  checkNow(request: Request<'scheduling.domain.check'>): Promise<Reply<'scheduling.domain.check'>>;
}

/**
 * Each check has its own resolver: no reply is older than the check, one dead DNS server does not block other domains, and garbage in one
 * reply, which makes c-ares fail every query on the same connection (seen with Node 24), affects no other domain.
 */
export function createDomainChecker(context: ActorContext, options: DomainCheckOptions): DomainChecker {
  const { database, log } = context;
  const asked = createSemaphore(ASKED_LOOKS);
  const askedByUser = createKeyedSemaphore(ASKED_LOOKS_OF_USER);
  const questionsOfWorkspaces = new Map<string, number>();

  /** A failure of one domain is logged and does not keep others from being checked. Returns false then. */
  async function look(domain: CheckedDomain): Promise<boolean> {
    try {
      await lookAt(domain);
      return true;
    } catch (error) {
      log.error({ err: error, workspaceId: domain.workspaceId, domainId: domain.id }, 'a domain could not be checked');
      return false;
    }
  }

  async function lookAt(domain: CheckedDomain): Promise<void> {
    const { name, keys } = domain;
    const dkimNames = keys.map(({ selector }) => dkimRecordName(selector, name));
    const dns = createDnsResolver({ servers: options.dnsServers });
    const replies = await askDns(dns.within(DNS_TIME_MS), { name, dkimNames });
    const records = listDnsRecords(
      { id: domain.id, name, isInherited: domain.parentId !== null, dkimKeys: keys },
      options.mailHostname,
    );
    const previous = readDomainCheck(domain.dnsCheck);
    const check = judgeDomain(records, replies, { mailHostname: options.mailHostname, previous });
    await storeCheck(context, { domain, records, check });
  }

  async function checkDue({ isStopping } = NEVER_STOPPING): Promise<number> {
    const due = await claimDueDomains(database);
    const background = createSemaphore(BACKGROUND_LOOKS);
    const left: CheckedDomain[] = [];
    const lookOrLeave = async (domain: CheckedDomain) => {
      if (isStopping()) left.push(domain);
      else await look(domain);
    };
    await Promise.all(due.map((domain) => background.run(() => lookOrLeave(domain))));
    if (left.length > 0) await giveBackDomains(database, left);
    return due.length;
  }

  async function checkNow({ workspaceId, domainIds }: Request<'scheduling.domain.check'>) {
    const questions = questionsOfWorkspaces.get(workspaceId) ?? 0;
    if (questions >= QUESTIONS_OF_USER) return { checked: [] };
    questionsOfWorkspaces.set(workspaceId, questions + 1);
    try {
      return { checked: await lookAtAsked(workspaceId, domainIds) };
    } finally {
      const left = (questionsOfWorkspaces.get(workspaceId) ?? 1) - 1;
      if (left === 0) questionsOfWorkspaces.delete(workspaceId);
      else questionsOfWorkspaces.set(workspaceId, left);
    }
  }

  /** Returns the domains checked before the deadline. A check in progress continues; no other one begins. */
  async function lookAtAsked(workspaceId: string, domainIds: readonly string[]): Promise<string[]> {
    const deadline = performance.now() + LOOKUP_MS;
    const checked: string[] = [];
    const looks = (await readCheckedDomains(database, workspaceId, domainIds)).map((domain) =>
      askedByUser.run(workspaceId, () =>
        asked.run(async () => {
          if (performance.now() < deadline && (await look(domain))) checked.push(domain.id);
        }),
      ),
    );
    await withinTime(deadline - performance.now(), Promise.all(looks));
    return [...checked];
  }

  return { checkDue, checkNow };
}

async function withinTime(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
