import { describe, expect, test } from 'vitest';
import { readMailReport } from '../../../core/mime/parse-bounce.ts';
import { suppressedByReport } from '../../../core/mime/report-effects.ts';
import { OTHER_REFUSALS } from '../sending/policy-refusals.ts';
import { dsn, plain } from './bounces/bounce-case.ts';
import { HARMLESS_REPLIES } from './bounces/harmless-mail.ts';
import { OTHER_REPLIES } from './bounces/other-replies.ts';
import { ABSENT_REFUSALS, OTHER_REFUSALS_OF_SERVERS } from './bounces/published-refusals.ts';
import { UNKNOWN_REPLIES } from './bounces/unknown-replies.ts';

/** Returns the reply as Postfix reports it, and in a machine-readable part with a general status. */
function reportsWith(reply: string): string[] {
  const text = `I'm sorry to have to inform you that your message could not
be delivered to one or more recipients.

<joe@dest.test>: host mx.dest.test[192.0.2.1] said: ${reply} (in reply to RCPT TO command)`;
  const fields = `Final-Recipient: rfc822; joe@dest.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; ${reply}`;
  return [plain('Postfix', 'hard', text).mail, dsn('Postfix', 'hard', { fields }).mail];
}

async function areSuppressed(reply: string): Promise<boolean[]> {
  return Promise.all(
    reportsWith(reply).map(async (mail) => {
      const report = await readMailReport(Buffer.from(mail), { isAtReturnAddress: true });
      const first = report?.kind === 'delivery-status' ? report.recipients[0] : undefined;
      return first !== undefined && suppressedByReport(first);
    }),
  );
}

describe('a recipient is suppressed', () => {
  test.each([...UNKNOWN_REPLIES, ...ABSENT_REFUSALS])('after %s', async (reply) => {
    expect(await areSuppressed(reply)).toEqual([true, true]);
  });
});

describe('no recipient is suppressed', () => {
  test.each([...OTHER_REPLIES, ...OTHER_REFUSALS, ...HARMLESS_REPLIES, ...OTHER_REFUSALS_OF_SERVERS])(
    'after %s',
    async (reply) => {
      expect(await areSuppressed(reply)).toEqual([false, false]);
    },
  );

  test.each(['451 User unknown', '450 No such user here', '451 User lookup: no match yet, please retry'])(
    'after the temporary reply %s, which only words call permanent',
    async (reply) => {
      const [isSuppressed] = await areSuppressed(reply);
      expect(isSuppressed).toBe(false);
    },
  );
});
