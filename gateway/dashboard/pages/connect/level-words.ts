import type { GrantLevel } from '../sign-in/auth-calls.ts';

/** The levels in plain words, from the least to the most. */
export const levelWords: readonly { value: GrantLevel; label: string; about: string }[] = [
  { value: 'read', label: 'Read', about: 'It reads mail and settings. It changes and sends nothing.' },
  {
    value: 'send',
    label: 'Read, draft and send with approval',
    about: 'It also writes drafts and sends. Each email waits until a person approves it.',
  },
  {
    value: 'everything',
    label: 'Everything',
    about: 'It can do all that you can do in this workspace, including sending without approval and deleting mail.',
  },
];
