import { Alert, Group, List, Paper, Text, Title } from '@mantine/core';
import { IconShieldX } from './icons.ts';
import { StatusBadge, type Tone } from './status-badge.tsx';

interface Screened {
  virus: string | null;
  spam: {
    verdict: 'CLEAN' | 'SUSPECTED' | 'SPAM' | 'NOT_CHECKED';
    score: number | null;
    required: number | null;
    by: 'FILTER' | 'USER';
    symbols: readonly { name: string; score: number; description: string }[];
  };
}

const tones: Readonly<Record<Screened['spam']['verdict'], Tone>> = {
  CLEAN: 'good',
  SUSPECTED: 'warning',
  SPAM: 'bad',
  NOT_CHECKED: 'quiet',
};

/** What the scanners say about a message. */
export function SpamVerdict({ security: { virus, spam } }: { security: Screened }) {
  if (virus !== null)
    return (
      <Alert color="red" variant="outline" icon={<IconShieldX aria-hidden />} title={`Virus: ${virus}`}>
        This email is in quarantine. Its text and attachments cannot be opened here.
      </Alert>
    );
  return (
    <Paper withBorder p="md" component="section" aria-label="Spam">
      <Group justify="space-between" mb={4}>
        <Title order={2}>Spam</Title>
        <StatusBadge status={spam.verdict} tone={tones[spam.verdict]} />
      </Group>
      <Text size="sm">{summaryOf(spam)}</Text>
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

function summaryOf({ verdict, score, required, by }: Screened['spam']): string {
  if (verdict === 'NOT_CHECKED') return 'No spam filter has checked this email.';
  const points = score === null ? '' : ` Score ${score}${required === null ? '' : ` of ${required}`}.`;
  return `${by === 'USER' ? 'A member decided.' : 'The spam filter decided.'}${points}`;
}
