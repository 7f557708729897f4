import { makeSampleMessage, SAMPLE_SENDER } from '../../core/endpoints/sample-message.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../core/shared/identifiers.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-content.ts';
import type { ActorContext } from '../actor.ts';

/** A made-up received email, in the form in which deliveries read real ones. */
export interface SampleEmail {
  email: DeliveryContentRow;
  raw: Buffer;
}

/** Creates an email to test an endpoint with, using the parser of real mail. Nothing is stored. */
export async function makeSampleEmail(
  { now, random }: Pick<ActorContext, 'now' | 'random'>,
  { userId, recipient }: { userId: string; recipient: string },
): Promise<SampleEmail> {
  const sentAt = now();
  const id = makeIdentifier('email', sentAt, random(IDENTIFIER_RANDOM_BYTES));
  const messageId = `<${id}@sample.postroom.invalid>`;
  const raw = makeSampleMessage({ recipient, sender: SAMPLE_SENDER, messageId, sentAt });
  const message = await parseMessage(raw);
  const email: DeliveryContentRow = {
    user_id: userId,
    id,
    raw_id: null,
    message_id: message.messageId ?? messageId,
    subject: message.subject,
    recipient,
    own_address: recipient,
    created_at: sentAt,
    date: message.date,
    headers: [...message.headers],
    addresses: message.addresses,
    in_reply_to: [...message.inReplyTo],
    reference_ids: [...message.references],
    text_body: message.textBody,
    html_body: message.htmlBody,
    cleaned_text: message.cleanedText,
    cleaned_html: message.cleanedHtml,
    attachments: [...message.attachments],
    priority: message.priority,
    is_truncated: message.isTruncated,
    // Tests of endpoints are marked by their own header (X-Test-Request).
    is_test: false,
  };
  return { email, raw };
}
