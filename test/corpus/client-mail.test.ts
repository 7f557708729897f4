import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readCalendarEvent } from '../../core/mime/calendar-event.ts';
import { extractFrom } from '../../core/mime/extracts.ts';
import { kindOfReport, readMailReport } from '../../core/mime/parse-bounce.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { readReply } from '../../core/mime/reply-text.ts';
import { BOUNCE_CASES, CODE_CASES, EVENT_CASES, REPLY_CASES, SHAPE_CASES } from './client-mail.ts';

const withLineEnds = (mail: string) => Buffer.from(mail.replaceAll('\n', '\r\n'));

/** Whether a case was kept aside. */
const isHeld = (name: string) => (createHash('sha256').update(name).digest()[0] ?? 0) % 3 === 0;

/** Kinds of cases, and how each is read as a person would. */
const READERS: Readonly<Record<string, () => Promise<{ name: string; isRight: boolean }[]>>> = {
  bounces: () =>
    Promise.all(
      BOUNCE_CASES.map(async ({ name, mail, kind, isHard }) => {
        const report = await readMailReport(withLineEnds(mail), { isAtReturnAddress: true });
        const first = report?.kind === 'delivery-status' ? report.recipients[0] : undefined;
        const isBounceRight = isHard === null || (first?.bounce === 'hard') === isHard;
        return { name, isRight: kindOfReport(report) === kind && isBounceRight };
      }),
    ),
  replies: async () => REPLY_CASES.map(({ name, text, reply }) => ({ name, isRight: readReply(text).text === reply })),
  codes: async () =>
    CODE_CASES.map(({ name, subject, text, code }) => {
      const { codes } = extractFrom({ subject, text, html: null, headers: [], attachments: [] });
      return { name, isRight: (codes[0]?.code ?? null) === code };
    }),
  events: async () =>
    EVENT_CASES.map(({ name, calendar, ...expected }) => {
      const event = readCalendarEvent(calendar, null);
      const fields = Object.entries(expected);
      return { name, isRight: event !== null && fields.every(([key, value]) => Reflect.get(event, key) === value) };
    }),
  shapes: () =>
    Promise.all(
      SHAPE_CASES.map(async ({ name, mail, text, files }) => {
        const { textBody, attachments } = await parseMessage(withLineEnds(mail));
        const isTextRight = textBody?.trim().replace(/\n+/g, '\n') === text;
        return { name, isRight: isTextRight && String(attachments.map(({ filename }) => filename)) === String(files) };
      }),
    ),
};

describe('of mail as mail systems and programs write it', () => {
  // At first, one bounce and one code that were looked at were wrong, and one reply that was kept aside.
  test.each([
    ['bounces', 0],
    ['replies', 1],
    ['codes', 0],
    ['events', 0],
    ['shapes', 0],
  ])('all %s are read as a person reads them, but at most %i that was kept aside', async (kind, held) => {
    const wrong = ((await READERS[kind]?.()) ?? []).filter(({ isRight }) => !isRight).map(({ name }) => name);
    expect(wrong.filter((name) => !isHeld(name))).toEqual([]);
    expect(wrong.filter(isHeld).length).toBeLessThanOrEqual(held);
  });
});
