import { Badge } from '@mantine/core';

/** What a status means, by colour: the words stand beside it, so that colour says nothing alone. */
export type Tone = 'good' | 'waiting' | 'bad' | 'quiet' | 'warning';

const colors: Record<Tone, string> = { good: 'green', waiting: 'blue', bad: 'red', quiet: 'gray', warning: 'orange' };

/** A status in words, `DELIVERY_FAILED` as "delivery failed". */
export function StatusBadge({ status, tone }: { status: string; tone: Tone }) {
  return (
    <Badge color={colors[tone]} variant="dot" tt="none" fw={500} radius="sm">
      {status.toLowerCase().replaceAll('_', ' ')}
    </Badge>
  );
}
