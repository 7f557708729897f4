import type { Authentication, AuthenticationResult as Result } from '../../../core/mime/authentication.ts';
import type { SenderVerdict } from '../../../core/mime/sender-verdict.ts';
import { verdictOf } from '../../../operations/emails/security-warnings.ts';
import { builder, enumValues } from '../builder.ts';

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
  fields: (t) => ({
    result: t.expose('result', { type: AuthenticationResult, description: result }),
    domain: t.string({
      nullable: true,
      description: 'The domain that sealed the message last. Null unless the chain passes.',
      resolve: ({ domain }) => domain ?? null,
    }),
  }),
});

const SenderVerdictKind = builder.enumType('SenderVerdictKind', {
  description: 'Who vouches for the sender of an email.',
  values: enumValues<SenderVerdict['verdict']>({
    verified: 'The domain in the From header, by DKIM or SPF.',
    forwarded: 'A forwarding server, by ARC. The domain in the From header does not confirm the message.',
    other_domain: 'Another domain, by DKIM or SPF.',
    unverified: 'No domain.',
    failed: 'No domain, and DMARC of the domain in the From header fails; or there are several From headers.',
    unchecked: 'Unknown, because DNS did not respond.',
  }),
});

const SenderVerdictRef = builder.objectRef<SenderVerdict>('SenderVerdict').implement({
  description: 'Who vouches for the sender of an email, in words.',
  isOfDomain: true,
  fields: (t) => ({
    verdict: t.expose('verdict', { type: SenderVerdictKind, description: 'Who vouches.' }),
    domain: t.exposeString('domain', {
      nullable: true,
      description: 'The domain that vouches. Null if there is none.',
    }),
    text: t.exposeString('text', { description: 'One or two sentences.' }),
  }),
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
    sender: t.field({
      type: SenderVerdictRef,
      description: 'Who vouches for the sender, from all results together.',
      resolve: (found) => verdictOf(found),
    }),
    hasSeveralFromFields: t.exposeBoolean('hasSeveralFromFields', {
      description:
        'Whether there is more than one From header. Legitimate mail never has two, and clients differ in which one they show.',
    }),
  }),
});
