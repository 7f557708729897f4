import { z } from 'zod';
import { AUTHENTICATION_RESULTS, type Authentication } from '../../core/mime/authentication.ts';

const verdict = z.object({ result: z.enum(AUTHENTICATION_RESULTS), domain: z.string().nullable() });
/** The `Authentication` of core/mime/authentication.ts, as stored. */
const authentication = z.object({
  spf: verdict,
  dkim: z.array(verdict.extend({ selector: z.string().nullable() })),
  dmarc: verdict.extend({ policy: z.enum(['none', 'quarantine', 'reject']).nullable() }),
  arc: z.object({ result: z.enum(AUTHENTICATION_RESULTS), domain: z.string().nullable().default(null) }),
  hasSeveralFromFields: z.boolean(),
});

/** Parses stored verdicts. Returns null if nothing was checked. */
export function readAuthentication(stored: unknown): Authentication | null {
  return authentication.nullable().parse(stored ?? null);
}
