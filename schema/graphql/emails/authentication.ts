import { z } from 'zod';
import { AUTHENTICATION_RESULTS, type AuthenticationResult as Result } from '../../../core/mime/authentication.ts';
import { builder, enumValues } from '../builder.ts';

const verdict = z.object({ result: z.enum(AUTHENTICATION_RESULTS), domain: z.string().nullable() });
/** The `Authentication` of core/mime/authentication.ts, as stored. */
const authentication = z.object({
  spf: verdict,
  dkim: z.array(verdict.extend({ selector: z.string().nullable() })),
  dmarc: verdict.extend({ policy: z.enum(['none', 'quarantine', 'reject']).nullable() }),
  arc: z.object({ result: z.enum(AUTHENTICATION_RESULTS) }),
  hasSeveralFromFields: z.boolean(),
});

type Authentication = z.infer<typeof authentication>;

/** Parses stored verdicts. Returns null if nothing was checked. */
export function authenticationOf(stored: unknown): Authentication | null {
  return authentication.nullable().parse(stored ?? null);
}

export const AuthenticationResult = builder.enumType('AuthenticationResult', {
  description: 'Result of an authentication check (RFC 8601 §2.7).',
  values: enumValues<Result>({
    pass: 'The check passed.',
    fail: 'The check failed.',
    softfail: 'The check probably failed; the domain owner makes no strong statement (SPF).',
    neutral: 'The domain owner makes no statement, or the signature cannot be evaluated.',
    none: 'There was nothing to check.',
    policy: 'The check passed but is not accepted, for example because of a weak key.',
    temperror: 'DNS did not respond in time.',
    permerror: 'The published record is invalid.',
  }),
});

const SenderPolicy = builder.enumType('SenderPolicy', {
  description: 'What a domain owner asks receivers to do with mail that fails DMARC.',
  values: enumValues<NonNullable<Authentication['dmarc']['policy']>>({
    none: 'No action.',
    quarantine: 'Treat the mail as suspicious.',
    reject: 'Reject the mail.',
  }),
});

const result = 'Result of the check.';

const SpfVerdict = builder.objectRef<Authentication['spf']>('SpfVerdict').implement({
  description: 'SPF result: whether the sending server may send for the envelope sender’s domain (RFC 7208).',
  isOfDomain: true,
  fields: (t) => ({
    result: t.expose('result', { type: AuthenticationResult, description: result }),
    domain: t.exposeString('domain', {
      nullable: true,
      description:
        'The domain that was checked: that of the envelope sender, else the HELO name. Null if there was none.',
    }),
  }),
});

const DkimVerdict = builder.objectRef<Authentication['dkim'][number]>('DkimVerdict').implement({
  description: 'DKIM result of one signature (RFC 6376).',
  isOfDomain: true,
  fields: (t) => ({
    result: t.expose('result', { type: AuthenticationResult, description: result }),
    domain: t.exposeString('domain', {
      nullable: true,
      description: 'The signing domain. Null if the signature names none.',
    }),
    selector: t.exposeString('selector', {
      nullable: true,
      description: 'The selector of the key. Null if the signature names none.',
    }),
  }),
});

const DmarcVerdict = builder.objectRef<Authentication['dmarc']>('DmarcVerdict').implement({
  description: 'DMARC result: whether SPF or DKIM confirms the domain in the From header (RFC 9989).',
  isOfDomain: true,
  fields: (t) => ({
    result: t.expose('result', { type: AuthenticationResult, description: result }),
    domain: t.exposeString('domain', {
      nullable: true,
      description: 'The domain in the From header. Null unless there is exactly one.',
    }),
    policy: t.expose('policy', {
      type: SenderPolicy,
      nullable: true,
      description: 'Published DMARC policy. Null if there is none.',
    }),
  }),
});

const ArcVerdict = builder.objectRef<Authentication['arc']>('ArcVerdict').implement({
  description: 'ARC result: whether the authentication results of earlier servers can be trusted (RFC 8617).',
  isOfDomain: true,
  fields: (t) => ({ result: t.expose('result', { type: AuthenticationResult, description: result }) }),
});

export const AuthenticationRef = builder.objectRef<Authentication>('Authentication').implement({
  description:
    'Postroom’s own checks of where a received email came from. Results claimed in the email itself are never used.',
  isOfDomain: true,
  fields: (t) => ({
    spf: t.expose('spf', { type: SpfVerdict, description: 'SPF result of the sending server.' }),
    dkim: t.expose('dkim', { type: [DkimVerdict], description: 'DKIM results, one per signature, up to 50.' }),
    dmarc: t.expose('dmarc', { type: DmarcVerdict, description: 'DMARC result for the From domain.' }),
    arc: t.expose('arc', { type: ArcVerdict, description: 'ARC result for the servers on the way.' }),
    hasSeveralFromFields: t.exposeBoolean('hasSeveralFromFields', {
      description:
        'Whether there is more than one From header. Legitimate mail never has two, and clients differ in which one they show.',
    }),
  }),
});
