import {
  ApiKeySchema,
  AuthCredentialSchema,
  AuthPasskeySchema,
  AuthRateLimitSchema,
  AuthSessionSchema,
  AuthVerificationSchema,
  ErasedAccountSchema,
  RequestWindowSchema,
  UserAccountSchema,
} from './accounts.ts';
import {
  DkimKeySchema,
  DmarcReportSchema,
  DomainSchema,
  EmailAddressNameSchema,
  EmailAddressSchema,
  ReplyAddressSchema,
  VerifiedDomainNameSchema,
} from './domains.ts';
import {
  EmailContentSchema,
  EmailCounterSchema,
  EmailSchema,
  EmailTraceSchema,
  RawMessageSchema,
  ReceptionSchema,
  SmtpOfferSchema,
} from './emails.ts';
import {
  DeliveryAttemptSchema,
  DeliveryEarlierAttemptSchema,
  DeliverySchema,
  EndpointSchema,
  EndpointStatSchema,
  EndpointSubscriptionSchema,
} from './endpoints.ts';
import { EventCounterSchema, EventSchema } from './events.ts';
import { GuardRuleSchema, GuardRuleStatSchema, RouteSchema } from './routing.ts';
import { EmailSearchSchema, EmailWordsSchema } from './search.ts';
import {
  BatchSchema,
  IdempotencyKeySchema,
  MtaStsPolicySchema,
  RecipientSchema,
  SendingAttemptSchema,
  SuppressionSchema,
  TlsReportSchema,
  TlsSessionCountSchema,
} from './sending.ts';
import {
  ThreadAliasSchema,
  ThreadApartSchema,
  ThreadClaimSchema,
  ThreadMessageIdSchema,
  ThreadSchema,
  ThreadSubjectSchema,
} from './threads.ts';
import { ClockSchema, DeadRowSchema, RetentionSchema, RetentionSweepSchema, SecretCanarySchema } from './upkeep.ts';

/** All tables and views. db/migrations creates them, and test/db/entities.test.ts compares both. */
export const entities = [
  UserAccountSchema,
  ApiKeySchema,
  ErasedAccountSchema,
  AuthSessionSchema,
  AuthCredentialSchema,
  AuthVerificationSchema,
  AuthPasskeySchema,
  AuthRateLimitSchema,
  RequestWindowSchema,
  DomainSchema,
  DkimKeySchema,
  VerifiedDomainNameSchema,
  EmailAddressSchema,
  EmailAddressNameSchema,
  ReplyAddressSchema,
  DmarcReportSchema,
  RawMessageSchema,
  ReceptionSchema,
  SmtpOfferSchema,
  EmailSchema,
  EmailContentSchema,
  EmailTraceSchema,
  EmailCounterSchema,
  EmailSearchSchema,
  EmailWordsSchema,
  ThreadSchema,
  ThreadAliasSchema,
  ThreadApartSchema,
  ThreadClaimSchema,
  ThreadMessageIdSchema,
  ThreadSubjectSchema,
  GuardRuleSchema,
  GuardRuleStatSchema,
  RouteSchema,
  EndpointSchema,
  EndpointStatSchema,
  EndpointSubscriptionSchema,
  DeliverySchema,
  DeliveryEarlierAttemptSchema,
  DeliveryAttemptSchema,
  RecipientSchema,
  SendingAttemptSchema,
  SuppressionSchema,
  IdempotencyKeySchema,
  MtaStsPolicySchema,
  TlsReportSchema,
  TlsSessionCountSchema,
  BatchSchema,
  EventSchema,
  EventCounterSchema,
  ClockSchema,
  SecretCanarySchema,
  DeadRowSchema,
  RetentionSchema,
  RetentionSweepSchema,
];

/**
 * The entities that the EntityManager reads and writes: registering the others would add 45 ms to a start. API keys are not among them,
 * because the gateway's role reaches their table through functions only. Labels are columns of threads, written with the threads.
 */
export const resources = [
  DomainSchema,
  DkimKeySchema,
  EmailAddressSchema,
  EndpointSchema,
  GuardRuleSchema,
  GuardRuleStatSchema,
  SuppressionSchema,
  RetentionSchema,
];
