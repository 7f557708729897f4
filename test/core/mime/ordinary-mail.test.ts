import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readMailReport } from '../../../core/mime/parse-bounce.ts';
import { suppressedByReport } from '../../../core/mime/report-effects.ts';
import { ORDINARY_MAIL } from './bounces/ordinary-mail.ts';

const isHeld = (name: string) => (createHash('sha256').update(`ordinary ${name}`).digest()[0] ?? 0) % 3 === 0;

// Written and committed before the first look, at which 10 of 15 and 6 of 7 were read so at a return address, and all elsewhere. A third is kept aside.
// A list of bounces and a reply that quotes one without naming it in a field are still read as bounces.
test.each([
  [false, false, 15],
  [false, true, 7],
  [true, false, 13],
  [true, true, 6],
])(
  'ordinary mail (at a return address: %s, kept aside: %s) is no bounce that suppresses an address: at least %i',
  async (isAtReturnAddress, held, least) => {
    const all = ORDINARY_MAIL.filter(({ name }) => isHeld(name) === held);
    const wrong: string[] = [];
    for (const { name, from, subject, text } of all) {
      const lines = [
        'To: hello@inbox.test',
        `From: ${from}`,
        `Subject: ${subject}`,
        'Content-Type: text/plain; charset=utf-8',
        '',
        text,
      ];
      const report = await readMailReport(Buffer.from(lines.join('\n').replaceAll('\n', '\r\n')), {
        isAtReturnAddress,
      });
      const isWrong =
        report?.kind === 'feedback' ||
        (report?.kind === 'delivery-status' && report.recipients.some(suppressedByReport));
      if (isWrong) wrong.push(held ? 'kept aside' : `${name}: ${JSON.stringify(report)}`);
    }
    expect(all.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(least);
  },
);
