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
} from './endpoints.ts';
import { EventCounterSchema, EventSchema } from './events.ts';
import { GuardRuleSchema, GuardRuleStatSchema, RouteSchema } from './routing.ts';
import { EmailSearchSchema, EmailWordsSchema } from './search.ts';
import {
  BatchSchema,
  IdempotencyKeySchema,
  RecipientSchema,
  SendingAttemptSchema,
  SuppressionSchema,
} from './sending.ts';
import {
  ThreadAliasSchema,
  ThreadApartSchema,
  ThreadMessageIdSchema,
  ThreadSchema,
  ThreadSubjectSchema,
} from './threads.ts';
import { ClockSchema, DeadRowSchema, RetentionSchema, RetentionSweepSchema, SecretCanarySchema } from './upkeep.ts';

/** Every table and view: the one description of them. db/migrations makes them, and test/db/entities.test.ts compares the two. */
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
  ThreadMessageIdSchema,
  ThreadSubjectSchema,
  GuardRuleSchema,
  GuardRuleStatSchema,
  RouteSchema,
  EndpointSchema,
  EndpointStatSchema,
  DeliverySchema,
  DeliveryEarlierAttemptSchema,
  DeliveryAttemptSchema,
  RecipientSchema,
  SendingAttemptSchema,
  SuppressionSchema,
  IdempotencyKeySchema,
  BatchSchema,
  EventSchema,
  EventCounterSchema,
  ClockSchema,
  SecretCanarySchema,
  DeadRowSchema,
  RetentionSchema,
  RetentionSweepSchema,
];

/** Those that are read and written through the EntityManager: describing the others to it would cost a start 45 ms. */
export const resources = [DomainSchema, EmailAddressSchema, EndpointSchema, GuardRuleSchema, GuardRuleStatSchema];
