import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { accountCapability } from '../../operations/accounts/account-capability.ts';
import { apiRequestCapability, resendLogCapability } from '../../operations/accounts/api-request-capability.ts';
import { auditCapability } from '../../operations/accounts/audit-capability.ts';
import { customerCapability } from '../../operations/accounts/customer-capability.ts';
import { scimTokenCapability } from '../../operations/accounts/scim-token-capability.ts';
import { dmarcSummaryCapability } from '../../operations/domains/dmarc-report-capability.ts';
import { replyAddressCapability } from '../../operations/domains/reply-address-capability.ts';
import { emailChecksCapability } from '../../operations/emails/email-checks-capability.ts';
import { imageSenderCapability } from '../../operations/emails/image-sender-capability.ts';
import { listUnsubscribeCapability } from '../../operations/emails/list-unsubscribe-capability.ts';
import { timelineCapability } from '../../operations/emails/timeline-capability.ts';
import {
  deliveryCapability,
  redeliveryCapability,
  releaseCapability,
} from '../../operations/endpoints/delivery-capability.ts';
import { endpointDeletion, retryWaitingCapability } from '../../operations/endpoints/endpoint-capability.ts';
import { resendWebhookCapability } from '../../operations/endpoints/resend-webhook-capability.ts';
import { webhookRequestCapability } from '../../operations/endpoints/webhook-request-capability.ts';
import { simulateCapability } from '../../operations/routing/simulate-capability.ts';
import { refusalCapability } from '../../operations/screening/refusal-capability.ts';
import { spamCapability } from '../../operations/screening/spam-capability.ts';
import { eventReplyCapability } from '../../operations/sending/event-reply-capability.ts';
import { retrySendingCapability } from '../../operations/sending/schedule-capability.ts';
import { sentReviewCapability } from '../../operations/sending/sent-review-capability.ts';
import { snippetCapability } from '../../operations/sending/snippet-capability.ts';
import { assigneeCapability } from '../../operations/threads/assignee-capability.ts';
import { noteCapability } from '../../operations/threads/note-capability.ts';
import { presenceCapability } from '../../operations/threads/presence-capability.ts';
import { readStateCapability } from '../../operations/threads/read-state-capability.ts';
import { savedViewCapability } from '../../operations/threads/saved-view-capability.ts';
import { emailReminderCapability, snoozeCapability } from '../../operations/threads/snooze-capability.ts';
import { emailTrashCapability } from '../../operations/threads/trash-capability.ts';
import { requireDeclaredAccess, requireRequestAccess } from '../admission/access.ts';
import { type Admission, admitRequests } from '../admission/admission.ts';
import { limitBodiesInFlight } from '../admission/bodies-in-flight.ts';
import { allowAnyOrigin } from '../admission/cross-origin.ts';
import { limitDownloads, refuseDownloadsAsCode } from '../admission/downloads.ts';
import { warnOfUnknownFields } from '../http/body-warnings.ts';
import { findEmptyVariable, hasNoRoute, sendEmptyVariable, sendNoRoute } from '../http/error-response.ts';
import { acceptBothIdNames } from '../http/id-names.ts';
import { referenceRoutes } from '../openapi/reference.ts';
import type { ContextOf } from '../operation-context.ts';
import { apiKeyRoutes, revokeKeyRoutes } from './accounts/api-keys.ts';
import { auditExportRoute } from './accounts/audit-export.ts';
import { memberRoutes } from './accounts/members.ts';
import { oauthGrantRoutes } from './accounts/oauth-grants.ts';
import { capabilityRoutes } from './capability-routes.ts';
import { dmarcReportRoutes } from './domains/dmarc-reports.ts';
import { domainChangeRoutes } from './domains/domain-changes.ts';
import { domainRoutes, legacyDomainRoutes } from './domains/domains.ts';
import { emailAddressRoutes } from './domains/email-addresses.ts';
import { attachmentViewRoutes } from './emails/attachment-views.ts';
import { attachmentRoutes, downloadRoutes } from './emails/attachments.ts';
import { contactRoutes } from './emails/contacts.ts';
import { emailChangeRoutes, reprocessRoutes } from './emails/email-changes.ts';
import { emailHtmlRoutes } from './emails/email-html.ts';
import { emailWaitRoutes } from './emails/email-wait.ts';
import { emailRoutes } from './emails/emails.ts';
import { importRoutes } from './emails/import.ts';
import { legacyMailRoutes } from './emails/legacy-mail.ts';
import { quarantineRoutes } from './emails/quarantine.ts';
import { receivingRoutes } from './emails/receiving.ts';
import { endpointTestRoutes, replayRoutes } from './endpoints/endpoint-actions.ts';
import { endpointActionRoutes, endpointRoutes } from './endpoints/endpoints.ts';
import { eventRoutes } from './events/events.ts';
import { guardRoutes } from './routing/guard.ts';
import { routeRoutes } from './routing/routes.ts';
import { approvalRoutes } from './sending/approvals.ts';
import { batchChangeRoutes, batchRoutes } from './sending/batches.ts';
import { draftRoutes } from './sending/drafts.ts';
import { legacyScheduledRoutes } from './sending/legacy-scheduled.ts';
import { MAIL_BODY_LIMIT } from './sending/outgoing-shapes.ts';
import { scheduledEmailRoutes } from './sending/scheduled-emails.ts';
import { forwardRoutes, replyRoutes, sendingRoutes } from './sending/sending.ts';
import { legacySuppressionRoutes, suppressionRoutes } from './sending/suppressions.ts';
import { threadChangeRoutes, threadTrashRoutes } from './threads/thread-changes.ts';
import { threadClaimRoutes } from './threads/thread-claim.ts';
import { threadRoutes } from './threads/threads.ts';
import { deleteEmailRoutes } from './threads/trash.ts';
import { unservedRoutes } from './unserved-routes.ts';
import { overviewRoutes } from './upkeep/overview.ts';
import { retentionRoutes } from './upkeep/retention.ts';

export interface RestInterfaceOptions {
  admission: Admission;
  contextOf: ContextOf;
  publicUrl: string;
}

const resources = [
  emailRoutes,
  emailHtmlRoutes,
  capabilityRoutes(emailChecksCapability),
  capabilityRoutes(sentReviewCapability),
  emailChangeRoutes,
  reprocessRoutes,
  contactRoutes,
  ...memberRoutes,
  oauthGrantRoutes,
  capabilityRoutes(scimTokenCapability),
  capabilityRoutes(customerCapability),
  capabilityRoutes(imageSenderCapability),
  emailWaitRoutes,
  importRoutes,
  sendingRoutes,
  batchRoutes,
  batchChangeRoutes,
  draftRoutes,
  capabilityRoutes(retrySendingCapability),
  scheduledEmailRoutes,
  approvalRoutes,
  capabilityRoutes(redeliveryCapability),
  routeRoutes,
  capabilityRoutes(releaseCapability),
  capabilityRoutes(simulateCapability, { operations: { simulateInbound: { route: { bodyLimit: MAIL_BODY_LIMIT } } } }),
  capabilityRoutes(spamCapability),
  quarantineRoutes,
  capabilityRoutes(timelineCapability),
  capabilityRoutes(listUnsubscribeCapability),
  replyRoutes,
  forwardRoutes,
  threadRoutes,
  ...threadChangeRoutes,
  deleteEmailRoutes,
  capabilityRoutes(emailTrashCapability),
  threadTrashRoutes,
  threadClaimRoutes,
  capabilityRoutes(assigneeCapability),
  capabilityRoutes(snoozeCapability),
  capabilityRoutes(emailReminderCapability),
  capabilityRoutes(savedViewCapability),
  capabilityRoutes(snippetCapability),
  capabilityRoutes(eventReplyCapability),
  capabilityRoutes(noteCapability),
  capabilityRoutes(presenceCapability),
  capabilityRoutes(readStateCapability),
  attachmentRoutes,
  attachmentViewRoutes,
  suppressionRoutes,
  legacySuppressionRoutes,
  domainRoutes,
  domainChangeRoutes,
  dmarcReportRoutes,
  capabilityRoutes(dmarcSummaryCapability),
  emailAddressRoutes,
  capabilityRoutes(replyAddressCapability),
  endpointRoutes,
  capabilityRoutes(endpointDeletion),
  endpointActionRoutes,
  replayRoutes,
  capabilityRoutes(retryWaitingCapability),
  endpointTestRoutes,
  capabilityRoutes(deliveryCapability),
  eventRoutes,
  capabilityRoutes(webhookRequestCapability),
  capabilityRoutes(resendWebhookCapability),
  guardRoutes,
  capabilityRoutes(accountCapability),
  overviewRoutes,
  retentionRoutes,
  apiKeyRoutes,
  revokeKeyRoutes,
  capabilityRoutes(apiRequestCapability),
  capabilityRoutes(resendLogCapability),
  capabilityRoutes(auditCapability),
  auditExportRoute,
  capabilityRoutes(refusalCapability),
  receivingRoutes,
  legacyScheduledRoutes,
  legacyMailRoutes,
  legacyDomainRoutes,
  unservedRoutes,
];

/** The plugin of the REST API, which is mounted at `/api/e2`. */
export async function restInterface(
  rest: FastifyInstance,
  { admission, contextOf, publicUrl }: RestInterfaceOptions,
): Promise<void> {
  await allowAnyOrigin(rest);
  refuseDownloadsAsCode(rest);
  limitDownloads(rest);
  // Also set here, not only at the root, so that CORS applies and pages of other origins can read the 404.
  rest.setNotFoundHandler(sendNoRoute);
  // Before the body is read, because the path or method is wrong whatever the body is.
  rest.addHook('onRequest', async (request, reply) => {
    const empty = findEmptyVariable(request);
    if (empty !== null) return sendEmptyVariable(empty, request, reply);
    return hasNoRoute(request) ? sendNoRoute(request, reply) : undefined;
  });
  await referenceRoutes(rest, { publicUrl });
  await rest.register(async (admitted) => {
    requireDeclaredAccess(admitted);
    admitRequests(admitted, admission.admit);
    admitted.addHook('preHandler', requireRequestAccess);
    limitBodiesInFlight(admitted, admission.bodiesInFlight);
    warnOfUnknownFields(admitted);
    acceptBothIdNames(admitted);
    const app = admitted.withTypeProvider<ZodTypeProvider>();
    for (const routes of resources) await routes(app, { contextOf });
  });
  await rest.register(async (downloads) => {
    requireDeclaredAccess(downloads);
    downloads.addHook('onRequest', admission.admitDownload);
    await downloads.register(downloadRoutes, { contextOf });
  });
}
