import type { Authentication } from './authentication.ts';

/**
 * Who vouches for the sender of a message: `verified`: the domain in the From field; `forwarded`: a forwarding server; `other_domain`: another
 * domain; `unverified`: no domain; `failed`: the domain in the From field says that it does not; `unchecked`: DNS did not respond.
 */
export const SENDER_VERDICTS = ['verified', 'forwarded', 'other_domain', 'unverified', 'failed', 'unchecked'] as const;

export interface SenderVerdict {
  verdict: (typeof SENDER_VERDICTS)[number];
  /** the domain that vouches for the message; null if there is none */
  domain: string | null;
  /** one or two sentences */
  text: string;
}

/**
 * Returns who vouches for a message, in words. `organizationOf` returns the registered domain of a name, null if there is none: DKIM and SPF
 * count for the domain in the From field if both belong to one organization (RFC 9989 §4.4).
 */
export function senderVerdict(
  { spf, dkim, dmarc, arc, hasSeveralFromFields }: Authentication,
  organizationOf: (domain: string) => string | null,
): SenderVerdict {
  const from = dmarc.domain;
  if (hasSeveralFromFields)
    return noOne('failed', 'The message has more than one From field, so its sender is not known.');
  if (from === null)
    return noOne('unverified', 'The From field names no domain, or several, so no domain can confirm the sender.');
  const signers = dkim.flatMap(({ result, domain }) => (result === 'pass' && domain !== null ? [domain] : []));
  const authorizer = spf.result === 'pass' ? spf.domain : null;
  const isAligned = (domain: string) =>
    domain === from || (organizationOf(domain) ?? domain) === (organizationOf(from) ?? from);
  const signer = signers.find((domain) => domain === from) ?? signers.find(isAligned);
  const authorized = authorizer !== null && isAligned(authorizer) ? authorizer : undefined;
  if (dmarc.result !== 'fail' && signer !== undefined) {
    return { verdict: 'verified', domain: signer, text: `${signer} signed this message (DKIM).` };
  }
  if (dmarc.result !== 'fail' && authorized !== undefined) {
    return {
      verdict: 'verified',
      domain: authorized,
      text: `${authorized} allows the sending server to send its mail (SPF).`,
    };
  }
  const doubt = dmarc.result === 'fail' ? describeRefusal(from, dmarc.policy) : `${from} does not confirm it.`;
  if (arc.result === 'pass') {
    const forwarder = arc.domain ?? null;
    const name = forwarder ?? 'A forwarding server';
    return {
      verdict: 'forwarded',
      domain: forwarder,
      text: `${name} forwarded this message and vouches for it (ARC). ${doubt}`,
    };
  }
  if (dmarc.result === 'fail') return noOne('failed', doubt);
  const [other] = signers;
  if (other !== undefined) {
    return { verdict: 'other_domain', domain: other, text: `${other} signed this message (DKIM), but ${doubt}` };
  }
  if (authorizer !== null) {
    const text = `${authorizer} allows the sending server to send its mail (SPF), but ${doubt}`;
    return { verdict: 'other_domain', domain: authorizer, text };
  }
  const isOpen = [spf, dmarc, ...dkim].some(({ result }) => result === 'temperror');
  if (isOpen) return noOne('unchecked', 'The sender could not be checked because DNS did not respond.');
  return noOne('unverified', `No domain vouches for this message. Anyone can write ${from} into the From field.`);
}

function noOne(verdict: SenderVerdict['verdict'], text: string): SenderVerdict {
  return { verdict, domain: null, text };
}

function describeRefusal(from: string, policy: Authentication['dmarc']['policy']): string {
  const asks =
    policy === 'reject'
      ? ', and asks receivers to reject such mail'
      : policy === 'quarantine'
        ? ', and asks receivers to treat such mail as suspicious'
        : '';
  return `${from} does not confirm it (DMARC)${asks}.`;
}
