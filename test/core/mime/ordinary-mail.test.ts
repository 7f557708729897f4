import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readMailReport } from '../../../core/mime/parse-bounce.ts';
import { suppressedByReport } from '../../../core/mime/report-effects.ts';
import { ORDINARY_MAIL } from './bounces/ordinary-mail.ts';

const isHeld = (name: string) => (createHash('sha256').update(`ordinary ${name}`).digest()[0] ?? 0) % 3 === 0;

// Written and committed before the first look. A third is kept aside.
test.each([
  [false, false, 0],
  [false, true, 0],
  [true, false, 0],
  [true, true, 0],
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
