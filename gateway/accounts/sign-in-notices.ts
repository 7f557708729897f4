import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type SignInNotice, type SystemMail, signInNoticeMail } from '../../core/accounts/system-account.ts';
import type { Database } from '../../db/connection/database.ts';
import { findPersonName } from '../../db/queries/accounts/second-factor.ts';
import { findCookie, pathCookieName, writePathCookie } from './session-lookup.ts';

export interface SignInNoticeOptions {
  /** role postroom_auth */
  database: Database;
  publicUrl: string;
  /** see deriveDeviceSecret */
  secret: Uint8Array;
  now: () => Date;
  mail: (mail: SystemMail) => Promise<void>;
}

/** Mails persons about changes of what gives access to their accounts. */
export interface SignInNotices {
  /** Mails a person. Does not wait: the change has happened even if the mail cannot be sent. */
  tell(request: FastifyRequest, personId: string, notice: SignInNotice): void;
  /** Mails a person who signed in in a browser that has no mark of an earlier sign-in, and leaves the mark. */
  noteDevice(request: FastifyRequest, reply: FastifyReply, personId: string): void;
}

/** Browsers keep cookies for 400 days at most (RFC 6265bis §5.6). */
const DEVICE_SECONDS = 400 * 86_400;
/** A person is not told about the browser in which the account was created. Milliseconds. */
const NEW_ACCOUNT_MS = 300_000;

export function createSignInNotices(options: SignInNoticeOptions): SignInNotices {
  const { database, publicUrl, secret, now, mail } = options;

  async function send(
    request: FastifyRequest,
    personId: string,
    notice: SignInNotice,
    isWanted: (person: { createdAt: Date }) => boolean,
  ): Promise<void> {
    const person = await findPersonName(database, personId);
    if (person === null || !isWanted(person)) return;
    await mail(signInNoticeMail(person.email, notice, { publicUrl, at: now(), address: request.ip }));
  }
  function sendLater(
    request: FastifyRequest,
    personId: string,
    notice: SignInNotice,
    isWanted: (person: { createdAt: Date }) => boolean = () => true,
  ): void {
    send(request, personId, notice, isWanted).catch((error: unknown) =>
      request.log.warn({ err: error, personId, notice }, 'failed to mail a notice about a sign-in'),
    );
  }

  return {
    tell: (request, personId, notice) => sendLater(request, personId, notice),
    noteDevice(request, reply, personId) {
      const name = `postroom.device_${createHash('sha256').update(personId).digest('hex').slice(0, 12)}`;
      const mark = createHmac('sha256', secret).update(personId).digest();
      const given = findCookie(request.headers.cookie, pathCookieName(name, publicUrl)) ?? '';
      const known = Buffer.from(given, 'base64url');
      if (known.length === mark.length && timingSafeEqual(known, mark)) return;
      const cookie = { name, value: mark.toString('base64url'), path: '/api/auth', seconds: DEVICE_SECONDS };
      reply.header('set-cookie', writePathCookie(cookie, publicUrl));
      sendLater(request, personId, 'device', ({ createdAt }) => now().getTime() - createdAt.getTime() > NEW_ACCOUNT_MS);
    },
  };
}
