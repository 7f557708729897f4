import { expect, test } from 'vitest';
import { readDeliveryStatus } from '../../../core/mime/delivery-status-part.ts';
import { fateInClauses } from '../../../core/mime/undelivered-clause.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

function makeReport(recipients: number, diagnosis: string): Buffer {
  const groups = Array.from(
    { length: recipients },
    (_, at) =>
      `Final-Recipient: rfc822; joe${at}@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; ${diagnosis}\n`,
  );
  return Buffer.from(`Reporting-MTA: dns; mx.dest.test\n\n${groups.join('\n')}`);
}

test.each(['メ', 'ก', 'م', 'ह', 'ממתל', 'a'])(
  'reads 50 recipients with diagnoses of %j in time that grows with their length',
  (part) => {
    const makeText = (size: number) => part.repeat(Math.ceil(size / 50)).slice(0, Math.ceil(size / 50));
    expectLinearGrowth((size) => {
      const report = readDeliveryStatus(makeReport(50, `550 full ${makeText(size)} (in reply to RCPT TO command)`));
      expect(report?.recipients.length).toBe(50);
    }, 17_000);
  },
);

test.each(['メ', 'ก', 'م', 'لم ', 'הודע', 'הודע ', 'письм', 'a', 'mail ', 'δεν α '])(
  'finds the fate of a message in clauses of %j in time that grows with their length',
  (part) => {
    expectLinearGrowth((size) => {
      const clause = `mail ${part.repeat(Math.ceil(size / 400)).slice(0, Math.ceil(size / 400))}. `;
      for (let at = 0; at < 10; at++) fateInClauses(clause.repeat(40));
    }, 90_000);
  },
);
