import { Group, Menu, Stack, useMantineColorScheme } from '@mantine/core';
import type { ReactElement } from 'react';
import { useAsked } from '../pages/settings/setting-parts.tsx';
import { auth } from '../pages/sign-in/auth-calls.ts';
import { QuietButton } from '../parts/controls.tsx';
import { Icon } from '../parts/icons.ts';
import { MenuAction } from '../parts/menu-action.tsx';
import { notify } from '../parts/notify.tsx';
import { Hint } from '../parts/text.tsx';
import { openWorkspace, signOut } from './session-news.ts';
import { useViewer } from './viewer.ts';

type AccountMenuProps = { email: string | null; target: ReactElement; close: () => void };

/** Account menu. It is loaded when the user opens it, so it starts open. `target` is the button. */
export function AccountMenu({ email, target, close }: AccountMenuProps) {
  const { setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" opened onClose={close} returnFocus>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{email}</Menu.Label>
        <MenuAction label="Settings" icon="settings" href="/settings" />
        <WorkspaceItems />
        <Menu.Divider />
        <MenuAction label="Light" icon="sun" onClick={() => setColorScheme('light')} />
        <MenuAction label="Dark" icon="moon" onClick={() => setColorScheme('dark')} />
        <MenuAction label="System" icon="sun-moon" onClick={() => setColorScheme('auto')} />
        <Menu.Divider />
        <MenuAction label="Sign out" icon="logout" onClick={() => void signOut()} />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The workspaces of the person; the active one is checked. Absent for a person with one workspace. */
function WorkspaceItems() {
  const { id } = useViewer();
  const { result } = useAsked(auth.workspaces);
  if (result === undefined || result.workspaces.length < 2) return null;
  return (
    <>
      <Menu.Divider />
      <Menu.Label>Workspaces</Menu.Label>
      {result.workspaces.map((workspace) => (
        <MenuAction
          key={workspace.id}
          label={`${workspace.name} · ${workspace.role}`}
          icon="users"
          rightSection={workspace.id === id ? <Icon name="check" size={16} aria-label="Active" /> : null}
          aria-current={workspace.id === id ? 'true' : undefined}
          onClick={() => workspace.id !== id && void switchTo(workspace.id, '/')}
        />
      ))}
    </>
  );
}

/** Makes a workspace the active one and opens a page of it, or tells why not. */
export async function switchTo(workspaceId: string, path: string): Promise<void> {
  const problem = await openWorkspace(workspaceId, path);
  if (problem !== null) notify({ title: 'The workspace was not switched', message: problem.message, color: 'red' });
}

/** Below what was not found: the other workspaces of the person, in which the link may be right. Nothing for a person with one workspace. */
export function OtherWorkspaces() {
  const { id, person } = useViewer();
  const { result } = useAsked(auth.workspaces);
  const others = result?.workspaces.filter((workspace) => workspace.id !== id) ?? [];
  if (others.length === 0) return null;
  const { pathname, search, hash } = window.location;
  return (
    <Stack gap="xs" align="center" role="group" aria-label="Other workspaces">
      <Hint ta="center">
        You are in the workspace {person?.workspaceName}. If the link is of another one, open it there:
      </Hint>
      <Group gap="xs" justify="center">
        {others.map((workspace) => (
          <QuietButton
            key={workspace.id}
            label={workspace.name}
            size="xs"
            onClick={() => void switchTo(workspace.id, pathname + search + hash)}
          />
        ))}
      </Group>
    </Stack>
  );
}
