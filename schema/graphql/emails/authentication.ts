import { z } from 'zod';
import { builder } from '../builder.ts';

const RESULTS = ['pass', 'fail', 'softfail', 'neutral', 'none', 'policy', 'temperror', 'permerror'] as const;

const verdict = z.object({ result: z.enum(RESULTS), domain: z.string().nullable() });
/** As core/mime/authentication.ts has it, and received mail stores it. */
const authentication = z.object({
  spf: verdict,
  dkim: z.array(verdict.extend({ selector: z.string().nullable() })),
  dmarc: verdict.extend({ policy: z.enum(['none', 'quarantine', 'reject']).nullable() }),
  arc: z.object({ result: z.enum(RESULTS) }),
  hasSeveralFromFields: z.boolean(),
});

type Authentication = z.infer<typeof authentication>;

/** The verdicts as they are stored; null when nothing was checked. */
export function authenticationOf(stored: unknown): Authentication | null {
  return authentication.nullable().parse(stored ?? null);
}

export const AuthenticationResult = builder.enumType('AuthenticationResult', {
  description: 'What a check came to (RFC 8601 §2.7).',
  values: {
    PASS: { value: 'pass', description: 'It holds.' },
    FAIL: { value: 'fail', description: 'It does not hold.' },
    SOFTFAIL: { value: 'softfail', description: 'It probably does not hold: the domain’s owner says no more (SPF).' },
    NEUTRAL: { value: 'neutral', description: 'The domain’s owner says nothing, or the signature cannot be judged.' },
    NONE: { value: 'none', description: 'There was nothing to check.' },
    POLICY: { value: 'policy', description: 'It holds, but is not taken: a weak key, for one.' },
    TEMPERROR: { value: 'temperror', description: 'DNS did not answer in time.' },
    PERMERROR: { value: 'permerror', description: 'What the domain publishes cannot be read.' },
  } as const,
});

const SenderPolicy = builder.enumType('SenderPolicy', {
  description: 'What the owner of a domain asks others to do with mail that fails DMARC.',
  values: {
    NONE: { value: 'none', description: 'Nothing.' },
    QUARANTINE: { value: 'quarantine', description: 'To treat it as suspicious.' },
    REJECT: { value: 'reject', description: 'To refuse it.' },
  } as const,
});

const result = 'What the check came to.';

const SpfVerdict = builder.objectRef<Authentication['spf']>('SpfVerdict').implement({
  description: 'Whether the server that handed the mail over may send for the domain of the reverse-path (RFC 7208).',
  isOfDomain: true,
  fields: (t) => ({
    result: t.expose('result', { type: AuthenticationResult, description: result }),
    domain: t.exposeString('domain', {
      nullable: true,
      description: 'The domain that was checked: of the reverse-path, else of the HELO name; null: there was none.',
    }),
  }),
});

const DkimVerdict = builder.objectRef<Authentication['dkim'][number]>('DkimVerdict').implement({
  description: 'Whether a signature of the mail holds (RFC 6376).',
  isOfDomain: true,
  fields: (t) => ({
    result: t.expose('result', { type: AuthenticationResult, description: result }),
    domain: t.exposeString('domain', {
      nullable: true,
      description: 'Who signed; null: the signature names no domain.',
    }),
    selector: t.exposeString('selector', {
      nullable: true,
      description: 'Which key of the domain; null: none is named.',
    }),
  }),
});

const DmarcVerdict = builder.objectRef<Authentication['dmarc']>('DmarcVerdict').implement({
  description: 'Whether the domain that the From field shows stands behind the mail (RFC 9989).',
  isOfDomain: true,
  fields: (t) => ({
    result: t.expose('result', { type: AuthenticationResult, description: result }),
    domain: t.exposeString('domain', {
      nullable: true,
      description: 'Of the From field; null: it has not exactly one.',
    }),
    policy: t.expose('policy', {
      type: SenderPolicy,
      nullable: true,
      description: 'What the domain publishes; null: it publishes nothing.',
    }),
  }),
});

const ArcVerdict = builder.objectRef<Authentication['arc']>('ArcVerdict').implement({
  description: 'Whether what servers on the way say of earlier checks can be trusted (RFC 8617).',
  isOfDomain: true,
  fields: (t) => ({ result: t.expose('result', { type: AuthenticationResult, description: result }) }),
});

/** What we found out about where a received mail came from. */
export const AuthenticationRef = builder.objectRef<Authentication>('Authentication').implement({
  description: 'Our own verdicts on where a received mail came from, never those that it claims itself.',
  isOfDomain: true,
  fields: (t) => ({
    spf: t.expose('spf', { type: SpfVerdict, description: 'Of the server that handed the mail over.' }),
    dkim: t.expose('dkim', { type: [DkimVerdict], description: 'One for each signature, at most 50.' }),
    dmarc: t.expose('dmarc', { type: DmarcVerdict, description: 'Of the domain in the From field.' }),
    arc: t.expose('arc', { type: ArcVerdict, description: 'Of the chain of servers on the way.' }),
    hasSeveralFromFields: t.exposeBoolean('hasSeveralFromFields', {
      description:
        'Whether there is more than one From field: no honest mailer writes two, and programs differ in which they show.',
    }),
  }),
});
