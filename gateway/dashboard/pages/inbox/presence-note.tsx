import { Text } from '@mantine/core';
import { usePresence } from './use-presence.ts';

/** Says who else reads the conversation or replies to it, and shows others that the signed-in person does. */
export function PresenceNote({ threadId, isReplying }: { threadId: string; isReplying: boolean }) {
  const present = usePresence(threadId, isReplying);
  const replying = present.filter(({ state }) => state === 'REPLYING').map(({ name }) => name);
  const reading = present.filter(({ state }) => state === 'READING').map(({ name }) => name);
  const text = [
    ...(replying.length > 0 ? [`${inWords(replying)} replying`] : []),
    ...(reading.length > 0 ? [`${inWords(reading)} reading`] : []),
  ].join(', ');
  return (
    <Text size="xs" c="dimmed" truncate miw={0} title={text} role="status" fw={replying.length > 0 ? 600 : undefined}>
      {text}
    </Text>
  );
}

/** Maximum names that are shown. */
const MAX_NAMES = 3;

/** Returns for example `Ann is`, `Ann and Bob are` or `Ann, Bob, Eve and 2 more are`. */
function inWords(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  const shown = more > 0 ? [...names.slice(0, MAX_NAMES), `${more} more`] : names;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? `${last} is` : `${shown.slice(0, -1).join(', ')} and ${last} are`;
}
