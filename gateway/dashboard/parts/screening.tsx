import { Blockquote, Group, List, Paper, Stack, Title } from '@mantine/core';
import type { ResultOf } from '../graphql.ts';
import type { AUTHENTICATION } from '../pages/activity/email-documents.ts';
import { Icon } from './icons.ts';
import { CautionAlert, ErrorAlert, Small, StatusBadge, type Tone } from './text.tsx';

type Security = NonNullable<ResultOf<typeof AUTHENTICATION>['email']>['security'];

/** What in a message is aimed at an agent that reads it, above its text. */
export function ScreeningFindings({ injection }: { injection: Security['injection'] }) {
  if (injection?.verdict !== 'REVIEW') return null;
  return (
    <CautionAlert icon={<Icon name="alert-triangle" />} title="This message may try to steer an agent">
      <Stack gap="xs" className="postroom-wrap">
        {injection.findings.map(({ part, excerpt, why }) => (
          <div key={`${part} ${excerpt} ${why}`}>
            <Small>{`${PARTS[part] ?? 'Message'}: ${why}`}</Small>
            <Blockquote p="xs" mt={4} fz="sm">
              {excerpt}
            </Blockquote>
          </div>
        ))}
      </Stack>
      <Small mt="xs">Read the message yourself before an agent acts on it.</Small>
    </CautionAlert>
  );
}

const PARTS: Readonly<Record<string, string>> = {
  SUBJECT: 'Subject',
  SENDER: 'Sender',
  TEXT: 'Text',
  HTML: 'HTML',
  ATTACHMENT: 'Name of an attachment',
};

/** What in a message may deceive its reader, above its text. */
export function SecurityWarnings({ warnings }: { warnings: readonly { text: string }[] }) {
  if (warnings.length === 0) return null;
  return (
    <ErrorAlert icon={<Icon name="alert-triangle" />} title="Be careful with this message">
      <List size="sm" className="postroom-wrap">
        {warnings.map(({ text }) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
      <Small mt="xs">Check the sender before you open a link, reply, or pay.</Small>
    </ErrorAlert>
  );
}

const tones: Readonly<Record<Security['spam']['verdict'], Tone>> = {
  CLEAN: 'good',
  SUSPECTED: 'warning',
  SPAM: 'bad',
  NOT_CHECKED: 'quiet',
};

/** What the scanners say about a message. */
export function SpamVerdict({ security: { virus, spam } }: { security: Omit<Security, 'injection'> }) {
  if (virus !== null)
    return (
      <ErrorAlert icon={<Icon name="shield-x" />} title={`Virus: ${virus}`}>
        This email is in quarantine. Its text and attachments cannot be opened here.
      </ErrorAlert>
    );
  return (
    <Paper withBorder p="md" component="section" aria-label="Spam">
      <Group justify="space-between" mb={4}>
        <Title order={2}>Spam</Title>
        <StatusBadge status={spam.verdict} tone={tones[spam.verdict]} />
      </Group>
      <Small>{summarize(spam)}</Small>
      {spam.symbols.length > 0 && (
        <List size="sm" mt="xs" className="postroom-wrap">
          {spam.symbols.map(({ name, score, description }) => (
            <List.Item key={name}>
              {`${score > 0 ? '+' : ''}${score} ${description === '' ? name : description}`}
            </List.Item>
          ))}
        </List>
      )}
    </Paper>
  );
}

function summarize({ verdict, score, required, by }: Security['spam']): string {
  if (verdict === 'NOT_CHECKED') return 'No spam filter has checked this email.';
  const points = score === null ? '' : ` Score ${score}${required === null ? '' : ` of ${required}`}.`;
  return `${by === 'USER' ? 'A member decided.' : 'The spam filter decided.'}${points}`;
}
