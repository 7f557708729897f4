import { findLinks, linkKeys } from '../../../core/threads/threading.ts';
import type { StoredMail } from '../rows/email-rows.ts';

/** A mail of the model with what its user made of it. */
interface ModelEmail {
  mail: StoredMail;
  thread: string;
  isMoved: boolean;
  isRead: boolean;
  isArchived: boolean;
}

/**
 * Threads as docs/decisions/0010 and 0030 say, with loops over everything and nothing stored twice but which thread knows a msg-id. Mail
 * has no subject edges here. Ids of new threads are told by the caller.
 */
export class ThreadModel {
  readonly emails = new Map<string, ModelEmail>();
  readonly labels = new Map<string, Set<string>>();
  readonly aliases = new Map<string, string>();
  /** `ID ID` in both orders */
  readonly apart = new Set<string>();
  readonly #knower = new Map<string, string>();

  threadIds(): string[] {
    return [...new Set([...this.emails.values()].map(({ thread }) => thread))];
  }

  listEmails(thread: string): string[] {
    return [...this.emails].filter(([, email]) => email.thread === thread).map(([id]) => id);
  }

  living(thread: string): string {
    return this.aliases.get(thread) ?? thread;
  }

  /** A mail that comes alone; `id`: what its thread is to be called if it starts one. */
  arrive(mail: StoredMail, id: string): void {
    const links = findLinks(mail);
    const joined: string[] = [];
    for (const key of [
      ...links.inReplyTo,
      ...links.references.toReversed(),
      ...(links.own === null ? [] : [links.own]),
    ]) {
      const thread = this.#knower.get(key);
      if (thread !== undefined && !joined.some((other) => other === thread || this.apart.has(`${thread} ${other}`)))
        joined.push(thread);
    }
    const thread = joined.length === 0 ? id : this.#oldest(joined);
    if (joined.length === 0) this.labels.set(id, new Set());
    for (const other of joined) if (other !== thread) this.#end(other, thread);
    this.emails.set(mail.emailId, {
      mail,
      thread,
      isMoved: false,
      isRead: mail.isRead ?? false,
      isArchived: mail.isArchived ?? false,
    });
    for (const key of linkKeys(links)) if (!this.#knower.has(key)) this.#knower.set(key, thread);
    if (links.own !== null && !this.#bearers(links.own, this.#knower.get(links.own)).length)
      this.#knower.set(links.own, thread);
  }

  merge(threads: readonly string[]): string {
    const stays = this.#oldest([...new Set(threads.map((thread) => this.living(thread)))]);
    for (const thread of threads) if (this.living(thread) !== stays) this.#end(this.living(thread), stays);
    return stays;
  }

  split(thread: string, emailIds: readonly string[], id: string): void {
    this.labels.set(id, new Set(this.labels.get(this.living(thread))));
    this.move(emailIds, id);
  }

  move(emailIds: readonly string[], to: string): void {
    const target = this.living(to);
    const moving = emailIds.filter((emailId) => this.emails.get(emailId)?.thread !== target);
    const sources = new Set(moving.map((emailId) => this.emails.get(emailId)?.thread ?? ''));
    const before = new Map(this.#knower);
    for (const emailId of moving) {
      const email = this.emails.get(emailId);
      if (email !== undefined) Object.assign(email, { thread: target, isMoved: true });
    }
    const movedKeys = moving.flatMap((emailId) => this.#findLinks(emailId).all);
    for (const source of sources) {
      const staying = this.listEmails(source);
      if (staying.length === 0) {
        this.#end(source, target);
        continue;
      }
      for (const key of movedKeys) {
        if (before.get(key) !== source || this.#bearers(key, source).length > 0) continue;
        const isBorneByMoved = moving.some((emailId) => this.#findLinks(emailId).own === key);
        const isReferred = staying.some((emailId) => this.#findLinks(emailId).all.includes(key));
        if (isBorneByMoved || !isReferred) this.#knower.set(key, target);
      }
      for (const other of [source, ...this.#apartFrom(source)]) this.#part(other, target);
    }
  }

  #findLinks(emailId: string) {
    const email = this.emails.get(emailId);
    if (email === undefined) throw new Error(`no email ${emailId}`);
    const links = findLinks(email.mail);
    return { own: links.own, all: linkKeys(links) };
  }

  #bearers(key: string, thread: string | undefined): string[] {
    return thread === undefined
      ? []
      : this.listEmails(thread).filter((emailId) => this.#findLinks(emailId).own === key);
  }

  #apartFrom(thread: string): string[] {
    return [...this.apart].filter((pair) => pair.startsWith(`${thread} `)).map((pair) => pair.split(' ')[1] ?? '');
  }

  #part(one: string, other: string): void {
    if (one !== other) this.apart.add(`${one} ${other}`).add(`${other} ${one}`);
  }

  #oldest(threads: readonly string[]): string {
    const age = (thread: string) =>
      Math.min(...this.listEmails(thread).map((emailId) => this.emails.get(emailId)?.mail.createdAt.getTime() ?? 0));
    return threads.toSorted((a, b) => age(a) - age(b) || (a < b ? -1 : 1))[0] ?? '';
  }

  #end(loser: string, survivor: string): void {
    for (const email of this.emails.values()) if (email.thread === loser) email.thread = survivor;
    for (const [key, thread] of this.#knower) if (thread === loser) this.#knower.set(key, survivor);
    for (const [alias, thread] of this.aliases) if (thread === loser) this.aliases.set(alias, survivor);
    this.aliases.set(loser, survivor);
    for (const other of this.#apartFrom(loser)) {
      this.apart.delete(`${loser} ${other}`);
      this.apart.delete(`${other} ${loser}`);
      this.#part(survivor, other);
    }
    const labels = new Set([...(this.labels.get(survivor) ?? []), ...(this.labels.get(loser) ?? [])]);
    this.labels.set(survivor, labels);
    this.labels.delete(loser);
  }
}
