import { accountCapability, erasureCapability } from '../accounts/account-capability.ts';
import { apiKeyCapability } from '../accounts/api-key-capability.ts';
import { apiRequestCapability } from '../accounts/api-request-capability.ts';
import { auditCapability } from '../accounts/audit-capability.ts';
import { customerCapability } from '../accounts/customer-capability.ts';
import { invitationCapability, memberCapability, workspaceCapability } from '../accounts/member-capability.ts';
import { oauthGrantCapability } from '../accounts/oauth-grant-capability.ts';
import { scimTokenCapability } from '../accounts/scim-token-capability.ts';
import { dmarcReportCapability, dmarcSummaryCapability } from '../domains/dmarc-report-capability.ts';
import { domainCapability } from '../domains/domain-capability.ts';
import { emailAddressCapability } from '../domains/email-address-capability.ts';
import { replyAddressCapability } from '../domains/reply-address-capability.ts';
import { contactCapability } from '../emails/contact-capability.ts';
import { emailChangeCapability, rescheduleCapability } from '../emails/email-change-capability.ts';
import { emailChecksCapability } from '../emails/email-checks-capability.ts';
import { imageSenderCapability } from '../emails/image-sender-capability.ts';
import { importCapability } from '../emails/import-capability.ts';
import { listUnsubscribeCapability } from '../emails/list-unsubscribe-capability.ts';
import { reprocessCapability } from '../emails/reprocess-capability.ts';
import { timelineCapability } from '../emails/timeline-capability.ts';
import { deliveryCapability, redeliveryCapability, releaseCapability } from '../endpoints/delivery-capability.ts';
import { endpointActionCapability } from '../endpoints/endpoint-action-capability.ts';
import { endpointDeletion, replayCapability, retryWaitingCapability } from '../endpoints/endpoint-capability.ts';
import { endpointCapability } from '../endpoints/endpoint-change-capability.ts';
import { webhookRequestCapability } from '../endpoints/webhook-request-capability.ts';
import { guardCapability } from '../routing/guard-capability.ts';
import { routeCapability } from '../routing/route-capability.ts';
import { simulateCapability } from '../routing/simulate-capability.ts';
import { refusalCapability } from '../screening/refusal-capability.ts';
import { spamCapability } from '../screening/spam-capability.ts';
import { approvalCapability } from '../sending/approval-capability.ts';
import { batchCapability } from '../sending/batch-capability.ts';
import { draftCapability } from '../sending/draft-capability.ts';
import { eventReplyCapability } from '../sending/event-reply-capability.ts';
import { recipientCapability } from '../sending/recipient-capability.ts';
import { retrySendingCapability, scheduleCapability } from '../sending/schedule-capability.ts';
import { forwardCapability, replyCapability, sendCapability } from '../sending/sending-capability.ts';
import { sentReviewCapability } from '../sending/sent-review-capability.ts';
import { snippetCapability } from '../sending/snippet-capability.ts';
import { suppressionCapability } from '../sending/suppression-capability.ts';
import { assigneeCapability } from '../threads/assignee-capability.ts';
import { claimCapability } from '../threads/claim-capability.ts';
import { noteCapability } from '../threads/note-capability.ts';
import { presenceCapability } from '../threads/presence-capability.ts';
import { readStateCapability } from '../threads/read-state-capability.ts';
import { savedViewCapability } from '../threads/saved-view-capability.ts';
import { emailReminderCapability, snoozeCapability } from '../threads/snooze-capability.ts';
import { labelCapability, threadChangeCapability } from '../threads/thread-change-capability.ts';
import { emailTrashCapability, threadTrashCapability } from '../threads/trash-capability.ts';
import { overviewCapability } from '../upkeep/overview-capability.ts';
import { retentionCapability } from '../upkeep/retention-capability.ts';
import type { Capability } from './capability.ts';

/** All capabilities that are declared once. */
export const capabilities: readonly Capability[] = [
  timelineCapability,
  emailChangeCapability,
  emailChecksCapability,
  importCapability,
  listUnsubscribeCapability,
  reprocessCapability,
  spamCapability,
  simulateCapability,
  routeCapability,
  contactCapability,
  imageSenderCapability,
  threadChangeCapability,
  labelCapability,
  emailTrashCapability,
  threadTrashCapability,
  claimCapability,
  assigneeCapability,
  snoozeCapability,
  emailReminderCapability,
  savedViewCapability,
  snippetCapability,
  eventReplyCapability,
  noteCapability,
  presenceCapability,
  sendCapability,
  replyCapability,
  forwardCapability,
  rescheduleCapability,
  draftCapability,
  readStateCapability,
  batchCapability,
  scheduleCapability,
  recipientCapability,
  retrySendingCapability,
  sentReviewCapability,
  approvalCapability,
  suppressionCapability,
  domainCapability,
  dmarcReportCapability,
  dmarcSummaryCapability,
  emailAddressCapability,
  replyAddressCapability,
  deliveryCapability,
  redeliveryCapability,
  endpointCapability,
  endpointActionCapability,
  endpointDeletion,
  replayCapability,
  retryWaitingCapability,
  webhookRequestCapability,
  guardCapability,
  releaseCapability,
  accountCapability,
  overviewCapability,
  erasureCapability,
  retentionCapability,
  workspaceCapability,
  memberCapability,
  invitationCapability,
  apiKeyCapability,
  oauthGrantCapability,
  scimTokenCapability,
  customerCapability,
  apiRequestCapability,
  auditCapability,
  refusalCapability,
];
