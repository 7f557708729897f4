import { Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { ScreeningFindings, SecurityWarnings, SpamVerdict } from '../../parts/screening.tsx';
import { ErrorAlert, Fine, Hint, Small, StatusBadge, type Tone } from '../../parts/text.tsx';
import { MessageAttachments } from '../inbox/message-body.tsx';
import { EmailPart } from './content-tabs.tsx';
import { ATTACHMENTS, AUTHENTICATION } from './email-documents.ts';

const tones: Record<string, Tone> = {
  PASS: 'good',
  FAIL: 'bad',
  SOFTFAIL: 'warning',
  PERMERROR: 'warning',
  TEMPERROR: 'warning',
};

/** Meaning of each result of an authentication check (RFC 8601 §2.7). */
const meanings: Record<string, string> = {
  PASS: 'The check passed.',
  FAIL: 'The check failed.',
  SOFTFAIL: 'The check probably failed. The domain owner does not say more.',
  NEUTRAL: 'The domain owner makes no statement, or the signature cannot be evaluated.',
  NONE: 'There was nothing to check.',
  POLICY: 'The check passed but is not accepted, for example because of a weak key.',
  PERMERROR: 'The DNS record of the domain is invalid.',
  TEMPERROR: 'DNS did not respond in time.',
};

/** Our verdicts on the sender of a message, each with its meaning. */
export function AuthenticationTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={AUTHENTICATION}>
      {({ securityWarnings, security, content: { authentication: found } }) =>
        found === null ? (
          <Text c="dimmed">
            This email was not checked because it was sent from here, created as a test, or could not be parsed.
          </Text>
        ) : (
          <>
            <SecurityWarnings warnings={securityWarnings} />
            <ScreeningFindings injection={security.injection} />
            <SpamVerdict security={security} />
            <Text className="postroom-wrap">{found.sender.text}</Text>
            {found.hasSeveralFromFields && (
              <ErrorAlert title="Multiple From fields">
                A valid message has one From field. Mail programs differ in which one they show.
              </ErrorAlert>
            )}
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <Verdict
                name="SPF"
                about="Is the sending server authorized by the domain of the return address?"
                result={found.spf.result}
                details={[found.spf.domain && `Domain: ${found.spf.domain}`]}
              />
              <Verdict
                name="DMARC"
                about="Does SPF or DKIM confirm the domain in the From field?"
                result={found.dmarc.result}
                details={[
                  found.dmarc.domain && `Domain: ${found.dmarc.domain}`,
                  found.dmarc.policy === null
                    ? 'The domain publishes no policy.'
                    : `Published policy: ${found.dmarc.policy.toLowerCase()}`,
                ]}
              />
              {found.dkim.length === 0 && (
                <Verdict
                  name="DKIM"
                  about="Is the email signed by a domain, and unchanged?"
                  result="NONE"
                  details={['The email has no DKIM signature.']}
                />
              )}
              {found.dkim.map(({ result, domain, selector }, at) => (
                <Verdict
                  // biome-ignore lint/suspicious/noArrayIndexKey: signatures have no id
                  key={at}
                  name={found.dkim.length === 1 ? 'DKIM' : `DKIM, signature ${at + 1}`}
                  about="Is the email signed by a domain, and unchanged?"
                  result={result}
                  details={[domain && `Domain: ${domain}`, selector && `Selector: ${selector}`]}
                />
              ))}
              <Verdict
                name="ARC"
                about="Did the forwarding servers sign their check results?"
                result={found.arc.result}
                details={[found.arc.domain && `Sealed by: ${found.arc.domain}`]}
              />
            </SimpleGrid>
          </>
        )
      }
    </EmailPart>
  );
}

type VerdictProps = { name: string; about: string; result: string; details: readonly (string | null)[] };

function Verdict({ name, about, result, details }: VerdictProps) {
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Group justify="space-between" mb={4}>
        <Title order={2}>{name}</Title>
        <StatusBadge status={result} tone={tones[result] ?? 'quiet'} />
      </Group>
      <Hint>{about}</Hint>
      <Small mt="xs">{meanings[result] ?? ''}</Small>
      {details.map(
        (detail) =>
          detail !== null &&
          detail !== '' && (
            <Small key={detail} className="postroom-wrap">
              {detail}
            </Small>
          ),
      )}
    </Paper>
  );
}

/** Attachments of an email, to look at and to download. */
export function AttachmentsTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={ATTACHMENTS}>
      {({ attachments }) =>
        attachments.length === 0 ? (
          <Text c="dimmed">This email has no attachments.</Text>
        ) : (
          <Stack gap="xs">
            <MessageAttachments emailId={id} attachments={attachments} />
            <Fine>Attachments can be harmful. Check the sender before you open one.</Fine>
          </Stack>
        )
      }
    </EmailPart>
  );
}
