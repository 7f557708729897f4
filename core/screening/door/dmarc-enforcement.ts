import type { Authentication } from '../../mime/authentication.ts';

/** What is done about mail that fails DMARC: nothing, it is held, or it is refused when the policy of its domain asks for that. */
export const DMARC_ENFORCEMENTS = ['off', 'quarantine', 'reject'] as const;
type DmarcEnforcement = (typeof DMARC_ENFORCEMENTS)[number];

export interface DmarcRules {
  enforcement: DmarcEnforcement;
  /** domains whose ARC seal is trusted: they forward mail, and checked it before */
  trustedForwarders: readonly string[];
}

export const noDmarcRules: DmarcRules = { enforcement: 'off', trustedForwarders: [] };

/** Returns what becomes of a message. A failed lookup is no failure. */
export function enforceDmarc(
  authentication: Pick<Authentication, 'dmarc' | 'arc'> | null,
  { enforcement, trustedForwarders }: DmarcRules,
): 'accept' | 'hold' | 'reject' {
  if (enforcement === 'off' || authentication === null) return 'accept';
  const { dmarc, arc } = authentication;
  if (dmarc.result !== 'fail' || dmarc.policy === null || dmarc.policy === 'none') return 'accept';
  const forwarder = arc.result === 'pass' ? (arc.domain ?? null) : null;
  if (forwarder !== null && trustedForwarders.includes(forwarder.toLowerCase())) return 'accept';
  return enforcement === 'reject' && dmarc.policy === 'reject' ? 'reject' : 'hold';
}

/** Returns why a message is held, for `This mail is held for review: …`. */
export function explainDmarcHold({ dmarc }: Pick<Authentication, 'dmarc'>): string {
  return `it failed DMARC, and ${dmarc.domain ?? 'the domain of its sender'} asks for such mail to be ${
    dmarc.policy === 'reject' ? 'rejected' : 'quarantined'
  }`;
}

/** Returns the reply to a message that is refused, after its code. */
export function explainDmarcRefusal({ dmarc }: Pick<Authentication, 'dmarc'>): string {
  return `The message failed DMARC, and the policy of ${dmarc.domain ?? "its sender's domain"} asks for it to be rejected`;
}
