import { randomBytes } from 'node:crypto';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { naturalText } from './messages.ts';

/** The load of one round, run in a process of its own so that it shares no event loop with what it measures. */
export interface LoadOrder {
  port: number;
  recipient: string;
  count: number;
  sessions: number;
  isReusingConnections: boolean;
  sizeBytes: number;
  /** begins every Message-ID, so that a round's messages are told apart */
  tag: string;
  perSecond?: number;
}

/** What came of it; instants are milliseconds since the epoch with fractions. */
export interface LoadReport {
  accepted: number;
  refused: string[];
  firstByteAt: number;
  lastReplyAt: number;
  /** start of message n, in order of n */
  startedAt: number[];
  /** milliseconds from the first byte of a transaction to its 250 */
  replyMs: number[];
}

/** A plausible message of about that size: header fields, text, and above 16 KB a base64 attachment; bytes distinct per message. */
function composeMessage(order: LoadOrder, n: number): Buffer {
  const boundary = `b${order.tag}${n}`;
  const isLarge = order.sizeBytes > 16_384;
  const header = [
    `Message-ID: <${order.tag}.${n}@load.test>`,
    `From: "Load Sender ${n % 50}" <sender${n % 50}@load.test>`,
    `To: <${order.recipient}>`,
    `Subject: Order ${order.tag} ${n} has a question`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
    isLarge ? `Content-Type: multipart/mixed; boundary="${boundary}"` : 'Content-Type: text/plain; charset=utf-8',
    '',
    '',
  ].join('\r\n');
  if (!isLarge) return toWireForm(Buffer.from(header + naturalText(Math.max(order.sizeBytes - header.length, 100))));
  const attachment = randomBytes(Math.floor(((order.sizeBytes - 5_000) * 3) / 4 / 1.03))
    .toString('base64')
    .replace(/(.{76})/g, '$1\r\n');
  const body = [
    `--${boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    naturalText(4_000),
    `--${boundary}`,
    'Content-Type: application/pdf; name="report.pdf"',
    'Content-Disposition: attachment; filename="report.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    attachment,
    `--${boundary}--`,
    '',
  ].join('\r\n');
  return toWireForm(Buffer.from(header + body));
}

process.on('message', (order: LoadOrder) => {
  void load(order).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));

async function load(order: LoadOrder): Promise<LoadReport> {
  const messages = Array.from({ length: order.count }, (_, n) => composeMessage(order, n));
  const results = await smtpLoad({
    host: '127.0.0.1',
    port: order.port,
    count: order.count,
    sessions: order.sessions,
    isReusingConnections: order.isReusingConnections,
    reversePath: 'sender@load.test',
    recipients: () => [order.recipient],
    message: (n) => messages[n] ?? Buffer.alloc(0),
    // As from many senders: limits and lookups per address and network count for each.
    localAddress: (connection) => `127.${20 + (connection % 200)}.0.1`,
    ...(order.perSecond === undefined ? {} : { perSecond: order.perSecond }),
  });
  const accepted = results.filter((result) => result.code === 250);
  return {
    accepted: accepted.length,
    refused: results.filter((result) => result.code !== 250).map((result) => result.reply),
    firstByteAt: Math.min(...results.map((result) => result.startedAt)),
    lastReplyAt: Math.max(...results.map((result) => result.endedAt)),
    startedAt: results.map((result) => result.startedAt),
    replyMs: accepted.map((result) => result.endedAt - result.startedAt),
  };
}
