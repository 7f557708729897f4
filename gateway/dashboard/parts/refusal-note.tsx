import { Text } from '@mantine/core';

/** Why a server refused or deferred an email, and what to do. Nothing when it did not. */
export function RefusalNote({ refusal }: { refusal: { title: string; advice: string } | null }) {
  return refusal === null ? null : (
    <Text size="sm" className="postroom-wrap">
      <strong>{refusal.title}.</strong> {refusal.advice}
    </Text>
  );
}
