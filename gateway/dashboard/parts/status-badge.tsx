import { Badge } from '@mantine/core';

/** Meaning of a status. Shown as a color in addition to the text. */
export type Tone = 'good' | 'waiting' | 'bad' | 'quiet' | 'warning';

const colors: Record<Tone, string> = { good: 'green', waiting: 'post.6', bad: 'red', quiet: 'gray', warning: 'orange' };

/** Shows a status, for example `DELIVERY_FAILED` as "delivery failed". */
export function StatusBadge({ status, tone }: { status: string; tone: Tone }) {
  return (
    <Badge color={colors[tone]} variant="dot" tt="none" fw={600} radius="sm" style={{ flex: 'none' }}>
      {status.toLowerCase().replaceAll('_', ' ')}
    </Badge>
  );
}
