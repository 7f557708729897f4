import { createPrivateKey } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import { parentDomains } from '../../core/domains/domain-name.ts';
import { isUnsealed, sealArc, withoutArcResults } from '../../core/sending/arc-seal.ts';
import { type DkimSigner, makeDkimSignature } from '../../core/sending/dkim-signature.ts';
import { decryptSecret } from '../../core/shared/secret-box.ts';
import { createSemaphore } from '../../core/shared/semaphore.ts';
import { createCountedCache } from '../../core/shared/sized-cache.ts';
import { findHostedSigningKey, findSigningKey } from '../../db/queries/domains/dkim-key.ts';
import type { ActorContext } from '../actor.ts';
import type { Transaction } from './sending-job.ts';

/** Reads messages in the form in which they are sent: the stored message with a DKIM signature. */
export interface MessageSigner {
  /**
   * Returns the signed message; unsigned when no domain of the sender has a key, which is logged once per domain. Null when the stored
   * message was removed or is damaged. Throws when PostgreSQL is unreachable or the key cannot be decrypted.
   */
  read(transaction: Transaction): Promise<Buffer | null>;
}

/** How long a key is cached: a rotated key may still sign for this long. Milliseconds. */
const KEY_AGE_MS = 10_000;
/** A message to several domains is signed once for the transactions within this time; milliseconds, and total bytes. */
const MESSAGE_AGE_MS = 5_000;
const MESSAGE_BYTES = 32_000_000;
/** Total bytes of messages being read or signed: each is in memory several times meanwhile. A single message may be larger. */
const BYTES_AT_ONCE = 32_000_000;
const MAX_KEYS = 10_000;
const MAX_MESSAGES = 500;

export function createMessageSigner(context: ActorContext, secretKey: Uint8Array): MessageSigner {
  const keys = createShortMemory<DkimSigner | null>(KEY_AGE_MS, MAX_KEYS);
  const messages = createShortMemory<Buffer | null>(MESSAGE_AGE_MS, MAX_MESSAGES);
  const reading = createSemaphore(BYTES_AT_ONCE);
  /** logged ones */
  const unsignedDomains = createCountedCache<true>(MAX_KEYS);
  let keptBytes = 0;

  const findKey = async ({ workspaceId, senderDomain, isSystemSender }: Transaction): Promise<DkimSigner | null> => {
    const names = [senderDomain, ...parentDomains(senderDomain)];
    // Mail from the service's own address is signed with the key of the user who owns its domain.
    const found = isSystemSender
      ? await findHostedSigningKey(context.database, names)
      : await findSigningKey(context.database, workspaceId, names);
    if (found === null) return null;
    const { domain, selector, privateKeyCiphertext } = found;
    // Signing with a key that is read once takes half the time of signing with its text.
    return {
      domain,
      selector,
      privateKey: createPrivateKey(decryptSecret(secretKey, 'dkim-key', privateKeyCiphertext)),
    };
  };

  const readAndSign = async (transaction: Transaction): Promise<Buffer | null> => {
    const { workspaceId, senderDomain, isSystemSender, rawId } = transaction;
    const bytes = rawId === null ? null : await context.bytes.get(rawId);
    if (bytes === null) return null;
    const owner = isSystemSender ? 'system' : workspaceId;
    const key = await keys.remember(`${owner} ${senderDomain}`, () => findKey(transaction));
    if (key !== null) {
      const signature = await makeDkimSignature(bytes, key, otherWork);
      const seal = isUnsealed(bytes) ? await sealArc(bytes, key, otherWork) : '';
      return Buffer.concat([Buffer.from(`${seal}${signature}`, 'latin1'), bytes]);
    }
    if (!unsignedDomains.has(senderDomain)) {
      unsignedDomains.set(senderDomain, true);
      context.log.warn(
        { workspaceId, domain: senderDomain },
        'sending: a domain has no DKIM key, its mail goes unsigned',
      );
    }
    return isUnsealed(bytes) ? withoutArcResults(bytes) : bytes;
  };

  return {
    async read(transaction) {
      if (transaction.rawId === null) return null;
      // Not by email: a received email may have several forwarded copies.
      return messages.remember(`${transaction.rawId} ${transaction.senderDomain}`, async () => {
        const bytes = await reading.run(() => readAndSign(transaction), transaction.bytes);
        keptBytes += bytes?.length ?? 0;
        if (keptBytes > MESSAGE_BYTES) {
          messages.clear();
          keptBytes = bytes?.length ?? 0;
        }
        return bytes;
      });
    },
  };
}

interface ShortMemory<T> {
  /** Returns the cached value of the key, or loads it. A failure is not cached. */
  remember(key: string, find: () => Promise<T>): Promise<T>;
  clear(): void;
}

function createShortMemory<T>(ageMs: number, most: number): ShortMemory<T> {
  // In insertion order: the first entry is the oldest.
  const kept = new Map<string, { found: Promise<T>; until: number }>();
  return {
    remember(key, find) {
      const now = performance.now();
      for (const [oldKey, { until }] of kept) {
        if (until > now && kept.size <= most) break;
        kept.delete(oldKey);
      }
      const known = kept.get(key);
      if (known !== undefined) return known.found;
      const found = find();
      kept.set(key, { found, until: now + ageMs });
      found.catch(() => {
        if (kept.get(key)?.found === found) kept.delete(key);
      });
      return found;
    },
    clear: () => kept.clear(),
  };
}
