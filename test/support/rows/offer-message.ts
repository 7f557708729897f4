import type { Bus, Reply } from '../../../schema/messages.ts';

/** The reply of the receiving actor when it refuses a recipient. */
type Rejection = Extract<Reply<'receiving.recipient.check'>, { verdict: 'reject' }>;

/**
 * Offers a message as SMTP does, over the bus. Returns the account and the id that its email bears, or why its recipient is refused. Throws
 * when the message is refused.
 */
export async function offerMessage(
  bus: Bus,
  bytes: Buffer,
  { recipient, reversePath }: { recipient: string; reversePath: string },
): Promise<{ workspaceId: string; emailId: string } | Rejection> {
  const checked = await bus.ask('receiving.recipient.check', { recipient, reversePath });
  if (checked.verdict === 'reject') return checked;
  const { verdict: _, ...of } = checked;
  const envelope = {
    reversePath,
    recipients: [{ recipient, ...of }],
    remoteAddress: '192.0.2.1',
    helo: 'elsewhere.test',
    isTls: false,
    traceFields: '',
  };
  const reply = await bus.ask('receiving.message.accept', envelope, { bytes });
  if (reply.verdict !== 'accepted') throw new Error(reply.text);
  return { workspaceId: of.workspaceId, emailId: reply.emailIds[0] ?? '' };
}

/** Offers a message from ann@elsewhere.test. Returns the id that its email bears. Throws when it is refused. */
export async function offerAcceptedMessage(
  bus: Bus,
  bytes: Buffer,
  recipient: string,
  reversePath = 'ann@elsewhere.test',
): Promise<string> {
  const offered = await offerMessage(bus, bytes, { recipient, reversePath });
  if ('verdict' in offered) throw new Error(offered.text);
  return offered.emailId;
}
