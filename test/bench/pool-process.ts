import { createTransport } from 'nodemailer';
import type { SendOrder, SendReport } from './hand-in-process.ts';
import { AUTHOR, bodyDigest, makeRecipient, makeSubject, naturalText } from './messages.ts';

export interface PoolOrder extends SendOrder {
  sinkPort: number;
  dkim: { domainName: string; keySelector: string; privateKey: string };
}

/** A nodemailer pool as it comes, given all of a round's messages at once, in a process of its own. */
process.on('message', (order: PoolOrder) => {
  void send(order).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function send(order: PoolOrder): Promise<SendReport> {
  const texts = Array.from({ length: order.count }, () => naturalText(order.sizeBytes));
  const transport = createTransport({ pool: true, host: '127.0.0.1', port: order.sinkPort, dkim: order.dkim });
  const report: SendReport = { startedAt: [], acceptMs: [], failures: [], bodies: texts.map(bodyDigest) };
  await Promise.all(
    texts.map(async (text, n) => {
      const startedAt = instant();
      report.startedAt[n] = startedAt;
      try {
        await transport.sendMail({ from: AUTHOR.text, to: makeRecipient(n), subject: makeSubject(order.tag, n), text });
        report.acceptMs[n] = instant() - startedAt;
      } catch (error) {
        report.failures.push(String(error));
      }
    }),
  );
  transport.close();
  return report;
}

function instant(): number {
  return performance.timeOrigin + performance.now();
}
