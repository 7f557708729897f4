/** Maximum length of a note; characters (code points). */
export const MAX_NOTE_LENGTH = 5_000;
/** Maximum notes in a thread. */
export const MAX_NOTES = 500;
/** Maximum members that one note mentions. */
export const MAX_MENTIONS = 20;

/** Returns a note in its stored form: NFC, with line feeds, trimmed. Null when it is empty, too long, or has control characters. */
export function normalizeNote(text: string): string | null {
  if (!text.isWellFormed()) return null;
  const note = text.replaceAll(/\r\n?/g, '\n').normalize('NFC').trim();
  const { length } = Array.from(note);
  return length === 0 || length > MAX_NOTE_LENGTH || /(?![\n\t])\p{Cc}/u.test(note) ? null : note;
}

/** A member who can be mentioned. */
export interface Mentionable {
  personId: string;
  /** lower case */
  email: string;
}

/**
 * Returns the members whom a note mentions, each once, in order: by `@` and the address, or by `@` and the part of the address before the
 * @ if only one member has it. An address in the text that does not follow an `@` of its own mentions no one.
 */
export function findMentions<Member extends Mentionable>(note: string, members: readonly Member[]): Member[] {
  const byEmail = new Map(members.map((member) => [member.email, member]));
  const byLocalPart = Map.groupBy(members, ({ email }) => email.slice(0, email.lastIndexOf('@')));
  const found = new Map<string, Member>();
  for (const [, written = ''] of note.matchAll(MENTION)) {
    const name = written.toLowerCase().replace(/[.,!?'-]+$/, '');
    const [first, second] = byLocalPart.get(name) ?? [];
    const member = byEmail.get(name) ?? (second === undefined ? first : undefined);
    if (member !== undefined) found.set(member.personId, member);
  }
  return [...found.values()];
}

const MENTION = /(?<![^\s(,;:"'[])@([^\s@,;:()[\]<>"]{1,64}(?:@[^\s@,;:()[\]<>"]{1,255})?)/gu;
