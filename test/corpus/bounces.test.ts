import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { kindOfReport, type MailReport, type ReportKind, readMailReport } from '../../core/mime/parse-bounce.ts';
import { suppressedByReport } from '../../core/mime/report-effects.ts';
import { corporaDirectory, hasCorpora } from '../support/mail/corpora.ts';

interface Fact {
  file: string;
  agent: string;
  /** null: nothing is known */
  expected: { reason: string; hard: boolean }[] | null;
}

const folder = path.join(corporaDirectory, 'bounces');

describe.skipIf(!hasCorpora)('of the 363 bounces and reports of the corpora, at return addresses', () => {
  test('99 % are of the expected kind, 97 % hard or soft as expected, and all but one hard one suppress their recipients', async () => {
    const facts = (await readFile(path.join(folder, 'facts.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Fact);
    const wrong = { kind: [] as string[], bounce: [] as string[], suppressed: [] as string[] };
    for (const fact of facts) {
      const report = await readMailReport(await readFile(path.join(folder, fact.file)), { isAtReturnAddress: true });
      const expected = fact.expected?.[0];
      if (!listKinds(fact).includes(kindOfReport(report))) wrong.kind.push(fact.file);
      if (expected === undefined) continue;
      const first = readFirst(report);
      if ((first?.bounce === 'hard') !== expected.hard) wrong.bounce.push(fact.file);
      if ((first !== undefined && suppressedByReport(first)) !== expected.hard) wrong.suppressed.push(fact.file);
    }
    expect(facts).toHaveLength(363);
    // A delay that is expected to be a bounce: "No MX found for domain", but the message stays in the queue.
    expect(wrong.kind).toEqual(['eml/lhost-opensmtpd-12.eml']);
    // The others say that the user is unknown, and are expected to be refused by a filter.
    expect(wrong.bounce).toEqual(UNEXPECTED);
    expect(wrong.suppressed).toEqual(UNEXPECTED);
  });
});

const UNEXPECTED = [
  'eml/lhost-apachejames-01.eml',
  'eml/lhost-exchange2003-04.eml',
  'eml/lhost-messagingserver-06.eml',
  'eml/lhost-opensmtpd-12.eml',
  'eml/lhost-postfix-07.eml',
  // RCPT was refused in a pipeline: `554 no valid recipients` follows.
  'eml/lhost-sendmail-48.eml',
  'eml/lhost-x1-02.eml',
  'eml/lhost-x2-01.eml',
  'eml/lhost-x2-02.eml',
  'eml/rfc3464-42.eml',
];

function listKinds({ agent, expected }: Fact): ReportKind[] {
  const first = expected?.[0];
  if (first === undefined) return agent === 'rfc3834' ? ['automatic-reply'] : ['bounce', 'delay'];
  if (first.reason === 'feedback' || first.reason === 'delivered') return [first.reason];
  // The facts do not tell a soft bounce from a delay.
  return first.hard ? ['bounce'] : ['bounce', 'delay'];
}

function readFirst(report: MailReport | null) {
  return report?.kind === 'delivery-status' ? report.recipients[0] : undefined;
}
