import type { Authentication } from '../mime/authentication.ts';
import { type DmarcRules, enforceDmarc, explainDmarcHold } from '../screening/door/dmarc-enforcement.ts';
import { heldForReview, type Judgement, type RouteDecision } from './decide-route.ts';

/** Returns the route of mail that is held because it fails DMARC, and that no guard rule matches; null for other mail. */
export function holdForged(
  { verdict }: Judgement,
  authentication: Authentication | null,
  rules: DmarcRules,
): RouteDecision | null {
  if (verdict?.kind === 'matched' || authentication === null) return null;
  if (enforceDmarc(authentication, rules) === 'accept') return null;
  return heldForReview(explainDmarcHold(authentication));
}
