import { Menu, useMantineColorScheme } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { IconLogout, IconMoon, IconSettings, IconSun, IconSunMoon } from '../parts/icons.ts';
import { signOut } from './sign-out.ts';

/** Account menu. It is loaded when the user opens it, so it starts open. `target` is the button. */
export function AccountMenu({
  email,
  target,
  close,
}: {
  email: string | null;
  target: ReactElement;
  close: () => void;
}) {
  const { setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" opened onClose={close} returnFocus>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{email}</Menu.Label>
        <Menu.Item component={Link} href="/settings" leftSection={<IconSettings size={16} />}>
          Settings
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconSun size={16} />} onClick={() => setColorScheme('light')}>
          Light
        </Menu.Item>
        <Menu.Item leftSection={<IconMoon size={16} />} onClick={() => setColorScheme('dark')}>
          Dark
        </Menu.Item>
        <Menu.Item leftSection={<IconSunMoon size={16} />} onClick={() => setColorScheme('auto')}>
          System
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
