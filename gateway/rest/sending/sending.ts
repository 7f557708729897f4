import { z } from 'zod';
import type { Receipt } from '../../../operations/sending/idempotency.ts';
import {
  forwardCapability,
  readReply,
  replyCapability,
  replyShape,
  sendCapability,
} from '../../../operations/sending/sending-capability.ts';
import { capabilityRoutes, findBody } from '../capability-routes.ts';
import { makeReader, wireInput } from '../capability-shapes.ts';
import {
  providerIds,
  scheduledResponse,
  type sendBody,
  sentResponse,
  writeProviderIds,
  writeScheduled,
  writeSent,
} from './outgoing-shapes.ts';

/** The response to what sends an email: 201 if it was scheduled instead. */
export const sentDifferences = {
  response: {
    shape: () => sentResponse,
    bodyOf: (_usual: object, receipt: Receipt & { id: string }) => writeScheduled(receipt) ?? writeSent(receipt),
  },
  otherBodies: { 201: scheduledResponse },
  statusOf: ({ status }: { status?: unknown }) => (status === 'scheduled' ? 201 : 200),
};

export const sendingRoutes = capabilityRoutes<Receipt & { id: string }>(sendCapability, {
  operations: { sendEmail: sentDifferences },
});

/** The body of POST /emails as a component of openapi.json. */
export const sendEmailBody = findBody('SendEmail') as typeof sendBody;

/** Like it, with the email that was replied to or forwarded. */
function withOriginal<Result extends Receipt>(
  names: { sent: string; scheduled: string },
  fields: Record<string, z.ZodType>,
  writeOriginal: (result: Result) => object,
) {
  const sent = sentResponse.extend(fields).meta({ id: names.sent });
  return {
    ...sentDifferences,
    response: {
      shape: () => sent,
      bodyOf(_usual: object, result: Result) {
        const scheduled = writeScheduled(result);
        const made = scheduled === null ? writeSent(result) : { ...scheduled, ...writeProviderIds(result) };
        return { ...made, ...writeOriginal(result) };
      },
    },
    otherBodies: { 201: scheduledResponse.extend({ ...providerIds, ...fields }).meta({ id: names.scheduled }) },
  };
}

export const replyBody = wireInput(replyShape, 'snake');
const readShape = makeReader(replyShape, 'snake') as (body: unknown) => Parameters<typeof readReply>[0];

/** Converts a body to a reply. Throws validation. */
export function readReplyBody(body: object): ReturnType<typeof readReply> {
  return readReply(readShape(body));
}

const repliedTo = {
  replied_to_email_id: z.string(),
  replied_to_thread_id: z.string().nullable(),
  is_thread_reply: z.boolean().meta({ description: 'Whether the ID was that of a thread.' }),
};

export const replyRoutes = capabilityRoutes<Receipt & { id: string }>(replyCapability, {
  operations: {
    replyToEmail: withOriginal({ sent: 'SentReply', scheduled: 'ScheduledReply' }, repliedTo, (receipt) => ({
      replied_to_email_id: receipt.repliedTo?.emailId ?? '',
      replied_to_thread_id: receipt.repliedTo?.threadId ?? null,
      is_thread_reply: receipt.repliedTo?.isThread ?? false,
    })),
  },
});

type Forwarded = Receipt & { id: string; forwardedId: string };

export const forwardRoutes = capabilityRoutes<Forwarded>(forwardCapability, {
  operations: {
    forwardEmail: withOriginal<Forwarded>(
      { sent: 'SentForward', scheduled: 'ScheduledForward' },
      { forwarded_email_id: z.string().meta({ description: 'ID of the original.' }) },
      ({ forwardedId }) => ({ forwarded_email_id: forwardedId }),
    ),
  },
});
