import { z } from 'zod';

/** A notification of Amazon SES about a message, as Amazon SNS sends it by mail. */
export interface ServiceNotification {
  kind: 'Bounce' | 'Complaint' | 'Delivery';
  recipients: { address: string; status: string | null; diagnosticCode: string | null }[];
}

const recipient = z.object({
  emailAddress: z.string(),
  status: z.string().optional(),
  diagnosticCode: z.string().optional(),
});
const notification = z.object({
  notificationType: z.enum(['Bounce', 'Complaint', 'Delivery']),
  bounce: z.object({ bouncedRecipients: z.array(recipient) }).optional(),
  complaint: z.object({ complainedRecipients: z.array(recipient) }).optional(),
  delivery: z.object({ recipients: z.array(z.string()) }).optional(),
});
const envelope = z.object({ Type: z.literal('Notification'), Message: z.string() });

/** Parses the text of a notification; null when it is none. Never throws. */
export function readServiceNotification(text: string): ServiceNotification | null {
  if (!text.trimStart().startsWith('{')) return null;
  const outer = parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  const wrapped = envelope.safeParse(outer);
  const { data } = notification.safeParse(wrapped.success ? parseJson(wrapped.data.Message) : outer);
  if (data === undefined) return null;
  const found = data.bounce?.bouncedRecipients ?? data.complaint?.complainedRecipients;
  const listed =
    found ?? data.delivery?.recipients.map((emailAddress) => ({ emailAddress }) as z.infer<typeof recipient>);
  return {
    kind: data.notificationType,
    recipients: (listed ?? []).map(({ emailAddress, status, diagnosticCode }) => ({
      address: emailAddress,
      status: status ?? null,
      diagnosticCode: diagnosticCode ?? null,
    })),
  };
}

/** Servers wrap long lines, even within strings, where JSON has no line ends. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/[\r\n]/g, ''));
  } catch {
    return null;
  }
}
