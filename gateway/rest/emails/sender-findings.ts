import { z } from 'zod';
import type { OperationContext } from '../../../operations/context.ts';
import { describeSecurity } from '../../../operations/emails/email-security.ts';
import type { EmailDetails } from '../../../operations/emails/emails.ts';
import { emailSecurity, securityWarning, senderVerdict } from '../../../operations/emails/finding-shapes.ts';
import { judgeSender, readSecurityWarnings } from '../../../operations/emails/security-warnings.ts';
import { readAuthentication } from '../../../operations/emails/stored-authentication.ts';
import { emailBody } from './email-wire.ts';

/** An email, and what is known about its sender. */
export const examinedEmailBody = emailBody
  .extend({
    sender_verdict: senderVerdict.nullable().meta({
      description: 'Who vouches for the sender. Null if the email was not checked, as for sent mail.',
    }),
    security_warnings: z.array(securityWarning).meta({
      description: 'Deceptive links, display names and domains in a received email, up to 22. Empty for sent mail.',
    }),
    security: emailSecurity.meta({ description: 'What the screening of the email says.' }),
  })
  .meta({ id: 'ExaminedEmail' });

type SenderFindings = Pick<z.infer<typeof examinedEmailBody>, 'sender_verdict' | 'security_warnings' | 'security'>;

/** Of an email that was not checked. */
export const NO_FINDINGS: SenderFindings = {
  sender_verdict: null,
  security_warnings: [],
  security: describeSecurity({ injection: null, screening: null }),
};

/** Returns the fields that each examined email has in addition. */
export async function readSenderFindings(
  context: OperationContext,
  emails: readonly EmailDetails[],
): Promise<SenderFindings[]> {
  const examined = emails.map((email) => {
    const authentication = readAuthentication(email.authentication);
    return { email, html: email.html, authentication };
  });
  const warnings = await readSecurityWarnings(context, examined);
  return examined.map(({ email, authentication }, at) => ({
    sender_verdict: authentication === null ? null : judgeSender(authentication),
    security_warnings: warnings[at] ?? [],
    security: describeSecurity(email),
  }));
}
