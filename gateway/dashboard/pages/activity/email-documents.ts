import { mutation, type ResultOf, record } from '../../graphql.ts';

/** The header of an email's page, and the fields that its actions depend on. */
export const EMAIL = record(`email {
  id type subject status guardStatus failureReason isTest isRead isArchived createdAt sentAt scheduledAt timezone
  size messageId envelopeRecipient fromText rawUrl attachmentCount threadReason keptApart
  security { virus }
  from { name address }
  to { name address }
  cc { name address }
  bcc { name address }
  replyTo { name address }
  thread { id }
  guardRule { id name }
  batch { id }
  tags { name value }
  recipients { id status attemptCount }
}`);

export type EmailHeadData = NonNullable<ResultOf<typeof EMAIL>['email']>;

export const TIMELINE = record(`email {
  id
  timeline { isCut entries { kind at title detail durationMs isFailure node { __typename id } } }
}`);

export const EXTRACTS = record(`email { id extracts { codes { code likelihood } links { url text isUnsubscribe } } }`);

export const TEXT = record(`email { id content { text cleanedText parseError isTruncated } }`);

export const HEADERS = record(`email { id content { headers { name value } } }`);

export const CHECKS = record(`email {
  id
  checks {
    htmlSizeBytes isPartial dataVersion
    issues { kind severity title detail count examples unsupportedBy partlySupportedBy url }
  }
}`);

export const ATTACHMENTS = record(
  `email { id attachments { index filename contentType size disposition downloadUrl } }`,
);

export const AUTHENTICATION = record(`email {
  id
  securityWarnings { kind text shown actual }
  security {
    injection { verdict findings { part excerpt why } }
    virus
    spam { verdict score required by symbols { name score description } }
  }
  content {
    authentication {
      hasSeveralFromFields
      sender { text }
      spf { result domain }
      dkim { result domain selector }
      dmarc { result domain policy }
      arc { result domain }
    }
  }
}`);

export const ROUTE = record(`email {
  id
  route {
    recipient outcome via reason releasedAt
    address { id address }
    domain { id name }
    endpoint { id name }
    rule { id name }
    matches { criterion value }
    steps { step at detail durationMs delivery { id } }
  }
}`);

export const RECIPIENTS = record(`email {
  id
  recipients {
    id address status attemptCount lastCode lastEnhancedStatus lastText nextAttemptAt settledAt complainedAt
    refusal { title advice }
    attempts { number startedAt durationMs outcome host remoteAddress isTls code enhancedStatus text }
  }
}`);

/** Releases a received email that a guard rule holds. */
export const RELEASE = {
  mutation: mutation('releaseEmail', 'releasedAt email { id guardStatus } deliveries { id }'),
  label: 'Release',
  icon: 'shield-check',
  needed: 'endpoints',
  variant: 'filled',
  done: 'The email was released and is being delivered.',
} as const;

/** Retries a deferred email now. */
export const RETRY_SENDING = {
  mutation: mutation('retrySending', 'email { id } recipients { id nextAttemptAt }'),
  label: 'Retry now',
  icon: 'send',
  needed: ['send', 'everything'],
  variant: 'filled',
  done: 'The email is being sent again.',
} as const;
