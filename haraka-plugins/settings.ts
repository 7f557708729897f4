/** The settings of one SMTP process. The process that starts it decides all of them; this folder reads no environment. */
export interface SmtpSettings {
  /** an IP address or a host name, without a port */
  host: string;
  port: number;
  /** name in the banner, in the answer to EHLO and in our Received field */
  mailHostname: string;
  bus: { kind: 'socket'; path: string } | { kind: 'nats'; url: string };
  /** PEM files; null: a certificate of our own making, kept in `dataDirectory` */
  tls: { keyPath: string; certPath: string } | null;
  dataDirectory: string;
  /** addresses and networks of proxies: each connection from there begins with a line of the PROXY protocol */
  proxies: readonly string[];
  limits: SmtpLimits;
  /** ends the process when it is reached, for tests */
  fault: (point: SmtpFaultPoint) => void;
}

/** Where a test can end the process: the message is complete but the receiving actor was not asked; it is stored but the client has no reply. */
type SmtpFaultPoint = 'smtp.before-ask' | 'smtp.after-answer';

/** What one SMTP process takes on. */
export interface SmtpLimits {
  connections: number;
  /** from one IPv4 address or one IPv6 /64; 127.0.0.1 and ::1 are exempt: a proxy or a load generator on this machine speaks for many */
  connectionsPerAddress: number;
  /** from one reply to the next complete command, and the grace of the DATA phase; seconds */
  commandSeconds: number;
  /** slowest pace of the DATA phase beyond its grace */
  leastBytesPerSecond: number;
  /** bytes of unfinished and undecided messages in this process */
  heldBytes: number;
}

/** RFC 5321 §4.5.3.2 asks for longer limits than hostile clients allow. */
export const defaultSmtpLimits: SmtpLimits = {
  connections: 10_000,
  connectionsPerAddress: 50,
  commandSeconds: 60,
  leastBytesPerSecond: 500,
  heldBytes: 256_000_000,
};

/** Recipients of one transaction (RFC 5321 §4.5.3.1.8 asks for at least 100). */
export const MAX_RECIPIENTS = 1_000;
