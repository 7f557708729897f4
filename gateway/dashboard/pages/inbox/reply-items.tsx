import { Menu } from '@mantine/core';
import { IconArrowForwardUp, IconCornerUpLeft, IconCornerUpLeftDouble } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import type { Composing } from './inbox-view.ts';

const REPLY_MODES = [
  { mode: 'reply', label: 'Reply', Icon: IconCornerUpLeft },
  { mode: 'reply-all', label: 'Reply to all', Icon: IconCornerUpLeftDouble },
  { mode: 'forward', label: 'Forward', Icon: IconArrowForwardUp },
] as const;

/** Items of a menu that reply to or forward an email. */
export function ReplyItems({ emailId, compose }: { emailId: string; compose: (composing: Composing) => void }) {
  return REPLY_MODES.map(({ mode, label, Icon }) => (
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
