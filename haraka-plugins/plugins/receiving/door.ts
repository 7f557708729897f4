import { BlockList, isIP } from 'node:net';
import type { Logger } from 'pino';
import { doorNetwork } from '../../../core/screening/door/door-network.ts';
import { claimsOwnName } from '../../../core/screening/door/own-name.ts';
import type { DoorReason } from '../../../core/screening/door/refusal.ts';
import { isPublicAddress } from '../../../core/shared/network-address.ts';
import type { Bus } from '../../../schema/messages.ts';
import type { SmtpSettings } from '../../settings.ts';
import { type Decision, reply } from './answer.ts';
import { createDoorLedger, type DoorLedger } from './door-ledger.ts';
import type { Session } from './session.ts';

/** What is known about a client before its mail is accepted. */
export interface DoorState {
  /** of SMTP_TRUSTED_NETWORKS, or this machine: nothing here holds for it */
  readonly isTrusted: boolean;
  /** on the internet: what asks others about it, or counts its mail, holds for it */
  readonly isOutside: boolean;
  /** when it sent something before its turn */
  talkedEarly: boolean;
}

/** A recipient that would be accepted. */
export interface DoorRecipient {
  recipient: string;
  userId: string;
}

/** Decides about clients, before anything of a message is read. Each refusal is counted, logged and stored. */
export interface Door {
  /** Returns what is known about a client that has just connected. */
  meet(address: string): DoorState;
  /** Returns why mail to a recipient that exists is refused; null: it is not. At once, unless a setting asks others. */
  judge(session: Session, recipient: DoorRecipient): Decision | null | Promise<Decision | null>;
  /** Notes a refusal and returns the decision. */
  refuse(session: Session, refused: Refused): Decision;
  /** Stores what was noted. */
  stop(): Promise<void>;
}

/** A refusal of a session. */
export interface Refused {
  reason: DoorReason;
  /** the workspace of the recipient; absent: of none, or not known yet */
  userId?: string | undefined;
  recipient: string | null;
  decision: Decision;
}

/** Mail to these local parts is for who runs the domain: lists, greylisting and the sender's domain do not hold for it (RFC 5321 §4.5.1, RFC 2142). */
const ROLE_ACCOUNT = /^(?:postmaster|abuse)(?:\+|@)/i;

export function createDoor(settings: SmtpSettings, bus: Bus, log: Logger): Door {
  const { door } = settings;
  const trusted = listNetworks(['127.0.0.1', '::1', ...door.trustedNetworks]);
  const ledger: DoorLedger = createDoorLedger(bus, log);

  const refuse = (session: Session, { reason, userId, recipient, decision }: Refused): Decision => {
    if (decision.kind === 'pass') return decision;
    const { remote, hello, transaction } = session.connection;
    const from = transaction?.mail_from;
    ledger.note({
      userId: userId ?? null,
      reason,
      address: remote.ip,
      network: doorNetwork(remote.ip),
      helo: hello.host,
      sender: from == null ? null : from.host === '' ? from.user : `${from.user}@${from.host}`,
      recipient,
      reply: `${decision.code} ${decision.text}`,
      times: 1,
      at: new Date(),
    });
    return decision;
  };

  const findFault = (session: Session): { reason: DoorReason; decision: Decision } | null => {
    const { talkedEarly, isOutside } = session.door;
    if (door.refusesEarlyTalkers && talkedEarly) return { reason: 'early_talker', decision: TALKED_EARLY };
    if (door.refusesOwnName && isOutside && isLying(session)) return { reason: 'own_name', decision: OWN_NAME };
    return null;
  };

  const isLying = ({ connection }: Session): boolean =>
    claimsOwnName(connection.hello.host ?? '', {
      hostname: settings.mailHostname,
      address: connection.local.ip ?? '',
    });

  return {
    meet(address) {
      const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
      const isTrusted = isIP(plain) !== 0 && trusted.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
      return { isTrusted, isOutside: !isTrusted && isPublicAddress(plain), talkedEarly: false };
    },
    judge(session, { recipient, userId }) {
      if (session.door.isTrusted) return null;
      const fault = findFault(session);
      if (fault !== null) return refuse(session, { ...fault, userId, recipient });
      if (ROLE_ACCOUNT.test(recipient)) return null;
      return null;
    },
    refuse,
    stop: () => ledger.flush(),
  };
}

const TALKED_EARLY = reply(554, '5.5.1 Your server sent commands before its turn, as only programs for spam do');
const OWN_NAME = reply(554, '5.7.1 Your server introduced itself with the name of this server');

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
