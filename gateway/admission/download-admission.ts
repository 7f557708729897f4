import type { FastifyReply, FastifyRequest } from 'fastify';
import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import { readDownloadLink } from '../../core/endpoints/download-link.ts';
import { openCaller } from '../http/caller.ts';
import { type AdmissionOptions, countRequest } from './admission.ts';

export interface DownloadAdmissionOptions extends Pick<AdmissionOptions, 'limiter' | 'now'> {
  /** the admission of all other routes */
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** see deriveDownloadLinkKey */
  linkKey: Uint8Array;
}

/**
 * Lets a download in by its signed link, in the name of the user who was sent it and within that user's request limit. A request that
 * bears a key goes by the key; one whose signature is missing, forged or over is one without any credential, and answered like it, so
 * that nothing is learnt from trying. Throws what admission throws.
 */
export function downloadAdmission(options: DownloadAdmissionOptions) {
  const { admit, linkKey, now } = options;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const userId = request.headers.authorization === undefined ? ownerOf(request, linkKey, now()) : null;
    if (userId === null) return await admit(request, reply);
    request.userId = userId;
    request.rights = FULL_RIGHTS;
    request.caller = openCaller(reply, { via: null, isAllowed: async () => true });
    await countRequest(options, userId, reply);
  };
}

function ownerOf(request: FastifyRequest, linkKey: Uint8Array, now: Date): string | null {
  const { id, index } = request.params as { id: string; index?: string };
  const { user, expires, signature } = request.query as Record<string, unknown>;
  // A place has one spelling in a link.
  if (index !== undefined && !/^(?:0|[1-9]\d{0,5})$/.test(index)) return null;
  const part = index === undefined ? 'raw' : Number(index);
  return readDownloadLink(linkKey, { emailId: id, part }, { user, expires, signature }, now);
}
