import { Fragment } from 'react';

/** A text in which the words that were searched for are marked. */
export function FoundWords({ text, pattern }: { text: string; pattern: RegExp | null }) {
  if (pattern === null) return text;
  return text
    .split(pattern)
    .map((part, index) =>
      index % 2 === 0 ? <Fragment key={`${index}`}>{part}</Fragment> : <mark key={`${index}`}>{part}</mark>,
    );
}
