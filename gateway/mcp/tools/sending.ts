import { z } from 'zod';
import { forwardEmail } from '../../../operations/sending/forward-email.ts';
import { type Accepted, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { readReplySender, sendReply } from '../../../operations/sending/replies.ts';
import { cancelEmail, rescheduleEmail } from '../../../operations/sending/scheduled-emails.ts';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { access } from '../../admission/access.ts';
import { updateResponse } from '../../rest/emails/emails.ts';
import {
  readEmail,
  scheduledResponse,
  sendBody,
  writeScheduled,
  writeSent,
} from '../../rest/sending/outgoing-shapes.ts';
import { readReplyBody, replyBody } from '../../rest/sending/sending.ts';
import { instant, wireInstant } from '../../rest/shapes.ts';
import { defineTool, idempotencyKey } from '../tool.ts';
import { claimToken, describedOutgoing, outgoing } from './content-shapes.ts';

export const sent = z.object({
  id: scheduledResponse.shape.id,
  message_id: z.string(),
  status: z.enum(['sent', 'scheduled', 'awaiting_approval']),
  scheduled_at: instant.nullable(),
  timezone: z.string().nullable(),
});

export function describeSent({ receipt }: Accepted): z.input<typeof sent> {
  const scheduled = writeScheduled(receipt);
  if (scheduled !== null) return scheduled;
  const { status, ...body } = writeSent(receipt);
  return { ...body, status: status === 'queued' ? 'awaiting_approval' : status, ...toTime(receipt) };
}

function toTime({ emails: [email] }: Accepted['receipt']): Pick<z.input<typeof sent>, 'scheduled_at' | 'timezone'> {
  return { scheduled_at: email?.scheduledAt ?? null, timezone: email?.timezone ?? null };
}

/** The argument that names the first of equal calls. */
export const KEY = 'idempotency_key';

export const sendEmailTool = defineTool({
  name: 'send_email',
  title: 'Send an email',
  description:
    'Sends an email with `text`, `html` or both, or schedules it if `scheduled_at` is set. `status` `awaiting_approval` means NOT sent: do not send it again. To answer an email, use reply_to_email.',
  access: access.send,
  effect: 'sends',
  input: z
    .object({
      ...describedOutgoing,
      claim_token: claimToken,
      [KEY]: idempotencyKey,
    })
    .meta({ required: ['from', 'to', 'subject'] }),
  output: sent,
  async run(context, { idempotency_key: key, ...email }) {
    // In the order of REST, so that a key also replays what was sent there.
    const body = sendBody.parse(email);
    return describeSent(await sendEmail(context, readEmail(body), readIdempotency({ key, field: KEY }, 'send', body)));
  },
});

const { list_unsubscribe: _list, ...joined } = outgoing;

export const replyToEmail = defineTool({
  name: 'reply_to_email',
  title: 'Reply to an email',
  description:
    'Replies to an email, with the fields of send_email. By default the reply comes from the address that received the original and goes to the addresses that it asks for. It joins the thread. Do not quote the original.',
  access: access.send,
  effect: 'sends',
  input: z
    .object({
      email_id: z.string().meta({ description: 'That of a thread means its latest message.' }),
      ...joined,
      from_name: z.string().nullish(),
      reply_all: z.boolean().nullish().meta({ description: 'Also to the other recipients.' }),
      claim_token: claimToken,
      [KEY]: idempotencyKey,
    })
    .meta({ required: ['email_id'] }),
  output: sent.extend({ replied_to_email_id: z.string().nullable(), replied_to_thread_id: z.string().nullable() }),
  async run(context, { email_id: id, idempotency_key: key, ...reply }) {
    const body = replyBody.parse({ ...reply, from: reply.from ?? (await readReplySender(context, id)) });
    // A reply without a sender is the same when its thread has a newer message, which another address received.
    const named = reply.from == null ? { ...body, from: null } : body;
    const idempotency = readIdempotency({ key, field: KEY }, 'reply', [id, named]);
    const accepted = await sendReply(context, id, readReplyBody(body), idempotency);
    const { repliedTo } = accepted.receipt;
    return {
      ...describeSent(accepted),
      replied_to_email_id: repliedTo?.emailId ?? null,
      replied_to_thread_id: repliedTo?.threadId ?? null,
    };
  },
});

const { attachments: _attachments, ...forwarded } = joined;

export const forwardEmailTool = defineTool({
  name: 'forward_email',
  title: 'Forward an email',
  description:
    'Forwards a received or sent email in a new one that quotes it and starts its own thread, with the fields of send_email.',
  access: { rights: ['send', 'read'], isOfDomain: true },
  effect: 'sends',
  input: z
    .object({
      email_id: z.string(),
      ...forwarded,
      text: outgoing.text.meta({ description: 'Above the original.' }),
      with_attachments: z.boolean().default(true),
      [KEY]: idempotencyKey,
    })
    .meta({ required: ['email_id', 'from', 'to'] }),
  output: sent,
  async run(context, { idempotency_key: key, ...forward }) {
    const { email_id: id, with_attachments: withAttachments, ...email } = forward;
    const attachments = withAttachments ? ('all' as const) : ('none' as const);
    const idempotency = readIdempotency({ key, field: KEY }, 'forward', forward);
    return describeSent(await forwardEmail(context, id, { ...readEmail(email), attachments }, idempotency));
  },
});

const changed = z.object({
  id: updateResponse.shape.id,
  status: updateResponse.shape.status.unwrap(),
  scheduled_at: instant,
});

export const rescheduleEmailTool = defineTool({
  name: 'reschedule_email',
  title: 'Reschedule an email',
  description: 'Changes the send time of a scheduled email.',
  access: access.send,
  effect: 'changes',
  input: z.object({
    email_id: z.string(),
    scheduled_at: z.string(),
    timezone: outgoing.timezone.meta({ description: 'Default: that of the email.' }),
  }),
  output: changed,
  async run(context, { email_id: id, scheduled_at: text, timezone }) {
    const email = await rescheduleEmail(context, id, { text, timezone: timezone ?? null });
    return { ...email, scheduled_at: wireInstant(email.scheduledAt) };
  },
});

export const cancelEmailTool = defineTool({
  name: 'cancel_email',
  title: 'Cancel an email',
  description:
    'Cancels a scheduled email, or one that waits for approval. It is never sent and stays readable. Cancelling again changes nothing.',
  access: access.send,
  effect: 'cancels',
  input: z.object({ email_id: z.string() }),
  output: changed,
  async run(context, { email_id: id }) {
    const { email } = await cancelEmail(context, id);
    return { ...email, scheduled_at: wireInstant(email.scheduledAt) };
  },
});
