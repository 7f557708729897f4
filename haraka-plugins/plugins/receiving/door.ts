import { BlockList, isIP } from 'node:net';
import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { createDoorLookups } from '../../../actors/network/door-lookups.ts';
import { showListName } from '../../../core/screening/door/dns-list.ts';
import { doorNetwork } from '../../../core/screening/door/door-network.ts';
import { claimsOwnName } from '../../../core/screening/door/own-name.ts';
import { type RateState, takeOfRate } from '../../../core/screening/door/rate.ts';
import type { DoorReason } from '../../../core/screening/door/refusal.ts';
import type { SenderDomainState } from '../../../core/screening/door/sender-domain.ts';
import { isPublicAddress } from '../../../core/shared/network-address.ts';
import { createCountedCache } from '../../../core/shared/sized-cache.ts';
import type { Bus } from '../../../schema/messages.ts';
import { smtpMetrics } from '../../../schema/metrics.ts';
import type { DoorSettings, SmtpSettings } from '../../settings.ts';
import { createDoorLedger } from './door-ledger.ts';
import type { DoorState, Listing } from './door-state.ts';
import { mailbox } from './mailbox.ts';
import type { Session } from './session.ts';
import { close, type Decision, reply } from './smtp-reply.ts';

/** A recipient that would be accepted. */
interface DoorRecipient {
  recipient: string;
  workspaceId: string;
  /** whether it is a reply address, which its sender got from us */
  isReply: boolean;
}

/**
 * Decides about clients before anything of a message is read. Each refusal is counted, logged and stored. Most are decided at RCPT, so that a
 * refusal has its sender and recipient, by which a user who misses a message finds it.
 */
export interface Door {
  /** Returns what is known about a client that has just connected. */
  meet(address: string, purpose: Session['purpose']): DoorState;
  /** Returns why a session is refused at its start; null: it is not. */
  greet(session: Session): Decision | null | Promise<Decision | null>;
  /** Returns why mail to a recipient that exists is refused; null: it is not. At once, unless a setting asks others. */
  judge(session: Session, recipient: DoorRecipient): Decision | null | Promise<Decision | null>;
  /** Notes a refusal and returns the decision. */
  refuse(session: Session, refused: Refused): Decision;
  /** Ends waits of greetings. Resolves when what was noted is stored. */
  stop(): Promise<void>;
}

/** A refusal of a session. */
interface Refused {
  reason: DoorReason;
  /** the workspace of the recipient; absent: of none, or not known yet */
  workspaceId?: string | undefined;
  recipient: string | null;
  decision: Decision;
}

interface Fault {
  reason: DoorReason;
  decision: Decision;
}

/** Mail to these local parts is for who runs the domain: lists, greylisting and the sender's domain do not hold for it (RFC 5321 §4.5.1, RFC 2142). */
const ROLE_ACCOUNT = /^(?:postmaster|abuse)(?:\+|@)/i;
/** Networks whose rates are known, and networks that waited for the greeting: the last ones. */
const MAX_NETWORKS = 20_000;
/** How often a wait looks for what the client sent; milliseconds. */
const GREETING_LOOK_MS = 100;

export function createDoor(settings: SmtpSettings, bus: Bus, log: Logger): Door {
  const { door } = settings;
  const trusted = listNetworks(['127.0.0.1', '::1', ...door.trustedNetworks]);
  const ledger = createDoorLedger(bus, log);
  const lookups = createDoorLookups(door.dnsServers);
  const connections = createCountedCache<RateState>(MAX_NETWORKS);
  const messages = createCountedCache<RateState>(MAX_NETWORKS);
  const patient = createCountedCache<true>(MAX_NETWORKS);
  let isStopping = false;

  const refuse = (session: Session, { reason, workspaceId, recipient, decision }: Refused): Decision => {
    if (decision.kind === 'pass') return decision;
    const { remote, hello } = session.connection;
    ledger.note({
      workspaceId: workspaceId ?? null,
      reason,
      address: remote.ip,
      network: doorNetwork(remote.ip),
      helo: hello.host,
      sender: readSender(session),
      recipient,
      reply: `${decision.code} ${decision.text}`,
      times: 1,
      at: new Date(),
    });
    return decision;
  };

  const isWithinRate = (rates: LRUCache<string, RateState>, session: Session, perMinute: number): boolean => {
    if (perMinute === 0 || !session.door.isOutside) return true;
    const network = doorNetwork(session.connection.remote.ip);
    const { state, isTaken } = takeOfRate(rates.get(network), perMinute, performance.now());
    rates.set(network, state);
    return isTaken;
  };

  const askLists = async (address: string): Promise<Listing> => {
    const [allowedBy, blockedBy] = await Promise.all(
      [door.allowLists, door.blockLists].map((lists) => lookups.findListing(address, lists)),
    );
    return { allowedBy: allowedBy ?? null, blockedBy: blockedBy ?? null };
  };

  /** What others are asked about, in the order in which a refusal helps its sender most. */
  const findFaultLater = async (session: Session, recipient: DoorRecipient): Promise<Fault | null> => {
    const { listing } = session.door;
    const { allowedBy = null, blockedBy = null } = (await listing) ?? {};
    if (allowedBy !== null) return null;
    if (blockedBy !== null) return { reason: 'block_list', decision: refuseListed(session, blockedBy) };
    const sender = readSender(session) ?? '';
    if (door.checksSenderDomain && sender !== '') {
      const domain = sender.slice(sender.lastIndexOf('@') + 1);
      const decision = refuseSenderDomain(domain, await lookups.checkSenderDomain(domain));
      if (decision !== null) return { reason: 'sender_domain', decision };
    }
    if (door.greylistSeconds === null || recipient.isReply) return null;
    const { isPassed, secondsLeft } = await bus.ask('receiving.greylist.check', {
      workspaceId: recipient.workspaceId,
      address: session.connection.remote.ip,
      network: doorNetwork(session.connection.remote.ip),
      helo: session.connection.hello.host ?? '',
      sender,
      recipient: recipient.recipient,
      waitSeconds: door.greylistSeconds,
    });
    if (isPassed) return null;
    const text = `4.7.1 Greylisted: mail from your network is new here. Please try again in ${secondsLeft} seconds`;
    return { reason: 'greylist', decision: reply(451, text) };
  };

  const claimsFalsely = async ({ connection }: Session): Promise<boolean> => {
    // Another machine of this service says its name, too.
    const isOurs = await lookups.isAddressAmong(settings.mailHostname, connection.remote.ip);
    return isOurs === false;
  };

  return {
    meet(address, purpose) {
      const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
      const isTrusted = isIP(plain) !== 0 && trusted.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
      const isOutside = purpose === 'reception' && !isTrusted && isPublicAddress(plain);
      const asksLists = isOutside && door.blockLists.length + door.allowLists.length > 0;
      return { isTrusted, isOutside, talkedEarly: false, listing: asksLists ? askLists(plain) : null };
    },
    greet(session) {
      const { connection } = session;
      if (!isWithinRate(connections, session, door.connectionsPerMinute)) {
        smtpMetrics.sessionsRefused.inc({ reason: 'connection_rate' });
        return refuse(session, { reason: 'connection_rate', recipient: null, decision: TOO_MANY_CONNECTIONS });
      }
      // What arrived before the greeting: beside a PROXY line, which is gone by now.
      const look = () => {
        session.door.talkedEarly ||= (connection.current_data?.length ?? 0) > 0;
        return session.door.talkedEarly;
      };
      const network = doorNetwork(connection.remote.ip);
      if (
        look() ||
        session.purpose === 'submission' ||
        session.door.isTrusted ||
        door.greetingDelayMs === 0 ||
        patient.has(network)
      )
        return null;
      return waitFor(door.greetingDelayMs, () => isStopping || look()).then(() => {
        if (!session.door.talkedEarly) patient.set(network, true);
        return null;
      });
    },
    judge(session, recipient) {
      const { isTrusted, isOutside, talkedEarly } = session.door;
      if (isTrusted) return null;
      const refuseFault = ({ reason, decision }: Fault): Decision =>
        refuse(session, { reason, decision, workspaceId: recipient.workspaceId, recipient: recipient.recipient });
      if (door.refusesEarlyTalkers && talkedEarly)
        return refuseFault({ reason: 'early_talker', decision: TALKED_EARLY });
      const isClaim = door.refusesOwnName && isOutside && isOwnName(settings, session);
      const isRole = ROLE_ACCOUNT.test(recipient.recipient);
      const isFirst = session.recipients.length === 0;
      if (isFirst && !isWithinRate(messages, session, door.messagesPerMinute))
        return refuseFault({ reason: 'message_rate', decision: TOO_MANY_MESSAGES });
      const asksOthers = isOutside && !isRole && hasQuestions(door);
      if (!isClaim && !asksOthers) return null;
      const decide = async (): Promise<Decision | null> => {
        if (isClaim && (await claimsFalsely(session))) return refuseFault({ reason: 'own_name', decision: OWN_NAME });
        const fault = asksOthers ? await findFaultLater(session, recipient) : null;
        return fault === null ? null : refuseFault(fault);
      };
      return decide();
    },
    refuse,
    stop() {
      isStopping = true;
      return ledger.flush();
    },
  };
}

function hasQuestions({ blockLists, allowLists, checksSenderDomain, greylistSeconds }: DoorSettings): boolean {
  return blockLists.length + allowLists.length > 0 || checksSenderDomain || greylistSeconds !== null;
}

function readSender({ connection }: Session): string | null {
  const { transaction } = connection;
  return transaction === null ? null : mailbox(transaction.mail_from);
}

function isOwnName({ mailHostname }: SmtpSettings, { connection }: Session): boolean {
  const { hello, local } = connection;
  return claimsOwnName(hello.host ?? '', { hostname: mailHostname, address: local.ip ?? '' });
}

const TALKED_EARLY = reply(
  554,
  '5.5.1 Your server sent commands before its turn. Wait for each reply before you go on',
);
const OWN_NAME = reply(
  554,
  '5.7.1 Your server introduced itself with the name of this server. Use its own name in EHLO',
);
const TOO_MANY_MESSAGES = reply(450, '4.7.1 Too many messages from your network, please try again in a minute');
const TOO_MANY_CONNECTIONS = close(421, '4.7.0 Too many connections from your network, please try again in a minute');

function refuseListed({ connection }: Session, list: string): Decision {
  return reply(554, `5.7.1 Your address ${connection.remote.ip} is on the block list ${showListName(list)}`);
}

function refuseSenderDomain(domain: string, state: SenderDomainState): Decision | null {
  switch (state) {
    case 'missing':
      return reply(550, `5.1.8 The sender's domain ${domain} does not exist`);
    case 'no_server':
      return reply(550, `5.1.8 The sender's domain ${domain} has no mail server, so it cannot receive replies`);
    case 'null_mx':
      return reply(550, `5.7.27 The sender's domain ${domain} accepts no mail (null MX), so it cannot receive replies`);
    case 'receives':
    case 'unclear':
      return null;
  }
}

/** Resolves when that time is over, or the condition holds. */
async function waitFor(milliseconds: number, isDone: () => boolean): Promise<void> {
  const endAt = performance.now() + milliseconds;
  for (;;) {
    const left = endAt - performance.now();
    if (left <= 0 || isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, GREETING_LOOK_MS)));
  }
}

function listNetworks(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of networks) {
    const [address = '', length] = each.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
}
