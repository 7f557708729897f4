import { Menu } from '@mantine/core';
import { IconArrowForwardUp, IconCornerUpLeft, IconCornerUpLeftDouble } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import type { Composing } from './inbox-view.ts';

const ANSWERS = [
  { mode: 'reply', label: 'Reply', Icon: IconCornerUpLeft },
  { mode: 'reply-all', label: 'Reply to all', Icon: IconCornerUpLeftDouble },
  { mode: 'forward', label: 'Forward', Icon: IconArrowForwardUp },
] as const;

/** Items of a menu that answer or forward an email. */
export function AnswerItems({ emailId, compose }: { emailId: string; compose: (composing: Composing) => void }) {
  return ANSWERS.map(({ mode, label, Icon }) => (
    <Menu.Item
      key={mode}
      {...needs('send')}
      leftSection={<Icon size={16} />}
      onClick={() => compose({ mode, emailId })}
    >
      {label}
    </Menu.Item>
  ));
}
