import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { textOfHtml } from '../../../../core/html/text-of-html.ts';
import { decodeAttachment } from '../../../../core/mime/attachment.ts';
import { findEvent } from '../../../../core/mime/calendar-event.ts';
import { extractFrom } from '../../../../core/mime/extracts.ts';
import { readListUnsubscribe } from '../../../../core/mime/list-unsubscribe.ts';
import { kindOfReport, readMailReport } from '../../../../core/mime/parse-bounce.ts';
import { type ParsedMessage, parseMessage } from '../../../../core/mime/parse-message.ts';
import { suppressedByReport } from '../../../../core/mime/report-effects.ts';
import { baseSubject } from '../../../../core/mime/subject.ts';
import { automaticReplyRefusal } from '../../../../core/sending/automatic-reply.ts';

/** The tenth set has a file for each family of bounces. */
type BounceFamily = 'unix' | 'windows' | 'providers' | 'languages' | 'odd';
/** What a file of whole messages is about. */
export type FrozenKind =
  | BounceFamily
  | 'bounces'
  | 'automatic'
  | 'answers'
  | 'replies'
  | 'codes'
  | 'invitations'
  | 'odd';

/**
 * `first`: 193 messages; `second`: 249 of what is usual; `third`: 172 of what is rarer; `fourth`: 49 near to what was cured; `fifth`: 51 of
 * yet other programs; `sixth`: 340 of other languages, telephones and providers, a third of which only look like what is removed or found; `seventh`: 86
 * that were written after the cures for the sixth; `eighth` and `ninth`: 60 and 81 after those for the seventh;
 * `tenth`: 224 bounces; `reported`: 266 after public bug reports of mail parsers, help desks and clients, which their titles name;
 * `reported-later`: 130 after others, written when the first were cured;
 * `reported-last`: 65 after those; `december`: 331 by an author who had not seen the product's code or the other sets;
 * `december-later`: 71 near to what that author's set showed, and look-alikes.
 */
export type FrozenSet =
  | 'first'
  | 'second'
  | 'third'
  | 'fourth'
  | 'fifth'
  | 'sixth'
  | 'seventh'
  | 'eighth'
  | 'ninth'
  | 'tenth'
  | 'reported'
  | 'reported-later'
  | 'reported-last'
  | 'december'
  | 'december-later';

/** A whole message that was written and committed before anyone looked at what the product makes of it. */
export interface FrozenMessage {
  name: string;
  raw: Buffer;
  expected: string;
  /** of the message that bounced, the one that its return address was made for first */
  recipients: string[];
  /** whether it was kept aside: nothing in the product was changed with it in sight */
  isHeld: boolean;
}

/** Returns the messages of a file: each begins with `=== name | expected`, and may expect the text below its last `~~~`. */
export function readFrozenMessages(set: FrozenSet, kind: FrozenKind): FrozenMessage[] {
  const file = readFileSync(path.join(import.meta.dirname, set, `${kind}.txt`), 'utf8');
  return file
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const [title = '', ...lines] = block.split('\n');
      const [name = '', expected = '', recipients = 'joe@dest.test'] = title.split(' | ');
      const [raw = '', below] = lines.join(set === 'first' ? '\n' : '\r\n').split(/\r?\n~~~\r?\n/);
      const isHeld = (createHash('sha256').update(title).digest()[0] ?? 0) % 3 === 0;
      return {
        name,
        raw: Buffer.from(raw),
        expected: below === undefined ? expected : spaced(below),
        recipients: recipients.split(' '),
        isHeld,
      };
    });
}

/** Returns what the product reads in a message, in the words of its file. */
export async function readAsFrozen(kind: FrozenKind, { raw, expected }: FrozenMessage): Promise<string> {
  if (kind === 'bounces' || kind === 'automatic') return readReport(raw, expected);
  const message = await parseMessage(raw);
  if (kind === 'answers') return readResponse(message);
  if (kind === 'replies') return spaced(message.cleanedText ?? textOfHtml(message.cleanedHtml ?? '') ?? '');
  if (kind === 'codes') return readExtract(message, expected);
  if (kind === 'odd') return readFact(message, raw, expected.split(' ')[0] ?? '');
  const event = findEvent(message.attachments);
  const [start, end] = [event?.start, event?.end].map((at) => at?.replace('.000Z', 'Z'));
  return `${event?.method?.toLowerCase()} ${start} ${end} ${event?.summary}`;
}

/** Its third word is a reason, which is read where reasons are expected; several of them, apart by slashes, may be right. */
async function readReport(raw: Buffer, expected: string): Promise<string> {
  const report = await readMailReport(raw, { isAtReturnAddress: true });
  const kind = kindOfReport(report);
  if (report?.kind === 'feedback') return [kind, ...report.originalRecipients].join(' ');
  const [first] = report?.kind === 'delivery-status' ? report.recipients : [];
  if (first === undefined || (kind !== 'bounce' && kind !== 'delay'))
    return expected.split('/').includes(kind) ? expected : kind;
  const result = kind === 'delay' ? kind : suppressedByReport(first) ? 'hard' : 'soft';
  const read = `${result} ${first.originalRecipient ?? first.finalRecipient}`;
  const [reasons] = expected.split(' ').slice(2);
  if (reasons === undefined) return read;
  const isRight = reasons.split('/').some((reason) => reason === first.reason);
  return `${read} ${isRight ? reasons : first.reason}`;
}

function readResponse({ headers, addresses }: ParsedMessage): string {
  const fields = new Map(headers);
  const returnPath = fields.get('return-path') === '<>' ? '' : null;
  const fromAddress = addresses.from?.addresses[0]?.address ?? '';
  return automaticReplyRefusal({ headers, returnPath, fromAddress }) === null ? 'may' : 'silent';
}

function readExtract(message: ParsedMessage, expected: string): string {
  const { subject, textBody: text, htmlBody: html, headers, attachments } = message;
  const { codes, links } = extractFrom({ subject, text, html, headers, attachments });
  if (expected.startsWith('link ')) return codes.length === 0 ? `link ${links[0]?.url}` : 'a code';
  return codes[0]?.code ?? 'none';
}

function readFact(message: ParsedMessage, raw: Buffer, fact: string): string {
  const [attachment] = message.attachments;
  const { start = 0, length = 0, transferEncoding = '7bit' } = attachment ?? {};
  if (fact === 'file' && decodeAttachment(raw.subarray(start, start + length), transferEncoding).length === 0)
    return 'empty';
  const facts: Record<string, string | null | undefined> = {
    subject: message.subject,
    text: spaced(message.textBody ?? ''),
    file: attachment?.filename,
    date: message.date?.toISOString().slice(0, 19),
    from: message.addresses.from?.addresses[0]?.name,
    base: baseSubject(message.subject),
    references: message.references.join(' '),
    inreplyto: message.inReplyTo.join(' '),
    unsubscribe: readUnsubscribe(message),
  };
  return `${fact} ${facts[fact]}`;
}

function readUnsubscribe({ headers }: ParsedMessage): string {
  const { url = null, mailto = null } = readListUnsubscribe({ headers, authentication: null }) ?? {};
  return `${url} ${mailto}`;
}

function spaced(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
