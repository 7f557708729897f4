import { z } from 'zod';
import { forwardEmail } from '../../../operations/sending/forward-email.ts';
import { type Accepted, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendReply } from '../../../operations/sending/replies.ts';
import { cancelEmail, rescheduleEmail } from '../../../operations/sending/scheduled-emails.ts';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { access } from '../../admission/access.ts';
import { updateAnswer } from '../../rest/emails/emails.ts';
import {
  newEmailOf,
  scheduledAnswer,
  scheduledBodyOf,
  sendBody,
  sentBodyOf,
} from '../../rest/sending/outgoing-shapes.ts';
import { replyBody } from '../../rest/sending/sending.ts';
import { instant, wireInstant } from '../../rest/shapes.ts';
import { defineTool, idempotencyKey } from '../tool.ts';

/** Fields of every new email. Aliases of REST are left out. */
const content = {
  text: true,
  html: true,
  cc: true,
  bcc: true,
  reply_to: true,
  headers: true,
  attachments: true,
  tags: true,
  scheduled_at: true,
  timezone: true,
} as const;

export const sent = z.object({
  id: scheduledAnswer.shape.id,
  message_id: scheduledAnswer.shape.message_id,
  status: z.enum(['sent', 'scheduled', 'awaiting_approval']).meta({
    description:
      '`sent`: stored, and on its way. read_email shows the delivery status of each recipient. `awaiting_approval`: NOT sent. It waits until a person approves it; do not send it again.',
  }),
  scheduled_at: instant.nullable(),
  timezone: z.string().nullable(),
});

export function sentOf({ receipt }: Accepted): z.input<typeof sent> {
  const scheduled = scheduledBodyOf(receipt);
  if (scheduled !== null) return scheduled;
  const { status, ...body } = sentBodyOf(receipt);
  return { ...body, status: status === 'queued' ? 'awaiting_approval' : status, ...timeOf(receipt) };
}

function timeOf({ emails: [email] }: Accepted['receipt']): Pick<z.input<typeof sent>, 'scheduled_at' | 'timezone'> {
  return { scheduled_at: email?.scheduledAt ?? null, timezone: email?.timezone ?? null };
}

/** The argument that names the first of equal calls. */
export const KEY = 'idempotency_key';

export const sendEmailTool = defineTool({
  name: 'send_email',
  title: 'Send an email',
  description:
    'Sends an email, or schedules it if `scheduled_at` is set. To answer an email, use reply_to_email instead. Returns as soon as the email is stored. If the result has the status `awaiting_approval`, it waits until a person approves it.',
  access: access.send,
  effect: 'sends',
  input: sendBody
    .pick({ from: true, to: true, subject: true, ...content, list_unsubscribe: true, claim_token: true })
    .extend({ [KEY]: idempotencyKey })
    .meta({ required: ['from', 'to', 'subject'] }),
  output: sent,
  async run(context, { idempotency_key: key, ...email }) {
    // In the order of REST, so that a key also replays what was sent there.
    const body = sendBody.parse(email);
    return sentOf(await sendEmail(context, newEmailOf(body), readIdempotency({ key, field: KEY }, 'send', body)));
  },
});

export const replyToEmail = defineTool({
  name: 'reply_to_email',
  title: 'Reply to an email',
  description:
    'Replies to an email, or to the latest message of a thread. By default the reply goes to the addresses that the original asks for. It joins the thread. Do not quote the original. If the result has the status `awaiting_approval`, it waits until a person approves it.',
  access: access.send,
  effect: 'sends',
  input: replyBody
    .pick({ from: true, from_name: true, to: true, subject: true, reply_all: true, ...content, claim_token: true })
    .extend({
      id: z.string().meta({ description: 'ID of the email or thread to reply to.' }),
      [KEY]: idempotencyKey,
    })
    .meta({ required: ['id', 'from'] }),
  output: sent.extend({
    replied_to_email_id: z.string().nullable(),
    replied_to_thread_id: z.string().nullable(),
  }),
  async run(context, { id, idempotency_key: key, ...reply }) {
    const body = replyBody.parse(reply);
    const audience = body.reply_all ? ('all' as const) : ('sender' as const);
    const newReply = { ...newEmailOf(body), fromName: body.from_name, audience };
    const idempotency = readIdempotency({ key, field: KEY }, 'reply', [id, body]);
    const accepted = await sendReply(context, id, newReply, idempotency);
    const { repliedTo } = accepted.receipt;
    return {
      ...sentOf(accepted),
      replied_to_email_id: repliedTo?.emailId ?? null,
      replied_to_thread_id: repliedTo?.threadId ?? null,
    };
  },
});

const { attachments: _, ...forwardedContent } = content;

export const forwardEmailTool = defineTool({
  name: 'forward_email',
  title: 'Forward an email',
  description:
    'Forwards a received or sent email, as mail programs do: a new email that quotes the original and starts its own thread. If the result has the status `awaiting_approval`, it waits until a person approves it.',
  access: { scopes: ['send', 'read'], isOfDomain: true },
  effect: 'sends',
  input: sendBody
    .pick({ from: true, to: true, ...forwardedContent })
    .extend({
      id: z.string().meta({ description: 'ID of the email to forward.' }),
      subject: sendBody.shape.subject.meta({ description: 'The default is `Fwd: ` and the subject of the original.' }),
      text: sendBody.shape.text.meta({ description: 'Text above the original. The default is none.' }),
      html: sendBody.shape.html.meta({
        description: 'HTML above the original. By default it is made from `text`, if the original has HTML.',
      }),
      with_attachments: z.boolean().default(true).meta({ description: 'Whether to include the attachments.' }),
      [KEY]: idempotencyKey,
    })
    .meta({ required: ['id', 'from', 'to'] }),
  output: sent,
  async run(context, { idempotency_key: key, ...forward }) {
    const { id, with_attachments: withAttachments, ...email } = forward;
    const attachments = withAttachments ? ('all' as const) : ('none' as const);
    const idempotency = readIdempotency({ key, field: KEY }, 'forward', forward);
    return sentOf(await forwardEmail(context, id, { ...newEmailOf(email), attachments }, idempotency));
  },
});

const emailId = z.string().meta({ description: 'ID of the scheduled email.' });
const changed = z.object({
  id: updateAnswer.shape.id,
  status: updateAnswer.shape.status.unwrap(),
  scheduled_at: instant,
});

export const rescheduleEmailTool = defineTool({
  name: 'reschedule_email',
  title: 'Reschedule an email',
  description: 'Changes the send time of a scheduled email.',
  access: access.send,
  effect: 'changes',
  input: z.object({
    email_id: emailId,
    scheduled_at: sendBody.shape.scheduled_at.unwrap().unwrap(),
    timezone: sendBody.shape.timezone.meta({
      description: 'IANA time zone of `scheduled_at`. The default is that of the email.',
    }),
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
  input: z.object({ email_id: emailId }),
  output: changed,
  async run(context, { email_id: id }) {
    const { email } = await cancelEmail(context, id);
    return { ...email, scheduled_at: wireInstant(email.scheduledAt) };
  },
});
