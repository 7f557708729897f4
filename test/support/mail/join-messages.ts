import type { ParsedMessage } from '../../../core/mime/parse-message.ts';
import { baseSubject } from '../../../core/mime/subject.ts';
import {
  findLinks,
  findSubjectAnchor,
  type Joinable,
  joinBatch,
  type ThreadableMessage,
} from '../../../core/threads/threading.ts';

const SECOND_MS = 1_000;

/** Returns the names of the messages of each thread; messages arrive in their order, a second apart. */
export function joinMessages(messages: readonly (readonly [name: string, parsed: ParsedMessage])[]): string[][] {
  const joined = joinBatch(messages.map(toJoinable), { threadOfKey: new Map(), threadsBySubject: new Map() });
  return joined.map(({ messages: each }) => each.map(({ message }) => message.emailId));
}

function toJoinable([name, parsed]: readonly [string, ParsedMessage], index: number): Joinable<ThreadableMessage> {
  const { messageId, inReplyTo, references, subject, addresses, date } = parsed;
  const createdAt = new Date(Date.UTC(2026, 0, 1) + index * SECOND_MS);
  const message = {
    emailId: name,
    messageId: messageId ?? '',
    inReplyTo,
    references,
    subject,
    baseSubject: baseSubject(subject),
    ownAddress: 'hello@inbox.test',
    addresses: [addresses.from, addresses.to, addresses.cc].flatMap((list) =>
      (list?.addresses ?? []).map(({ address }) => address),
    ),
    createdAt,
    date: date ?? createdAt,
  };
  const links = findLinks(message);
  return { message, links, anchor: findSubjectAnchor(message, links) };
}
