import { Alert, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { StatusBadge, type Tone } from '../../parts/status-badge.tsx';
import { AUTHENTICATION } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';

const tones: Record<string, Tone> = {
  PASS: 'good',
  FAIL: 'bad',
  SOFTFAIL: 'warning',
  PERMERROR: 'warning',
  TEMPERROR: 'warning',
};

/** What each result means, whatever the check (RFC 8601 §2.7). */
const meanings: Record<string, string> = {
  PASS: 'It holds.',
  FAIL: 'It does not hold.',
  SOFTFAIL: 'It probably does not hold; the owner of the domain says no more.',
  NEUTRAL: 'The owner of the domain says nothing, or the signature cannot be judged.',
  NONE: 'There was nothing to check.',
  POLICY: 'It holds, but is not taken: a weak key, for one.',
  PERMERROR: 'What the domain publishes cannot be read.',
  TEMPERROR: 'DNS did not answer in time.',
};

/** Our own verdicts on where a mail came from, each with what it means. */
export function AuthenticationTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={AUTHENTICATION}>
      {({ content: { authentication: found } }) =>
        found === null ? (
          <Text c="dimmed">
            This mail was not checked: it was sent from here, made as a test, or could not be parsed.
          </Text>
        ) : (
          <>
            {found.hasSeveralFromFields && (
              <Alert color="red" variant="outline" title="It has more than one From field">
                No honest mailer writes two, and programs differ in which one they show.
              </Alert>
            )}
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <Verdict
                name="SPF"
                about="May the server that handed the mail over send for the domain of the return address?"
                result={found.spf.result}
                details={[found.spf.domain && `Domain: ${found.spf.domain}`]}
              />
              <Verdict
                name="DMARC"
                about="Does the domain in the From field stand behind this mail, by SPF or DKIM?"
                result={found.dmarc.result}
                details={[
                  found.dmarc.domain && `Domain: ${found.dmarc.domain}`,
                  found.dmarc.policy === null
                    ? 'The domain publishes no policy.'
                    : `Policy that the domain asks for: ${found.dmarc.policy.toLowerCase()}`,
                ]}
              />
              {found.dkim.length === 0 && (
                <Verdict
                  name="DKIM"
                  about="Is the mail signed by a domain, and unchanged?"
                  result="NONE"
                  details={['It bears no signature.']}
                />
              )}
              {found.dkim.map(({ result, domain, selector }, at) => (
                <Verdict
                  // biome-ignore lint/suspicious/noArrayIndexKey: signatures have no name of their own
                  key={at}
                  name={found.dkim.length === 1 ? 'DKIM' : `DKIM, signature ${at + 1}`}
                  about="Is the mail signed by a domain, and unchanged?"
                  result={result}
                  details={[domain && `Domain: ${domain}`, selector && `Selector: ${selector}`]}
                />
              ))}
              <Verdict
                name="ARC"
                about="Do the servers on its way vouch for what they saw?"
                result={found.arc.result}
                details={[]}
              />
            </SimpleGrid>
          </>
        )
      }
    </EmailPart>
  );
}

function Verdict({
  name,
  about,
  result,
  details,
}: {
  name: string;
  about: string;
  result: string;
  details: readonly (string | null)[];
}) {
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Group justify="space-between" mb={4}>
        <Title order={2}>{name}</Title>
        <StatusBadge status={result} tone={tones[result] ?? 'quiet'} />
      </Group>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
      <Text size="sm" mt="xs">
        {meanings[result] ?? ''}
      </Text>
      {details.map(
        (detail) =>
          detail !== null &&
          detail !== '' && (
            <Text key={detail} size="sm" className="postroom-wrap">
              {detail}
            </Text>
          ),
      )}
    </Paper>
  );
}
