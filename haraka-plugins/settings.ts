import type { Bus } from '../schema/messages.ts';

/** The settings of one SMTP process. The process that starts it decides them all; this folder reads no environment variables. */
export interface SmtpSettings {
  /** an IP address or a host name, without a port */
  host: string;
  port: number;
  /** where clients submit mail, with STARTTLS and with TLS from the start; null: nowhere */
  submissionPort: number | null;
  submissionsPort: number | null;
  /** host name in the banner, in the EHLO reply and in our Received header */
  mailHostname: string;
  /** `own`: the bus of this process, which Haraka shares with others and does not close */
  bus: { kind: 'own'; bus: Bus } | { kind: 'socket'; path: string } | { kind: 'nats'; url: string };
  /** PEM files; null: a self-signed certificate, kept in `dataDirectory` */
  tls: { keyPath: string; certPath: string } | null;
  dataDirectory: string;
  /** addresses and networks of proxies: each connection from there begins with a PROXY protocol line */
  proxies: readonly string[];
  limits: SmtpLimits;
  door: DoorSettings;
  /** ends the process at this point, for tests */
  fault: (point: SmtpFaultPoint) => void;
}

/**
 * Points at which a test can kill the process: a large message is on the disk and waits for its turn, or is back in memory; the message is
 * complete but the receiving actor, or for submitted mail the gateway, was not asked; it is stored but the client has no reply.
 */
type SmtpFaultPoint =
  | 'smtp.spooled'
  | 'smtp.loaded'
  | 'smtp.before-ask'
  | 'smtp.after-reply'
  | 'submission.before-ask'
  | 'submission.after-reply';

/** Limits of one SMTP process. */
export interface SmtpLimits {
  connections: number;
  /**
   * per IPv4 address or IPv6 /64; 127.0.0.1 and ::1 are exempt, because a proxy or a load generator on this machine acts for many clients
   */
  connectionsPerAddress: number;
  /** from a reply to the next complete command, and the grace period of the DATA phase; seconds */
  commandSeconds: number;
  /** minimum rate of the DATA phase after its grace period */
  leastBytesPerSecond: number;
  /** unknown recipients of one session that end it; five times as many of one client within ten minutes end its sessions; 0: no limit */
  unknownRecipients: number;
  /** unknown recipients of one session that are refused without delay */
  freeUnknownRecipients: number;
  /** delay of the first unknown recipient after those, which doubles up to 16 times; milliseconds */
  unknownRecipientDelayMs: number;
  /** bytes of messages in the memory of this process that are incomplete or not decided yet, without messages that have a turn */
  heldBytes: number;
  /**
   * bytes of large messages that are decided at the same time, one of the largest at least: the others wait on the disk, in turns between
   * accounts. Less than MAX_BYTES_IN_FLIGHT, so that small messages have the rest.
   */
  offeredBytes: number;
  /** bytes of large messages on the disk */
  spooledBytes: number;
}

/** RFC 5321 §4.5.3.2 asks for longer limits, which hostile clients would exploit. */
export const defaultSmtpLimits: SmtpLimits = {
  connections: 10_000,
  connectionsPerAddress: 50,
  commandSeconds: 60,
  leastBytesPerSecond: 500,
  unknownRecipients: 20,
  freeUnknownRecipients: 5,
  unknownRecipientDelayMs: 250,
  heldBytes: 96_000_000,
  offeredBytes: 16_000_000,
  spooledBytes: 1_000_000_000,
};

/** What is refused before a message is accepted, beside the limits. */
export interface DoorSettings {
  /** addresses and networks to which nothing of this applies */
  trustedNetworks: readonly string[];
  refusesEarlyTalkers: boolean;
  /** how long the greeting of an unknown client waits, to see whether it talks early; milliseconds */
  greetingDelayMs: number;
  refusesOwnName: boolean;
  checksSenderDomain: boolean;
  /** names of DNS lists */
  blockLists: readonly string[];
  allowLists: readonly string[];
  /** how long a first contact waits; null: nothing is greylisted */
  greylistSeconds: number | null;
  /** of one network to one process; 0: no limit */
  connectionsPerMinute: number;
  messagesPerMinute: number;
  /** `host:port` each; empty: the system's resolver */
  dnsServers: readonly string[];
}

export const defaultDoor: DoorSettings = {
  trustedNetworks: [],
  refusesEarlyTalkers: true,
  greetingDelayMs: 0,
  refusesOwnName: true,
  // README's first mail is from example.com, which accepts no mail.
  checksSenderDomain: false,
  blockLists: [],
  allowLists: [],
  greylistSeconds: null,
  connectionsPerMinute: 600,
  messagesPerMinute: 1_200,
  dnsServers: [],
};

/** Maximum recipients of one transaction (RFC 5321 §4.5.3.1.8 asks for at least 100). */
export const MAX_RECIPIENTS = 1_000;
