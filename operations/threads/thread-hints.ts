import type { AddressFields } from '../../core/mime/address.ts';
import { addParticipants, mailboxesOf, threadSearchText } from '../../core/threads/thread-participants.ts';
import {
  areSubjectNeighbours,
  linkKeys,
  linksOf,
  type SubjectAnchor,
  subjectAnchorOf,
} from '../../core/threads/threading.ts';
import type { EmailRows } from '../../db/queries/emails/store-received.ts';
import { isCredible } from '../../db/queries/threads/thread-claim.ts';

/** What the statement that takes a message compares with stored mail, to decide its thread in the two simple cases. */
export interface ThreadHints {
  /** msg-ids that may lead to a thread */
  keys: string[];
  /** those of them that lead to its thread from then on, whether they are known or not */
  firmKeys: string[];
  /** the msg-id of the message that it replies to; null: it names none */
  replyKey: string | null;
  /** null: no subject edge joins it to other mail; its date is null where the Date field cannot be believed */
  anchor: (Omit<SubjectAnchor, 'date'> & { date: Date | null }) | null;
  /** the row of the thread that it starts, or adds to a thread */
  participants: { emails: string[]; names: string[]; searchText: string };
}

/** Of the row of a received email, what its thread depends on. */
type HintedRow = Pick<
  EmailRows,
  'email_id' | 'message_id' | 'in_reply_to' | 'reference_ids' | 'subject' | 'base_subject' | 'date'
> & { own_address: string; addresses: AddressFields };

/** Returns the hints of a received email. It was not sent to a reply address. */
export function threadHints(row: HintedRow): ThreadHints {
  const mailboxes = mailboxesOf(row.addresses);
  const date = row.date === null ? null : new Date(row.date);
  const credible = isCredible(date) ? date : null;
  const message = {
    emailId: row.email_id,
    messageId: row.message_id,
    inReplyTo: row.in_reply_to,
    references: row.reference_ids,
    subject: row.subject,
    baseSubject: row.base_subject,
    ownAddress: row.own_address,
    addresses: mailboxes.map(({ address }) => address),
    createdAt: credible ?? new Date(0),
    date: credible ?? new Date(0),
  };
  const links = linksOf(message);
  const anchor = subjectAnchorOf(message, links);
  const participants = addParticipants({ emails: [], names: [] }, [
    ...mailboxes,
    { name: null, address: row.own_address },
  ]);
  return {
    keys: linkKeys(links),
    firmKeys: linkKeys({ ...links, bare: [] }),
    replyKey: links.inReplyTo[0] ?? null,
    anchor: anchor === null ? null : { ...anchor, date: credible },
    participants: { ...participants, searchText: threadSearchText(row.base_subject, participants.emails) },
  };
}

/** Whether one of two new messages of a user may join the other one's thread. */
export function mayBelongTogether(one: ThreadHints, other: ThreadHints): boolean {
  if (one.keys.some((key) => other.keys.includes(key))) return true;
  if (one.anchor === null || other.anchor === null) return false;
  // Without a date, they are as near as can be.
  const date = one.anchor.date ?? other.anchor.date ?? new Date(0);
  const dateOfOther = other.anchor.date ?? date;
  return areSubjectNeighbours({ ...one.anchor, date }, { ...other.anchor, date: dateOfOther });
}
