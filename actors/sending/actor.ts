import { type Actor, type ActorContext, runActor } from '../actor.ts';
import { createDnsResolver } from '../dns-resolver.ts';
import { checkMailFrom } from './check-mail-from.ts';

/** Where fault tests end the process: attempts are written; the server has answered; the outcome is written. */
export type SendingFaultPoint = 'sending.claimed' | 'sending.sent' | 'sending.recorded';

export interface SendingActorOptions {
  /** what we call ourselves in EHLO */
  mailHostname: string;
  /** smtp:// or smtps://, with credentials; null: straight to the MX */
  relayUrl: string | null;
  /** of MX hosts */
  port: number;
  /** our own listener, to which mail for domains of this service is handed */
  inboundSmtp: { host: string; port: number };
  /** CIDRs that MX hosts may have although they are not public */
  allowedPrivateNetworks: readonly string[];
  /** ports of our own listeners: never reached on an address that is not public */
  refusedPorts: readonly number[];
  /** SECRET_KEY, 32 octets */
  secretKey: Uint8Array;
  /** `host:port` each; empty: the system's resolver */
  dnsServers: readonly string[];
  fault?: (point: SendingFaultPoint) => void;
}

/** A domain that was just added has its MAIL FROM records looked for after this at the latest. */
const MAIL_FROM_EVERY_MS = 10_000;

/** Sends mail: each recipient's row is claimed, tried and settled. */
export async function startSendingActor(context: ActorContext, options: SendingActorOptions): Promise<Actor> {
  const { database, log } = context;
  const { mailHostname } = options;
  // A resolver of its own: where the DNS of many domains does not answer, it pauses, and mail must not wait for that.
  const mailFrom = { database, log, mailHostname, dns: createDnsResolver({ servers: options.dnsServers }) };
  return runActor({
    context,
    name: 'sending',
    steps: [{ name: 'mail-from', everyMs: MAIL_FROM_EVERY_MS, work: () => checkMailFrom(mailFrom) }],
  });
}
