import { Menu, type MenuItemProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { type ControlProps, controlProps } from './controls.tsx';
import { Icon, type IconName } from './icons.ts';

type MenuActionProps = ControlProps & Omit<MenuItemProps, 'children'> & { label: ReactNode; icon: IconName };

/** Item of a menu. */
export function MenuAction({ label, icon, ...props }: MenuActionProps) {
  return (
    <Menu.Item leftSection={<Icon name={icon} size={16} />} {...controlProps(props)}>
      {label}
    </Menu.Item>
  );
}
