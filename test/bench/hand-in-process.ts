import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { httpLoad, httpRequest } from './http-load.ts';
import { AUTHOR, bodyDigest, makeRecipient, makeSubject, naturalText } from './messages.ts';

/** The messages of one round. */
export interface SendOrder {
  /** letters and digits; names the round's messages */
  tag: string;
  count: number;
  /** of the text of each */
  sizeBytes: number;
}

/** What came of handing them in; instants are milliseconds since the epoch with fractions, in the order of n. */
export interface SendReport {
  startedAt: number[];
  /** milliseconds until each was taken */
  acceptMs: number[];
  failures: string[];
  /** bodyDigest of each text */
  bodies: string[];
}

export type HandInOrder = SendOrder & { port: number; connections: number } & (
    | { way: 'smtp' }
    | { way: 'rest'; apiKey: string }
  );

/** Hands a round's messages in, by REST or by SMTP, in a process of its own. */
process.on('message', (order: HandInOrder) => {
  void handIn(order).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function handIn(order: HandInOrder): Promise<SendReport> {
  const texts = Array.from({ length: order.count }, () => naturalText(order.sizeBytes));
  const outcome = order.way === 'rest' ? await byRest(order, order.apiKey, texts) : await bySmtp(order, texts);
  return { ...outcome, bodies: texts.map(bodyDigest) };
}

type Outcome = Omit<SendReport, 'bodies'>;

async function byRest(order: HandInOrder, apiKey: string, texts: string[]): Promise<Outcome> {
  const requests = texts.map((text, n) => {
    const message = { from: AUTHOR.text, to: makeRecipient(n), subject: makeSubject(order.tag, n), text };
    return httpRequest('POST', '/api/e2/emails', apiKey, JSON.stringify(message));
  });
  const { port, count, connections } = order;
  const request = (n: number) => requests[n] ?? Buffer.alloc(0);
  const { startedAt, endedAt, failures } = await httpLoad({ port, count, connections, request });
  return { startedAt, acceptMs: endedAt.map((at, n) => at - (startedAt[n] ?? Number.NaN)), failures };
}

async function bySmtp(order: HandInOrder, texts: string[]): Promise<Outcome> {
  const messages = texts.map((text, n) => {
    const header = [
      `Message-ID: <${order.tag}.${n}@${AUTHOR.domain}>`,
      `From: ${AUTHOR.text}`,
      `To: ${makeRecipient(n)}`,
      `Subject: ${makeSubject(order.tag, n)}`,
      `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
    ];
    return toWireForm(Buffer.from(`${header.join('\r\n')}\r\n\r\n${text}\r\n`));
  });
  const results = await smtpLoad({
    host: '127.0.0.1',
    port: order.port,
    count: order.count,
    sessions: order.connections,
    isReusingConnections: true,
    reversePath: AUTHOR.address,
    recipients: (n) => [makeRecipient(n)],
    message: (n) => messages[n] ?? Buffer.alloc(0),
  });
  return {
    startedAt: results.map((result) => result.startedAt),
    acceptMs: results.map((result) => result.endedAt - result.startedAt),
    failures: results.filter((result) => result.code !== 250).map((result) => result.reply),
  };
}
